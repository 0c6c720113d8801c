// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// The rules about single settings of a CloudProfileConfig.
const (
	OriginFloatingPoolPattern = "floating-pool-pattern"
	OriginKeystoneURL         = "keystone-url"
	OriginKeystoneInsecure    = "keystone-insecure"
	OriginCACertificate       = "ca-certificate"
	OriginServerGroupPolicy   = "server-group-policy"
	OriginResolvConfOption    = "resolv-conf-option"
)

// cloudProfileChecks are what is checked of each field, in the order of the type. Those that may be anything are left out.
var cloudProfileChecks = []struct {
	field string
	check func(*Findings, *v1alpha1.CloudProfileConfig, regions, *field.Path)
}{
	{"constraints", (*Findings).constraints},
	{"dnsServers", (*Findings).dnsServers},
	{"dhcpDomain", (*Findings).dhcpDomain},
	{"keystoneURL", (*Findings).keystoneURL},
	{"keystoneCACert", (*Findings).keystoneCACert},
	{"keystoneForceInsecure", (*Findings).keystoneForceInsecure},
	{"keystoneURLs", (*Findings).keystoneURLs},
	{"requestTimeout", (*Findings).requestTimeout},
	{"nodeVolumeAttachLimit", (*Findings).nodeVolumeAttachLimit},
	{"serverGroupPolicies", (*Findings).serverGroupPolicies},
	{"resolvConfOptions", (*Findings).resolvConfOptions},
	{"storageClasses", (*Findings).storageClasses},
}

// CloudProfileConfig checks all of a CloudProfileConfig but its images. The config stands at the path at; profileRegions
// are the regions of the CloudProfile.
func CloudProfileConfig(config *v1alpha1.CloudProfileConfig, profileRegions []string, at *field.Path) Findings {
	var found Findings
	known := regions{names: profileRegions, set: make(map[string]bool, len(profileRegions))}
	for _, region := range profileRegions {
		known.set[region] = true
	}
	for _, c := range cloudProfileChecks {
		c.check(&found, config, known, at.Child(c.field))
	}
	return found
}

// regions are those of a CloudProfile.
type regions struct {
	names []string
	set   map[string]bool
}

// region checks the region that an entry is for, if it is for one.
func (f *Findings) region(region *string, at *field.Path, known regions) {
	if f.notEmpty(region, at) && f.trimmed(*region, at) && !known.set[*region] {
		f.warn(OriginRegionUnknown, field.ErrorTypeNotSupported, at, *region,
			"region %s is not in the CloudProfile (%s), so that the entry cannot be used; %s", quote(*region), few(known.names), cmp.Or(didYouMean(*region, known.names), "correct it, or remove the entry"))
	}
}

// served warns about regions of the profile that none of the entries of a list is for. An entry without region is for all.
func (f *Findings) served(known regions, entries []*string, at *field.Path, what, repair string) {
	served := make(map[string]bool, len(entries))
	for _, region := range entries {
		if region == nil {
			return
		}
		served[strings.TrimSpace(*region)] = true // white space is reported there
	}
	var without []string
	for _, region := range known.names {
		if !served[region] {
			served[region] = true // and not named again
			without = append(without, region)
		}
	}
	if len(without) > 0 {
		f.warn(OriginRegionUnserved, field.ErrorTypeRequired, at, nil,
			"there is no %s for %s, so that no Shoot can be there; %s", what, few(without), repair)
	}
}

func (f *Findings) constraints(config *v1alpha1.CloudProfileConfig, known regions, at *field.Path) {
	f.floatingPools(config.Constraints.FloatingPools, known, at.Child("floatingPools"))
	f.loadBalancerProviders(config.Constraints.LoadBalancerProviders, known, at.Child("loadBalancerProviders"))
}

