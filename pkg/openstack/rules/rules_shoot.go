// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// The rules about what a Shoot may have in its profile, and what an update means. Those about a single config are in
// package validation.
const (
	RuleRegionWithoutKeystone = "region-without-keystone"
	RuleFloatingPool          = "floating-pool-not-allowed"
	RuleFloatingPoolDomain    = "floating-pool-domain"
	RuleLoadBalancerProvider  = "load-balancer-provider-not-allowed"
	RuleZone                  = "unknown-zone"
	RuleVolumeType            = "unknown-volume-type"
	RuleServerGroup           = "server-group-not-allowed"
	RuleMachinesReplaced      = "machines-replaced"
)

// shootRules are those about a Shoot.
var shootRules = []finding.Rule{
	{Name: RuleRegionWithoutKeystone, Severity: finding.SeverityError,
		Means:  "The region of a Shoot has no identity service in the profile: there is no `keystoneURL`, and `keystoneURLs` has no entry for the region. Nothing can be created there.",
		Repair: "Choose another region. The operator of the profile can add `keystoneURL`, or an entry for the region in `keystoneURLs`."},
	{Name: RuleFloatingPool, Severity: finding.SeverityError,
		Means:  "A Shoot asks for a floating pool that its profile does not have in its region, or not for the domain of its credentials. Entries for a region or a domain rule out those for all, unless they are `nonConstraining`.",
		Repair: "Use one of the floating pools that the message lists; names with a `*` are patterns. With `capkit lint`, mind that `--domain` names the domain of the credentials."},
	{Name: RuleFloatingPoolDomain, Severity: finding.SeverityWarning,
		Means:  "The floating pool of a Shoot, or the networks of a load balancer class, are allowed for credentials of some domains only, and nobody said of which domain those of the Shoot are. Manifests do not have it; admission reads it from the Secret.",
		Repair: "Check the Shoot with `capkit lint --domain NAME`, where NAME is the `domainName` in the Secret with the credentials."},
	{Name: RuleLoadBalancerProvider, Severity: finding.SeverityError,
		Means:  "A Shoot asks for a load balancer provider that its profile does not have in its region. A region that has load balancer providers of its own has no others.",
		Repair: "Use one of those that the message lists."},
	{Name: validation.OriginLoadBalancerClass, Severity: finding.SeverityError,
		Means:  "A load balancer class of a Shoot uses other networks than the floating pool of the Shoot allows by classes of its own; or it is for the VPN, which is the operator's matter.",
		Repair: "Use the networks of one of the classes of the floating pool, with whatever name; the message says what to change for the closest one. Remove the purpose `vpn`."},
	{Name: RuleZone, Severity: finding.SeverityError,
		Means:  "A worker pool is in a zone that the Shoot's region does not have in the profile. Gardener's admission refuses such a Shoot.",
		Repair: "Use one of the zones that the message lists."},
	{Name: RuleVolumeType, Severity: finding.SeverityError,
		Means:  "A worker pool asks for volumes of a type that the profile does not have. Gardener's admission refuses such a Shoot.",
		Repair: "Use one of the volume types that the message lists."},
	{Name: RuleServerGroup, Severity: finding.SeverityError,
		Means:  "A worker pool asks for a server group with a policy that is not among the `serverGroupPolicies` of the profile; or with the policy `affinity`, by which all machines are on one host, in several zones.",
		Repair: "Use one of the policies that the message lists, or remove `serverGroup`. With `affinity`, keep one zone."},
	{Name: validation.OriginMachineLabelReserved, Severity: finding.SeverityError,
		Means:  "A machine label has `kubernetes.io-cluster-` or `kubernetes.io-role-` in its name. By such labels the machine controller finds the servers of a cluster, and deletes those that it does not know. Characters that OpenStack does not take, such as `/`, become `-` before.",
		Repair: "Choose another name."},
	{Name: validation.OriginNodeTemplate, Severity: finding.SeverityError,
		Means:  "A node template has a resource that no node has, or an amount that none can have: a negative one, nothing at all of what every node has, or a part of what is counted.",
		Repair: "Correct the name or the amount, or leave the resource out; it is then taken from the machine type."},
	{Name: validation.OriginNetworkRange, Severity: finding.SeverityError,
		Means:  "The network of a Shoot's machines lies outside of `spec.networking.nodes`, or overlaps the network of its pods or services; or its IPv6 networks overlap each other.",
		Repair: "Choose a network as the message says. `networks.workers` may be the same as `spec.networking.nodes`."},
	{Name: validation.OriginIPv6NotEnabled, Severity: finding.SeverityWarning,
		Means:  "A Shoot says in `networks.ipv6` where its IPv6 addresses come from, and `spec.networking.ipFamilies` does not have IPv6, so that its pods and services get none.",
		Repair: "Write `[IPv4, IPv6]` in `spec.networking.ipFamilies`, or remove `networks.ipv6`."},
	{Name: validation.OriginFeatureGate, Severity: finding.SeverityError,
		Means:  "A feature gate of the cloud controller manager is none that Kubernetes has in the Shoot's version, or is locked to another value there. The cloud controller manager would not start.",
		Repair: "Correct the name, or remove the feature gate."},
	{Name: validation.OriginShareNetworkMissing, Severity: finding.SeverityWarning,
		Means:  "A Shoot has the driver for shared file systems, and no share network in which they could be.",
		Repair: "Write `networks.shareNetwork.enabled: true` in the `infrastructureConfig`, which can be changed, or remove `storage.csiManila`."},
	{Name: validation.OriginSettingDeprecated, Severity: finding.SeverityWarning,
		Means:  "A setting has another name now, or no effect any more. It is accepted as before.",
		Repair: "Rename or remove it, as the message says. To rename `networks.worker` changes nothing in the Shoot."},
	{Name: validation.OriginFieldImmutable, Severity: finding.SeverityError, Online: true,
		Means:  "An update changes what cannot be changed in a Shoot of OpenStack: its floating pool, its networks but for the share network, the zones of a worker pool, or, where machines are updated in place, what only new machines would get.",
		Repair: "Put the old value back, which the message names. To have the new one, create another Shoot or, for a worker pool, another worker pool."},
	{Name: RuleMachinesReplaced, Severity: finding.SeverityWarning, Online: true,
		Means:  "An update changes a part of a worker's `providerConfig` that machines get when they are created: the server group, or a machine label with `triggerRollingOnUpdate`. All machines of the worker pool are replaced, one after the other.",
		Repair: "Nothing, if that is what you want. `capkit explain` shows for a worker pool what has this effect."},
}
