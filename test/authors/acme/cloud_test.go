// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
	"github.com/capkit/capkit/pkg/render"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/test/authors/acme"
)

// This file tests features that only some clouds have: attributes of references, legacy fields that imply more than an
// architecture, machine types that request a capability, and further lists in NamespacedCloudProfiles.

// configOf returns the provider config of a profile for a test to change. write stores it again.
func configOf(t *testing.T, raw *runtime.RawExtension) (config *acme.CloudProfileConfig, write func()) {
	t.Helper()
	config = &acme.CloudProfileConfig{}
	if err := json.Unmarshal(raw.Raw, config); err != nil {
		t.Fatal(err)
	}
	return config, func() {
		written, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		raw.Raw = written
	}
}

func namespacedProfile(t *testing.T) *v1beta1.NamespacedCloudProfile {
	t.Helper()
	return object[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
}

// said returns the rule and field of each finding.
func said(found finding.List) []string {
	var said []string
	for _, f := range found {
		said = append(said, f.Origin+" "+f.Field)
	}
	return said
}

// The sample's version is legacy, and its parent has capabilities.
func TestRenderIntoFlavors(t *testing.T) {
	parent, profile := cloudProfile(t, "cloudprofile.yaml"), namespacedProfile(t)
	compiled, _ := check.CloudProfile(acme.Provider{}, parent)
	if _, report := check.NamespacedCloudProfile(compiled, profile); len(report.Errors)+len(report.Warnings) > 0 {
		t.Error(said(report.Errors), said(report.Warnings))
	}
	want := map[string]string{
		"/machineImages/-": `{"name":"bank-linux","versions":[{"version":"3.1.0","capabilityFlavors":[` +
			`{"capabilities":{"architecture":["amd64"],"network":["accelerated","basic"]},"regions":[` +
			`{"name":"north","template":"tpl-bac30001","licenseAccepted":true},` +
			`{"name":"south","template":"tpl-bac30002","licenseAccepted":true}]}]}]}`,
		"/machineTypes/-": `{"maxVolumes":16,"name":"m.huge"}`,
	}
	if diff := cmp.Diff(want, rendered(t, parent.Spec.MachineCapabilities, profile, parent.Spec.ProviderConfig), asJSON); diff != "" {
		t.Error(diff)
	}
}

// The version has flavors, and its parent has no capabilities.
func TestRenderIntoLegacy(t *testing.T) {
	profile := namespacedProfile(t)
	version := &profile.Spec.MachineImages[0].Versions[0]
	version.CapabilityFlavors = []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}}
	config, write := configOf(t, profile.Spec.ProviderConfig)
	config.MachineImages[0].Versions[0] = acme.MachineImageVersion{Version: version.Version, CapabilityFlavors: []acme.MachineImageFlavor{{
		Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}},
		Regions: []acme.RegionTemplate{
			{Name: "north", Template: acme.Template{ID: "tpl-bac30001", LicenseAccepted: true}},
			{Name: "south", Template: acme.Template{ID: "tpl-bac30002"}},
		},
	}}}
	config.MachineTypes[0] = acme.MachineType{Name: "m.small", MaxVolumes: 3}
	write()
	base := &runtime.RawExtension{Raw: []byte(`{"machineImages": [{"name": "bank-linux"}], "machineTypes": [{"name": "m.small", "maxVolumes": 2}]}`)}
	want := map[string]string{
		"/machineImages/0/versions": `[{"version":"3.1.0","regions":[` +
			`{"name":"north","template":"tpl-bac30001","licenseAccepted":true,"architecture":"arm64"},` +
			`{"name":"south","template":"tpl-bac30002","architecture":"arm64"}]}]`,
		"/machineTypes/0": `{"name":"m.small","maxVolumes":3}`,
	}
	if diff := cmp.Diff(want, rendered(t, nil, profile, base), asJSON); diff != "" {
		t.Error(diff)
	}
}

