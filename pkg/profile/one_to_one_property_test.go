// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile"
)

// drawWorkerDefinitions draws definitions that include worker capabilities: one of the provider, and a reserved one.
func drawWorkerDefinitions(t *rapid.T) []v1beta1.CapabilityDefinition {
	defs := given.DrawDefinitions(t)
	for _, def := range []v1beta1.CapabilityDefinition{
		{Name: "given-trusted", Values: []string{"off", "on"}}, {Name: capability.BootType, Values: []string{"standard", "secure"}},
	} {
		if rapid.IntRange(0, 2).Draw(t, "worker capability") == 0 {
			defs = append(defs, def)
		}
	}
	return defs
}

// leftOutMeansAll reports whether omitting a capability is the same as declaring all its values.
func leftOutMeansAll(name string) bool {
	return name != "given-trusted" && !strings.HasPrefix(name, capability.ReservedPrefix)
}

// rewritten returns equal flavors in another order, with repetitions, and sometimes with omissions written out.
func rewritten(t *rapid.T, defs []v1beta1.CapabilityDefinition, flavors []v1beta1.Capabilities) []v1beta1.Capabilities {
	again := make([]v1beta1.Capabilities, 0, len(flavors))
	for _, c := range flavors {
		r := v1beta1.Capabilities{}
		for _, def := range defs {
			values, declared := c[def.Name]
			if declared || leftOutMeansAll(def.Name) && rapid.Bool().Draw(t, "written out") {
				if !declared {
					values = def.Values
				}
				r[def.Name] = rapid.Permutation(slices.Concat(values, values[:1])).Draw(t, "values")
			}
		}
		again = append(again, r)
	}
	return rapid.Permutation(again).Draw(t, "order")
}

// complaints holds the findings about one image version, by kind, as flavors.
type complaints struct {
	missing, unexpected            []string // defaulted sets as text
	coreDuplicate, flavorDuplicate []int
}

func checked(t *rapid.T, defs []v1beta1.CapabilityDefinition, core, cloud []v1beta1.Capabilities) complaints {
	p, report := profile.Compile(given.Linux(cloud...).With(given.Definitions, given.Requests), given.CoreSpec(defs, core), field.NewPath("spec"))
	var c complaints
	for _, err := range slices.Concat(report.Errors, report.Silenced) {
		var index int
		_, after, _ := strings.Cut(err.Field, "capabilityFlavors")
		if _, scanErr := fmt.Sscanf(after, "[%d]", &index); scanErr != nil {
			t.Fatalf("%s: %v", err.Field, scanErr)
		}
		side := cloud
		if !strings.HasPrefix(err.Field, "spec.providerConfig.") {
			side = core
		}
		set, _ := p.Vocabulary().Flavor(side[index], nil, nil)
		switch err.Origin {
		case "provider-flavor-missing":
			c.missing = append(c.missing, set.String())
		case "provider-flavor-unexpected":
			c.unexpected = append(c.unexpected, set.String())
		case "core-flavor-duplicate":
			c.coreDuplicate = append(c.coreDuplicate, index)
		case "provider-flavor-duplicate":
			c.flavorDuplicate = append(c.flavorDuplicate, index)
		default:
			t.Fatal(err)
		}
	}
	return c
}

// Semantics S8 is symmetric: a flavor that one side lacks is unexpected on the other. A repeated flavor is a duplicate on either side,
// regardless of the other side.
func TestOneToOneFindsWhatComparingSetsFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		defs := drawWorkerDefinitions(t)
		core := given.DrawFlavors(t, defs, "core")
		cloud := given.DrawFlavors(t, defs, "provider")
		if rapid.Bool().Draw(t, "same") {
			cloud = rewritten(t, defs, core)
		}
		got := checked(t, defs, core, cloud)
		inCore, coreDuplicate := distinct(defs, core)
		inProvider, flavorDuplicate := distinct(defs, cloud)
		want := complaints{without(inCore, inProvider), without(inProvider, inCore), coreDuplicate, flavorDuplicate}
		slices.Sort(got.missing)
		slices.Sort(got.unexpected)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(complaints{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Unregistered reserved capabilities do not affect the comparison. Without them the mapping corresponds to the same core flavors, and
// flavors that differ only in them become one.
func TestReservedCapabilitiesAreLeftOutOfTheComparison(t *testing.T) {
	several := 0
	rapid.Check(t, func(t *rapid.T) {
		defs := given.DrawDefinitions(t)
		core := given.DrawFlavors(t, defs, "core")
		plain := rewritten(t, defs, core)
		var cloud []v1beta1.Capabilities
		for _, c := range plain {
			for _, values := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"", "secure", "secure standard"}), 1, 3, rapid.ID).Draw(t, "boot types") {
				flavor := maps.Clone(c)
				if values != "" {
					flavor[capability.BootType] = strings.Fields(values)
				}
				cloud = append(cloud, flavor)
			}
		}
		got := checked(t, defs, core, rapid.Permutation(cloud).Draw(t, "order"))
		_, coreDuplicate := distinct(defs, core)
		_, flavorDuplicate := distinct(defs, cloud)
		if len(got.missing)+len(got.unexpected) > 0 || !slices.Equal(got.coreDuplicate, coreDuplicate) || len(got.flavorDuplicate) != len(flavorDuplicate) {
			t.Fatalf("%+v, duplicates %v in core, %v in the mapping", got, coreDuplicate, flavorDuplicate)
		}
		if len(cloud) > len(core) {
			several++
		}
	})
	if several == 0 {
		t.Error("there never are several flavors for one")
	}
}

// distinct returns the distinct defaulted sets as text, and the indices of repeated ones.
func distinct(defs []v1beta1.CapabilityDefinition, flavors []v1beta1.Capabilities) (sets map[string]bool, repeated []int) {
	v, _ := capability.Compile(defs, nil, given.Definitions...)
	sets = map[string]bool{}
	for i, c := range flavors {
		set, _ := v.Flavor(c, nil, nil)
		if sets[set.String()] {
			repeated = append(repeated, i)
		}
		sets[set.String()] = true
	}
	return sets, repeated
}

func without(sets, others map[string]bool) []string {
	var rest []string
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		if !others[set] {
			rest = append(rest, set)
		}
	}
	return rest
}
