// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
)

// fillings renders what is filled in, one version to a line.
func fillings(t *testing.T, vocabulary string, filled []consistency.Filled) []string {
	t.Helper()
	v, _ := capability.Compile(parse(t, vocabulary+"type: any\n").MachineCapabilities, nil)
	var lines []string
	for _, f := range filled {
		line := fmt.Sprintf("%d.%d:", f.Image, f.Version)
		for _, flavor := range f.Flavors {
			line += " " + v.Format(flavor.Capabilities)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestFillCloudProfile(t *testing.T) {
	const (
		none = "  - {version: \"1\"}\n"
		one  = "machineCapabilities:\n- {name: architecture, values: [amd64]}\n- {name: hypervisor, values: [virtualized, baremetal]}\n"
	)
	withBoot := func(flavor, boot string) string {
		return strings.Replace(flavor, "}", ", gardener-bootType: ["+boot+"]}", 1)
	}
	for name, tc := range map[string]struct {
		vocabulary, core, provider string
		want                       []string
	}{
		"filled":                            {hypervisors, none, provider("1", amdVirt, armVirt), []string{"0.0: " + amdVirt + " " + armVirt}},
		"never overwritten":                 {hypervisors, core("1", amdVirt), provider("1", amdBare), nil},
		"only where there is none":          {hypervisors, core("1", amdVirt) + core("2") + core("3"), provider("3", amdVirt) + provider("1", amdVirt) + provider("2", armVirt), []string{"0.1: " + armVirt, "0.2: " + amdVirt}},
		"over several entries":              {hypervisors, none, provider("1", amdVirt) + provider("1", armVirt), []string{"0.0: " + amdVirt + " " + armVirt}},
		"no mapping":                        {hypervisors, none, provider("2", amdVirt), nil},
		"no capabilities":                   {legacy, none, "- {version: \"1\", image: x}\n", nil},
		"legacy":                            {hypervisors, none, "- {version: \"1\", image: x, regions: [{name: europe, id: x, architecture: arm64}]}\n", []string{"0.0: {architecture: [arm64]} {architecture: [amd64]}"}},
		"legacy and new":                    {hypervisors, none, "- {version: \"1\", regions: [{name: europe, id: x}]}\n" + provider("1", armVirt), []string{"0.0: {architecture: [amd64]} " + armVirt}},
		"legacy that could be either":       {hypervisors, none, "- {version: \"1\", regions: [{name: europe, id: x}]}\n" + provider("1", amdVirt), nil},
		"legacy of an unknown architecture": {hypervisors, none, "- {version: \"1\", regions: [{name: europe, id: x, architecture: riscv}]}\n", nil},

		"without reserved names":                  {hypervisors, none, provider("1", withBoot(amdVirt, "secure"), armVirt), []string{"0.0: " + amdVirt + " " + armVirt}},
		"different in reserved names only":        {hypervisors, none, provider("1", withBoot(amdVirt, "secure"), withBoot(amdVirt, "secure, standard"), amdVirt), []string{"0.0: " + amdVirt}},
		"a reserved value that is implied, twice": {hypervisors, none, provider("1", withBoot(amdVirt, "standard"), amdVirt), nil},
		"twice":                                     {hypervisors, none, provider("1", amdVirt, amdVirt), nil},
		"twice, written in another way":             {hypervisors, none, provider("1", "{architecture: [amd64]}", "{architecture: [amd64], hypervisor: [baremetal, virtualized]}"), nil},
		"an unregistered capability":                {hypervisors, none, provider("1", "{architecture: [amd64], net: [fast]}"), nil},
		"an unregistered value":                     {hypervisors, none, provider("1", "{architecture: [amd64], hypervisor: [xen]}"), nil},
		"an empty list":                             {hypervisors, none, provider("1", "{architecture: [amd64], hypervisor: []}"), nil},
		"an unreadable version, and another":        {hypervisors, none + core("2"), "- {version: \"1\", image: 5}\n" + provider("2", amdVirt), []string{"0.1: " + amdVirt}},
		"no reference, which is reported elsewhere": {hypervisors, none, "- {version: \"1\", capabilityFlavors: [{capabilities: " + amdVirt + "}]}\n", []string{"0.0: " + amdVirt}},

		"no architecture, where several are registered":  {hypervisors, none, provider("1", "{hypervisor: [baremetal]}"), nil},
		"two architectures, which core refuses":          {hypervisors, none, provider("1", "{architecture: [amd64, arm64]}"), nil},
		"no architecture, where one is registered":       {one, none, provider("1", "{hypervisor: [baremetal]}"), []string{"0.0: {hypervisor: [baremetal]}"}},
		"everything, which core assumes anyway":          {one, none, provider("1", "{}"), nil},
		"everything, and something else":                 {one, none, provider("1", "{}", "{hypervisor: [baremetal]}"), []string{"0.0: {} {hypervisor: [baremetal]}"}},
		"architectures that agree":                       {hypervisors, "  - {version: \"1\", architectures: [arm64, amd64]}\n", provider("1", amdVirt, amdBare, armVirt), []string{"0.0: " + amdVirt + " " + amdBare + " " + armVirt}},
		"architectures that agree, as they are left out": {one, "  - {version: \"1\", architectures: [amd64]}\n", provider("1", "{hypervisor: [baremetal]}"), []string{"0.0: {hypervisor: [baremetal]}"}},
		"architectures that lack one":                    {hypervisors, "  - {version: \"1\", architectures: [amd64]}\n", provider("1", amdVirt, armVirt), nil},
		"architectures with one too many":                {hypervisors, "  - {version: \"1\", architectures: [amd64, arm64]}\n", provider("1", amdVirt), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(t, tc.vocabulary, tc.core, tc.provider)
			before := s.DeepCopy()
			filled := consistency.FillCloudProfile(imagesOnly{}, s)
			if diff := cmp.Diff(tc.want, fillings(t, tc.vocabulary, filled)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, s); diff != "" {
				t.Errorf("the profile was changed: %s", diff)
			}
		})
	}
}

func TestFillNamespacedCloudProfile(t *testing.T) {
	above := parse(t, modernParent)
	for name, tc := range map[string]struct {
		profile string
		want    []string
	}{
		"its own":                   {ownImage("", ", capabilityFlavors: [{capabilities: "+amdBare+", image: x}]"), []string{"0.0: " + amdBare}},
		"its own, legacy":           {ownImage(", architectures: [amd64]", ", image: x"), []string{"0.0: {architecture: [amd64]}"}},
		"its own, filled already":   {ownImage(", capabilityFlavors: ["+amdVirt+"]", ", capabilityFlavors: [{capabilities: "+amdBare+", image: x}]"), nil},
		"the parent's":              {strings.ReplaceAll(ownImage("", ", image: x"), "name: own", "name: gl"), nil},
		"another version":           {strings.NewReplacer("name: own", "name: gl", `"1"`, `"2"`).Replace(ownImage("", ", image: x")), []string{"0.0: {architecture: [amd64]}"}},
		"without a provider config": {"machineImages: [{name: own, versions: [{version: \"1\"}]}]\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			profile := namespaced(t, tc.profile)
			before, parent := profile.DeepCopy(), above.DeepCopy()
			filled := consistency.FillNamespacedCloudProfile(imagesOnly{}, profile, above)
			if diff := cmp.Diff(tc.want, fillings(t, hypervisors, filled)); diff != "" {
				t.Error(diff)
			}
			if !reflect.DeepEqual(before, profile) || !reflect.DeepEqual(parent, above) {
				t.Error("an argument was changed")
			}
		})
	}
	if filled := consistency.FillNamespacedCloudProfile(imagesOnly{}, namespaced(t, ownImage("", ", image: x")), parse(t, legacyParent)); len(filled) > 0 {
		t.Error("filled in below a parent without capabilities:", filled)
	}
}

// given hands out the very maps that it was given, as a provider may.
func TestWhatIsFilledInIsTheCallers(t *testing.T) {
	flavors := given{{"architecture": {"amd64"}, "c0": {"x"}}}
	s := coreSpec([]v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}, {Name: "c0", Values: []string{"x", "y"}}}, nil)
	s.ProviderConfig = &runtime.RawExtension{}
	filled := consistency.FillCloudProfile(flavors, s)
	if len(filled) != 1 {
		t.Fatal(filled)
	}
	c := filled[0].Flavors[0].Capabilities
	c["c0"][0], c["more"] = "changed", v1beta1.CapabilityValues{"z"}
	if diff := cmp.Diff(given{{"architecture": {"amd64"}, "c0": {"x"}}}, flavors); diff != "" {
		t.Error(diff)
	}
}

