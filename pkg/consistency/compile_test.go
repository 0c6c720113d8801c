// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/consistency"
)

// The vocabularies that the tables below use.
const (
	hypervisors = "machineCapabilities:\n- {name: architecture, values: [amd64, arm64]}\n- {name: hypervisor, values: [virtualized, baremetal]}\n"
	legacy      = ""
)

// spec builds a CloudProfile's spec for OpenStack with one image, from the versions in core and in the provider config,
// each written in flow style below "versions:".
func spec(t *testing.T, vocabulary, core, provider string) *v1beta1.CloudProfileSpec {
	t.Helper()
	return parse(t, vocabulary+"type: openstack\nregions: [{name: europe}]\nmachineImages:\n- name: gl\n  versions:\n"+core+
		"providerConfig:\n  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\n  kind: CloudProfileConfig\n  machineImages:\n  - name: gl\n    versions:\n"+
		"    "+strings.ReplaceAll(strings.TrimSuffix(provider, "\n"), "\n", "\n    ")+"\n")
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
func brief(list field.ErrorList) []string {
	shorten := strings.NewReplacer("spec.providerConfig.machineImages[0].versions", "provider", "spec.machineImages[0].versions", "core", "FieldValue", "")
	var lines []string
	for _, err := range list {
		lines = append(lines, shorten.Replace(fmt.Sprintf("%s %s %s", string(err.Type), err.Field, err.Origin)))
	}
	return lines
}

const (
	amdVirt = "{architecture: [amd64], hypervisor: [virtualized]}"
	amdBare = "{architecture: [amd64], hypervisor: [baremetal]}"
	armVirt = "{architecture: [arm64], hypervisor: [virtualized]}"
)

// core and provider write a version with flavors, each provider flavor with an image in europe.
func core(version string, flavors ...string) string {
	return fmt.Sprintf("  - {version: %q, capabilityFlavors: [%s]}\n", version, strings.Join(flavors, ", "))
}

func provider(version string, flavors ...string) string {
	var written []string
	for _, flavor := range flavors {
		written = append(written, "{capabilities: "+flavor+", regions: [{name: europe, id: x}]}")
	}
	return fmt.Sprintf("- {version: %q, capabilityFlavors: [%s]}\n", version, strings.Join(written, ", "))
}

func TestOneToOne(t *testing.T) {
	for name, tc := range map[string]struct {
		vocabulary, core, provider string
		want                       []string
	}{
		"equal":                         {hypervisors, core("1", amdVirt, amdBare), provider("1", amdVirt, amdBare), nil},
		"in another order":              {hypervisors, core("1", amdVirt, amdBare), provider("1", amdBare, amdVirt), nil},
		"equal once defaulted":          {hypervisors, core("1", "{architecture: [amd64]}"), provider("1", "{hypervisor: [baremetal, virtualized, baremetal], architecture: [amd64]}"), nil},
		"over several entries":          {hypervisors, core("1", amdVirt, amdBare), provider("1", amdVirt) + provider("1", amdBare), nil},
		"missing":                       {hypervisors, core("1", amdVirt, armVirt), provider("1", amdVirt), []string{"Required core[0].capabilityFlavors[1] provider-flavor-missing"}},
		"unexpected":                    {hypervisors, core("1", amdVirt), provider("1", amdVirt, armVirt), []string{"Forbidden provider[0].capabilityFlavors[1] provider-flavor-unexpected"}},
		"missing and unexpected":        {hypervisors, core("1", amdVirt), provider("1", "{architecture: [amd64]}"), []string{"Required core[0].capabilityFlavors[0] provider-flavor-missing", "Forbidden provider[0].capabilityFlavors[0] provider-flavor-unexpected"}},
		"twice in core":                 {hypervisors, core("1", amdVirt, amdVirt), provider("1", amdVirt), []string{"Duplicate core[0].capabilityFlavors[1] core-flavor-duplicate"}},
		"twice in the provider config":  {hypervisors, core("1", amdVirt), provider("1", amdVirt, amdVirt), []string{"Duplicate provider[0].capabilityFlavors[1] provider-flavor-duplicate"}},
		"twice over several entries":    {hypervisors, core("1", amdVirt), provider("1", amdVirt) + provider("1", amdVirt), []string{"Duplicate provider[1].capabilityFlavors[0] provider-flavor-duplicate"}},
		"twice on both sides":           {hypervisors, core("1", amdVirt, amdVirt), provider("1", amdVirt, amdVirt), []string{"Duplicate core[0].capabilityFlavors[1] core-flavor-duplicate", "Duplicate provider[0].capabilityFlavors[1] provider-flavor-duplicate"}},
		"version missing":               {hypervisors, core("1", amdVirt) + core("2", amdVirt), provider("1", amdVirt), []string{"Required core[1] provider-version-missing"}},
		"versions are compared as text": {hypervisors, core("1.0", amdVirt), provider("1", amdVirt), []string{"Required core[0] provider-version-missing"}},
		"one architecture, no flavors in core": {
			"machineCapabilities: [{name: architecture, values: [amd64]}]\n", "  - {version: \"1\"}\n", provider("1", "{}"), nil,
		},
		"paths by number": {
			hypervisors, core("0", amdVirt) + core("1") + core("2", amdVirt, amdBare), provider("2", armVirt) + provider("0", amdVirt) + provider("1", "{}"),
			[]string{"Required core[2].capabilityFlavors[0] provider-flavor-missing", "Required core[2].capabilityFlavors[1] provider-flavor-missing", "Forbidden provider[0].capabilityFlavors[0] provider-flavor-unexpected"},
		},
		"a misspelt value is said once": {
			hypervisors, core("1", amdVirt), provider("1", "{architecture: [amd64], hypervisor: [virtualised]}"),
			[]string{"NotSupported provider[0].capabilityFlavors[0].capabilities.hypervisor[0] capability-value-unregistered"},
		},
		"a misspelt value does not hide what it cannot mean": {
			hypervisors, core("1", amdVirt, armVirt), provider("1", "{architecture: [amd64], hypervisor: [virtualised]}"),
			[]string{"Required core[0].capabilityFlavors[1] provider-flavor-missing", "NotSupported provider[0].capabilityFlavors[0].capabilities.hypervisor[0] capability-value-unregistered"},
		},
		"flavors without capabilities registered": {
			legacy, "  - {version: \"1\"}\n", provider("1", "{}"), []string{"Forbidden provider[0].capabilityFlavors capabilities-not-registered"},
		},
		"flavors without capabilities registered, and what else is wrong": {
			legacy, "  - {version: \"1\"}\n", provider("1", "{}") + "- {version: \"1\", regions: [{name: europe, id: x, architecture: arm64}]}\n" + provider("1", "{}"),
			[]string{
				"Forbidden provider[0].capabilityFlavors capabilities-not-registered", "Forbidden provider[1].regions[0] provider-flavor-unexpected",
				"Forbidden provider[2].capabilityFlavors capabilities-not-registered",
			},
		},
		"legacy, equal": {
			legacy, "  - {version: \"1\", architectures: [arm64, amd64]}\n",
			"- {version: \"1\", regions: [{name: europe, id: x}, {name: europe, id: z, architecture: arm64}]}\n", nil,
		},
		"legacy, amd64 by default": {legacy, "  - {version: \"1\"}\n", "- {version: \"1\", regions: [{name: europe, id: x}]}\n", nil},
		"legacy, by image name":    {legacy, "  - {version: \"1\"}\n", "- {version: \"1\", image: x}\n", nil},
		"legacy, missing and unexpected": {
			legacy, "  - {version: \"1\", architectures: [amd64]}\n", "- {version: \"1\", regions: [{name: europe, id: z, architecture: arm64}]}\n",
			[]string{"Required core[0].architectures[0] provider-flavor-missing", "Forbidden provider[0].regions[0] provider-flavor-unexpected"},
		},
		"legacy, implied amd64 missing": {
			legacy, "  - {version: \"1\"}\n", "- {version: \"1\", regions: [{name: europe, id: z, architecture: arm64}]}\n",
			[]string{"Required core[0] provider-flavor-missing", "Forbidden provider[0].regions[0] provider-flavor-unexpected"},
		},
		"legacy, the image name never serves arm64": {
			legacy, "  - {version: \"1\", architectures: [amd64, arm64]}\n", "- {version: \"1\", image: x}\n",
			[]string{"Required core[0].architectures[1] provider-flavor-missing"},
		},
		"legacy, unknown architecture": {
			legacy, "  - {version: \"1\"}\n", "- {version: \"1\", regions: [{name: europe, id: x}, {name: europe, id: z, architecture: x86}]}\n",
			[]string{"NotSupported provider[0].regions[1].architecture capability-value-unregistered"},
		},
		"legacy version in a profile with capabilities": {
			hypervisors, core("1", amdVirt, armVirt), "- {version: \"1\", regions: [{name: europe, id: x}, {name: europe, id: z, architecture: arm64}]}\n", nil,
		},
		"legacy version that cannot tell core's flavors apart": {
			hypervisors, core("1", amdVirt, amdBare, armVirt), "- {version: \"1\", regions: [{name: europe, id: x}, {name: europe, id: z, architecture: arm64}]}\n",
			[]string{"Required provider[0].capabilityFlavors legacy-flavor-ambiguous"},
		},
		"legacy and new entries of one version": {
			hypervisors, core("1", amdVirt, armVirt), "- {version: \"1\", regions: [{name: europe, id: x}]}\n" + provider("1", armVirt), nil,
		},
		"a legacy version that cannot tell core's flavors apart, beside one that can": {
			hypervisors, core("1", amdVirt, amdBare), "- {version: \"1\", regions: [{name: europe, id: x}]}\n" + provider("1", amdVirt),
			[]string{"Required provider[0].capabilityFlavors legacy-flavor-ambiguous"},
		},
		"two legacy flavors for a core version that lists none": {
			hypervisors, "  - {version: \"1\"}\n", "- {version: \"1\", regions: [{name: europe, id: x}, {name: europe, id: z, architecture: arm64}]}\n", nil,
		},
		"two legacy entries of one architecture": {
			hypervisors, core("1", amdVirt), "- {version: \"1\", regions: [{name: europe, id: x}]}\n- {version: \"1\", regions: [{name: asia, id: x}]}\n",
			[]string{"Duplicate provider[1].regions[0] provider-flavor-duplicate"},
		},
		"a version that core lists twice, which core refuses": {
			hypervisors, core("1", amdVirt) + core("1", armVirt), provider("1", amdVirt), nil,
		},
		"the same flavor in a legacy and a new entry": {
			hypervisors, core("1", amdVirt), "- {version: \"1\", regions: [{name: europe, id: x}]}\n" + provider("1", amdVirt),
			[]string{"Duplicate provider[1].capabilityFlavors[0] provider-flavor-duplicate"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := consistency.Compile(imagesOnly{}, spec(t, tc.vocabulary, tc.core, tc.provider), field.NewPath("spec"))
			if diff := cmp.Diff(tc.want, brief(report.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMessagesOfOneToOne(t *testing.T) {
	_, report := consistency.Compile(imagesOnly{}, spec(t, hypervisors,
		core("1", amdVirt, armVirt), provider("1", "{hypervisor: [virtualized], architecture: [amd64]}", "{architecture: [arm64]}")), field.NewPath("spec"))
	want := []string{
		"gl@1: no provider image for {architecture: [arm64], hypervisor: [virtualized]}; add it under spec.providerConfig.machineImages[0].versions[0].capabilityFlavors",
		"gl@1: core does not list a flavor {architecture: [arm64]} (in full {architecture: [arm64], hypervisor: [virtualized, baremetal]}), only " +
			amdVirt + ", " + armVirt + "; add it to spec.machineImages[0].versions[0].capabilityFlavors, or remove it here",
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
	s := spec(t, hypervisors, core("1", amdBare), "- {version: \"1\", regions: [{name: europe, id: x}]}\n")
	s.MachineTypes = []v1beta1.MachineType{
		{Name: "bare", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"baremetal"}}},
		{Name: "virt", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}}},
	}
	p, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	for machine, fits := range map[string]bool{"bare": true, "virt": false} {
		if r := p.ResolvePool(consistency.Pool{MachineType: machine, Image: "gl", Version: "1", Region: "europe"}); (r.Err == nil) != fits {
			t.Errorf("%s: %v", machine, r.Err)
		}
	}
}

// A core flavor that leaves its architecture out stands for several; each legacy flavor is chosen for its own only.
func TestLegacyVersionIsChosenByItsArchitecture(t *testing.T) {
	for name, core := range map[string]string{"no flavor": "  - {version: \"1\"}\n", "a flavor": core("1", "{hypervisor: [virtualized]}")} {
		s := spec(t, hypervisors, core, "- {version: \"1\", regions: [{name: europe, id: amd}, {name: europe, id: arm, architecture: arm64}]}\n")
		s.MachineTypes = []v1beta1.MachineType{{Name: "amd", Architecture: new("amd64")}, {Name: "arm", Architecture: new("arm64")}}
		p, _ := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
		for _, machine := range []string{"amd", "arm"} {
			r := p.ResolvePool(consistency.Pool{MachineType: machine, Image: "gl", Version: "1", Region: "europe"})
			if r.Err != nil || r.Decision.Reference.ID != machine {
				t.Errorf("%s, %s: %+v, %v", name, machine, r.Decision.Reference, r.Err)
			}
		}
	}
}

func TestReferences(t *testing.T) {
	const at = "provider[0].capabilityFlavors[0]"
	flavor := func(references string) string {
		return "- {version: \"1\", capabilityFlavors: [{capabilities: " + amdVirt + references + "}]}\n"
	}
	for name, tc := range map[string]struct {
		provider string
		want     []string
	}{
		"none":              {flavor(""), []string{"Required " + at + " reference-missing"}},
		"empty lists":       {flavor(", regions: []"), []string{"Required " + at + " reference-missing"}},
		"version with none": {"- {version: \"1\"}\n", []string{"Required provider[0] reference-missing"}},
		"region twice":      {flavor(", regions: [{name: europe, id: x}, {name: asia, id: z}, {name: europe, id: x}]"), []string{"Duplicate " + at + ".regions[2].name region-duplicate"}},
		"region nameless":   {flavor(", regions: [{name: \"\", id: x}]"), []string{"Required " + at + ".regions[0].name name-missing"}},
		"region without ID": {flavor(", regions: [{name: europe, id: \"\"}]"), []string{"Required " + at + ".regions[0].id reference-missing"}},
		"region and arch twice": {
			"- {version: \"1\", regions: [{name: europe, id: x}, {name: europe, id: z, architecture: amd64}]}\n", []string{"Duplicate provider[0].regions[1].name region-duplicate"},
		},
		"region for two architectures": {"- {version: \"1\", regions: [{name: europe, id: x}]}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := consistency.Compile(imagesOnly{}, spec(t, hypervisors, core("1", amdVirt), tc.provider), field.NewPath("spec"))
			if diff := cmp.Diff(tc.want, brief(report.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// References of what core does not list are checked as well.
func TestReferencesOfUnusedVersions(t *testing.T) {
	s := spec(t, hypervisors, core("1", amdVirt), provider("1", amdVirt)+"- {version: \"2\"}\n- {version: \"\"}\n")
	_, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	want := []string{"Required provider[1] reference-missing", "Required provider[2] reference-missing", "Required provider[2].version name-missing"}
	if diff := cmp.Diff(want, brief(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// What could not be read is reported where it stands, and nothing that would follow from it.
func TestUnreadableParts(t *testing.T) {
	for name, tc := range map[string]struct {
		provider string
		want     []string
	}{
		"an ID that is a number": {
			provider("1", amdVirt) + "- {version: \"2\", capabilityFlavors: [{capabilities: " + amdVirt + ", regions: [{name: europe, id: 5}]}]}\n",
			[]string{"Invalid provider[1].capabilityFlavors[0].regions[0].id field-type"},
		},
		"a misspelt key, and the other version still checked": {
			provider("1", armVirt) + "- {version: \"2\", capabilityFlavour: []}\n",
			[]string{
				"Required core[0].capabilityFlavors[0] provider-flavor-missing", "Forbidden provider[0].capabilityFlavors[0] provider-flavor-unexpected",
				"Forbidden provider[1].capabilityFlavour unknown-field",
			},
		},
		"a version that may be the one that is missing": {
			provider("1", amdVirt) + "- {vresion: \"2\"}\n", []string{"Forbidden provider[1].vresion unknown-field"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := consistency.Compile(imagesOnly{}, spec(t, hypervisors, core("1", amdVirt)+core("2", amdVirt), tc.provider), field.NewPath("spec"))
			if diff := cmp.Diff(tc.want, brief(report.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

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
			r := p.ResolvePool(consistency.Pool{MachineType: "m", Architecture: tc.pool})
			if got := fmt.Sprint(r.Machine.Values("architecture")); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// An error deep in one version hides nothing but what follows from it.
func TestUnreadablePartsHideLittle(t *testing.T) {
	s := spec(t, hypervisors, core("1", amdVirt)+core("2", amdVirt), "- {version: \"1\", capabilityFlavors: [{capabilities: "+amdVirt+", regions: [{name: europe, idd: x}]}]}\n")
	s.MachineImages = append(s.MachineImages, v1beta1.MachineImage{Name: "other", Versions: []v1beta1.MachineImageVersion{{
		ExpirableVersion:  v1beta1.ExpirableVersion{Version: "1"},
		CapabilityFlavors: []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}, {Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}},
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
	want = []string{"Duplicate spec.machineImages[1].versions[0].capabilityFlavors[1] core-flavor-duplicate", "Forbidden spec.providerConfig.machineImage unknown-field"}
	if diff := cmp.Diff(want, brief(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// What only one side has is never chosen.
func TestOnlyWhatBothSidesHaveIsChosen(t *testing.T) {
	s := spec(t, hypervisors, core("1", amdVirt)+core("2", amdVirt), provider("1", armVirt, amdVirt))
	s.MachineTypes = []v1beta1.MachineType{{Name: "arm", Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}}
	p, _ := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	for version, want := range map[string]string{"1": consistency.RuleNoImage, "2": consistency.RuleUnknownVersion} {
		if r := p.ResolvePool(consistency.Pool{MachineType: "arm", Image: "gl", Version: version, Region: "europe"}); r.Err == nil || r.Err.Origin != want {
			t.Errorf("%s: %v", version, r.Err)
		}
	}
}

func TestImagesOfOneName(t *testing.T) {
	s := spec(t, hypervisors, core("1", amdVirt)+core("2", amdVirt), provider("1", amdVirt)+"- {version: \"2\", image: x}\n")
	s.ProviderConfig.Raw = []byte(strings.Replace(string(s.ProviderConfig.Raw), `,{"image":"x","version":"2"}]}`,
		`]},{"name":"gl","versions":[{"image":"x","version":"2"}]},{"name":"","versions":[]}`, 1))
	_, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
	want := []string{
		"Duplicate spec.providerConfig.machineImages[1].name provider-image-duplicate",
		"Required spec.providerConfig.machineImages[2].name name-missing",
	}
	if diff := cmp.Diff(want, brief(report.Errors)); diff != "" {
		t.Error(diff, string(s.ProviderConfig.Raw))
	}
}