// boots returns the template that a machine type boots in region north.
func boots(profile *profile.Profile[acme.Template], machineType string) string {
	return resolve.Pool(profile, provider.Pool{
		MachineType: machineType, Image: "gardenlinux", Version: "1592.9.0", Region: "north",
	}).Decision.Reference.ID
}

// asJSON compares texts as JSON values.
var asJSON = cmp.FilterValues(func(a, b string) bool { return json.Valid([]byte(a)) && json.Valid([]byte(b)) },
	cmp.Comparer(func(a, b string) bool {
		var x, y any
		return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
	}))

// rendered returns the changed values by path.
func rendered(
	t *testing.T, capabilities []v1beta1.CapabilityDefinition, profile *v1beta1.NamespacedCloudProfile, base *runtime.RawExtension,
) map[string]string {
	t.Helper()
	changes, err := render.Config(acme.Provider{}, capabilities, profile, base)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, change := range changes {
		values[change.Path] = string(change.Value)
	}
	return values
}

// What the legacy field implies is treated as if it were declared: core has to list it, and it decides which machine types boot the image.
func TestFastNetwork(t *testing.T) {
	const at = "spec.machineImages[0].versions[1].capabilityFlavors[0]"
	const entry = "spec.providerConfig.machineImages[0].versions[1].regions[0]"
	different := []string{"provider-flavor-missing " + at, "provider-flavor-unexpected " + entry}
	for _, c := range []struct {
		name   string
		fast   bool
		core   v1beta1.CapabilityValues
		errors []string
		basic  string // the template for m.small, which has no accelerated networking
	}{
		{"neither", false, v1beta1.CapabilityValues{"basic"}, nil, "tpl-01d00001"},
		{"both", true, v1beta1.CapabilityValues{"accelerated", "basic"}, nil, "tpl-01d00001"},
		{"core only", false, v1beta1.CapabilityValues{"accelerated", "basic"}, different, ""},
		{"provider only", true, v1beta1.CapabilityValues{"basic"}, different, ""},
	} {
		object := cloudProfile(t, "cloudprofile.yaml")
		object.Spec.MachineImages[0].Versions[1].CapabilityFlavors[0].Capabilities["network"] = c.core
		config, write := configOf(t, object.Spec.ProviderConfig)
		for i := range config.MachineImages[0].Versions[1].Regions {
			config.MachineImages[0].Versions[1].Regions[i].FastNetwork = c.fast
		}
		write()
		object.Spec.MachineTypes = append(object.Spec.MachineTypes, v1beta1.MachineType{
			Name: "m.fast", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "network": {"accelerated"}},
		})
		profile, report := check.CloudProfile(acme.Provider{}, object)
		if diff := cmp.Diff(c.errors, said(report.Errors)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		fast := ""
		if c.fast && c.errors == nil {
			fast = "tpl-01d00001"
		}
		for machineType, want := range map[string]string{"m.small": c.basic, "m.fast": fast} {
			if got := boots(profile, machineType); got != want {
				t.Errorf("%s on %s: %q, want %q", c.name, machineType, got, want)
			}
		}
	}
}

// Two images of one architecture are two flavors if only one has the fast network. Where both fit, the more capable one is
// preferred (semantics S5), even by a machine type that cannot use it.
func TestFastAndOrdinaryNetwork(t *testing.T) {
	object := cloudProfile(t, "cloudprofile.yaml")
	version := &object.Spec.MachineImages[0].Versions[1]
	version.CapabilityFlavors = append(version.CapabilityFlavors, v1beta1.MachineImageFlavor{
		Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "network": {"accelerated", "basic"}},
	})
	config, write := configOf(t, object.Spec.ProviderConfig)
	regions := &config.MachineImages[0].Versions[1].Regions
	for _, region := range *regions {
		fast := region
		fast.ID, fast.FastNetwork = strings.Replace(region.ID, "tpl-01d", "tpl-fa5", 1), true
		*regions = append(*regions, fast)
	}
	write()
	profile, report := check.CloudProfile(acme.Provider{}, object)
	if len(report.Errors)+len(report.Warnings) > 0 {
		t.Error(said(report.Errors), said(report.Warnings))
	}
	for _, machineType := range []string{"m.large", "m.small"} {
		if got := boots(profile, machineType); got != "tpl-fa500001" {
			t.Errorf("%s: %q", machineType, got)
		}
	}
}

