// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/local"
)

// The parents of the tables below have image gl in version 1, one of them with capabilities, the other without. A local
// parent is the same for the local provider.
const (
	modernParent = hypervisors + "type: openstack\nregions: [{name: europe}]\n" +
		"machineTypes: [{name: m, capabilities: " + amdVirt + "}]\n" +
		"machineImages: [{name: gl, versions: [{version: \"1\", capabilityFlavors: [" + amdVirt + "]}]}]\n" +
		"providerConfig: " + openstackConfig + "machineImages: [{name: gl, versions: [{version: \"1\", capabilityFlavors: [{capabilities: " + amdVirt + ", regions: [{name: europe, id: x}]}]}]}]}\n"
	legacyParent = "type: openstack\nregions: [{name: europe}]\nmachineTypes: [{name: m, architecture: amd64}]\n" +
		"machineImages: [{name: gl, versions: [{version: \"1\", architectures: [amd64]}]}]\n" +
		"providerConfig: " + openstackConfig + "machineImages: [{name: gl, versions: [{version: \"1\", regions: [{name: europe, id: x}]}]}]}\n"

	openstackConfig = "{apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: CloudProfileConfig, "
	localConfig     = "{apiVersion: local.provider.extensions.gardener.cloud/v1alpha1, kind: CloudProfileConfig, "
)

// ownImage writes a NamespacedCloudProfile with one image version of its own, from what core and the provider config say
// about it.
func ownImage(core, provider string) string {
	return "parent: {kind: CloudProfile, name: above}\nmachineImages: [{name: own, versions: [{version: \"1\"" + core + "}]}]\n" +
		"providerConfig: " + openstackConfig + "machineImages: [{name: own, versions: [{version: \"1\"" + provider + "}]}]}\n"
}

func namespaced(t *testing.T, text string) *v1beta1.NamespacedCloudProfile {
	t.Helper()
	profile := &v1beta1.NamespacedCloudProfile{}
	if err := yaml.UnmarshalStrict([]byte(text), &profile.Spec); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return profile
}