func (f *Findings) floatingPools(pools []v1alpha1.FloatingPool, known regions, at *field.Path) {
	if len(pools) == 0 {
		f.fail(OriginSettingMissing, field.ErrorTypeRequired, at, nil, "add at least one floating pool: the external network that Shoots take their floating IPs from")
		return
	}
	type key struct{ name, region, domain string }
	entries := seen[key]{}
	of := make([]*string, 0, len(pools))
	for i := range pools {
		pool, path := &pools[i], at.Index(i)
		f.openStackName(pool.Name, path.Child("name"), "floating pool")
		f.wildcards(pool.Name, path.Child("name"))
		if misplaced(pool.Name) {
			f.fail(OriginFloatingPoolPattern, field.ErrorTypeInvalid, path.Child("name"), pool.Name,
				"floating pool %s: the * may stand alone, at the beginning or at the end of a name, and only once, as in *, fp-pool-* or *-fp-pool", quote(pool.Name))
		}
		before, first := entries.first(key{pool.Name, quoted(pool.Region), quoted(pool.Domain)}, path)
		if !first && pool.Name != "" {
			f.fail(OriginEntryDuplicate, field.ErrorTypeDuplicate, path.Child("name"), pool.Name,
				"%s is floating pool %s for the same region and domain already; remove one of the two", before, pool.Name)
		}
		of = append(of, pool.Region)
		f.region(pool.Region, path.Child("region"), known)
		if f.notEmpty(pool.Domain, path.Child("domain")) {
			f.openStackName(*pool.Domain, path.Child("domain"), "domain")
		}
		if f.notEmpty(pool.DefaultFloatingSubnet, path.Child("defaultFloatingSubnet")) {
			f.trimmed(*pool.DefaultFloatingSubnet, path.Child("defaultFloatingSubnet"))
		}
		f.Add(LoadBalancerClasses(pool.LoadBalancerClasses, path.Child("loadBalancerClasses")))
	}
	f.served(known, of, at, "floating pool", "add one for the region, or one without region")
}

func (f *Findings) loadBalancerProviders(providers []v1alpha1.LoadBalancerProvider, known regions, at *field.Path) {
	if len(providers) == 0 {
		f.fail(OriginSettingMissing, field.ErrorTypeRequired, at, nil, "add at least one load balancer provider, such as amphora, haproxy or whatever OpenStack has")
		return
	}
	type key struct{ name, region string }
	entries := seen[key]{}
	of := make([]*string, 0, len(providers))
	for i := range providers {
		provider, path := &providers[i], at.Index(i)
		f.openStackName(provider.Name, path.Child("name"), "load balancer provider")
		before, first := entries.first(key{provider.Name, quoted(provider.Region)}, path)
		if !first && provider.Name != "" {
			f.fail(OriginEntryDuplicate, field.ErrorTypeDuplicate, path.Child("name"), provider.Name,
				"%s is load balancer provider %s for the same region already; remove one of the two", before, provider.Name)
		}
		of = append(of, provider.Region)
		f.region(provider.Region, path.Child("region"), known)
	}
	f.served(known, of, at, "load balancer provider", "add one for the region, or one without region")
}

// quoted tells what is absent from what is empty.
func quoted(s *string) string {
	if s == nil {
		return ""
	}
	return strconv.Quote(*s)
}

func (f *Findings) dnsServers(config *v1alpha1.CloudProfileConfig, _ regions, at *field.Path) {
	servers := seen[netip.Addr]{}
	for i, server := range config.DNSServers {
		address, err := netip.ParseAddr(server)
		if err != nil || address.Zone() != "" {
			f.fail(OriginValueFormat, field.ErrorTypeInvalid, at.Index(i), server, "%s is no IP address, such as 10.10.10.11", quote(server))
			continue
		}
		if before, first := servers.first(address.Unmap(), at.Index(i)); !first {
			f.fail(OriginEntryDuplicate, field.ErrorTypeDuplicate, at.Index(i), server, "%s is the address %s already; remove one of the two", before, address)
		}
	}
}

func (f *Findings) dhcpDomain(config *v1alpha1.CloudProfileConfig, _ regions, at *field.Path) {
	domain := config.DHCPDomain
	// Some use underscores in names within their own network.
	if f.notEmpty(domain, at) && len(utilvalidation.IsDNS1123Subdomain(strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(*domain, "."), "_", "x")))) > 0 {
		f.fail(OriginValueFormat, field.ErrorTypeInvalid, at, *domain, "%s is not the name of a domain, such as nodes.example.com", quote(*domain))
	}
}

func (f *Findings) requestTimeout(config *v1alpha1.CloudProfileConfig, _ regions, at *field.Path) {
	if timeout := config.RequestTimeout; timeout != nil && timeout.Duration <= 0 {
		f.fail(OriginValueOutOfRange, field.ErrorTypeInvalid, at, timeout.Duration.String(), "requestTimeout is %s; write a duration above zero, such as 60s", timeout.Duration)
	}
}

