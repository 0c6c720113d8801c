// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/cases"
)

// The vocabularies that the table of machine types uses.
const (
	hypervisors = "machineCapabilities:\n- {name: architecture, values: [amd64, arm64]}\n- {name: hypervisor, values: [virtualized, baremetal]}\n"
	legacy      = ""
)

// profileNamed returns the spec of one of the profiles of this name.
func profileNamed(t *testing.T, name string) *v1beta1.CloudProfileSpec {
	t.Helper()
	return parse(t, manifest(t, name))
}

func manifest(t *testing.T, name string) string {
	t.Helper()
	content, err := txtar.ParseFile("testdata/profiles.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range content.Files {
		if file.Name == name+".yaml" {
			return string(file.Data)
		}
	}
	t.Fatalf("there is no profile %s", name)
	return ""
}

func parse(t *testing.T, text string) *v1beta1.CloudProfileSpec {
	t.Helper()
	spec := &v1beta1.CloudProfileSpec{}
	if err := yaml.UnmarshalStrict([]byte(text), spec); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return spec
}

// brief renders findings as type, field and rule. It shortens the paths of the one image.
func brief(list finding.List) []string {
	shorten := strings.NewReplacer("spec.providerConfig.machineImages[0].versions", "provider", "spec.machineImages[0].versions", "core", "FieldValue", "")
	var lines []string
	for _, err := range list {
		lines = append(lines, shorten.Replace(fmt.Sprintf("%s %s %s", string(err.Type), err.Field, err.Origin)))
	}
	return lines
}

func TestOneToOne(t *testing.T) { checkProfiles(t, "testdata/one-to-one.txtar") }

// checkProfiles compiles the CloudProfile of each case.
func checkProfiles(t *testing.T, archive string) {
	t.Helper()
	cases.Run(t, archive, func(c *cases.Case) string {
		_, report := consistency.Compile(imagesOnly{}, specOf(c, "profile.yaml"), field.NewPath("spec"))
		checkFindings(c.T(), report.Errors)
		return cases.Fold(brief(report.Errors)...)
	})
}

// specOf decodes the spec of a CloudProfile.
func specOf(c *cases.Case, name string) *v1beta1.CloudProfileSpec {
	spec := &v1beta1.CloudProfileSpec{}
	c.Decode(name, spec)
	return spec
}

// explained renders findings as type, field, rule and message.
func explained(list finding.List) string {
	lines := plainly(list)
	for i := range lines {
		lines[i] += ": " + list[i].Detail
	}
	return cases.Fold(lines...)
}

func TestMessagesOfOneToOne(t *testing.T) {
	_, report := consistency.Compile(imagesOnly{}, profileNamed(t, "missing-and-unexpected"), field.NewPath("spec"))
	const amd, arm = "{architecture: [amd64], hypervisor: [virtualized]}", "{architecture: [arm64], hypervisor: [virtualized]}"
	want := []string{
		"gl@1: no provider image for " + arm + "; add it under spec.providerConfig.machineImages[0].versions[0].capabilityFlavors",
		"gl@1: core does not list a flavor {architecture: [arm64]} " +
			"(in full {architecture: [arm64], hypervisor: [virtualized, baremetal]}), only " + amd + ", " + arm +
			"; add it to spec.machineImages[0].versions[0].capabilityFlavors, or remove it here",
	}
	var got []string
	for _, err := range report.Errors {
		got = append(got, err.Detail)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A legacy flavor takes over what core says about its architecture, and so is chosen for nothing else.
func TestLegacyVersionIsChosenByCoresCapabilities(t *testing.T) {
	s := profileNamed(t, "legacy-entry-for-baremetal")
	s.MachineTypes = []v1beta1.MachineType{
		{Name: "bare", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"baremetal"}}},
		{Name: "virt", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}}},
	}
	p, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	for machine, fits := range map[string]bool{"bare": true, "virt": false} {
		if r := p.ResolvePool(provider.Pool{MachineType: machine, Image: "gl", Version: "1", Region: "europe"}); (r.Err == nil) != fits {
			t.Errorf("%s: %v", machine, r.Err)
		}
	}
}

// A core flavor that leaves its architecture out stands for several; each legacy flavor is chosen for its own only.
func TestLegacyVersionIsChosenByItsArchitecture(t *testing.T) {
	for name, flavors := range map[string][]v1beta1.MachineImageFlavor{
		"no flavor": nil, "a flavor": {{Capabilities: v1beta1.Capabilities{"hypervisor": {"virtualized"}}}},
	} {
		s := profileNamed(t, "legacy-entry-of-two-architectures")
		s.MachineImages[0].Versions[0].CapabilityFlavors = flavors
		s.MachineTypes = []v1beta1.MachineType{{Name: "amd", Architecture: new("amd64")}, {Name: "arm", Architecture: new("arm64")}}
		p, _ := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
		for _, machine := range []string{"amd", "arm"} {
			r := p.ResolvePool(provider.Pool{MachineType: machine, Image: "gl", Version: "1", Region: "europe"})
			if r.Err != nil || r.Decision.Reference.ID != machine {
				t.Errorf("%s, %s: %+v, %v", name, machine, r.Decision.Reference, r.Err)
			}
		}
	}
}

func TestReferences(t *testing.T) { checkProfiles(t, "testdata/references.txtar") }

