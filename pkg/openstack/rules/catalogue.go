// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"

	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/finding"
)

// Rules returns the catalogue of rules about single objects, about Shoots in their profile, and about updates.
func (Extension) Rules() []finding.Rule {
	return slices.Concat(validation.Rules(), finding.On(finding.ObjectShoot,
		ruleRegionWithoutKeystone, ruleFloatingPool, ruleFloatingPoolDomain, ruleLoadBalancerProvider, ruleZone,
		ruleVolumeType, ruleServerGroup,
	), finding.Online(finding.On(finding.ObjectShoot, ruleMachinesReplaced, ruleOwnSetting)))
}

var (
	ruleRegionWithoutKeystone = finding.Denies("region-without-keystone",
		"The region of a Shoot has no identity service in the profile: `keystoneURL` is not set, and `keystoneURLs` has no entry for "+
			"the region. Nothing can be created there.",
		"Choose another region. The operator of the profile can add `keystoneURL`, or an entry for the region in `keystoneURLs`.")
	ruleFloatingPool = finding.Denies("floating-pool-not-allowed",
		"A Shoot asks for a floating pool that its profile does not have in its region, or not for the domain of its credentials. Entries for a region or a domain rule out those for all, unless they are `nonConstraining`.",
		"Use one of the floating pools that the message lists; names with a `*` are patterns. With `capkit lint`, check that "+
			"`--domain` names the domain of the credentials.")
	ruleFloatingPoolDomain = finding.Warns("floating-pool-domain",
		"The floating pool of a Shoot, or the networks of a load balancer class, are allowed for credentials of some domains only, and "+
			"the domain of the Shoot's credentials is unknown. It is not in manifests; admission reads it from the Secret.",
		"Check the Shoot with `capkit lint --domain NAME`, where NAME is the `domainName` in the Secret with the credentials.")
	ruleLoadBalancerProvider = finding.Denies("load-balancer-provider-not-allowed",
		"A Shoot asks for a load balancer provider that its profile does not have in its region. A region with its own load balancer "+
			"providers has no others.",
		"Use one of those that the message lists.")
	ruleZone = finding.Denies("unknown-zone",
		"A worker pool is in a zone that the profile does not list for the Shoot's region. Gardener's admission refuses such a Shoot.",
		"Use one of the zones that the message lists.")
	ruleVolumeType = finding.Denies("unknown-volume-type",
		"A worker pool asks for volumes of a type that the profile does not have. Gardener's admission refuses such a Shoot.",
		"Use one of the volume types that the message lists.")
	ruleServerGroup = finding.Denies("server-group-not-allowed",
		"A worker pool asks for a server group with a policy that is not among the `serverGroupPolicies` of the profile; or with the policy `affinity`, which puts all machines on one host, in several zones.",
		"Use one of the policies that the message lists, or remove `serverGroup`. With `affinity`, keep one zone.")
	ruleMachinesReplaced = finding.Warns("machines-replaced",
		"An update changes a part of a worker's `providerConfig` that applies only when machines are created: the server group, the "+
			"additional security groups, trusted launch, or a machine label with `triggerRollingOnUpdate`. All machines of the worker pool are replaced, one after the other.",
		"None, if that is intended. `capkit explain` lists the settings of a worker pool with this effect.")
	ruleOwnSetting = finding.Denies("setting-of-capkit",
		"A worker's `providerConfig` has `trustedLaunch`, which provider-openstack does not know. Its worker controller reads the "+
			"config strictly: it can neither reconcile nor delete a Shoot with this field, and the machines of its other worker pools stay "+
			"as they are, too.",
		"Remove the field. An operator who runs capkit's worker controller in all seeds can start the admission component with `--worker-controller`.")
)
