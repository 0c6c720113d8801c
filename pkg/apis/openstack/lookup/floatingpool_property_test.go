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

// names holds all names of up to four letters. The properties are about these names and a Shoot in region europe and domain demo.
var names = func() []string {
	all := []string{""}
	for i := 0; len(all[i]) < 4; i++ {
		all = append(all, all[i]+"a", all[i]+"b")
	}
	return all
}()

// drawnPool draws an entry whose name is one of names, or a pattern that matches some.
var drawnPool = rapid.Custom(func(t *rapid.T) v1alpha1.FloatingPool {
	letters := rapid.StringMatching("[ab]{0,3}").Draw(t, "letters")
	return v1alpha1.FloatingPool{
		Name:            rapid.SampledFrom([]string{letters, letters + "*", "*" + letters}).Draw(t, "name"),
		Region:          scopeName(t, "region", "europe", "asia"),
		Domain:          scopeName(t, "domain", "demo", "dev"),
		NonConstraining: rapid.Ptr(rapid.Bool(), true).Draw(t, "nonConstraining"),
	}
})

// oracle finds an entry by following the text of the decision in lookup.go, sentence by sentence.
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

// constraining returns the entries that apply, constrain, and set exactly these fields.
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

// rank returns a higher number for a better entry. It is defined for entries that match one name.
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

// Property: the choice equals the oracle's for every name, and the entries are not modified.
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

// Property: every listed name can be chosen. Every name that can be chosen is listed, unless it matches only where a pattern for the
// region overlaps one for the domain. The order of the entries does not matter.
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

// overlap reports whether a name can be chosen only by two patterns, neither of which is narrower.
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

// Property: Domains returns every domain that affects the choice. All other domains have the same choices.
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
