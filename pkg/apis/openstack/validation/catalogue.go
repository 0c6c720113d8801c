// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"github.com/capkit/capkit/pkg/finding"
)

// Rules returns the catalogue of this package's rules, apart from those about images. The caller owns it.
func Rules() []finding.Rule {
	return slices.Concat(finding.On(finding.ObjectAny,
		RuleSettingMissing, ruleValueEmpty, ruleValueFormat, ruleValueOutOfRange, ruleValueNotSupported, ruleOpenStackID,
		ruleOpenStackIDFormat,
	), finding.On(finding.ObjectCloudProfile,
		RuleEntryDuplicate, ruleEntryRepeated, rulePurposeDuplicate, ruleSettingsExclusive, ruleRegionUnserved,
		ruleFloatingPoolPattern, ruleNameSuspicious, ruleKeystoneURL, ruleKeystoneInsecure, ruleCACertificate,
		ruleServerGroupPolicy, ruleResolvConfOption,
	), finding.On(finding.ObjectShoot,
		RuleLoadBalancerClass, ruleMachineLabelReserved, ruleNodeTemplate, ruleNetworkRange, ruleIPv6NotEnabled,
		ruleFeatureGate, ruleShareNetworkMissing, ruleSettingDeprecated,
	), finding.Online(slices.Concat(finding.On(finding.ObjectShoot, RuleFieldImmutable), finding.On(finding.ObjectSecret,
		ruleCredentialsIncomplete, ruleCredentialsAmbiguous, ruleCredentialsValue,
	))))
}

// These rules are about images as well, with the same meaning, and described where those are checked.
var (
	ruleNameMissing   = finding.Denies("name-missing", "", "")
	ruleRegionUnknown = finding.Warns("region-unknown", "", "")
)