func (f *Findings) nodeVolumeAttachLimit(config *v1alpha1.CloudProfileConfig, _ regions, at *field.Path) {
	if limit := config.NodeVolumeAttachLimit; limit != nil && *limit <= 0 {
		f.fail(OriginValueOutOfRange, field.ErrorTypeInvalid, at, *limit,
			"nodeVolumeAttachLimit is %d, so that no node could have a volume; write a number above zero, or leave it out for %d", *limit, v1alpha1.DefaultNodeVolumeAttachLimit)
	}
}

// policies are those that Nova has.
var policies = []string{"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"}

func (f *Findings) serverGroupPolicies(config *v1alpha1.CloudProfileConfig, _ regions, at *field.Path) {
	entries := seen[string]{}
	for i := range config.ServerGroupPolicies {
		policy, path := &config.ServerGroupPolicies[i], at.Index(i)
		if !f.notEmpty(policy, path) {
			continue
		}
		if before, first := entries.first(*policy, path); !first {
			f.warn(OriginEntryRepeated, field.ErrorTypeDuplicate, path, *policy, "%s is %s already; remove one of the two", before, *policy)
		} else if !slices.Contains(policies, *policy) {
			f.warn(OriginServerGroupPolicy, field.ErrorTypeNotSupported, path, *policy, "Nova, the compute service, has no policy %s; %s", quote(*policy), oneOf(*policy, policies))
		}
	}
}

// resolvOptions are the options that resolv.conf(5) knows, those with a number also with the least and the greatest one
// that has an effect.
var resolvOptions = map[string][2]int{
	"debug": {}, "ndots": {0, 15}, "timeout": {1, 30}, "attempts": {1, 5}, "rotate": {}, "no-aaaa": {}, "no-check-names": {}, "inet6": {},
	"ip6-bytestring": {}, "ip6-dotint": {}, "no-ip6-dotint": {}, "edns0": {}, "single-request": {}, "single-request-reopen": {},
	"no-tld-query": {}, "use-vc": {}, "no-reload": {}, "trust-ad": {},
}

func (f *Findings) resolvConfOptions(config *v1alpha1.CloudProfileConfig, _ regions, at *field.Path) {
	entries := seen[string]{}
	for i := range config.ResolvConfOptions {
		option, path := &config.ResolvConfOptions[i], at.Index(i)
		if !f.notEmpty(option, path) {
			continue
		}
		if strings.ContainsFunc(*option, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
			f.fail(OriginValueFormat, field.ErrorTypeInvalid, path, *option, "the line break, or other control character, in %s would break the file; write one option in each entry", quote(*option))
			continue
		}
		words := strings.Fields(*option)
		if words[0] == "options" {
			f.warn(OriginResolvConfOption, field.ErrorTypeInvalid, path, *option, "%s begins with the word options, which is added to the file anyway; write the option alone, as in rotate", quote(*option))
			continue
		}
		if len(words) > 1 {
			f.warn(OriginResolvConfOption, field.ErrorTypeInvalid, path, *option, "%s is more than one option; write one in each entry", quote(*option))
		}
		for _, word := range words {
			if before, first := entries.first(word, path); !first {
				f.warn(OriginEntryRepeated, field.ErrorTypeDuplicate, path, word, "%s has the option %s already; remove one of the two", before, word)
			} else if problem := resolvProblem(word); problem != "" {
				f.warn(OriginResolvConfOption, field.ErrorTypeInvalid, path, word, "%s", problem)
			}
		}
	}
}

// resolvProblem says what is wrong with an option of resolv.conf; empty if it has an effect.
func resolvProblem(option string) string {
	name, number, numbered := strings.Cut(option, ":")
	bounds, known := resolvOptions[name]
	switch n, err := strconv.Atoi(number); {
	case !known:
		return quote(option) + " is no option of resolv.conf, so that it is ignored; " +
			cmp.Or(didYouMean(name, slices.Sorted(maps.Keys(resolvOptions))), "remove it")
	case bounds[1] == 0 && numbered:
		return quote(option) + ": this option takes no number; write " + name
	case bounds[1] > 0 && (err != nil || n < bounds[0] || n > bounds[1]):
		return quote(option) + ": this option needs a number from " + strconv.Itoa(bounds[0]) + " to " + strconv.Itoa(bounds[1]) + ", as in " + name + ":" + strconv.Itoa(bounds[0]+1)
	}
	return ""
}
