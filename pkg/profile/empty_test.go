// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// An empty reference is an error, is not said in other words as well, and is no answer for a worker pool.
func TestEmptyReference(t *testing.T) {
	spec := &v1beta1.CloudProfileSpec{}
	if err := yaml.UnmarshalStrict([]byte(`
machineCapabilities: [{name: architecture, values: [amd64]}]
type: openstack
regions: [{name: europe}, {name: asia}]
machineTypes: [{name: m}]
machineImages: [{name: gl, versions: [{version: "1"}, {version: "2"}]}]
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - version: "1"
      capabilityFlavors: [{regions: [{name: europe, id: ""}, {name: asia, id: a}]}]
    - version: "2"
      capabilityFlavors: [{regions: [{name: europe, id: ""}, {name: asia, id: ""}]}]
`), spec); err != nil {
		t.Fatal(err)
	}
	profile, report := profile.Compile(openstack.Provider{}, spec, field.NewPath("spec"))
	for _, err := range report.Errors {
		if err.Origin != provider.RuleReferenceMissing && err.Origin != "setting-missing" {
			t.Error(err)
		}
	}
	for _, warning := range report.Warnings {
		if warning.Origin == "region-uncovered" {
			t.Error(warning)
		}
	}
	for _, c := range []struct{ version, region, says string }{
		{"1", "asia", ""},
		{"1", "europe", "worker pool p: no image fits machine type m with gl@1 in region europe: the profile has an error at " +
			"spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].regions[0].id; repair that first"},
		{"2", "asia", "worker pool p: no image fits machine type m with gl@2 in region asia: the profile has an error at " +
			"spec.providerConfig.machineImages[0].versions[1].capabilityFlavors[0].regions[1].id; repair that first"},
	} {
		r := resolve.Pool(profile, provider.Pool{Name: "p", MachineType: "m", Image: "gl", Version: c.version, Region: c.region})
		if c.says == "" {
			if r.Err != nil || r.Reference != (openstack.Image{ID: "a"}) {
				t.Errorf("%+v: %v, %v", c, r.Reference, r.Err)
			}
		} else if r.Err == nil || r.Err.Detail != c.says {
			t.Errorf("%+v: %v, %v", c, r.Reference, r.Err)
		}
	}
}
