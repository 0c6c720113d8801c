// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
)

// CloudProfileConfig checks all of a CloudProfileConfig but its images. The config stands at the path at; regions are
// those of the CloudProfile.
func CloudProfileConfig(config *v1alpha1.CloudProfileConfig, regions []string, at *field.Path) finding.Report {
	c := cloudProfile{config: config, regions: regions, known: sets.New(regions...)}
	c.floatingPools(at.Child("constraints", "floatingPools"))
	c.loadBalancerProviders(at.Child("constraints", "loadBalancerProviders"))
	c.dnsServers(at.Child("dnsServers"))
	c.dhcpDomain(at.Child("dhcpDomain"))
	c.keystoneURL(at.Child("keystoneURL"))
	c.bundle(config.KeystoneCACert, at.Child("keystoneCACert"))
	c.keystoneForceInsecure(at.Child("keystoneForceInsecure"))
	c.keystoneURLs(at.Child("keystoneURLs"))
	c.requestTimeout(at.Child("requestTimeout"))
	c.nodeVolumeAttachLimit(at.Child("nodeVolumeAttachLimit"))
	c.serverGroupPolicies(at.Child("serverGroupPolicies"))
	c.resolvConfOptions(at.Child("resolvConfOptions"))
	c.storageClasses(at.Child("storageClasses"))
	return c.Report
}

// cloudProfile is a config that is checked. Fields that may be anything have no check.
type cloudProfile struct {
	findings
	config *v1alpha1.CloudProfileConfig
	// regions are those of the CloudProfile, known are the same.
	regions []string
	known   sets.Set[string]
}

// region checks the region that an entry is for, if it is for one.
func (c *cloudProfile) region(region *string, at *field.Path) {
	if c.notEmpty(region, at) && c.trimmed(*region, at) && !c.known.Has(*region) {
		c.Found(ruleRegionUnknown, field.ErrorTypeNotSupported, at, *region,
			"region %s is not in the CloudProfile (%s), so that the entry cannot be used; %s", quote(*region),
			finding.Few(c.regions), cmp.Or(didYouMean(*region, c.regions), "correct it, or remove the entry"))
	}
}

// served warns about regions of the profile that none of the entries of a list is for. An entry without region is for
// all.
func (c *cloudProfile) served(entries []*string, at *field.Path, what, repair string) {
	served := sets.New[string]()
	for _, region := range entries {
		if region == nil {
			return
		}
		served.Insert(strings.TrimSpace(*region)) // white space is reported there
	}
	var without []string
	for _, region := range c.regions {
		if !served.Has(region) {
			served.Insert(region) // and not named again
			without = append(without, region)
		}
	}
	if len(without) > 0 {
		c.Found(ruleRegionUnserved, field.ErrorTypeRequired, at, nil,
			"there is no %s for %s, so that no Shoot can be there; %s", what, finding.Few(without), repair)
	}
}

// addGeneral is how regions without an entry of their own get one.
const addGeneral = "add one for the region, or one without region"

func (c *cloudProfile) floatingPools(at *field.Path) {
	pools := c.config.Constraints.FloatingPools
	if len(pools) == 0 {
		c.Found(RuleSettingMissing, field.ErrorTypeRequired, at, nil,
			"add at least one floating pool: the external network that Shoots take their floating IPs from")
		return
	}
	type key struct{ name, region, domain string }
	entries := seen[key]{}
	regions := make([]*string, 0, len(pools))
	for i := range pools {
		pool, path := &pools[i], at.Index(i)
		c.floatingPoolName(pool.Name, path.Child("name"))
		before := entries.before(key{pool.Name, quoted(pool.Region), quoted(pool.Domain)}, path)
		if before != nil && pool.Name != "" {
			c.duplicate(RuleEntryDuplicate, path.Child("name"), pool.Name, before,
				"is floating pool "+pool.Name+" for the same region and domain")
		}
		regions = append(regions, pool.Region)
		c.region(pool.Region, path.Child("region"))
		if c.notEmpty(pool.Domain, path.Child("domain")) {
			c.openStackName(*pool.Domain, path.Child("domain"), "domain")
		}
		if c.notEmpty(pool.DefaultFloatingSubnet, path.Child("defaultFloatingSubnet")) {
			c.trimmed(*pool.DefaultFloatingSubnet, path.Child("defaultFloatingSubnet"))
		}
		c.Add(loadBalancerClasses(pool.LoadBalancerClasses, path.Child("loadBalancerClasses")))
	}
	c.served(regions, at, "floating pool", addGeneral)
}