// References of what core does not list are checked as well.
func TestReferencesOfUnusedVersions(t *testing.T) {
	s := profileNamed(t, "unused-versions")
	_, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	want := []string{"Required provider[1] reference-missing", "Required provider[2] reference-missing", "Required provider[2].version name-missing"}
	if diff := cmp.Diff(want, brief(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// What could not be read is reported where it stands, and nothing that would follow from it.
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
			s := parse(t, tc.vocabulary+"type: openstack\n")
			tc.machine.Name = "m"
			s.MachineTypes = []v1beta1.MachineType{tc.machine}
			p, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
			var found []string
			for _, line := range brief(report.Errors) {
				if strings.Contains(line, "machine-type") {
					found = append(found, line)
				}
			}
			if len(found) != tc.errs || tc.errs == 1 && found[0] != "Required spec.machineTypes[0].capabilities.architecture machine-type-architecture-missing" {
				t.Error(found)
			}
			r := p.ResolvePool(provider.Pool{MachineType: "m", Architecture: tc.pool})
			if got := fmt.Sprint(r.Machine.Values("architecture")); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// An error deep in one version hides nothing but what follows from it.
func TestUnreadablePartsHideLittle(t *testing.T) {
	s := profileNamed(t, "misspelt-id")
	s.MachineImages = append(s.MachineImages, v1beta1.MachineImage{Name: "other", Versions: []v1beta1.MachineImageVersion{{
		ExpirableVersion:  v1beta1.ExpirableVersion{Version: "1"},
		CapabilityFlavors: slices.Repeat([]v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}}, 2),
	}}})
	_, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	want := []string{
		"Required core[1] provider-version-missing", "Required spec.machineImages[1] provider-image-missing",
		"Duplicate spec.machineImages[1].versions[0].capabilityFlavors[1] core-flavor-duplicate",
		"Forbidden provider[0].capabilityFlavors[0].regions[0].idd unknown-field",
	}
	if diff := cmp.Diff(want, brief(report.Errors)); diff != "" {
		t.Error(diff)
	}
	s.ProviderConfig.Raw = []byte(strings.Replace(string(s.ProviderConfig.Raw), `"machineImages"`, `"machineImage"`, 1))
	_, report = consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	want = []string{want[2], "Forbidden spec.providerConfig.machineImage unknown-field"}
	if diff := cmp.Diff(want, brief(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// What only one side has is never chosen.
func TestOnlyWhatBothSidesHaveIsChosen(t *testing.T) {
	s := profileNamed(t, "flavors-of-one-side")
	s.MachineTypes = []v1beta1.MachineType{{Name: "arm", Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}}
	p, _ := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	for version, want := range map[string]string{"1": "no-image-fits", "2": "unknown-version"} {
		if r := p.ResolvePool(provider.Pool{MachineType: "arm", Image: "gl", Version: version, Region: "europe"}); r.Err == nil || r.Err.Origin != want {
			t.Errorf("%s: %v", version, r.Err)
		}
	}
}

func TestImagesOfOneName(t *testing.T) {
	s := profileNamed(t, "images-of-one-name")
	_, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	want := []string{
		"Duplicate spec.providerConfig.machineImages[1].name provider-image-duplicate",
		"Required spec.providerConfig.machineImages[2].name name-missing",
	}
	if diff := cmp.Diff(want, brief(report.Errors)); diff != "" {
		t.Error(diff, string(s.ProviderConfig.Raw))
	}
}

// Flavors that do not belong into a profile without capabilities are not told to take over the regions beside them, an
// image without versions is core's to report, and flavors without regions have none to put together.
func TestOneRepairForEachFault(t *testing.T) {
	const config = "providerConfig: {apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: CloudProfileConfig, machineImages: "
	for spec, want := range map[string][]string{
		"machineImages: [{name: gl, versions: [{version: '1'}]}]\n" + config + "[{name: gl, versions: [{version: '1', " +
			"regions: [{name: eu, id: a}], capabilityFlavors: [{regions: [{name: eu, id: a}]}]}]}]}": {"capabilities-not-registered"},
		"machineImages: [{name: gl}]\n" + config + "[]}": nil,
		"machineCapabilities: [{name: architecture, values: [amd64]}]\nmachineImages: [{name: gl, versions: [{version: '1'}]}]\n" + config +
			"[{name: gl, versions: [{version: '1', capabilityFlavors: [{image: a}, {image: b}]}]}]}": {"provider-flavor-duplicate"},
		"machineCapabilities: [{name: architecture, values: [amd64]}, {name: net, values: [fast, slow]}]\n" +
			"machineTypes: [{name: m, capabilities: {net: []}}]\n" +
			"machineImages: [{name: gl, versions: [{version: '1', capabilityFlavors: [{net: []}]}]}]\n" + config +
			"[{name: gl, versions: [{version: '1', capabilityFlavors: [{image: a}]}]}]}": {"capability-value-missing", "capability-value-missing"},
	} {
		_, report := consistency.Compile(imagesOnly{}, parse(t, "type: openstack\n"+spec), field.NewPath("spec"))
		var got []string
		for _, err := range report.Errors {
			got = append(got, err.Origin)
			if strings.Contains(err.Detail, "regions") && err.Origin == "provider-flavor-duplicate" {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", spec, diff)
		}
	}
}
