// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack"
)

const header = "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: CloudProfileConfig\n"

// images converts the versions of one image, written below "versions:", and renders the flavors one to a line, with the
// references that each has in the regions europe, asia and elsewhere; "-" stands for none.
func images(t *testing.T, versions string) (flavors []string, report consistency.Report) {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(header + "machineImages:\n- name: gardenlinux\n  versions:\n" + versions))
	if err != nil {
		t.Fatal(err)
	}
	images, report := openstack.Provider{}.CloudProfileConfig(&runtime.RawExtension{Raw: raw}, field.NewPath("config"))
	vocabulary, _ := capability.Compile([]v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "hypervisor", Values: []string{"virtualized"}},
	}, nil)
	for _, image := range images.Images {
		for _, version := range image.Versions {
			for _, flavor := range version.Flavors {
				line := fmt.Sprintf("%s@%s legacy=%t %s at %s:", image.Name, version.Version, version.Legacy,
					vocabulary.Format(flavor.Capabilities), flavor.Path)
				for _, region := range []string{"europe", "asia", "elsewhere"} {
					ref, found := flavor.Reference(region)
					line += fmt.Sprintf(" %s", map[bool]string{true: ref.ID + ref.Name, false: "-"}[found])
				}
				flavors = append(flavors, line)
			}
		}
	}
	return flavors, report
}