// What is filled in corresponds one to one. Nothing else than an error keeps a version from being filled.
func TestAProfileIsSoundWhereItIsFilled(t *testing.T) {
	filledIn, left := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		defs := drawDefinitions(t)
		flavors := drawFlavors(t, defs, "provider")
		if rapid.IntRange(0, 9).Draw(t, "wrong") == 0 {
			flavors[0]["architecture"] = v1beta1.CapabilityValues{"riscv"}
		}
		if rapid.Bool().Draw(t, "without repetitions") {
			_, repeated := distinct(defs, flavors)
			for _, i := range slices.Backward(repeated) {
				flavors = slices.Delete(flavors, i, i+1)
			}
		}
		for i := range flavors {
			if values := flavors[i]["architecture"]; len(values) > 1 {
				flavors[i]["architecture"] = values[:1]
			}
		}
		s := coreSpec(defs, nil)
		s.ProviderConfig = &runtime.RawExtension{}
		filled := consistency.FillCloudProfile(given(flavors), s)
		for _, f := range filled {
			s.MachineImages[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
			filledIn++
		}
		_, report := consistency.Compile(given(flavors), s, field.NewPath("spec"))
		if len(filled) > 0 && len(report.Errors) > 0 {
			t.Fatal(report.Errors)
		}
		if len(filled) == 0 {
			left++
			if len(report.Errors) == 0 && len(flavors[0]) > 0 {
				t.Fatalf("nothing was filled in for %v", flavors)
			}
		}
		if again := consistency.FillCloudProfile(given(flavors), s); len(filled) > 0 && len(again) > 0 {
			t.Fatalf("filled again: %+v", again)
		}
	})
	if filledIn < 10 || left < 10 {
		t.Errorf("filled in %d times, left %d times", filledIn, left)
	}
}