// In a profile that does not register the capability, the field implies nothing.
func TestFastNetworkNotRegistered(t *testing.T) {
	object := cloudProfile(t, "cloudprofile.yaml")
	object.Spec.MachineCapabilities = object.Spec.MachineCapabilities[:1]
	object.Spec.MachineTypes = object.Spec.MachineTypes[:1]
	image := &object.Spec.MachineImages[0]
	image.Versions = image.Versions[1:]
	image.Versions[0].CapabilityFlavors[0].Capabilities = v1beta1.Capabilities{"architecture": {"amd64"}}
	config, write := configOf(t, object.Spec.ProviderConfig)
	config.MachineTypes = nil
	config.MachineImages[0].Versions = config.MachineImages[0].Versions[1:]
	config.MachineImages[0].Versions[0].Regions[0].FastNetwork = true
	config.MachineImages[0].Versions[0].Regions[1].FastNetwork = true
	write()
	if _, report := check.CloudProfile(acme.Provider{}, object); len(report.Errors)+len(report.Warnings) > 0 {
		t.Error(said(report.Errors), said(report.Warnings))
	}
}

// Omitted core flavors are filled in from what the field implies.
func TestFastNetworkIsFilledIn(t *testing.T) {
	object := cloudProfile(t, "cloudprofile.yaml")
	object.Spec.MachineImages[0].Versions[1].CapabilityFlavors = nil
	filled := profile.FillCloudProfile(acme.Provider{}, &object.Spec)
	want := []profile.Filled{{Version: 1, Flavors: []v1beta1.MachineImageFlavor{
		{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "network": {"basic"}}},
	}}}
	if diff := cmp.Diff(want, filled); diff != "" {
		t.Error(diff)
	}
}

// Machine types x.* request the enclave. The capability is newer than they are, so it applies only where it is registered.
func TestEnclave(t *testing.T) {
	const rule, at = "worker-request-unmet", "spec.provider.workers[0].machine.type"
	for _, c := range []struct {
		name, machineType    string
		registered, declared bool
		errors               []string
		want                 string
		warnings             int
	}{
		{name: "not registered", machineType: "x.large", want: "tpl-0a11ce01", warnings: 1},
		{name: "registered", machineType: "x.large", registered: true, errors: []string{rule + " " + at}},
		{name: "declared", machineType: "x.large", registered: true, declared: true, want: "tpl-0a11ce01"},
		{name: "another type", machineType: "m.large", registered: true, want: "tpl-0a11ce01"},
	} {
		object := cloudProfile(t, "cloudprofile.yaml")
		large := object.Spec.MachineTypes[0]
		large.Name = "x.large"
		object.Spec.MachineTypes = append(object.Spec.MachineTypes, large)
		if c.registered {
			object.Spec.MachineCapabilities = append(object.Spec.MachineCapabilities, v1beta1.CapabilityDefinition{
				Name: acme.Enclave, Values: v1beta1.CapabilityValues{"supported", "none"},
			})
		}
		if c.declared {
			declare := v1beta1.CapabilityValues{"supported"}
			object.Spec.MachineImages[0].Versions[0].CapabilityFlavors[0].Capabilities[acme.Enclave] = declare
			config, write := configOf(t, object.Spec.ProviderConfig)
			config.MachineImages[0].Versions[0].CapabilityFlavors[0].Capabilities[acme.Enclave] = declare
			write()
		}
		profile, report := profile.Compile(acme.Provider{}, &object.Spec, field.NewPath("spec"))
		if len(report.Errors) > 0 {
			t.Errorf("%s: %v", c.name, said(report.Errors))
		}
		shoot := shootOf(v1beta1.Worker{Name: "web", Machine: machine(c.machineType, "1877.5.0")})
		found := check.Shoot(profile, shoot, nil)
		if diff := cmp.Diff(c.errors, said(found.Errors)); diff != "" || len(found.Warnings) != c.warnings {
			t.Errorf("%s: warnings %v, errors: %s", c.name, said(found.Warnings), diff)
		}
		answer := resolve.Pool(profile, provider.PoolsOf(shoot)[0])
		if answer.Decision.Reference.ID != c.want {
			t.Errorf("%s: %q, want %q", c.name, answer.Decision.Reference.ID, c.want)
		}
	}
}

