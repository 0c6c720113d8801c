// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/azure"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
	"github.com/capkit/capkit/pkg/resolve"
)

// This file tests choices in the examples: the capabilities that legacy fields imply, the requirements of machine types, and rendering.

// example reads one of the examples.
func example[T any](t *testing.T, name string) *T {
	t.Helper()
	text, err := os.ReadFile("../../example/azure/" + name)
	if err != nil {
		t.Fatal(err)
	}
	object := new(T)
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// said returns the rules and fields of findings.
func said(found finding.List) []string {
	var said []string
	for _, f := range found {
		said = append(said, f.Origin+" "+f.Field)
	}
	return said
}

// edit replaces text in a provider config.
func edit(t *testing.T, config *runtime.RawExtension, replacements ...string) {
	t.Helper()
	changed := strings.NewReplacer(replacements...).Replace(string(config.Raw))
	if changed == string(config.Raw) {
		t.Fatalf("%q changes nothing in %s", replacements, config.Raw)
	}
	config.Raw = []byte(changed)
}

// boots returns the image that a machine type boots from a version; zero if there is none.
func boots(profile *profile.Profile[azure.Image], version, machineType string) azure.Image {
	return resolve.Pool(profile, provider.Pool{
		MachineType: machineType, Image: "gardenlinux", Version: version, Region: "westeurope",
	}).Decision.Reference
}

// The legacy version of the mixed profile has two entries for amd64, one of them with accelerated networking. An image without it does
// not boot on a machine type that has only accelerated networking.
func TestAcceleratedNetworkingOfLegacyEntries(t *testing.T) {
	const fast, plain = "sap:gardenlinux:greatest:1592.9.0", "sap:gardenlinux:compatible:1592.9.0"
	object := example[v1beta1.CloudProfile](t, "cloudprofile-mixed.yaml")
	profile, report := check.CloudProfile(azure.Provider{}, object)
	if len(report.Errors)+len(report.Warnings) > 0 {
		t.Fatal(said(report.Errors), said(report.Warnings))
	}
	for machineType, want := range map[string]string{"Standard_D4s_v5": fast, "Standard_A4_v2": fast} {
		if got := boots(profile, "1592.9.0", machineType).URN; got != want {
			t.Errorf("%s: %q, want %q", machineType, got, want)
		}
	}
	// Remove the entry with accelerated networking, and its core flavor.
	edit(t, object.Spec.ProviderConfig, `{"acceleratedNetworking":true,"urn":"`+fast+`","version":"1592.9.0"},`, "")
	version := &object.Spec.MachineImages[0].Versions[1]
	version.CapabilityFlavors = version.CapabilityFlavors[1:]
	profile, report = check.CloudProfile(azure.Provider{}, object)
	if len(report.Errors) > 0 {
		t.Fatal(said(report.Errors))
	}
	for machineType, want := range map[string]string{"Standard_D4s_v5": "", "Standard_A4_v2": plain} {
		if got := boots(profile, "1592.9.0", machineType).URN; got != want {
			t.Errorf("%s: %q, want %q", machineType, got, want)
		}
	}
	// A capability in core that the image lacks is refused.
	version.CapabilityFlavors[0].Capabilities[azure.Networking] = v1beta1.CapabilityValues{"accelerated", "basic"}
	_, report = check.CloudProfile(azure.Provider{}, object)
	want := []string{
		"provider-flavor-missing spec.machineImages[0].versions[1].capabilityFlavors[0]",
		"provider-flavor-unexpected spec.providerConfig.machineImages[0].versions[1]",
	}
	if diff := cmp.Diff(want, said(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// The implications of legacy fields are filled in.
func TestCoreFlavorsAreFilledIn(t *testing.T) {
	object := example[v1beta1.CloudProfile](t, "cloudprofile-mixed.yaml")
	version := &object.Spec.MachineImages[0].Versions[1]
	want := []profile.Filled{{Version: 1, Flavors: version.CapabilityFlavors}}
	version.CapabilityFlavors = nil
	if diff := cmp.Diff(want, profile.FillCloudProfile(azure.Provider{}, &object.Spec)); diff != "" {
		t.Error(diff)
	}
}

// In a profile without capabilities, two entries that differ only in accelerated networking are not duplicates.
func TestEntriesOfALegacyProfile(t *testing.T) {
	object := example[v1beta1.CloudProfile](t, "cloudprofile-legacy.yaml")
	profile, report := check.CloudProfile(azure.Provider{}, object)
	if len(report.Errors)+len(report.Warnings) > 0 {
		t.Error(said(report.Errors), said(report.Warnings))
	}
	if got := boots(profile, "1877.5.0", "Standard_D4s_v5").URN; got != "sap:gardenlinux:greatest:1877.5.0" {
		t.Error(got)
	}
	edit(t, object.Spec.ProviderConfig, `"acceleratedNetworking":true,`, "")
	_, report = check.CloudProfile(azure.Provider{}, object)
	want := []string{"provider-flavor-duplicate spec.providerConfig.machineImages[0].versions[1]"}
	if diff := cmp.Diff(want, said(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// In such a profile an entry is a duplicate of any entry with the same accelerated networking, not only of the first of its architecture.
func TestThreeEntriesOfALegacyProfile(t *testing.T) {
	entry := func(name, networking string) string {
		return `{"version":"1.0.0","urn":"a:b:c:` + name + `","acceleratedNetworking":` + networking + `}`
	}
	spec := &v1beta1.CloudProfileSpec{Type: "azure", MachineImages: []v1beta1.MachineImage{{
		Name: "a", Versions: []v1beta1.MachineImageVersion{{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"}}},
	}}}
	spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"azure.provider.extensions.gardener.cloud/v1alpha1",` +
		`"kind":"CloudProfileConfig","countFaultDomains":[{"region":"eu","count":2}],"countUpdateDomains":[{"region":"eu","count":2}],` +
		`"machineImages":[{"name":"a","versions":[` + entry("1", "true") + "," + entry("2", "false") + "," + entry("3", "false") + "]}]}")}
	_, report := profile.Compile(azure.Provider{}, spec, field.NewPath("spec"))
	want := []string{"provider-flavor-duplicate spec.providerConfig.machineImages[0].versions[2]"}
	if diff := cmp.Diff(want, said(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// An image in both formats is a duplicate, in either order, and whether or not accelerated networking is registered.
func TestEntriesInBothFormats(t *testing.T) {
	const fast, plain = "sap:gardenlinux:greatest:1592.9.0", "sap:gardenlinux:compatible:1592.9.0"
	legacy := `{"urn":"` + plain + `","version":"1592.9.0"}`
	flavor := `{"capabilityFlavors":[{"capabilities":{"architecture":["amd64"],"azure-networking":["basic"]},"urn":"` + plain +
		`"}],"version":"1592.9.0"}`
	for _, registered := range []bool{true, false} {
		for both, want := range map[string]string{
			legacy + "," + flavor: "provider-flavor-duplicate spec.providerConfig.machineImages[0].versions[2].capabilityFlavors[0]",
			flavor + "," + legacy: "provider-flavor-duplicate spec.providerConfig.machineImages[0].versions[2]",
		} {
			object := example[v1beta1.CloudProfile](t, "cloudprofile-mixed.yaml")
			spec := &object.Spec
			spec.MachineImages[0].Versions = spec.MachineImages[0].Versions[1:]
			spec.MachineImages[0].Versions[0].CapabilityFlavors = spec.MachineImages[0].Versions[0].CapabilityFlavors[1:]
			edit(t, spec.ProviderConfig, `{"acceleratedNetworking":true,"urn":"`+fast+`","version":"1592.9.0"},`, "", legacy, both)
			if !registered {
				spec.MachineCapabilities = spec.MachineCapabilities[:1]
				delete(spec.MachineImages[0].Versions[0].CapabilityFlavors[0].Capabilities, azure.Networking)
				edit(t, spec.ProviderConfig, `,"azure-networking":["basic"]`, "")
			}
			_, report := profile.Compile(azure.Provider{}, spec, field.NewPath("spec"))
			if diff := cmp.Diff([]string{want}, said(report.Errors)); diff != "" {
				t.Errorf("registered: %t, %s: %s", registered, both, diff)
			}
		}
	}
}

// In the legacy format nobody writes a flavor, so an error about a missing image does not mention one.
func TestLegacyEntryWithoutImage(t *testing.T) {
	object := example[v1beta1.CloudProfile](t, "cloudprofile-legacy.yaml")
	edit(t, object.Spec.ProviderConfig, `"urn":"sap:gardenlinux:greatest:1592.9.0",`, "")
	_, report := profile.Compile(azure.Provider{}, &object.Spec, field.NewPath("spec"))
	const want = "gardenlinux@1592.9.0: the entry has no reference to an image; add one of urn, communityGalleryImageID, " +
		"sharedGalleryImageID and id, or remove the entry"
	if len(report.Errors) != 1 || report.Errors[0].Detail != want {
		t.Error(report.Errors)
	}
}

// Confidential machine types require an image that supports them, if the profile registers the capability.
func TestConfidentialVM(t *testing.T) {
	const at = "spec.provider.workers[1].machine.type"
	shoot := example[v1beta1.Shoot](t, "shoot.yaml")
	object := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	check := func(object *v1beta1.CloudProfile) (image azure.Image, errors, warnings []string) {
		profile, report := profile.Compile(azure.Provider{}, &object.Spec, field.NewPath("spec"))
		if len(report.Errors) > 0 {
			t.Fatal(said(report.Errors))
		}
		found := check.Shoot(profile, shoot, nil)
		return resolve.Pool(profile, provider.PoolsOf(shoot)[1]).Decision.Reference, said(found.Errors), said(found.Warnings)
	}
	image, errors, warnings := check(object)
	if image.URN != "sap:gardenlinux:confidential:1877.5.0" || len(errors)+len(warnings) > 0 {
		t.Error("declared:", image, errors, warnings)
	}
	shoot.Spec.Provider.Workers[1].Machine.Image.Version = new("1592.9.0")
	image, errors, _ = check(object)
	if diff := cmp.Diff([]string{"worker-request-unmet " + at}, errors); diff != "" || image != (azure.Image{}) {
		t.Error("not declared:", image, diff)
	}
	// Without the registration nothing is refused.
	legacy := example[v1beta1.CloudProfile](t, "cloudprofile-legacy.yaml")
	shoot.Spec.Provider.Workers = shoot.Spec.Provider.Workers[:2]
	shoot.Spec.Provider.Workers[0].Machine.Image.Version = new("1592.9.0")
	legacy.Spec.MachineTypes = append(legacy.Spec.MachineTypes, v1beta1.MachineType{Name: shoot.Spec.Provider.Workers[1].Machine.Type})
	image, errors, warnings = check(legacy)
	if diff := cmp.Diff([]string{"worker-request-ignored " + at}, warnings); diff != "" || len(errors) > 0 || image == (azure.Image{}) {
		t.Error("not registered:", image, errors, diff)
	}
}

// A suggested machine type must work with its own requirements: a confidential one requires an image that an ordinary one does not.
func TestSuggestedMachineTypes(t *testing.T) {
	object := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	p, report := profile.Compile(azure.Provider{}, &object.Spec, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	for _, machineType := range []string{"Standard_DC4as_v5", "Standard_D4s_v6", "Standard_DC4as_v6", "other"} {
		pool := provider.Pool{Name: "w", MachineType: machineType, Image: "gardenlinux", Version: "1592.9.0", Region: "westeurope"}
		works, suggested := resolve.Works(p, pool), 0
		for _, s := range resolve.Pool(p, pool).Suggestions {
			if s.Kind == "machine-type" {
				suggested++
				if !works(s.Value, pool.Image, pool.Version) {
					t.Errorf("%s: %s does not work", machineType, s.Value)
				}
			}
		}
		if suggested == 0 {
			t.Errorf("%s: an ordinary machine type would work", machineType)
		}
	}
}

// asJSON compares JSON texts by value, regardless of key order.
var asJSON = cmp.FilterValues(func(a, b string) bool { return json.Valid([]byte(a)) && json.Valid([]byte(b)) },
	cmp.Comparer(func(a, b string) bool {
		var x, y any
		return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
	}))

// The image and machine type of the NamespacedCloudProfile are added to the parent's, in the parent's format, without losing fields of
// the image.
func TestRender(t *testing.T) {
	parent := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	profile := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	compiled, _ := check.CloudProfile(azure.Provider{}, parent)
	if _, report := check.NamespacedCloudProfile(compiled, profile); len(report.Errors)+len(report.Warnings) > 0 {
		t.Error(said(report.Errors), said(report.Warnings))
	}
	changes, err := render.Config(azure.Provider{}, parent.Spec.MachineCapabilities, profile, parent.Spec.ProviderConfig)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, change := range changes {
		got[change.Path] = string(change.Value)
	}
	want := map[string]string{
		"/machineImages/-": `{"name":"team-linux","versions":[{"version":"3.1.0","capabilityFlavors":[
			{"capabilities":{"architecture":["amd64"],"azure-networking":["accelerated","basic"]},"urn":"team:linux:small:3.1.0","skipMarketplaceAgreement":true}]}]}`,
		"/machineTypes": `[{"name":"Standard_D32s_v5","acceleratedNetworking":true}]`, // the parent has no machineTypes
	}
	if diff := cmp.Diff(want, got, asJSON); diff != "" {
		t.Error(diff)
	}
}