func TestImages(t *testing.T) {
	const at = "config.machineImages[0].versions[0]"
	for name, tc := range map[string]struct {
		versions string
		flavors  []string
		report   []string
	}{
		"legacy, one flavor for each architecture in order of first appearance": {
			"  - version: \"1\"\n    regions:\n    - {name: europe, id: e-arm, architecture: arm64}\n    - {name: europe, id: e}\n    - {name: asia, id: a, architecture: amd64}\n",
			[]string{
				"gardenlinux@1 legacy=true {architecture: [arm64]} at " + at + ".regions[0]: e-arm - -",
				"gardenlinux@1 legacy=true {architecture: [amd64]} at " + at + ".regions[1]: e a -",
			}, nil,
		},
		"the image name serves amd64 where there is no ID": {
			"  - version: \"1\"\n    image: gl\n    regions:\n    - {name: europe, id: e}\n    - {name: europe, id: e-arm, architecture: arm64}\n",
			[]string{
				"gardenlinux@1 legacy=true {architecture: [amd64]} at " + at + ".regions[0]: e gl gl",
				"gardenlinux@1 legacy=true {architecture: [arm64]} at " + at + ".regions[1]: e-arm - -",
			}, nil,
		},
		"the image name makes an amd64 flavor if no region does": {
			"  - version: \"1\"\n    image: gl\n    regions:\n    - {name: europe, id: e-arm, architecture: arm64}\n",
			[]string{
				"gardenlinux@1 legacy=true {architecture: [arm64]} at " + at + ".regions[0]: e-arm - -",
				"gardenlinux@1 legacy=true {architecture: [amd64]} at " + at + ".image: gl gl gl",
			}, nil,
		},
		"image name alone": {
			"  - version: \"1\"\n    image: gl\n",
			[]string{"gardenlinux@1 legacy=true {architecture: [amd64]} at " + at + ".image: gl gl gl"}, nil,
		},
		"empty image name is none": {"  - version: \"1\"\n    image: \"\"\n", nil, nil},
		"IDs that were not meant": {
			"  - version: \"1\"\n    regions: [{name: europe, id: TODO}]\n    capabilityFlavors:\n    - regions: [{name: asia, id: 2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f}]\n",
			[]string{"gardenlinux@1 legacy=false {} at " + at + ".capabilityFlavors[0]: - 2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f -"},
			[]string{
				"error FieldValueForbidden " + at + ".regions version-format-mixed",
				"warning FieldValueInvalid " + at + ".regions[0].id openstack-id-format",
				"warning FieldValueInvalid " + at + ".capabilityFlavors[0].regions[0].id openstack-id-format",
			},
		},
		"flavors": {
			"  - version: \"1\"\n    capabilityFlavors:\n    - capabilities: {architecture: [arm64], hypervisor: [virtualized]}\n      regions: [{name: europe, id: e}]\n      image: gl-arm\n    - regions: [{name: asia, id: a}]\n",
			[]string{
				"gardenlinux@1 legacy=false {architecture: [arm64], hypervisor: [virtualized]} at " + at + ".capabilityFlavors[0]: e gl-arm gl-arm",
				"gardenlinux@1 legacy=false {} at " + at + ".capabilityFlavors[1]: - a -",
			}, nil,
		},
		"legacy fields beside flavors": {
			"  - version: \"1\"\n    image: gl\n    regions: [{name: asia, id: a}]\n    capabilityFlavors:\n    - regions: [{name: europe, id: e, architecture: arm64}]\n",
			[]string{"gardenlinux@1 legacy=false {} at " + at + ".capabilityFlavors[0]: e - -"},
			[]string{
				"error FieldValueForbidden " + at + ".regions version-format-mixed",
				"error FieldValueForbidden " + at + ".capabilityFlavors[0].regions[0].architecture flavor-region-architecture",
				"warning FieldValueForbidden " + at + ".image version-image-ignored",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			flavors, report := images(t, tc.versions)
			if diff := cmp.Diff(tc.flavors, flavors); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.report, append(render("error", report.Errors), render("warning", report.Warnings)...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func render(severity string, list field.ErrorList) []string {
	var lines []string
	for _, err := range list {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", severity, string(err.Type), err.Field, err.Origin))
	}
	return lines
}

func TestImagesRefusesAnotherObject(t *testing.T) {
	for name, tc := range map[string]struct{ config, want string }{
		"another group":   {"apiVersion: aws.provider.extensions.gardener.cloud/v1alpha1\nkind: CloudProfileConfig\n", "error FieldValueNotSupported config.apiVersion provider-config-kind"},
		"another version": {"apiVersion: openstack.provider.extensions.gardener.cloud/v1\nkind: CloudProfileConfig\n", "error FieldValueNotSupported config.apiVersion provider-config-kind"},
		"another kind":    {"apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: WorkerConfig\nx: 1\n", "error FieldValueNotSupported config.kind provider-config-kind"},
		"null":            {"null", "error FieldValueRequired config provider-config-missing"},
		"unknown field":   {header + "machineimages: []\n", "error FieldValueForbidden config.machineimages unknown-field"},
		"no JSON":         {"", "error FieldValueRequired config provider-config-missing"},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := yaml.YAMLToJSON([]byte(tc.config))
			if err != nil {
				t.Fatal(err)
			}
			_, report := openstack.Provider{}.CloudProfileConfig(&runtime.RawExtension{Raw: raw}, field.NewPath("config"))
			if diff := cmp.Diff([]string{tc.want}, render("error", report.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, report := (openstack.Provider{}).CloudProfileConfig(nil, field.NewPath("config")); len(report.Errors) != 1 {
		t.Error(report.Errors)
	}
}

func TestValidateRef(t *testing.T) {
	for ref, want := range map[openstack.Image]string{
		{}:                   "error FieldValueRequired regions[0].id reference-missing",
		{ID: " "}:            "error FieldValueInvalid regions[0].id openstack-id",
		{ID: "1234 amd64"}:   "error FieldValueInvalid regions[0].id openstack-id",
		{ID: "{{ .image }}"}: "error FieldValueInvalid regions[0].id openstack-id",
		{ID: "images/1234"}:  "error FieldValueInvalid regions[0].id openstack-id",
		{ID: "1234"}:         "", {ID: "1234-amd64"}: "", {ID: "2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70"}: "",
		{Name: "gl"}: "", {Name: "Garden Linux 1877.5 (amd64)"}: "",
	} {
		got := strings.Join(render("error", openstack.Provider{}.ValidateRef(ref, field.NewPath("regions").Index(0))), "\n")
		if got != want {
			t.Errorf("%+v: %q, not %q", ref, got, want)
		}
	}
}

// Converting a version from one format to the other goes by the paths: each has to lead to what was read there.
func TestPathsLeadToWhatWasRead(t *testing.T) {
	config := `{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": [{"name": "a"}, {"name": "b", "versions": [
		{"version": "1"}, {"version": "2", "image": "by-name", "regions": [{"name": "asia", "id": "i1", "architecture": "arm64"}, {"name": "europe", "id": "i2"}]},
		{"version": "3", "capabilityFlavors": [{"image": "by-name"}, {"regions": [{"name": "asia", "id": "i3"}]}]}]}]}`
	images, report := openstack.Provider{}.CloudProfileConfig(&runtime.RawExtension{Raw: []byte(config)}, field.NewPath("config"))
	if len(report.Errors) > 0 {
		t.Fatal(report)
	}
	at := map[string]string{}
	for _, image := range images.Images {
		at[image.Path.String()] = image.Name
		for _, version := range image.Versions {
			at[version.Path.String()] = version.Version
			for _, flavor := range version.Flavors {
				for _, regional := range flavor.Regional {
					at[regional.Path.String()] = regional.Ref.ID
				}
				if flavor.Global != nil {
					at[flavor.Global.Path.String()] = flavor.Global.Ref.Name
				}
			}
		}
	}
	const versions = "config.machineImages[1].versions"
	want := map[string]string{
		"config.machineImages[0]": "a", "config.machineImages[1]": "b", versions + "[0]": "1", versions + "[1]": "2", versions + "[2]": "3",
		versions + "[1].image": "by-name", versions + "[1].regions[0]": "i1", versions + "[1].regions[1]": "i2",
		versions + "[2].capabilityFlavors[0].image": "by-name", versions + "[2].capabilityFlavors[1].regions[0]": "i3",
	}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Error(diff)
	}
}

// What a WorkerConfig asks for: trusted launch if it is enabled, and else nothing.
func TestWorkers(t *testing.T) {
	const header = "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: WorkerConfig\n"
	enabled := []string{"openstack-trustedLaunch [enabled] because of trustedLaunch.enabled: true at w.providerConfig.trustedLaunch"}
	for name, tc := range map[string]struct {
		config string
		want   []string
		errs   []string
	}{
		"nothing":                 {"null", nil, nil},
		"nothing of it":           {header, nil, nil},
		"enabled":                 {header + "trustedLaunch: {enabled: true}\n", enabled, nil},
		"not enabled":             {header + "trustedLaunch: {enabled: false}\n", nil, nil},
		"empty":                   {header + "trustedLaunch: {}\n", nil, nil},
		"null":                    {header + "trustedLaunch: null\n", nil, nil},
		"beside other settings":   {header + "trustedLaunch: {enabled: true}\nmachineLabels: [{name: a, value: b}]\n", enabled, nil},
		"misspelt":                {header + "trustedlaunch: {enabled: true}\n", nil, []string{"error FieldValueForbidden w.providerConfig.trustedlaunch unknown-field"}},
		"a text":                  {header + "trustedLaunch: {enabled: \"true\"}\n", nil, []string{"error FieldValueInvalid w.providerConfig.trustedLaunch.enabled field-type"}},
		"enabled, beside a wrong": {header + "trustedLaunch: {enabled: true}\nserverGroup: 5\n", enabled, []string{"error FieldValueInvalid w.providerConfig.serverGroup field-type"}},
		"of another provider":     {"apiVersion: aws.provider.extensions.gardener.cloud/v1alpha1\nkind: WorkerConfig\nvolume: {}\n", nil, []string{"error FieldValueNotSupported w.providerConfig.apiVersion provider-config-kind"}},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := yaml.YAMLToJSON([]byte(tc.config))
			if err != nil {
				t.Fatal(err)
			}
			requirements, errs := openstack.Provider{}.Workers().Requirements(&runtime.RawExtension{Raw: raw}, field.NewPath("w", "providerConfig"))
			var got []string
			for _, r := range requirements {
				got = append(got, fmt.Sprintf("%s %v because of %s at %s", r.Capability, r.Values, r.Setting, r.Because))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.errs, render("error", errs)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDefinitions(t *testing.T) {
	want := []capability.Definition{{Name: openstack.TrustedLaunch, Values: []string{"enabled", "disabled"}, Undeclared: "disabled"}}
	if diff := cmp.Diff(want, openstack.Provider{}.Workers().Definitions()); diff != "" {
		t.Error(diff)
	}
}