// Data volumes are requested of the machine type only, and only where the capability is registered: no image declares it.
func TestDataDisks(t *testing.T) {
	for _, c := range []struct {
		name                 string
		registered, declared bool
		volumes              int
		errors               []string
	}{
		{name: "not registered", volumes: 1},
		{name: "not declared", registered: true, volumes: 1},
		{name: "declared", registered: true, declared: true, volumes: 1, errors: []string{"machine-type-request-unmet spec.provider.workers[0].dataVolumes"}},
		{name: "not asked for", registered: true, declared: true},
	} {
		object := cloudProfile(t, "cloudprofile.yaml")
		if c.registered {
			object.Spec.MachineCapabilities = append(object.Spec.MachineCapabilities, v1beta1.CapabilityDefinition{
				Name: acme.DataDisks, Values: v1beta1.CapabilityValues{"supported", "none"},
			})
		}
		if c.declared {
			object.Spec.MachineTypes[0].Capabilities[acme.DataDisks] = v1beta1.CapabilityValues{"none"}
		}
		profile, report := check.CloudProfile(acme.Provider{}, object)
		if len(report.Errors) > 0 {
			t.Errorf("%s: %v", c.name, said(report.Errors))
		}
		shoot := shootOf(v1beta1.Worker{Name: "web", Machine: machine("m.large", "1877.5.0"), DataVolumes: make([]v1beta1.DataVolume, c.volumes)})
		found := check.Shoot(profile, shoot, nil)
		if diff := cmp.Diff(c.errors, said(found.Errors)); diff != "" || len(found.Warnings) > 0 {
			t.Errorf("%s: warnings %v, errors: %s", c.name, said(found.Warnings), diff)
		}
	}
}

func TestMachineTypes(t *testing.T) {
	object := cloudProfile(t, "cloudprofile.yaml")
	config, write := configOf(t, object.Spec.ProviderConfig)
	config.MachineTypes = append(config.MachineTypes, acme.MachineType{Name: "m.tiny"})
	write()
	_, report := check.CloudProfile(acme.Provider{}, object)
	want := []string{acme.RuleMachineType + " spec.providerConfig.machineTypes[1].name"}
	if diff := cmp.Diff(want, said(report.Errors)); diff != "" {
		t.Error(diff)
	}
	profile, shoot := compiled(t), shootOf(
		v1beta1.Worker{Name: "web", Machine: machine("m.large", "1592.9.0"), DataVolumes: make([]v1beta1.DataVolume, 3)},
		v1beta1.Worker{Name: "db", Machine: machine("m.small", "1592.9.0"), DataVolumes: make([]v1beta1.DataVolume, 3)},
	)
	want = []string{acme.RuleVolumes + " spec.provider.workers[1].dataVolumes"}
	if diff := cmp.Diff(want, said(check.Shoot(profile, shoot, nil).Errors)); diff != "" {
		t.Error(diff)
	}
}

