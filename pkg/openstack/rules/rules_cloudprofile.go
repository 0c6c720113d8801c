// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"

	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// cloudProfileRules are those about a CloudProfileConfig, and those about values that a Shoot may have as well.
var cloudProfileRules = slices.Concat(valueRules, entryRules, serviceRules)

var valueRules = []finding.Rule{
	{Name: validation.OriginSettingMissing, Severity: finding.SeverityError,
		Means:  "A setting is missing without which nothing can be created: a profile needs an identity service, a floating pool and a load balancer provider; a Shoot needs a floating pool, a load balancer provider, the networks of its machines, and zones for each worker pool; a server group needs a policy; and what refers to something in OpenStack needs its ID.",
		Repair: "Add what the message names."},
	{Name: validation.OriginValueEmpty, Severity: finding.SeverityError,
		Means:  "A setting that may be left out is there, and is empty.",
		Repair: "Write the value, or leave the setting out."},
	{Name: validation.OriginValueFormat, Severity: finding.SeverityError,
		Means:  "A value has not the form that is needed where it is used: an IP address, a network, the name of a domain, tags with commas in between, the key of a label, a name without white space at its ends.",
		Repair: "Write it as the message says."},
	{Name: validation.OriginValueOutOfRange, Severity: finding.SeverityError,
		Means:  "A number or a duration is too small or too large to make sense, or a text is longer than OpenStack takes.",
		Repair: "Keep within the bounds that the message names, or leave the setting out where it has a default."},
	{Name: validation.OriginValueNotSupported, Severity: finding.SeverityError,
		Means:  "A value is none of those that there are, such as `default`, `private` and `vpn` for the purpose of a load balancer class. Upper and lower case are different.",
		Repair: "Write one of the values that the message lists."},
	{Name: validation.OriginOpenStackID, Severity: finding.SeverityError,
		Means:  "A text that can be no ID stands where the ID of an image, network, subnet or other thing in OpenStack belongs: it has white space, braces or slashes in it, say, as the rest of a template has.",
		Repair: "Write the ID that `openstack image list`, `openstack network list` or `openstack subnet list` shows."},
	{Name: validation.OriginOpenStackIDFormat, Severity: finding.SeverityWarning,
		Means:  "The ID of a network, subnet or the like is no UUID, as OpenStack's own IDs are. Most often it is the name, which is not found. The ID of an image need not be a UUID, but looks like a placeholder, such as `TODO`, or is almost a UUID.",
		Repair: "Write the ID that `openstack network list`, `openstack subnet list` or `openstack image list` shows."},
}

var entryRules = []finding.Rule{
	{Name: validation.OriginEntryDuplicate, Severity: finding.SeverityError,
		Means:  "Two entries of a list are for the same: a name, a region, an address, or all of name, region and domain. Which of them counts would be chance.",
		Repair: "Remove one of the two, or tell them apart."},
	{Name: validation.OriginEntryRepeated, Severity: finding.SeverityWarning,
		Means:  "A list says the same twice. The second has no effect.",
		Repair: "Remove one of the two. Look for a misspelt one."},
	{Name: validation.OriginPurposeDuplicate, Severity: finding.SeverityError,
		Means:  "Two entries have a purpose that only one can have: the default storage class, or the default, the private or the VPN's load balancer class. A load balancer class that is named `default` or `private` has that purpose, too.",
		Repair: "Take the purpose, or the name, from one of the two."},
	{Name: validation.OriginSettingsExclusive, Severity: finding.SeverityError,
		Means:  "Settings exclude each other, such as the ID, the tags and the name of a floating subnet, each of which chooses one, or the two that say which addresses the machines of a Shoot get.",
		Repair: "Keep one of the settings that the message names."},
	{Name: validation.OriginRegionUnserved, Severity: finding.SeverityWarning,
		Means:  "A region of the profile has no identity service, no floating pool or no load balancer provider: there are only entries for other regions. A Shoot in the region is refused.",
		Repair: "Add an entry for the region, or one without region; or remove the region from `spec.regions`. If the region is spelt differently there, make the two the same."},
	{Name: validation.OriginFloatingPoolPattern, Severity: finding.SeverityError,
		Means:  "The name of a floating pool has a `*` where there can be none. In a profile it may stand alone, at the beginning or at the end, and only once. A Shoot has one floating pool, and its name has no `*`.",
		Repair: "Write the pattern with one `*`, as in `fp-pool-*` or `*-fp-pool`, or several entries. In a Shoot, write the name of one external network that the pattern of the profile matches."},
	{Name: validation.OriginNameSuspicious, Severity: finding.SeverityWarning,
		Means:  "A name was probably not meant like this: it has a part of a template in it that was not filled in, such as `{{` or `<`; or the name of a floating pool has a wildcard other than `*`, which stands for itself.",
		Repair: "Write the name that the thing has in OpenStack, or a pattern with `*`. Nothing is to do if it is called like this."},
}

var serviceRules = []finding.Rule{
	{Name: validation.OriginKeystoneURL, Severity: finding.SeverityError,
		Means:  "The URL of an identity service cannot be used: it is none, is not for `https` or `http`, or has a user in it. Messages do not quote a URL that may have a password in it.",
		Repair: "Write the URL that the catalogue of OpenStack has for the identity service, as in `https://keystone.example.com/v3/`. If a password was in it, change the password: everybody who may read the profile could read it."},
	{Name: validation.OriginKeystoneInsecure, Severity: finding.SeverityWarning,
		Means:  "The connection to an identity service is not protected: its certificate is not verified, or its URL begins with `http`. Whoever is in between gets the credentials of every Shoot.",
		Repair: "Use an `https` URL, give the CA certificates in `keystoneCACert` or in the `caCert` of the region, and remove `keystoneForceInsecure`."},
	{Name: validation.OriginCACertificate, Severity: finding.SeverityError,
		Means:  "A bundle of CA certificates has something else in it than certificates in PEM format, or one that cannot be read. Messages do not quote it.",
		Repair: "Write the certificates, each from `-----BEGIN CERTIFICATE-----` to `-----END CERTIFICATE-----`, with `|` after the field's name in YAML. If a private key was among them, replace it."},
	{Name: validation.OriginServerGroupPolicy, Severity: finding.SeverityWarning,
		Means:  "A policy for server groups is none that Nova, the compute service, has. Worker pools with it are admitted, and their machines are not created.",
		Repair: "Write one of the policies that the message lists."},
	{Name: validation.OriginResolvConfOption, Severity: finding.SeverityWarning,
		Means:  "An option for `/etc/resolv.conf` is none that resolv.conf(5) describes, has a number beyond its bounds or none where one belongs, or stands in one entry with others.",
		Repair: "Write one option in each entry, as in `rotate` or `timeout:1`."},
}
