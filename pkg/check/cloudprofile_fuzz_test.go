// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// seeds reads the YAML files of an archive, as JSON.
func seeds(t testing.TB, archive string) (all [][]byte) {
	t.Helper()
	content, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range content.Files {
		seed, err := yaml.YAMLToJSON(file.Data)
		if err != nil {
			t.Fatal(file.Name, err)
		}
		all = append(all, seed)
	}
	return all
}

// FuzzCheckCloudProfile starts from a sound spec, some with what can be wrong, one in legacy mode, and some that cannot
// be read.
func FuzzCheckCloudProfile(f *testing.F) {
	for _, spec := range seeds(f, "testdata/seeds/specs.txtar") {
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

// exercise checks a profile and asks about every machine type in it.
func exercise[R any](t *testing.T, cloud provider.Provider[R], profile *v1beta1.CloudProfile) {
	before := profile.DeepCopy()
	p, report := check.CloudProfile(cloud, profile)
	checkFindings(t, report.Errors)
	checkFindings(t, report.Warnings)

	pools := []provider.Pool{{Image: "none", Version: "1", Path: field.NewPath("pool")}}
	for _, image := range profile.Spec.MachineImages {
		for _, version := range image.Versions {
			pools = append(pools, provider.Pool{Name: "pool", Image: image.Name, Version: version.Version, Architecture: "arm64"},
				provider.Pool{Name: "pool", Image: image.Name, Version: version.Version, Config: &runtime.RawExtension{Raw: []byte(trustedLaunch)},
					Worker: capability.Worker{SecureBoot: true, GPU: new("nvidia"), UpdateStrategy: v1beta1.ManualInPlaceUpdate}})
		}
	}
	for _, mt := range append(profile.Spec.MachineTypes, v1beta1.MachineType{Name: "none"}) {
		for i, pool := range pools {
			pool.MachineType, pool.Order = mt.Name, capability.Order(i%2)
			if len(profile.Spec.Regions) > 0 {
				pool.Region = profile.Spec.Regions[0].Name
			}
			answerTo(t, p, pool)
		}
	}
	if !reflect.DeepEqual(before, profile) {
		t.Fatal("the profile was changed")
	}
}

// FuzzResolvePool asks for an image with whatever bytes as the worker's providerConfig, and as its strategy and GPU.
func FuzzResolvePool(f *testing.F) {
	var legacy v1beta1.CloudProfileSpec
	legacy.MachineTypes = []v1beta1.MachineType{{Name: "any"}}
	legacy.MachineImages = []v1beta1.MachineImage{{Name: "gl", Versions: []v1beta1.MachineImageVersion{
		{ExpirableVersion: v1beta1.ExpirableVersion{Version: "10.0.0"}},
	}}}
	with, _ := profile.Compile(openstack.Provider{}, specFrom(f, "testdata/worker-pools.yaml"), field.NewPath("spec"))
	without, _ := profile.Compile(openstack.Provider{}, &legacy, field.NewPath("spec"))
	const broken = `{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "WorkerConfig",
		"trustedLaunch": [true], "nodeTemplate": {"capacity": {"cpu": "x"}}}`
	for _, config := range []string{"", "null", "{", "[]", trustedLaunch, broken} {
		f.Add([]byte(config), "AutoInPlaceUpdate", "nvidia", "gl@9.0.0")
		f.Add([]byte(config), "", "", "gl@10.0.0")
	}
	f.Fuzz(func(t *testing.T, config []byte, strategy, gpu, image string) {
		pool := provider.Pool{Name: "w", MachineType: "any", Region: "europe", Path: field.NewPath("w"), Config: &runtime.RawExtension{Raw: config}}
		pool.Image, pool.Version, _ = strings.Cut(image, "@")
		pool.Worker = capability.Worker{UpdateStrategy: v1beta1.MachineUpdateStrategy(strategy), GPU: &gpu}
		for _, p := range []*profile.Profile[openstack.Image]{with, without} {
			answerTo(t, p, pool)
		}
	})
}

// What fuzzing starts from must reach the checks, or it starts from nothing.
func TestSpecsReachTheChecks(t *testing.T) {
	reached := map[string]bool{}
	for i, spec := range seeds(t, "testdata/seeds/specs.txtar") {
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
