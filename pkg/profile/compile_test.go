// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// hypervisors and legacy are the vocabularies of TestMachineTypeArchitecture.
const (
	hypervisors = "machineCapabilities:\n- {name: architecture, values: [amd64, arm64]}\n- {name: hypervisor, values: [virtualized, baremetal]}\n"
	legacy      = ""
)

func TestOneToOne(t *testing.T) { checkProfiles(t, "testdata/one-to-one.txtar") }

// checkProfiles compiles the CloudProfile of each case.
func checkProfiles(t *testing.T, archive string) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		_, report := profile.Compile(given.ImagesOnly{}, given.SpecOf(c, "profile.yaml"), field.NewPath("spec"))
		given.Rules.Check(c.T(), report.Errors)
		return cases.Fold(given.Brief(report.Errors)...)
	})
}

// Each error has one repair, and its message names it.
func TestMessages(t *testing.T) {
	cases.Run(t, "testdata/messages.txtar", func(c *cases.Case) string {
		_, report := profile.Compile(given.ImagesOnly{}, given.SpecOf(c, "profile.yaml"), field.NewPath("spec"))
		return given.Explained(report.Errors)
	})
}

func TestReferences(t *testing.T) { checkProfiles(t, "testdata/references.txtar") }

// An unreadable part is reported at its place, without errors that follow from it.
func TestUnreadableParts(t *testing.T) { checkProfiles(t, "testdata/unreadable.txtar") }

func TestMachineTypeArchitecture(t *testing.T) {
	arm := "arm64"
	for name, tc := range map[string]struct {
		vocabulary string
		machine    v1beta1.MachineType
		pool       string
		want       string
		errs       int
	}{
		"its capability":                    {hypervisors, v1beta1.MachineType{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}, "amd64", "[arm64]", 0},
		"its deprecated field":              {hypervisors, v1beta1.MachineType{Architecture: &arm}, "amd64", "[arm64]", 0},
		"the worker pool's":                 {hypervisors, v1beta1.MachineType{}, "arm64", "[arm64]", 1},
		"amd64":                             {hypervisors, v1beta1.MachineType{}, "", "[amd64]", 1},
		"the only registered one":           {"machineCapabilities: [{name: architecture, values: [arm64]}]\n", v1beta1.MachineType{}, "", "[arm64]", 0},
		"legacy, its field":                 {legacy, v1beta1.MachineType{Architecture: &arm}, "amd64", "[arm64]", 0},
		"legacy, the worker pool's":         {legacy, v1beta1.MachineType{}, "arm64", "[arm64]", 0},
		"legacy, amd64":                     {legacy, v1beta1.MachineType{}, "", "[amd64]", 0},
		"legacy, capabilities mean nothing": {legacy, v1beta1.MachineType{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}, "", "[amd64]", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := given.Decoded[v1beta1.CloudProfileSpec](t, tc.vocabulary+"type: openstack\n")
			tc.machine.Name = "m"
			s.MachineTypes = []v1beta1.MachineType{tc.machine}
			p, report := profile.Compile(given.ImagesOnly{}, s, field.NewPath("spec"))
			var found []string
			for _, line := range given.Brief(report.Errors) {
				if strings.Contains(line, "machine-type") {
					found = append(found, line)
				}
			}
			if len(found) != tc.errs || tc.errs == 1 && found[0] != "Required spec.machineTypes[0].capabilities.architecture machine-type-architecture-missing" {
				t.Error(found)
			}
			r := resolve.Pool(p, provider.Pool{MachineType: "m", Architecture: tc.pool})
			if got := fmt.Sprint(r.Machine.Values("architecture")); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// The provider keeps ownership of its images.
func TestCompileDoesNotChangeTheImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		defs := given.DrawDefinitions(t)
		core, cloud := given.DrawFlavors(t, defs, "core"), given.DrawFlavors(t, defs, "provider")
		legacy := rapid.Bool().Draw(t, "legacy")
		images := func() []imageselector.Image[string] {
			images := given.Linux(cloud...).Images
			images[0].Versions[0].Legacy = legacy
			return images
		}
		handed, untouched := images(), images()
		profile.Compile(given.Cloud{Images: handed}, given.CoreSpec(defs, core), field.NewPath("spec"))
		if !reflect.DeepEqual(handed, untouched) {
			t.Fatal(cmp.Diff(untouched, handed))
		}
	})
}

