// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lookup_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// The properties are about a shoot in europe of the domain demo, and about all names of up to four letters.
var names = func() []string {
	all := []string{""}
	for i := 0; len(all[i]) < 4; i++ {
		all = append(all, all[i]+"a", all[i]+"b")
	}
	return all
}()

// drawnPool is an entry whose name is one of those, or a pattern for some.
var drawnPool = rapid.Custom(func(t *rapid.T) v1alpha1.FloatingPool {
	letters := rapid.StringMatching("[ab]{0,3}").Draw(t, "letters")
	return v1alpha1.FloatingPool{
		Name:            rapid.SampledFrom([]string{letters, letters + "*", "*" + letters}).Draw(t, "name"),
		Region:          scopeName(t, "region", "europe", "asia"),
		Domain:          scopeName(t, "domain", "demo", "dev"),
		NonConstraining: rapid.Ptr(rapid.Bool(), true).Draw(t, "nonConstraining"),
	}
})

// oracle finds an entry by the text of the decision in lookup.go, sentence by sentence.
type oracle []v1alpha1.FloatingPool

func matches(pool *v1alpha1.FloatingPool, name string) bool {
	matched, err := path.Match(pool.Name, name)
	return err == nil && matched
}

func constrains(pool *v1alpha1.FloatingPool) bool {
	return pool.NonConstraining == nil || !*pool.NonConstraining
}

func counts(pool *v1alpha1.FloatingPool) bool {
	return (pool.Region == nil || *pool.Region == "europe") && (pool.Domain == nil || *pool.Domain == "demo")
}

// constraining returns the entries that count, constrain, and are for exactly this.
func (o oracle) constraining(region, domain bool) oracle {
	return slices.DeleteFunc(slices.Clone(o), func(p v1alpha1.FloatingPool) bool {
		return !counts(&p) || !constrains(&p) || (p.Region != nil) != region || (p.Domain != nil) != domain
	})
}

func (o oracle) anyMatches(name string) bool {
	return slices.ContainsFunc(o, func(p v1alpha1.FloatingPool) bool { return matches(&p, name) })
}

func (o oracle) ruledOut(pool *v1alpha1.FloatingPool, name string) bool {
	forBoth, forRegion, forDomain := o.constraining(true, true), o.constraining(true, false), o.constraining(false, true)
	switch {
	case !constrains(pool), pool.Region != nil && pool.Domain != nil:
		return false
	case len(forBoth) > 0:
		return true
	case pool.Region == nil && pool.Domain == nil:
		return len(forRegion)+len(forDomain) > 0
	}
	return len(forRegion) > 0 && !forRegion.anyMatches(name) || len(forDomain) > 0 && !forDomain.anyMatches(name)
}

// rank is higher the better an entry is. It is for entries that match one name.
func rank(pool *v1alpha1.FloatingPool) int {
	r := len(pool.Name) * 2
	if !strings.HasPrefix(pool.Name, "*") || pool.Name == "*" {
		r++
	}
	for weight, better := range map[int]bool{1000: !strings.Contains(pool.Name, "*"), 2000: constrains(pool), 4000: pool.Domain != nil, 8000: pool.Region != nil} {
		if better {
			r += weight
		}
	}
	return r
}

// choose returns the index of the entry for a name, or none.
func (o oracle) choose(name string) int {
	best := none
	for i := range o {
		if p := &o[i]; counts(p) && matches(p, name) && !o.ruledOut(p, name) && (best == none || rank(p) > rank(&o[best])) {
			best = i
		}
	}
	return best
}

func choose(t testing.TB, pools []v1alpha1.FloatingPool, name string) int {
	t.Helper()
	return index(t, pools, lookup.FloatingPool(pools, name, "europe", "demo"))
}

// Property: the choice is that of the oracle, for every name; nothing is changed.
func TestFloatingPoolEqualsTheOracle(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pools := rapid.SliceOfN(drawnPool, 0, 8).Draw(r, "pools")
		before := slices.Clone(pools)
		for _, name := range names {
			if got, want := choose(t, pools, name), oracle(pools).choose(name); got != want {
				r.Fatalf("%q: entry %d, not %d", name, got, want)
			}
		}
		if diff := cmp.Diff(before, pools); diff != "" {
			r.Fatal(diff)
		}
	})
}

// Property: what is listed can be chosen, all of it; and what can be chosen is listed, unless it is only where a pattern
// for the region and one for the domain overlap. The order of the entries decides nothing.
func TestFloatingPoolsListsTheChoices(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pools := rapid.SliceOfN(drawnPool, 0, 8).Draw(r, "pools")
		listed := lookup.FloatingPools(pools, "europe", "demo")
		if !slices.IsSorted(listed) || len(slices.Compact(slices.Clone(listed))) != len(listed) {
			r.Fatal(listed)
		}
		shuffled := rapid.Permutation(pools).Draw(r, "in another order")
		if diff := cmp.Diff(listed, lookup.FloatingPools(shuffled, "europe", "demo")); diff != "" {
			r.Fatal(diff)
		}
		o := oracle(pools)
		for _, name := range names {
			chosen := o.choose(name)
			isListed := slices.ContainsFunc(listed, func(pattern string) bool { return matches(&v1alpha1.FloatingPool{Name: pattern}, name) })
			if isListed && chosen == none {
				r.Fatalf("%q cannot be chosen: %q", name, listed)
			}
			if chosen != none && !isListed && !overlap(o, name) {
				r.Fatalf("%q is not listed: %q", name, listed)
			}
		}
	})
}

// overlap reports whether a name can be chosen by two patterns only, of which neither is the narrower one.
func overlap(o oracle, name string) bool {
	match := func(list oracle) oracle {
		return slices.DeleteFunc(slices.Clone(list), func(p v1alpha1.FloatingPool) bool { return !matches(&p, name) })
	}
	for _, one := range match(o.constraining(true, false)) {
		for _, other := range match(o.constraining(false, true)) {
			if strings.HasPrefix(one.Name, "*") == strings.HasPrefix(other.Name, "*") || one.Name == "*" || other.Name == "*" || one.Name == name || other.Name == name {
				return false
			}
		}
	}
	return len(o.constraining(true, false)) > 0 && len(o.constraining(false, true)) > 0
}

// Property: the domains are those by which it matters what domain a shoot is of: all others have the same choices.
func TestDomainsAreThoseThatMatter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		pools := rapid.SliceOfN(drawnPool, 0, 8).Draw(r, "pools")
		domains := lookup.Domains(pools, "europe")
		for _, domain := range []string{"demo", "dev", "another", ""} {
			if slices.Contains(domains, domain) {
				continue
			}
			for _, name := range names {
				if one, other := lookup.FloatingPool(pools, name, "europe", domain), lookup.FloatingPool(pools, name, "europe", "a third one"); one != other {
					r.Fatalf("%q: %+v, or %+v", name, one, other)
				}
			}
		}
	})
}