// The rules about a CloudProfileConfig, and about values that a Shoot may have as well.
var (
	RuleSettingMissing = finding.Denies("setting-missing",
		"A required setting is missing: a profile needs an identity service, a floating pool and a load balancer provider; a Shoot "+
			"needs a floating pool, a load balancer provider, the networks of its machines, and zones for each worker pool; a server group "+
			"needs a policy; and a reference to a resource in OpenStack needs its ID.",
		"Add what the message names.")
	ruleValueEmpty = finding.Denies("value-empty",
		"An optional setting is present, but empty.",
		"Write the value, or leave the setting out.")
	ruleValueFormat = finding.Denies("value-format",
		"A value does not have the required form: an IP address, a network, the name of a domain, tags with commas in between, the key "+
			"of a label, a name without white space at its ends.",
		"Write it as the message says.")
	ruleValueOutOfRange = finding.Denies("value-out-of-range",
		"A number or a duration is too small or too large to make sense, or a text is longer than OpenStack accepts.",
		"Stay within the bounds that the message names, or omit the setting if it has a default.")
	ruleValueNotSupported = finding.Denies("value-not-supported",
		"A value is not one of the known ones, such as `default`, `private` and `vpn` for the purpose of a load balancer class. Values "+
			"are case-sensitive.",
		"Write one of the values that the message lists.")
	ruleOpenStackID = finding.Denies("openstack-id",
		"The value cannot be the ID of an image, network, subnet or other resource in OpenStack: it contains white space, braces or "+
			"slashes, for example from a template.",
		"Write the ID that `openstack image list`, `openstack network list` or `openstack subnet list` shows.")
	ruleOpenStackIDFormat = finding.Warns("openstack-id-format",
		"The ID of a network, subnet or the like is not a UUID, as OpenStack's own IDs are. Usually it is the name, which is not "+
			"found. Image IDs need not be UUIDs, but this one looks like a placeholder, such as `TODO`, or is almost a UUID.",
		"Write the ID that `openstack network list`, `openstack subnet list` or `openstack image list` shows.")
	RuleEntryDuplicate = finding.Denies("entry-duplicate",
		"Two entries of a list are for the same name, region, or address, or for the same name, region and domain together. It would "+
			"be random which of them counts.",
		"Remove one of the two, or tell them apart.")
	ruleEntryRepeated = finding.Warns("entry-repeated",
		"A list has an entry twice. The second has no effect.",
		"Remove one of the two. Look for a misspelt one.")
	rulePurposeDuplicate = finding.Denies("purpose-duplicate",
		"Two entries have a purpose that only one can have: the default storage class, or the default, the private or the VPN's load balancer class. A load balancer class that is named `default` or `private` has that purpose, too.",
		"Remove the purpose from one of the two, or rename it.")
	ruleSettingsExclusive = finding.Denies("settings-exclusive",
		"Settings exclude each other. A floating subnet is selected by its ID, its tags or its name, and one setting, not two, "+
			"determines the addresses of a Shoot's machines.",
		"Keep one of the settings that the message names.")
	ruleRegionUnserved = finding.Warns("region-unserved",
		"A region of the profile has no identity service, no floating pool or no load balancer provider: all entries are for other "+
			"regions. A Shoot in the region is refused.",
		"Add an entry for the region, or one without region; or remove the region from `spec.regions`. If the region is spelt differently there, make the two the same.")
	ruleFloatingPoolPattern = finding.Denies("floating-pool-pattern",
		"The name of a floating pool has a `*` at an invalid place. In a profile it may stand alone, at the beginning or at the end, "+
			"and only once. A Shoot has one floating pool, and its name has no `*`.",
		"Write the pattern with one `*`, as in `fp-pool-*` or `*-fp-pool`, or several entries. In a Shoot, write the name of one external network that the pattern of the profile matches.")
	ruleNameSuspicious = finding.Warns("name-suspicious",
		"A name is probably a mistake: it contains an unfilled part of a template, such as `{{` or `<`; or the name of a floating pool "+
			"has a wildcard other than `*`, which is taken literally.",
		"Write the name in OpenStack, or a pattern with `*`. If this is the real name, ignore the warning.")
	ruleKeystoneURL = finding.Denies("keystone-url",
		"The URL of an identity service cannot be used: it is not a URL, does not begin with `https://` or `http://`, or contains a user. Messages do "+
			"not quote a URL that may have a password in it.",
		"Write the URL of the identity service in OpenStack's catalogue, as in `https://keystone.example.com/v3/`. If it contained a "+
			"password, change the password: everybody who may read the profile could read it.")
	ruleKeystoneInsecure = finding.Warns("keystone-insecure",
		"The connection to an identity service is not protected: its certificate is not verified, or its URL begins with `http`. A man "+
			"in the middle gets the credentials of every Shoot.",
		"Use an `https` URL, give the CA certificates in `keystoneCACert` or in the `caCert` of the region, and remove `keystoneForceInsecure`.")
	ruleCACertificate = finding.Denies("ca-certificate",
		"A bundle of CA certificates contains something other than certificates in PEM format, or an unreadable one. Messages do not "+
			"quote it.",
		"Write the certificates, each from `-----BEGIN CERTIFICATE-----` to `-----END CERTIFICATE-----`, with `|` after the field's name in YAML. If a private key was among them, replace it.")
	ruleServerGroupPolicy = finding.Warns("server-group-policy",
		"A policy for server groups is unknown to Nova, the compute service. Worker pools with it are admitted, but their machines are "+
			"not created.",
		"Write one of the policies that the message lists.")
	ruleResolvConfOption = finding.Warns("resolv-conf-option",
		"An option for `/etc/resolv.conf` is unknown to resolv.conf(5), has a number out of bounds or lacks one, or shares an entry "+
			"with others.",
		"Write one option in each entry, as in `rotate` or `timeout:1`.")
)

