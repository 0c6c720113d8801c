// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lookup_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// index returns an entry's index in its slice; -1 for nil.
func index(t testing.TB, pools []v1alpha1.FloatingPool, pool *v1alpha1.FloatingPool) int {
	t.Helper()
	if pool == nil {
		return -1
	}
	i := slices.IndexFunc(pools, func(p v1alpha1.FloatingPool) bool { return p.Name == pool.Name })
	for ; i < len(pools); i++ {
		if &pools[i] == pool {
			return i
		}
	}
	t.Fatal("the entry is not that of the slice")
	return -1
}

const none = -1

// choices maps the name of a Shoot's pool to the index of the entry that it gets.
type choices map[string]int

func TestFloatingPool(t *testing.T) {
	for name, tc := range map[string]struct {
		pools string // for a Shoot in region europe and domain demo
		want  choices
		lists []string
	}{
		"nothing":                {"[]", choices{"fp": none, "": none}, nil},
		"a name":                 {"[{name: fp}]", choices{"fp": 0, "fp-1": none, "f": none, "FP": none, "": none}, []string{"fp"}},
		"everything":             {`[{name: "*"}]`, choices{"fp": 0, "": 0}, []string{"*"}},
		"a * at the end":         {"[{name: fp-*}]", choices{"fp-1": 0, "fp-": 0, "fp": none, "a-fp-1": none}, []string{"fp-*"}},
		"a * at the beginning":   {`[{name: "*-fp"}]`, choices{"1-fp": 0, "-fp": 0, "fp": none, "1-fp-a": none}, []string{"*-fp"}},
		"a * within is a letter": {"[{name: fp-*-pool}]", choices{"fp-1-pool": none, "fp-*-pool": 0}, []string{"fp-*-pool"}},
		"names before patterns": {
			`[{name: "*"}, {name: fp-long-*}, {name: fp-long-a}]`,
			choices{"fp-long-a": 2, "fp-long-b": 1, "fp": 0}, []string{"*", "fp-long-*", "fp-long-a"},
		},
		"longer patterns first": {
			`[{name: fp-*}, {name: fp-eu-*}, {name: "*-demo"}]`,
			choices{"fp-eu-1": 1, "fp-asia": 0, "fp-demo": 2, "fp-eu-demo": 1}, []string{"*-demo", "fp-*", "fp-eu-*"},
		},
		"as long, the * at end":   {`[{name: "*-fp"}, {name: fp-*}]`, choices{"fp-fp": 1, "a-fp": 0}, []string{"*-fp", "fp-*"}},
		"the region first":        {"[{name: fp}, {name: fp, region: europe}, {name: fp, region: asia}]", choices{"fp": 1}, []string{"fp"}},
		"the domain first":        {"[{name: fp}, {name: fp, domain: demo}, {name: fp, domain: dev}]", choices{"fp": 1}, []string{"fp"}},
		"the region, then domain": {"[{name: fp, domain: demo}, {name: fp, region: europe}]", choices{"fp": 1}, []string{"fp"}},
		"both before one of them": {
			`[{name: fp, region: europe}, {name: fp, domain: demo}, {name: "*", region: europe, domain: demo}]`,
			choices{"fp": 2, "x": 2}, []string{"*", "fp"},
		},
		"the region rules out": {`[{name: fp}, {name: "*"}, {name: eu, region: europe}]`, choices{"fp": none, "x": none, "eu": 2}, []string{"eu"}},
		"other regions do not": {
			"[{name: fp}, {name: asia, region: asia}, {name: x, region: asia, domain: demo}, {name: y, region: europe, domain: dev}]",
			choices{"fp": 0, "asia": none, "x": none, "y": none}, []string{"fp"},
		},
		"the domain rules out": {"[{name: fp}, {name: demo, domain: demo}]", choices{"fp": none, "demo": 1}, []string{"demo"}},
		"both rule out": {
			"[{name: fp}, {name: eu, region: europe}, {name: demo, domain: demo}, {name: x, region: europe, domain: demo}]",
			choices{"fp": none, "eu": none, "demo": none, "x": 3}, []string{"x"},
		},
		"each has to match": {
			`[{name: "*"}, {name: fp-*, region: europe}, {name: "*-demo", domain: demo}, {name: fp-1, domain: demo}]`,
			choices{"fp-demo": 1, "fp-1": 1, "fp-2": none, "x-demo": none, "y": none}, []string{"fp-1"},
		},
		"the narrower is listed": {"[{name: fp-*, region: europe}, {name: fp-eu-*, domain: demo}]", choices{"fp-eu-1": 0, "fp-1": none}, []string{"fp-eu-*"}},
		"nothing fits each":      {`[{name: "*"}, {name: eu, region: europe}, {name: demo, domain: demo}]`, choices{"eu": none, "demo": none, "x": none}, nil},
		"one that adds":          {"[{name: fp}, {name: eu, region: europe, nonConstraining: true}]", choices{"fp": 0, "eu": 1}, []string{"eu", "fp"}},
		"one that adds, general": {"[{name: fp, nonConstraining: true}, {name: eu, region: europe}]", choices{"fp": 0, "eu": 1}, []string{"eu", "fp"}},
		"ones that add, nothing": {
			"[{name: fp, nonConstraining: true}, {name: eu, region: europe, nonConstraining: true}]",
			choices{"fp": 0, "eu": 1}, []string{"eu", "fp"},
		},
		"adds beside each": {
			"[{name: a, region: europe}, {name: b, domain: demo}, {name: c, region: europe, nonConstraining: true}]",
			choices{"a": none, "b": none, "c": 2}, []string{"c"},
		},
		"constrains first":        {"[{name: fp, nonConstraining: true}, {name: fp}]", choices{"fp": 1}, []string{"fp"}},
		"constrains by a pattern": {`[{name: fp, nonConstraining: true}, {name: "*"}]`, choices{"fp": 1}, []string{"*", "fp"}},
		"the scope before that":   {`[{name: fp}, {name: "*", region: europe, nonConstraining: true}]`, choices{"fp": 1, "x": 1}, []string{"*", "fp"}},
		"false constrains":        {"[{name: fp}, {name: eu, region: europe, nonConstraining: false}]", choices{"fp": none, "eu": 1}, []string{"eu"}},
		"twice":                   {"[{name: fp}, {name: fp}]", choices{"fp": 0}, []string{"fp"}},
	} {
		t.Run(name, func(t *testing.T) {
			pools := decode[[]v1alpha1.FloatingPool](t, tc.pools)
			for pool, want := range tc.want {
				if got := index(t, pools, lookup.FloatingPool(pools, pool, "europe", "demo")); got != want {
					t.Errorf("%q: entry %d, not %d", pool, got, want)
				}
			}
			if diff := cmp.Diff(tc.lists, lookup.FloatingPools(pools, "europe", "demo")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The guide's example has three pools in europe. One domain has a pool of its own instead, and another has an additional one.
func TestFloatingPoolOfTheGuide(t *testing.T) {
	pools := guide(t).Constraints.FloatingPools
	for _, tc := range []struct {
		region, domain string
		want           choices
		lists          []string
	}{
		{"europe", "default", choices{"fp-pool-1": 0, "fp-pool-2": 1, "fp-pool-eu-demo": 1, "fp-pool-eu-dev": 1, "pool": none}, []string{"fp-pool-*", "fp-pool-1"}},
		{"europe", "", choices{"fp-pool-1": 0}, []string{"fp-pool-*", "fp-pool-1"}},
		{"europe", "demo", choices{"fp-pool-eu-demo": 2, "fp-pool-1": none, "fp-pool-2": none, "fp-pool-eu-dev": none}, []string{"fp-pool-eu-demo"}},
		{"europe", "dev", choices{"fp-pool-eu-dev": 3, "fp-pool-1": 0, "fp-pool-2": 1, "fp-pool-eu-demo": 1}, []string{"fp-pool-*", "fp-pool-1", "fp-pool-eu-dev"}},
		{"asia", "demo", choices{"fp-pool-1": none, "fp-pool-eu-demo": none}, nil},
	} {
		for name, want := range tc.want {
			if got := index(t, pools, lookup.FloatingPool(pools, name, tc.region, tc.domain)); got != want {
				t.Errorf("%s in %s of %q: entry %d, not %d", name, tc.region, tc.domain, got, want)
			}
		}
		if diff := cmp.Diff(tc.lists, lookup.FloatingPools(pools, tc.region, tc.domain)); diff != "" {
			t.Error(tc.region, tc.domain, diff)
		}
	}
	for region, want := range map[string][]string{"europe": {"demo", "dev"}, "asia": nil} {
		if diff := cmp.Diff(want, lookup.Domains(pools, region)); diff != "" {
			t.Error(region, diff)
		}
	}
}

func TestDomains(t *testing.T) {
	pools := decode[[]v1alpha1.FloatingPool](t, `[
		{name: a}, {name: b, domain: z}, {name: c, domain: z, region: europe}, {name: d, domain: x, region: asia},
		{name: e, region: europe}, {name: f, domain: a, region: europe, nonConstraining: true}]`)
	for region, want := range map[string][]string{"europe": {"a", "z"}, "asia": {"x", "z"}, "africa": {"z"}} {
		if diff := cmp.Diff(want, lookup.Domains(pools, region)); diff != "" {
			t.Error(region, diff)
		}
	}
	if got := lookup.Domains(nil, "europe"); got != nil {
		t.Error(got)
	}
}

func ExampleFloatingPool() {
	europe, demo := "europe", "demo"
	pools := []v1alpha1.FloatingPool{{Name: "fp-*"}, {Name: "fp-eu-*", Region: &europe}, {Name: "fp-demo", Region: &europe, Domain: &demo}}
	fmt.Println(lookup.FloatingPool(pools, "fp-1", "asia", "demo").Name)
	fmt.Println(lookup.FloatingPool(pools, "fp-eu-1", "europe", "default").Name)
	fmt.Println(lookup.FloatingPool(pools, "fp-eu-1", "europe", "demo"))
	fmt.Println(lookup.FloatingPools(pools, "europe", "demo"))
	// Output:
	// fp-*
	// fp-eu-*
	// <nil>
	// [fp-demo]
}