// floatingPoolName checks a name or a pattern, and warns about what is a wildcard elsewhere and stands for itself here.
func (c *cloudProfile) floatingPoolName(name string, at *field.Path) {
	c.openStackName(name, at, "floating pool")
	wildcards := []string{".*", "?", "["}
	i := slices.IndexFunc(wildcards, func(wildcard string) bool { return strings.Contains(name, wildcard) })
	if i >= 0 && leftOver(name) == "" {
		c.Found(ruleNameSuspicious, field.ErrorTypeInvalid, at, name,
			"floating pool %s: only * is a wildcard, and %s stands for itself; write a name, or a pattern such as fp-pool-*",
			quote(name), quote(strings.TrimSuffix(wildcards[i], "*")))
	}
	if misplaced(name) {
		c.Found(ruleFloatingPoolPattern, field.ErrorTypeInvalid, at, name,
			"floating pool %s: the * may stand alone, at the beginning or at the end of a name, and only once, "+
				"as in *, fp-pool-* or *-fp-pool", quote(name))
	}
}

func (c *cloudProfile) loadBalancerProviders(at *field.Path) {
	providers := c.config.Constraints.LoadBalancerProviders
	if len(providers) == 0 {
		c.Found(RuleSettingMissing, field.ErrorTypeRequired, at, nil,
			"add at least one load balancer provider, such as amphora, haproxy or whatever OpenStack has")
		return
	}
	type key struct{ name, region string }
	entries := seen[key]{}
	regions := make([]*string, 0, len(providers))
	for i := range providers {
		provider, path := &providers[i], at.Index(i)
		c.openStackName(provider.Name, path.Child("name"), "load balancer provider")
		before := entries.before(key{provider.Name, quoted(provider.Region)}, path)
		if before != nil && provider.Name != "" {
			c.duplicate(RuleEntryDuplicate, path.Child("name"), provider.Name, before,
				"is load balancer provider "+provider.Name+" for the same region")
		}
		regions = append(regions, provider.Region)
		c.region(provider.Region, path.Child("region"))
	}
	c.served(regions, at, "load balancer provider", addGeneral)
}

func (c *cloudProfile) dnsServers(at *field.Path) {
	servers := seen[netip.Addr]{}
	for i, server := range c.config.DNSServers {
		address, err := netip.ParseAddr(server)
		if err != nil || address.Zone() != "" {
			c.Found(ruleValueFormat, field.ErrorTypeInvalid, at.Index(i), server,
				"%s is no IP address, such as 10.10.10.11", quote(server))
		} else if before := servers.before(address.Unmap(), at.Index(i)); before != nil {
			c.duplicate(RuleEntryDuplicate, at.Index(i), server, before, "is the address "+address.String())
		}
	}
}

func (c *cloudProfile) dhcpDomain(at *field.Path) {
	domain := c.config.DHCPDomain
	if !c.notEmpty(domain, at) {
		return
	}
	// Some use underscores in names within their own network.
	name := strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(*domain, "."), "_", "x"))
	if len(utilvalidation.IsDNS1123Subdomain(name)) > 0 {
		c.Found(ruleValueFormat, field.ErrorTypeInvalid, at, *domain,
			"%s is not the name of a domain, such as nodes.example.com", quote(*domain))
	}
}

func (c *cloudProfile) requestTimeout(at *field.Path) {
	if timeout := c.config.RequestTimeout; timeout != nil && timeout.Duration <= 0 {
		c.Found(ruleValueOutOfRange, field.ErrorTypeInvalid, at, timeout.Duration.String(),
			"requestTimeout is %s; write a duration above zero, such as 60s", timeout.Duration)
	}
}

func (c *cloudProfile) nodeVolumeAttachLimit(at *field.Path) {
	if limit := c.config.NodeVolumeAttachLimit; limit != nil && *limit <= 0 {
		c.Found(ruleValueOutOfRange, field.ErrorTypeInvalid, at, *limit,
			"nodeVolumeAttachLimit is %d, so that no node could have a volume; write a number above zero, "+
				"or leave it out for %d", *limit, v1alpha1.DefaultNodeVolumeAttachLimit)
	}
}

// policies are those that Nova has.
var policies = []string{"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"}

func (c *cloudProfile) serverGroupPolicies(at *field.Path) {
	entries := seen[string]{}
	for i := range c.config.ServerGroupPolicies {
		policy, path := &c.config.ServerGroupPolicies[i], at.Index(i)
		if !c.notEmpty(policy, path) {
			continue
		}
		if before := entries.before(*policy, path); before != nil {
			c.duplicate(ruleEntryRepeated, path, *policy, before, "is "+*policy)
		} else if !slices.Contains(policies, *policy) {
			c.Found(ruleServerGroupPolicy, field.ErrorTypeNotSupported, path, *policy,
				"Nova, the compute service, has no policy %s; %s", quote(*policy), oneOf(*policy, policies))
		}
	}
}