// The caller may modify the report without changing the profile.
func TestTheReportIsTheCallers(t *testing.T) {
	flavor := v1beta1.Capabilities{"architecture": {"amd64"}}
	defs := []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64"}}}
	compiled, report := profile.Compile(given.Linux(flavor, flavor), given.CoreSpec(defs, nil), field.NewPath("spec"))
	before := given.Explained(compiled.Faults().Errors)
	clear(report.Errors)
	if after := given.Explained(compiled.Faults().Errors); len(report.Errors) == 0 || before != after {
		t.Errorf("%d errors: %s", len(report.Errors), cmp.Diff(before, after))
	}
}

func TestOneToOneOfReservedCapabilities(t *testing.T) {
	checkProfiles(t, "testdata/one-to-one-reserved.txtar")
}

// Registered worker capabilities are compared like others, except that omitting one differs from declaring it.
func TestOneToOneOfRegisteredWorkerCapabilities(t *testing.T) {
	checkProfiles(t, "testdata/one-to-one-registered.txtar")
}

// The implications of legacy fields are not written as capabilities: the error about them is at the entry, and names all values.
func TestImpliedValuesThatAreNotRegistered(t *testing.T) {
	defs := []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64"}}, {Name: "network", Values: []string{"Fast", "Slow"}},
	}
	cloud := given.Linux(v1beta1.Capabilities{"architecture": {"amd64"}})
	version := &cloud.Images[0].Versions[0]
	version.Legacy, version.Flavors[0].Implied = true, v1beta1.Capabilities{"network": {"fast", "slow"}}
	_, report := profile.Compile(cloud, given.CoreSpec(defs, []v1beta1.Capabilities{{"architecture": {"amd64"}}}), field.NewPath("spec"))
	want := cases.Fold("NotSupported spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0] capability-value-unregistered: " +
		"linux@1: the legacy fields mean {network: [fast, slow]}, and none of these values is registered, only [Fast, Slow]; register " +
		"them in spec.machineCapabilities, or write the version with capabilityFlavors")
	if diff := cmp.Diff(want, given.Explained(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// A provider's error about a flavor suppresses its consequences, and nothing else.
func TestAFlavorOfWhichNotEverythingIsKnown(t *testing.T) {
	defs := []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "network", Values: []string{"fast", "slow"}},
	}
	core := []v1beta1.Capabilities{
		{"architecture": {"amd64"}, "network": {"fast"}}, {"architecture": {"amd64"}, "network": {"slow"}}, {"architecture": {"arm64"}, "network": {"slow"}},
	}
	cloud := given.Linux(v1beta1.Capabilities{"architecture": {"amd64"}}, v1beta1.Capabilities{"architecture": {"amd64"}})
	version := &cloud.Images[0].Versions[0]
	version.Legacy, version.Flavors[0].Implied, version.Flavors[1].Unclear = true, v1beta1.Capabilities{"network": {"fast"}}, true
	_, report := profile.Compile(cloud, given.CoreSpec(defs, core), field.NewPath("spec"))
	want := cases.Fold("Required core[0].capabilityFlavors[2] provider-flavor-missing")
	if diff := cmp.Diff(want, cases.Fold(given.Brief(report.Errors)...)); diff != "" {
		t.Error(diff)
	}
}

// A legacy version without a reference is not an image of the default architecture.
func TestAVersionWithoutAReference(t *testing.T) {
	defs := []v1beta1.CapabilityDefinition{{Name: "architecture", Values: []string{"amd64", "arm64"}}}
	cloud := given.Linux(v1beta1.Capabilities{"architecture": {"amd64"}})
	version := &cloud.Images[0].Versions[0]
	version.Legacy, version.Flavors[0].Global = true, nil
	_, report := profile.Compile(cloud, given.CoreSpec(defs, []v1beta1.Capabilities{{"architecture": {"arm64"}}}), field.NewPath("spec"))
	want := cases.Fold("Required provider[0].capabilityFlavors[0] reference-missing")
	if diff := cmp.Diff(want, cases.Fold(given.Brief(report.Errors)...)); diff != "" {
		t.Error(diff)
	}
}