// verdict compiles a parent, which has to be sound, and checks a profile below it.
func verdict[R any](t *testing.T, provider consistency.Provider[R], parent, profile string) consistency.Report {
	t.Helper()
	above, report := consistency.Compile(provider, parse(t, parent), field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	object := namespaced(t, profile)
	before := object.DeepCopy()
	report = consistency.CheckNamespacedCloudProfile(above, object)
	if diff := cmp.Diff(before, object); diff != "" {
		t.Errorf("the profile was changed: %s", diff)
	}
	checkFindings(t, report.Errors)
	checkFindings(t, report.Warnings)
	return report
}

func TestNamespacedCloudProfile(t *testing.T) {
	const (
		above    = "parent: {kind: CloudProfile, name: above}\n"
		versions = "spec.machineImages[0].versions[0]"
		mapping  = "spec.providerConfig.machineImages[0].versions[0]"
		emptied  = "providerConfig: " + openstackConfig
		expires  = "machineImages: [{name: gl, versions: [{version: \"1\", expirationDate: \"2050-01-01T00:00:00Z\"}]}]\n"
		twoTypes = above + "machineTypes: [{name: a}, {name: b, architecture: arm64}]\n"
	)
	for name, tc := range map[string]struct {
		parent, profile string
		want            []string
	}{
		"nothing":                     {modernParent, above, nil},
		"an image of its own":         {modernParent, ownImage(", capabilityFlavors: ["+amdVirt+"]", ", capabilityFlavors: [{capabilities: "+amdVirt+", regions: [{name: europe, id: o}]}]"), nil},
		"a version of its own":        {modernParent, strings.NewReplacer("name: own", "name: gl", `"1"`, `"2"`).Replace(ownImage(", capabilityFlavors: ["+amdVirt+"]", ", capabilityFlavors: [{capabilities: "+amdVirt+", regions: [{name: europe, id: o}]}]")), nil},
		"a lifecycle":                 {modernParent, above + expires, nil},
		"a lifecycle, empty mappings": {modernParent, above + expires + emptied + "machineImages: []}\n", nil},
		"a lifecycle, with an image that maps nothing": {modernParent, above + expires + emptied + "machineImages: [{name: gl, versions: []}]}\n", nil},
		"a lifecycle and flavors": {
			modernParent, above + strings.Replace(expires, `"1"`, `"1", capabilityFlavors: [`+amdVirt+`]`, 1),
			[]string{"Forbidden " + versions + ".capabilityFlavors namespaced-version-inherited"},
		},
		"a lifecycle, flavors and architectures": {
			legacyParent, above + strings.Replace(expires, `"1"`, `"1", architectures: [amd64], capabilityFlavors: [`+amdVirt+`]`, 1),
			[]string{"Forbidden " + versions + ".architectures namespaced-version-inherited", "Forbidden " + versions + ".capabilityFlavors namespaced-version-inherited"},
		},
		"a mapping for the parent's version": {
			modernParent, above + expires + emptied + "machineImages: [{name: gl, versions: [{version: \"1\", capabilityFlavors: [{capabilities: " + amdVirt + ", regions: [{name: europe, id: o}]}]}]}]}\n",
			[]string{"Forbidden " + mapping + " namespaced-mapping-inherited"},
		},
		"a mapping for the parent's version, which the profile does not list": {
			modernParent, above + emptied + "machineImages: [{name: gl, versions: [{version: \"1\", image: o}]}]}\n",
			[]string{"Forbidden " + mapping + " namespaced-mapping-inherited"},
		},
		"a version of its own without provider config": {
			modernParent, above + "machineImages: [{name: gl, versions: [{version: \"1\"}]}, {name: own, versions: [{version: \"1\", capabilityFlavors: [" + amdVirt + "]}]}]\n",
			[]string{"Required spec.machineImages[1] provider-image-missing"},
		},
		"a provider config of null":       {modernParent, above + "providerConfig: null\n", nil},
		"a provider config of no kind":    {modernParent, above + "providerConfig: {}\n", []string{"Required spec.providerConfig.apiVersion provider-config-kind", "Required spec.providerConfig.kind provider-config-kind"}},
		"a provider config of no content": {modernParent, above + emptied + "}\n", nil},
		"more fields in the provider config": {
			modernParent, above + emptied + "keystoneURL: https://k, requestTimeout: 1s, constraints: {floatingPools: [{name: p}]}}\n",
			[]string{"Forbidden spec.providerConfig.constraints namespaced-config-field", "Forbidden spec.providerConfig.keystoneURL namespaced-config-field", "Forbidden spec.providerConfig.requestTimeout namespaced-config-field"},
		},
		"more fields, all empty": {modernParent, above + emptied + "keystoneURL: \"\", keystoneURLs: [], constraints: {floatingPools: null, loadBalancerProviders: []}}\n", nil},
		"false and zero, which are not empty": {
			modernParent, above + emptied + "useSNAT: false, nodeVolumeAttachLimit: 0}\n",
			[]string{"Forbidden spec.providerConfig.nodeVolumeAttachLimit namespaced-config-field", "Forbidden spec.providerConfig.useSNAT namespaced-config-field"},
		},
		"a field that nobody knows": {
			modernParent, above + emptied + "machineimages: []}\n", []string{"Forbidden spec.providerConfig.machineimages unknown-field"},
		},
		"a field of the parent's with an error in it": {
			modernParent, above + emptied + "constraints: {floatingPools: [{nam: p}]}}\n",
			[]string{"Forbidden spec.providerConfig.constraints namespaced-config-field", "Forbidden spec.providerConfig.constraints.floatingPools[0].nam unknown-field"},
		},
		"a flavor missing and one too many": {
			modernParent, ownImage(", capabilityFlavors: ["+amdVirt+", "+armVirt+"]", ", capabilityFlavors: [{capabilities: "+amdBare+", regions: [{name: europe, id: o}]}, {capabilities: "+amdVirt+", regions: [{name: europe, id: o}]}]"),
			[]string{"Required " + versions + ".capabilityFlavors[1] provider-flavor-missing", "Forbidden " + mapping + ".capabilityFlavors[0] provider-flavor-unexpected"},
		},
		"twice on both sides": {
			modernParent, ownImage(", capabilityFlavors: ["+amdVirt+", "+amdVirt+"]", ", capabilityFlavors: [{capabilities: "+amdVirt+", regions: [{name: europe, id: o}]}, {capabilities: "+amdVirt+", regions: [{name: europe, id: o}]}]"),
			[]string{"Duplicate " + versions + ".capabilityFlavors[1] core-flavor-duplicate", "Duplicate " + mapping + ".capabilityFlavors[1] provider-flavor-duplicate"},
		},
		"an unregistered value": {
			modernParent, ownImage(", capabilityFlavors: ["+amdVirt+"]", ", capabilityFlavors: [{capabilities: {architecture: [amd64], hypervisor: [xen]}, regions: [{name: europe, id: o}]}]"),
			[]string{"NotSupported " + mapping + ".capabilityFlavors[0].capabilities.hypervisor[0] capability-value-unregistered"},
		},
		"a flavor without reference":    {modernParent, ownImage(", capabilityFlavors: ["+amdVirt+"]", ", capabilityFlavors: [{capabilities: "+amdVirt+"}]"), []string{"Required " + mapping + ".capabilityFlavors[0] reference-missing"}},
		"an image name alone":           {modernParent, ownImage(", capabilityFlavors: [{architecture: [amd64]}]", ", image: o"), nil},
		"an image name, for arm64 only": {modernParent, ownImage(", capabilityFlavors: [{architecture: [arm64]}]", ", image: o"), []string{"Required " + versions + ".capabilityFlavors[0] provider-flavor-missing", "Forbidden " + mapping + ".image provider-flavor-unexpected"}},

		"legacy mapping below capabilities": {modernParent, ownImage(", capabilityFlavors: ["+amdBare+", {architecture: [arm64]}]", ", regions: [{name: europe, id: o}, {name: europe, id: p, architecture: arm64}]"), nil},
		"legacy mapping that cannot tell": {
			modernParent, ownImage(", capabilityFlavors: ["+amdBare+", "+amdVirt+"]", ", regions: [{name: europe, id: o}]"), []string{"Required " + mapping + ".capabilityFlavors legacy-flavor-ambiguous"},
		},
		"legacy on both sides": {modernParent, ownImage(", architectures: [amd64, arm64]", ", regions: [{name: europe, id: o}, {name: europe, id: p, architecture: arm64}]"), nil},
		"legacy on both sides, one missing and one too many": {
			modernParent, ownImage(", architectures: [amd64]", ", regions: [{name: europe, id: p, architecture: arm64}]"),
			[]string{"Required " + versions + ".architectures[0] provider-flavor-missing", "Forbidden " + mapping + ".regions[0] provider-flavor-unexpected"},
		},
		"legacy core, new mapping": {modernParent, ownImage(", architectures: [amd64]", ", capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: o}]"), nil},
		"legacy core, new mapping of less": {
			modernParent, ownImage(", architectures: [amd64]", ", capabilityFlavors: [{capabilities: "+amdVirt+", image: o}]"),
			[]string{"Required " + versions + ".architectures[0] provider-flavor-missing", "Forbidden " + mapping + ".capabilityFlavors[0] provider-flavor-unexpected"},
		},

		"new on both sides, below a legacy parent":                    {legacyParent, ownImage(", capabilityFlavors: [{architecture: [amd64]}, {architecture: [arm64]}]", ", capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: o}, {capabilities: {architecture: [arm64]}, regions: [{name: europe, id: p}]}]"), nil},
		"new mapping, below a legacy parent":                          {legacyParent, ownImage(", architectures: [amd64]", ", capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: o}]"), nil},
		"new core, below a legacy parent":                             {legacyParent, ownImage(", capabilityFlavors: [{architecture: [amd64]}]", ", image: o"), nil},
		"new core of no architecture, which is amd64":                 {legacyParent, ownImage(", capabilityFlavors: [{hypervisor: [baremetal]}]", ", image: o"), nil},
		"new core of more than an architecture, which does not count": {legacyParent, ownImage(", capabilityFlavors: ["+amdVirt+", "+amdBare+"]", ", image: o"), nil},
		"architectures count before flavors":                          {legacyParent, ownImage(", architectures: [amd64], capabilityFlavors: [{architecture: [arm64]}]", ", image: o"), nil},
		"core says nothing":                                           {legacyParent, ownImage("", ", image: o"), nil},
		"core says nothing, and the mapping arm64": {
			legacyParent, ownImage("", ", capabilityFlavors: [{capabilities: {architecture: [arm64]}, regions: [{name: europe, id: o}]}]"),
			[]string{"Required " + versions + " provider-flavor-missing", "Forbidden " + mapping + ".capabilityFlavors[0] provider-flavor-unexpected"},
		},
		"new core, and an architecture missing": {
			legacyParent, ownImage(", capabilityFlavors: [{architecture: [amd64]}, {architecture: [arm64]}]", ", image: o"),
			[]string{"Required " + versions + ".capabilityFlavors[1] provider-flavor-missing"},
		},
		"an image name for arm64, which the legacy format does not have": {
			legacyParent, ownImage(", architectures: [arm64]", ", capabilityFlavors: [{capabilities: {architecture: [arm64]}, image: o}]"),
			[]string{"Forbidden " + mapping + ".capabilityFlavors namespaced-format"},
		},
		"an image name for each architecture, which the legacy format does not have": {
			legacyParent, ownImage(", architectures: [amd64, arm64]", ", capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: o}, {capabilities: {architecture: [arm64]}, image: p}]"),
			[]string{"Forbidden " + mapping + ".capabilityFlavors namespaced-format"},
		},
		"one flavor for both architectures": {legacyParent, ownImage(", architectures: [amd64, arm64]", ", capabilityFlavors: [{regions: [{name: europe, id: o}]}]"), nil},
		"a flavor of an architecture twice": {
			legacyParent, ownImage(", architectures: [amd64]", ", capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: o}, {capabilities: {architecture: [amd64]}, image: p}]"),
			[]string{"Duplicate " + mapping + ".capabilityFlavors[1] provider-flavor-duplicate"},
		},
		"a capability that the parent does not have": {
			legacyParent, ownImage("", ", capabilityFlavors: [{capabilities: "+amdVirt+", image: o}]"),
			[]string{"NotSupported " + mapping + ".capabilityFlavors[0].capabilities.hypervisor capability-unregistered"},
		},
		"a format that cannot be converted beside a name that cannot be read": {
			legacyParent, above + "machineImages: [{name: own, versions: [{version: \"1\"}]}]\n" + emptied +
				"machineImages: [{name: own, versions: [{version: \"1\", capabilityFlavors: [{capabilities: {architecture: [amd64]}, image: o}]}]}, {name: 5}]}\n",
			[]string{"Invalid spec.providerConfig.machineImages[1].name field-type"},
		},

		"machine types, written in the legacy format":            {modernParent, twoTypes, nil},
		"machine types below a legacy parent":                    {legacyParent, twoTypes, nil},
		"a machine type with capabilities below a legacy parent": {legacyParent, above + "machineTypes: [{name: a, capabilities: " + amdBare + "}]\n", nil},
		"a machine type without architecture": {
			modernParent, above + "machineTypes: [{name: a, capabilities: " + amdVirt + "}, {name: b, capabilities: {hypervisor: [virtualized]}}]\n",
			[]string{"Required spec.machineTypes[1].capabilities.architecture machine-type-architecture-missing"},
		},
		"everything at once": {
			modernParent, above + "machineTypes: [{name: a, capabilities: {hypervisor: [virtualized]}}]\n" +
				"machineImages: [{name: other, versions: [{version: \"1\", capabilityFlavors: [" + amdVirt + "]}]}, " +
				"{name: gl, versions: [{version: \"3\", capabilityFlavors: [" + amdVirt + "]}, {version: \"1\", architectures: [amd64]}, {version: \"2\", capabilityFlavors: [" + amdVirt + "]}]}]\n" +
				emptied + "keystoneURL: k, machineImages: [{name: gl, versions: [{version: \"2\", capabilityFlavors: [{capabilities: " + amdBare + "}]}, {version: \"1\", image: x}]}]}\n",
			[]string{
				"Required spec.machineImages[0] provider-image-missing",
				"Required spec.machineImages[1].versions[0] provider-version-missing",
				"Forbidden spec.machineImages[1].versions[1].architectures namespaced-version-inherited",
				"Required spec.machineImages[1].versions[2].capabilityFlavors[0] provider-flavor-missing",
				"Required spec.machineTypes[0].capabilities.architecture machine-type-architecture-missing",
				"Forbidden spec.providerConfig.keystoneURL namespaced-config-field",
				"Forbidden " + mapping + ".capabilityFlavors[0] provider-flavor-unexpected",
				"Required " + mapping + ".capabilityFlavors[0] reference-missing",
				"Forbidden spec.providerConfig.machineImages[0].versions[1] namespaced-mapping-inherited",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := verdict(t, imagesOnly{}, tc.parent, tc.profile)
			if diff := cmp.Diff(tc.want, plainly(report.Errors)); diff != "" {
				t.Error(diff)
			}
			if again := verdict(t, imagesOnly{}, tc.parent, tc.profile); text(again) != text(report) {
				t.Error(cmp.Diff(text(report), text(again)))
			}
		})
	}
}

// plainly renders findings as type, field and rule, in full.
func plainly(list field.ErrorList) []string {
	var lines []string
	for _, err := range list {
		lines = append(lines, strings.TrimPrefix(string(err.Type), "FieldValue")+" "+err.Field+" "+err.Origin)
	}
	return lines
}

// A container image serves every architecture, in either format; and one that cannot is said to.
func TestNamespacedCloudProfileOfTheLocalProvider(t *testing.T) {
	toLocal := strings.NewReplacer(openstackConfig, localConfig, "regions: [{name: europe, id: x}]", "image: x", "type: openstack", "type: local")
	for name, tc := range map[string]struct {
		parent, core, provider string
		want                   []string
	}{
		"legacy below capabilities": {modernParent, ", capabilityFlavors: [" + amdVirt + ", " + armVirt + "]", ", image: o", nil},
		"new below capabilities":    {modernParent, ", capabilityFlavors: [" + amdVirt + "]", ", capabilityFlavors: [{image: o, capabilities: " + amdVirt + "}]", nil},
		"architectures":             {modernParent, ", architectures: [amd64, arm64]", ", image: o", nil},
		"new below a legacy parent": {legacyParent, ", architectures: [amd64]", ", capabilityFlavors: [{image: o, capabilities: {architecture: [amd64]}}]", nil},
		"one image for two flavors": {legacyParent, ", architectures: [amd64, arm64]", ", capabilityFlavors: [{image: o, capabilities: {architecture: [amd64]}}, {image: o, capabilities: {architecture: [arm64]}}]", nil},
		"two images, for one cannot be": {
			legacyParent, ", architectures: [amd64, arm64]", ", capabilityFlavors: [{image: o, capabilities: {architecture: [amd64]}}, {image: p, capabilities: {architecture: [arm64]}}]",
			[]string{"Forbidden spec.providerConfig.machineImages[0].versions[0].capabilityFlavors namespaced-format"},
		},
		"no image": {modernParent, ", capabilityFlavors: [" + amdVirt + "]", "", []string{"Required spec.providerConfig.machineImages[0].versions[0] reference-missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := verdict(t, local.Provider{}, toLocal.Replace(tc.parent), toLocal.Replace(ownImage(tc.core, tc.provider)))
			if diff := cmp.Diff(tc.want, plainly(report.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Warnings are about what the profile itself defines; regions are the parent's.
func TestWarningsOfANamespacedCloudProfile(t *testing.T) {
	parent := strings.NewReplacer("[{name: europe}]", "[{name: europe}, {name: asia}]", "id: x}]}]}]}]", "id: x}]}, {capabilities: "+amdBare+", image: x}]}]}]").Replace(modernParent) // asia has no image of {virtualized}, the second flavor is one too many: the parent's own trouble
	above, _ := consistency.Compile(imagesOnly{}, parse(t, parent), field.NewPath("spec"))
	profile := namespaced(t, `
parent: {kind: CloudProfile, name: above}
machineTypes:
- {name: virt, capabilities: `+amdVirt+`}
- {name: arm, capabilities: `+armVirt+`}
- {name: bare, capabilities: `+amdBare+`}
- {name: retired, usable: false, capabilities: `+amdBare+`}
machineImages:
- {name: own, versions: [{version: "1", capabilityFlavors: [`+armVirt+`]}, {version: "2", expirationDate: "2020-01-01T00:00:00Z", capabilityFlavors: [`+amdBare+`]}]}
providerConfig: `+openstackConfig+`machineImages: [
  {name: own, versions: [
    {version: "1", capabilityFlavors: [{capabilities: `+armVirt+`, regions: [{name: asia, id: o}, {name: mars, id: o}]}]},
    {version: "2", capabilityFlavors: [{capabilities: `+amdBare+`, image: o}]},
    {version: "3", image: o}]},
  {name: gl, versions: [{version: "9", image: o}]},
  {name: unknown, versions: [{version: "1", image: o}]}]}
`)
	report := consistency.CheckNamespacedCloudProfile(above, profile)
	const at = "spec.providerConfig.machineImages"
	want := []string{
		"Invalid spec.machineTypes[0] machine-type-without-image: machine type virt: no image version fits it in region asia",
		"Invalid spec.machineTypes[1] machine-type-without-image: machine type arm: no image version fits it in region europe",
		"Invalid spec.machineTypes[2] machine-type-without-image: machine type bare: no image version fits it in regions europe, asia",
		"Required " + at + "[0].versions[0].capabilityFlavors[0] region-uncovered: own@1: flavor " + armVirt + " has no image in region europe: worker pools there cannot use it",
		"NotSupported " + at + "[0].versions[0].capabilityFlavors[0].regions[1].name region-unknown: region mars is not in the regions of CloudProfile above (europe, asia): 1 reference to it cannot be used",
		"Required " + at + "[0].versions[1].capabilityFlavors[0].image image-name-fallback: own@2: in regions europe, asia flavor " + amdBare + " is found by its image name only, which need not be unique; add the image ID for the region",
		"NotSupported " + at + "[0].versions[2] provider-version-unused: own@3 is not listed in spec.machineImages: nobody can use it",
		"NotSupported " + at + "[1].versions[0] provider-version-unused: gl@9 is not listed in spec.machineImages: nobody can use it",
		"NotSupported " + at + "[2] provider-image-unused: image unknown is not listed in spec.machineImages: nobody can use it",
	}
	got := plainly(report.Warnings)
	for i := range got {
		got[i] += ": " + report.Warnings[i].Detail
	}
	if diff := cmp.Diff(want, got); diff != "" || len(report.Errors) > 0 {
		t.Error(diff, report.Errors)
	}
}

// The lifecycle that the profile gives to a version of its parent is the one that counts for it.
func TestOverriddenLifecycleCounts(t *testing.T) {
	const expired, valid = `expirationDate: "2020-01-01T00:00:00Z"`, `expirationDate: "2050-01-01T00:00:00Z"`
	for name, tc := range map[string]struct {
		parent, own string
		want        []string
	}{
		"extended":  {expired, valid, nil},
		"shortened": {valid, expired, []string{"Invalid spec.machineTypes[0] machine-type-without-image"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := verdict(t, imagesOnly{}, strings.Replace(modernParent, `"1",`, `"1", `+tc.parent+`,`, 1),
				"machineTypes: [{name: own, capabilities: "+amdVirt+"}]\nmachineImages: [{name: gl, versions: [{version: \"1\", "+tc.own+"}]}]\n")
			if diff := cmp.Diff(tc.want, plainly(report.Warnings)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An order that matters is said for the machine types of both profiles.
func TestOrdersThatDifferInANamespacedCloudProfile(t *testing.T) {
	const flavors = "{net: [basic]}, {storage: [NVMe], net: [accelerated]}"
	report := verdict(t, imagesOnly{},
		"machineCapabilities: [{name: architecture, values: [amd64]}, {name: storage, values: [NVMe, SCSI]}, {name: net, values: [accelerated, basic]}]\n"+
			"type: openstack\nregions: [{name: europe}]\nmachineTypes: [{name: all}, {name: scsi, capabilities: {storage: [SCSI]}}]\nproviderConfig: "+openstackConfig+"}\n",
		"machineTypes: [{name: mine}]\nmachineImages: [{name: own, versions: [{version: \"1\", capabilityFlavors: ["+flavors+"]}]}]\n"+
			"providerConfig: "+openstackConfig+"machineImages: [{name: own, versions: [{version: \"1\", capabilityFlavors: ["+
			"{capabilities: {net: [basic]}, regions: [{name: europe, id: a}]}, {capabilities: {storage: [NVMe], net: [accelerated]}, regions: [{name: europe, id: b}]}]}]}]}\n")
	if len(report.Errors) > 0 || len(report.Warnings) != 1 || report.Warnings[0].Origin != consistency.RuleOrderDiffers ||
		!strings.Contains(report.Warnings[0].Detail, "for machine types all, mine the order") {
		t.Error(report)
	}
}

// A config without content is none, however it comes.
func TestProviderConfigWithoutContent(t *testing.T) {
	above, _ := consistency.Compile(imagesOnly{}, parse(t, modernParent), field.NewPath("spec"))
	for _, config := range []*runtime.RawExtension{nil, {}, {Raw: []byte("null")}, {Raw: []byte(" null\n")}} {
		profile := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{ProviderConfig: config}}
		if report := consistency.CheckNamespacedCloudProfile(above, profile); !reflect.DeepEqual(report, consistency.Report{}) {
			t.Error(report)
		}
		if changes, err := consistency.RenderConfig(imagesOnly{}, nil, profile, nil); len(changes) > 0 || err != nil {
			t.Error(changes, err)
		}
		if filled := consistency.FillNamespacedCloudProfile(imagesOnly{}, profile, parse(t, modernParent)); len(filled) > 0 {
			t.Error(filled)
		}
	}
}
