// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package validation checks the provider's own objects for OpenStack, field by field: what each may be by itself, and
// what an update may change. It does not compare one object with another; what a Shoot may have in its CloudProfile
// is said in pkg/openstack/rules, and nothing is said here about which images there are for which machines.
//
// Every function is pure and safe for concurrent use. It reports everything at once, in the order of the fields as
// the types list them, at paths below the one that it is given. [Rules] describes the rules. There is a file
// for each object, and findings.go has what their checks share.
package validation

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/sets"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// CloudProfileConfig checks all of a CloudProfileConfig but its images. The config stands at the path at; regions are
// those of the CloudProfile.
func CloudProfileConfig(config *v1alpha1.CloudProfileConfig, regions []string, at *field.Path) finding.Report {
	c := cloudProfile{config: config, regions: regions, known: sets.New(regions...), speller: words.NewSpeller(regions)}
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
	speller *words.Speller
}

func (c *cloudProfile) region(region *string, at *field.Path) {
	if c.notEmpty(region, at) && c.trimmed(*region, at) && !c.known.Has(*region) {
		meant := c.speller.Slip(*region)
		c.Found(ruleRegionUnknown, field.ErrorTypeNotSupported, at, *region,
			"region %s: not among the regions of the CloudProfile (%s), so that the entry cannot be used; %s", quote(*region),
			words.Few(c.regions), cmp.Or(question(meant), "correct it, or remove the entry"),
		).Suggestion = finding.Suggest(finding.ReplaceRegion, *region, meant, c.speller.Certain(*region))
	}
}

// served warns about regions of the profile that no entry of a list is for. An entry without region is for all.
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
			"there is no %s for %s %s, so that no Shoot can be there; %s", what, words.Plural(without, "region"), words.Few(without), repair)
	}
}

// addGeneral is how regions without an entry of their own get one.
const addGeneral = "add one for the region, or one without region"

