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
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/wire"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// images decodes a config. It returns one line for each flavor, with its references in regions europe, asia and elsewhere; "-" means
// none.
func images(config []byte) (flavors []string, report finding.Report) {
	images, report := openstack.Provider{}.Decode(&runtime.RawExtension{Raw: config}, field.NewPath("config"))
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
	cases.Run(t, "testdata/images.txtar", func(c *cases.Case) string {
		flavors, report := images(c.JSON("config.yaml"))
		return strings.Join(append(flavors, cases.Report(c.T(), report)), "\n")
	})
}

func TestImagesRefusesAnotherObject(t *testing.T) {
	cases.Run(t, "testdata/another-object.txtar", func(c *cases.Case) string {
		_, report := openstack.Provider{}.Decode(&runtime.RawExtension{Raw: c.JSON("config.yaml")}, field.NewPath("config"))
		return cases.Report(c.T(), finding.Report{Errors: report.Errors})
	})
	if _, report := (openstack.Provider{}).Decode(nil, field.NewPath("config")); len(report.Errors) != 1 {
		t.Error(report.Errors)
	}
}

// The errors about removed fields say what has replaced them.
func TestFieldsOfBefore(t *testing.T) {
	_, report := openstack.Provider{}.Decode(&runtime.RawExtension{Raw: []byte(`{
		"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "useOctavia": true,
		"machineImages": [{"name": "a", "versions": [{"version": "1", "capabilitySets": []}]}]}`)}, field.NewPath("config"))
	var got []string
	for _, err := range report.Errors {
		got = append(got, err.String())
	}
	want := []string{
		`config.useOctavia: Forbidden: unknown field "useOctavia": removed in October 2025, since all load balancers are Octavia's; leave it out`,
		`config.machineImages[0].versions[0].capabilitySets: Forbidden: unknown field "capabilitySets": renamed to capabilityFlavors; write that instead`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestValidateReference(t *testing.T) {
	for ref, want := range map[openstack.Image]string{
		{}:                   "error FieldValueRequired regions[0].id reference-missing",
		{ID: " "}:            "error FieldValueInvalid regions[0].id openstack-id",
		{ID: "1234 amd64"}:   "error FieldValueInvalid regions[0].id openstack-id",
		{ID: "{{ .image }}"}: "error FieldValueInvalid regions[0].id openstack-id",
		{ID: "images/1234"}:  "error FieldValueInvalid regions[0].id openstack-id",
		{ID: "1234"}:         "", {ID: "1234-amd64"}: "", {ID: "2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70"}: "",
		{Name: "gl"}: "", {Name: "Garden Linux 1877.5 (amd64)"}: "",
	} {
		errs := finding.Of(openstack.Provider{}.ValidateReference(ref, field.NewPath("regions").Index(0)))
		if got := cases.Report(t, finding.Report{Errors: errs}); got != want {
			t.Errorf("%+v: %q, not %q", ref, got, want)
		}
	}
}

// Findings use these paths, so each must lead to the field that was read.
func TestPathsLeadToWhatWasRead(t *testing.T) {
	config := `{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "a"}, {"name": "b", "versions": [
			{"version": "1"},
			{"version": "2", "image": "by-name", "regions": [
				{"name": "asia", "id": "i1", "architecture": "arm64"}, {"name": "europe", "id": "i2"}]},
			{"version": "3", "capabilityFlavors": [{"image": "by-name"}, {"regions": [{"name": "asia", "id": "i3"}]}]}]}]}`
	images, report := openstack.Provider{}.Decode(&runtime.RawExtension{Raw: []byte(config)}, field.NewPath("config"))
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

func TestWorkers(t *testing.T) { wire.Workers(t, openstack.Provider{}.Workers()) }

func TestDefinitions(t *testing.T) {
	want := []capability.Definition{
		{Name: openstack.TrustedLaunch, Values: []string{"enabled", "disabled"}, Undeclared: "disabled"},
		{Name: openstack.RootVolume, Values: []string{"supported", "unsupported"}, Undeclared: "supported", MachineTypesOnly: true},
	}
	if diff := cmp.Diff(want, openstack.Provider{}.Workers().Definitions()); diff != "" {
		t.Error(diff)
	}
}

// A pool needs a root volume if Cinder creates its root disk. This depends on the size alone, not on the type or on data volumes.
func TestRootVolume(t *testing.T) {
	for name, tc := range map[string]struct {
		pool provider.Pool
		asks bool
	}{
		"no volume":         {provider.Pool{}, false},
		"a size":            {provider.Pool{Volume: &v1beta1.Volume{VolumeSize: "20Gi"}}, true},
		"a size and a type": {provider.Pool{Volume: &v1beta1.Volume{VolumeSize: "20Gi", Type: ptr.To("ssd")}}, true},
		"no size":           {provider.Pool{Volume: &v1beta1.Volume{VolumeSize: "0Gi", Type: ptr.To("ssd")}}, false},
		"not a size":        {provider.Pool{Volume: &v1beta1.Volume{VolumeSize: "big"}}, true},
		"a data volume":     {provider.Pool{DataVolumes: []v1beta1.DataVolume{{Name: "data", VolumeSize: "20Gi"}}}, false},
	} {
		tc.pool.Path = field.NewPath("workers").Index(0)
		requirements, report := openstack.Provider{}.Workers().Requirements(tc.pool)
		var want []capability.Requirement
		if tc.asks {
			want = []capability.Requirement{{
				Capability: openstack.RootVolume, Values: []string{"supported"}, Setting: "volume", Because: tc.pool.Path.Child("volume"),
			}}
		}
		opt := cmp.Comparer(func(a, b *field.Path) bool { return a.String() == b.String() })
		if diff := cmp.Diff(want, requirements, opt); diff != "" || len(report.Errors) > 0 {
			t.Error(name, diff, report.Errors)
		}
	}
}
