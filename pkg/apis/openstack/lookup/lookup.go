// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package lookup finds what a CloudProfileConfig has for one shoot: the identity service of its region, its floating pool,
// its load balancer providers. Admission, command and controllers look things up here, so that all of them find the same.
//
// Every function is pure, safe for concurrent use, and takes configs as they are, also those that the validation
// refuses. Of two entries that are the same the first counts; apart from that the order of lists decides nothing.
package lookup

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// Endpoint is an identity service.
type Endpoint struct {
	// URL of the service.
	URL string
	// CACert is the bundle of CA certificates, in PEM format, to verify its certificate with; empty: the system's CAs.
	CACert string
}

// Keystone returns the identity service of a region: its own entry in keystoneURLs if there is one, or else keystoneURL.
// An entry without CA bundle has that of keystoneCACert. It is false if the region has no identity service.
func Keystone(config *v1alpha1.CloudProfileConfig, region string) (Endpoint, bool) {
	endpoint := Endpoint{URL: ptr.Deref(config.KeystoneURL, ""), CACert: ptr.Deref(config.KeystoneCACert, "")}
	is := func(k v1alpha1.KeystoneURL) bool { return k.Region == region }
	if i := slices.IndexFunc(config.KeystoneURLs, is); i >= 0 {
		own := &config.KeystoneURLs[i]
		endpoint.URL, endpoint.CACert = own.URL, cmp.Or(ptr.Deref(own.CACert, ""), endpoint.CACert)
	}
	return endpoint, endpoint.URL != ""
}

// LoadBalancerProviders returns the names of the load balancer providers that a shoot in a region may choose from, sorted,
// each of them once: those of the region if it has any, or else those without region. The caller owns the slice.
func LoadBalancerProviders(providers []v1alpha1.LoadBalancerProvider, region string) []string {
	var regional, general []string
	for _, p := range providers {
		switch {
		case p.Region == nil:
			general = append(general, p.Name)
		case *p.Region == region:
			regional = append(regional, p.Name)
		}
	}
	names := regional
	if len(names) == 0 {
		names = general
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Which floating pools a shoot may choose from, and which entry it gets, are decided as follows.
//
// An entry counts for a shoot if it names the shoot's region, or none, and the shoot's domain, or none. What it names is
// its scope: region and domain, region, domain, or nothing.
//
// Entries constrain, unless they are nonConstraining: where entries of a scope constrain, those of less specific scopes do
// not count. So entries for region and domain rule out all others. If there are none, entries for the region and entries
// for the domain rule out those for neither; and if there are both, the pool has to be among the ones as well as among the
// others. Entries that are nonConstraining rule out nothing and are never ruled out.
//
// Of the entries that match the name and are not ruled out the shoot gets the one with the most specific scope (region and
// domain, region, domain, nothing); of those one that constrains; of those the one whose name matches best: a name before
// patterns, a pattern with more letters before others, and of two with equally many that with the * at its end.

// FloatingPool returns the entry that a shoot in a region and of a domain gets if it chooses a floating pool by its name;
// nil if it may not choose that one. The entry is that of the slice.
func FloatingPool(pools []v1alpha1.FloatingPool, name, region, domain string) *v1alpha1.FloatingPool {
	return choose(relevant(pools, region, domain), name)
}

// FloatingPools returns the names, or patterns for the names, of the floating pools that a shoot in a region and of a
// domain may choose from, sorted, each of them once. Where a pool has to match two patterns, one for the region and one
// for the domain, it is the narrower one of the two; two that only overlap, such as fp-* and *-demo, are left out, although
// names that match both can be chosen. The caller owns the slice.
func FloatingPools(pools []v1alpha1.FloatingPool, region, domain string) []string {
	count := relevant(pools, region, domain)
	var names []string
	for _, pool := range count {
		if choose(count, pool.Name) != nil { // a pattern matches whatever is as wide or wider
			names = append(names, pool.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Domains returns the domains that entries for a region name, sorted, each of them once: for all other domains the same
// entries count. The caller owns the slice.
func Domains(pools []v1alpha1.FloatingPool, region string) []string {
	var domains []string
	for _, pool := range pools {
		if pool.Domain != nil && (pool.Region == nil || *pool.Region == region) {
			domains = append(domains, *pool.Domain)
		}
	}
	slices.Sort(domains)
	return slices.Compact(domains)
}

// The scopes, the most specific one last.
const (
	everywhere      = 0
	domainOnly      = 1
	regionOnly      = 2
	regionAndDomain = regionOnly + domainOnly
	scopes          = 4
)

func scope(pool *v1alpha1.FloatingPool) int {
	return regionOnly*bit(pool.Region != nil) + domainOnly*bit(pool.Domain != nil)
}

func constrains(pool *v1alpha1.FloatingPool) bool {
	return !ptr.Deref(pool.NonConstraining, false)
}

// relevant returns the entries that count for a region and a domain.
func relevant(pools []v1alpha1.FloatingPool, region, domain string) []*v1alpha1.FloatingPool {
	var count []*v1alpha1.FloatingPool
	for i := range pools {
		if p := &pools[i]; (p.Region == nil || *p.Region == region) && (p.Domain == nil || *p.Domain == domain) {
			count = append(count, p)
		}
	}
	return count
}

// choose returns the entry for a name among those that count for a shoot; nil if there is none.
func choose(pools []*v1alpha1.FloatingPool, name string) *v1alpha1.FloatingPool {
	var constraining, matched [scopes]bool
	for _, pool := range pools {
		if constrains(pool) {
			s := scope(pool)
			constraining[s] = true
			matched[s] = matched[s] || Matches(pool.Name, name)
		}
	}
	allowed := allowing(constraining, matched)
	var best *v1alpha1.FloatingPool
	for _, pool := range pools {
		counts := Matches(pool.Name, name) && (!constrains(pool) || allowed[scope(pool)])
		if counts && (best == nil || slices.Compare(merits(pool), merits(best)) > 0) {
			best = pool
		}
	}
	return best
}

// allowing returns the scopes whose constraining entries count for a name that entries of these scopes have matched.
func allowing(constraining, matched [scopes]bool) [scopes]bool {
	var allowed [scopes]bool
	switch {
	case constraining[regionAndDomain]:
		allowed[regionAndDomain] = matched[regionAndDomain]
	case constraining[regionOnly] || constraining[domainOnly]:
		both := matched[regionOnly] == constraining[regionOnly] && matched[domainOnly] == constraining[domainOnly]
		allowed[regionOnly], allowed[domainOnly] = both, both
	default:
		allowed[everywhere] = true
	}
	return allowed
}

// merits are what speaks for an entry that matches a name, what counts most first.
func merits(pool *v1alpha1.FloatingPool) []int {
	return []int{
		scope(pool), bit(constrains(pool)), bit(!strings.Contains(pool.Name, "*")), len(pool.Name),
		bit(strings.HasSuffix(pool.Name, "*")),
	}
}

// Matches reports whether a name is that of a pattern: a name, * alone, or a name with * at the beginning or at the end.
func Matches(pattern, name string) bool {
	if prefix, found := strings.CutSuffix(pattern, "*"); found {
		return strings.HasPrefix(name, prefix)
	}
	if suffix, found := strings.CutPrefix(pattern, "*"); found {
		return strings.HasSuffix(name, suffix)
	}
	return pattern == name
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