func (c *cloudProfile) floatingPools(at *field.Path) {
	pools := c.config.Constraints.FloatingPools
	if len(pools) == 0 {
		c.missing(at, "add at least one floating pool: the external network that Shoots take their floating IPs from")
		return
	}
	type key struct{ name, region, domain string }
	entries := seen[key]{}
	regions := make([]*string, 0, len(pools))
	for i := range pools {
		pool, path := &pools[i], at.Index(i)
		c.floatingPoolName(pool.Name, path.Child("name"))
		if pool.Name != "" {
			entries.again(&c.findings, RuleEntryDuplicate, key{pool.Name, quoted(pool.Region), quoted(pool.Domain)}, path,
				path.Child("name"), pool.Name, "is floating pool "+pool.Name+" for the same region and domain")
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
		c.missing(at, "add at least one load balancer provider, such as amphora, haproxy or whatever OpenStack has")
		return
	}
	type key struct{ name, region string }
	entries := seen[key]{}
	regions := make([]*string, 0, len(providers))
	for i := range providers {
		provider, path := &providers[i], at.Index(i)
		c.openStackName(provider.Name, path.Child("name"), "load balancer provider")
		if provider.Name != "" {
			entries.again(&c.findings, RuleEntryDuplicate, key{provider.Name, quoted(provider.Region)}, path,
				path.Child("name"), provider.Name, "is load balancer provider "+provider.Name+" for the same region")
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
				"%s is not an IP address; write one such as 10.10.10.11", quote(server))
		} else {
			servers.again(&c.findings, RuleEntryDuplicate, address.Unmap(), at.Index(i), at.Index(i), server, "is the address "+address.String())
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

// ServerGroupPolicies are those that Nova has. They must not be changed.
var ServerGroupPolicies = []string{"affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity"}

func (c *cloudProfile) serverGroupPolicies(at *field.Path) {
	entries := seen[string]{}
	for i := range c.config.ServerGroupPolicies {
		policy, path := &c.config.ServerGroupPolicies[i], at.Index(i)
		if c.notEmpty(policy, path) && !entries.again(&c.findings, ruleEntryRepeated, *policy, path, path, *policy, "is "+*policy) &&
			!slices.Contains(ServerGroupPolicies, *policy) {
			c.Found(ruleServerGroupPolicy, field.ErrorTypeNotSupported, path, *policy,
				"Nova, the compute service, has no policy %s; %s", quote(*policy), oneOf(*policy, ServerGroupPolicies))
		}
	}
}

// storageClasses demands of each class what Kubernetes demands of it when it is created in a Shoot.
func (c *cloudProfile) storageClasses(at *field.Path) {
	names := seen[string]{}
	var standard *field.Path
	for i := range c.config.StorageClasses {
		class, path := &c.config.StorageClasses[i], at.Index(i)
		c.storageClassName(class.Name, path, names)
		switch isDefault := ptr.Deref(class.Default, false); {
		case isDefault && standard != nil:
			c.Found(rulePurposeDuplicate, field.ErrorTypeDuplicate, path.Child("default"), true,
				"storage class %s is a second default, after %s; remove default: true from one of the two", class.Name, standard)
		case isDefault:
			standard = path
		}
		if c.notEmpty(class.Provisioner, path.Child("provisioner")) {
			c.key(*class.Provisioner, path.Child("provisioner"), strings.ToLower)
		}
		c.storageClassMaps(class, path)
		c.supported(class.ReclaimPolicy, path.Child("reclaimPolicy"), "Delete", "Retain")
		c.supported(class.VolumeBindingMode, path.Child("volumeBindingMode"), "Immediate", "WaitForFirstConsumer")
	}
}

func (c *cloudProfile) storageClassName(name string, at *field.Path, names seen[string]) {
	c.name(name, at.Child("name"), "storage class")
	if name == "" {
		return
	}
	c.sameName(names, name, at, "storage class")
	if len(utilvalidation.IsDNS1123Subdomain(name)) > 0 {
		c.Found(ruleValueFormat, field.ErrorTypeInvalid, at.Child("name"), name,
			"storage class %s: Kubernetes allows lower case letters, digits, - and . only, with a letter or digit "+
				"at the beginning and end, and 253 of them at most", quote(name))
	}
}

func (c *cloudProfile) storageClassMaps(class *v1alpha1.StorageClassDefinition, at *field.Path) {
	if _, found := class.Parameters[""]; found {
		c.Found(ruleValueFormat, field.ErrorTypeInvalid, at.Child("parameters").Key(""), "", "a parameter needs a name")
	}
	for _, key := range slices.Sorted(maps.Keys(class.Annotations)) {
		c.key(key, at.Child("annotations").Key(key), strings.ToLower)
	}
	for _, key := range slices.Sorted(maps.Keys(class.Labels)) {
		path, value := at.Child("labels").Key(key), class.Labels[key]
		c.key(key, path, strings.Clone)
		for _, problem := range content.IsLabelValue(value) {
			c.Found(ruleValueFormat, field.ErrorTypeInvalid, path, value, "%s: %s", quote(value), problem)
		}
	}
}

// key checks what Kubernetes calls a qualified name, after it was normalized: the key of a label, or, where upper and
// lower case are the same, the key of an annotation or the name of a driver.
func (c *cloudProfile) key(key string, at *field.Path, normalized func(string) string) {
	for _, problem := range content.IsLabelKey(normalized(key)) {
		c.Found(ruleValueFormat, field.ErrorTypeInvalid, at, key, "%s: %s", quote(key), problem)
	}
}

// resolvOptions are the options that resolv.conf(5) knows, with the least and the greatest number that has an effect.
var resolvOptions = map[string][2]int{
	"debug": {}, "ndots": {0, 15}, "timeout": {1, 30}, "attempts": {1, 5}, "rotate": {}, "no-aaaa": {}, "no-check-names": {},
	"inet6": {}, "ip6-bytestring": {}, "ip6-dotint": {}, "no-ip6-dotint": {}, "edns0": {}, "single-request": {},
	"single-request-reopen": {}, "no-tld-query": {}, "use-vc": {}, "no-reload": {}, "trust-ad": {},
}

func (c *cloudProfile) resolvConfOptions(at *field.Path) {
	entries := seen[string]{}
	for i := range c.config.ResolvConfOptions {
		if option := &c.config.ResolvConfOptions[i]; c.notEmpty(option, at.Index(i)) {
			c.resolvConfOption(*option, at.Index(i), entries)
		}
	}
}

func (c *cloudProfile) resolvConfOption(option string, at *field.Path, entries seen[string]) {
	if strings.ContainsFunc(option, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
		c.Found(ruleValueFormat, field.ErrorTypeInvalid, at, option,
			"the line break, or other control character, in %s would break the file; write one option in each entry",
			quote(option))
		return
	}
	words := strings.Fields(option)
	if words[0] == "options" {
		c.Found(ruleResolvConfOption, field.ErrorTypeInvalid, at, option,
			"%s begins with the word options, which is added to the file anyway; write the option alone, as in rotate",
			quote(option))
		return
	}
	if len(words) > 1 {
		c.Found(ruleResolvConfOption, field.ErrorTypeInvalid, at, option,
			"%s is more than one option; write one in each entry", quote(option))
	}
	for _, word := range words {
		again := entries.again(&c.findings, ruleEntryRepeated, word, at, at, word, "has the option "+word)
		if problem := resolvProblem(word); !again && problem != "" {
			c.Found(ruleResolvConfOption, field.ErrorTypeInvalid, at, word, "%s%s", quote(word), problem)
		}
	}
}

// resolvProblem says what is wrong with an option of resolv.conf, as what follows it; empty if it has an effect.
func resolvProblem(option string) string {
	name, number, numbered := strings.Cut(option, ":")
	bounds, known := resolvOptions[name]
	switch n, err := strconv.Atoi(number); {
	case !known:
		return " is not an option of resolv.conf, so that it is ignored; " +
			cmp.Or(didYouMean(name, slices.Sorted(maps.Keys(resolvOptions))), "remove it")
	case bounds[1] == 0 && numbered:
		return ": this option takes no number; write " + name
	case bounds[1] > 0 && (err != nil || n < bounds[0] || n > bounds[1]):
		return fmt.Sprintf(": this option needs a number from %d to %d, as in %s:%d", bounds[0], bounds[1], name, bounds[0]+1)
	}
	return ""
}
