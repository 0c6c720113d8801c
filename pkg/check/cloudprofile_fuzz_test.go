// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/internal/testing/worlds"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// FuzzCheckCloudProfile starts from a valid spec, several with faults, one in legacy mode, and some that cannot be decoded.
func FuzzCheckCloudProfile(f *testing.F) {
	for _, spec := range given.Seeds(f, "testdata/seeds/specs.txtar") {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var profile v1beta1.CloudProfile
		if json.Unmarshal(data, &profile.Spec) != nil {
			return
		}
		exercise(t, local.Provider{}, &profile)
		exercise(t, openstack.Provider{}, &profile)
	})
}

// exercise checks a profile, and resolves pools for every machine type in it.
func exercise[R any](t *testing.T, cloud provider.Provider[R], profile *v1beta1.CloudProfile) {
	before := profile.DeepCopy()
	p, report := check.CloudProfile(cloud, profile)
	catalogue.Check(t, report.Errors)
	catalogue.Check(t, report.Warnings)

	pools := []provider.Pool{{Image: "none", Version: "1", Path: field.NewPath("pool")}}
	for _, image := range profile.Spec.MachineImages {
		for _, version := range image.Versions {
			pools = append(pools, provider.Pool{Name: "pool", Image: image.Name, Version: version.Version, Architecture: "arm64"},
				provider.Pool{Name: "pool", Image: image.Name, Version: version.Version, Config: &runtime.RawExtension{Raw: []byte(worlds.Trusting)},
					Worker: capability.Worker{SecureBoot: true, GPU: new("nvidia"), UpdateStrategy: v1beta1.ManualInPlaceUpdate}})
		}
	}
	for _, mt := range append(profile.Spec.MachineTypes, v1beta1.MachineType{Name: "none"}) {
		for i, pool := range pools {
			pool.MachineType = mt.Name
			if len(profile.Spec.Regions) > 0 {
				pool.Region = profile.Spec.Regions[0].Name
			}
			given.Answer(t, p.ByOrder(capability.Order(i%2)), pool)
		}
	}
	if !reflect.DeepEqual(before, profile) {
		t.Fatal("the profile was changed")
	}
}

// The seeds of the fuzz test must reach the checks.
func TestSpecsReachTheChecks(t *testing.T) {
	reached := map[string]bool{}
	for i, spec := range given.Seeds(t, "testdata/seeds/specs.txtar") {
		var profile v1beta1.CloudProfile
		if err := json.Unmarshal(spec, &profile.Spec); err != nil {
			t.Fatal(err)
		}
		_, report := check.CloudProfile(local.Provider{}, &profile)
		if i == 0 && len(report.Errors)+len(report.Warnings) > 0 {
			t.Errorf("the sound one: %v", report)
		}
		_, other := check.CloudProfile(openstack.Provider{}, &profile)
		for _, err := range slices.Concat(report.Errors, report.Warnings, other.Errors, other.Warnings) {
			reached[err.Origin] = true
		}
	}
	if len(reached) < 25 {
		t.Errorf("%d rules only: %v", len(reached), reached)
	}
}