// The rules about the configs of a Shoot.
var (
	RuleLoadBalancerClass = finding.Denies("load-balancer-class-not-allowed",
		"A load balancer class of a Shoot uses other networks than the classes of its floating pool allow; or it is for the VPN, which "+
			"only operators may configure.",
		"Use the networks of one of the classes of the floating pool, with any name; the message says what to change for the closest "+
			"one. Remove the purpose `vpn`.")
	ruleMachineLabelReserved = finding.Denies("machine-label-reserved",
		"A machine label has `kubernetes.io-cluster-` or `kubernetes.io-role-` in its name. The machine controller finds the servers "+
			"of a cluster by such labels, and deletes those that it does not know. Characters that OpenStack does not accept, such as `/`, "+
			"are first replaced with `-`.",
		"Choose another name.")
	ruleNodeTemplate = finding.Denies("node-template",
		"A node template has a resource that no node has, or an impossible amount: a negative one, zero of what every node has, or a "+
			"fraction of what is counted.",
		"Correct the name or the amount, or leave the resource out, to take it from the machine type.")
	ruleNetworkRange = finding.Denies("network-range",
		"The network of a Shoot's machines lies outside of `spec.networking.nodes`, or overlaps the network of its pods or services; or its IPv6 networks overlap each other.",
		"Choose a network as the message says. `networks.workers` may be the same as `spec.networking.nodes`.")
	ruleIPv6NotEnabled = finding.Warns("ipv6-not-enabled",
		"A Shoot configures its IPv6 addresses in `networks.ipv6`, but `spec.networking.ipFamilies` does not have IPv6, so that its "+
			"pods and services get none.",
		"Write `[IPv4, IPv6]` in `spec.networking.ipFamilies`, or remove `networks.ipv6`.")
	ruleFeatureGate = finding.Denies("feature-gate",
		"A feature gate of the cloud controller manager does not exist in the Shoot's Kubernetes version, or is locked to another "+
			"value there. The cloud controller manager would not start.",
		"Correct the name, or remove the feature gate.")
	ruleShareNetworkMissing = finding.Denies("share-network-missing",
		"A Shoot has the driver for shared file systems, but no share network for them.",
		"Write `networks.shareNetwork.enabled: true` in the `infrastructureConfig`, which can be added at any time, or remove `storage.csiManila`.")
	ruleSettingDeprecated = finding.Warns("setting-deprecated",
		"A setting has been renamed, or has no effect any more. It is still accepted.",
		"Rename or remove it, as the message says. Renaming `networks.worker` changes nothing in the Shoot.")
	RuleFieldImmutable = finding.Denies("field-immutable",
		"An update changes immutable fields of a Shoot on OpenStack: its floating pool, its networks (except for adding a share "+
			"network), the zones of a worker pool, or, with updates in place, settings that only new machines would get.",
		"Restore the old value, which the message names. For the new one, create another Shoot or, for a worker pool, another worker "+
			"pool.")
)

// The rules about credentials.
var (
	ruleCredentialsIncomplete = finding.Denies("credentials-incomplete",
		"The Secret of a Shoot lacks a key, or its value: `domainName` or `tenantName`, which are always needed, or one that authentication needs. That is `username` and `password`, or `applicationCredentialSecret` with `applicationCredentialID`, or with `applicationCredentialName` and `username`.",
		"Add the key that the message names. The names of keys are case-sensitive.")
	ruleCredentialsAmbiguous = finding.Denies("credentials-ambiguous",
		"The Secret of a Shoot has both a password and an application credential. It would be random which of them is used.",
		"Remove the `password`, or the keys that begin with `applicationCredential`.")
	ruleCredentialsValue = finding.Denies("credentials-value",
		"A value in the Secret of a Shoot cannot be right: for example, it ends with a line break, has more characters than OpenStack "+
			"allows, or is not the required URL or certificate. Messages never show the value.",
		"Write the value again as the message says. `echo` adds a line break: use `printf`, or write the value under `stringData`, which needs no base64.")
)