// In a NamespacedCloudProfile, the provider config has images and the merged lists, and nothing else.
func TestNamespacedLists(t *testing.T) {
	parent := compiled(t)
	profile := namespacedProfile(t)
	config, write := configOf(t, profile.Spec.ProviderConfig)
	config.MaxMachines = new(int32)
	write()
	want := []string{"namespaced-config-field spec.providerConfig.maxMachines"}
	_, report := check.NamespacedCloudProfile(parent, profile)
	if diff := cmp.Diff(want, said(report.Errors)); diff != "" {
		t.Error(diff)
	}
	config.MaxMachines = nil
	config.MachineTypes = append(config.MachineTypes, config.MachineTypes[0], acme.MachineType{})
	write()
	last := len(config.MachineTypes) - 1
	want = []string{
		fmt.Sprintf("namespaced-entry-duplicate spec.providerConfig.machineTypes[%d].name", last-1),
		fmt.Sprintf("name-missing spec.providerConfig.machineTypes[%d].name", last),
	}
	_, report = check.NamespacedCloudProfile(parent, profile)
	if diff := cmp.Diff(want, said(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// Of a duplicate entry, which the check refuses, the first is rendered, and rendering again changes nothing.
func TestNamespacedListsWithAnEntryTwice(t *testing.T) {
	profile := namespacedProfile(t)
	config, write := configOf(t, profile.Spec.ProviderConfig)
	twice := config.MachineTypes[0]
	twice.MaxVolumes++
	config.MachineTypes = append(config.MachineTypes[:1:1], twice)
	write()
	base := &runtime.RawExtension{Raw: []byte(`{"machineTypes":[{"name":"other"}]}`)}
	changes := rendered(t, nil, profile, base)
	first, found := changes["/machineTypes/-"]
	if !found {
		t.Fatal(changes)
	}
	base.Raw = []byte(`{"machineImages":` + changes["/machineImages"] + `,"machineTypes":[{"name":"other"},` + first + `]}`)
	if again := rendered(t, nil, profile, base); len(again) > 0 {
		t.Error(again)
	}
}

func TestFieldOfTheOtherFormat(t *testing.T) {
	object := cloudProfile(t, "cloudprofile.yaml")
	config, write := configOf(t, object.Spec.ProviderConfig)
	config.MachineImages[0].Versions[0].CapabilityFlavors[1].Regions[1].FastNetwork = true
	write()
	_, report := check.CloudProfile(acme.Provider{}, object)
	want := []string{acme.RuleFastNetwork + " spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[1].regions[1].fastNetwork"}
	if diff := cmp.Diff(want, said(report.Warnings)); diff != "" || len(report.Errors) > 0 {
		t.Error(said(report.Errors), diff)
	}
}

// Configs survive a round trip through Encode and Decode in both formats.
func TestLaws(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "acme.provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "CloudProfileConfig"}
	providertest.Laws(t, acme.Provider{}, providertest.Configs(t, kind, ".")...)
}

// A reference without an ID is none, whatever else is written beside it: no machine boots it.
func TestNothingBootsWithoutATemplate(t *testing.T) {
	for _, remove := range []func(version *acme.MachineImageVersion){
		func(version *acme.MachineImageVersion) {
			version.Regions[0].Template = acme.Template{LicenseAccepted: true}
		},
		func(version *acme.MachineImageVersion) {
			version.CapabilityFlavors = []acme.MachineImageFlavor{{Regions: version.Regions[:1]}}
			version.CapabilityFlavors[0].Regions[0].Template = acme.Template{LicenseAccepted: true}
			version.Regions = nil
		},
	} {
		version := acme.MachineImageVersion{Version: "1", Regions: []acme.RegionTemplate{{Name: "north"}}}
		remove(&version)
		config := acme.CloudProfileConfig{MachineImages: []acme.MachineImage{{Name: "linux", Versions: []acme.MachineImageVersion{version}}}}
		config.SetGroupVersionKind(schema.GroupVersionKind{Group: "acme.provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "CloudProfileConfig"})
		raw, err := json.Marshal(config)
		if err != nil {
			t.Fatal(err)
		}
		read, report := acme.Provider{}.Decode(&runtime.RawExtension{Raw: raw}, field.NewPath("config"))
		if ref, _ := read.Images[0].Versions[0].Flavors[0].Reference("north"); ref != (acme.Template{}) {
			t.Errorf("%+v %v", ref, report.Errors)
		}
	}
}
