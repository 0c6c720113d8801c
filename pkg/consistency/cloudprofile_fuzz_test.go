// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/openstack"
)

// The specs that fuzzing starts from: a sound one, some with what can be wrong, one in legacy mode, and some that cannot be read.
var specs = []string{`{
	"type": "local", "regions": [{"name": "local"}],
	"machineCapabilities": [{"name": "architecture", "values": ["amd64", "arm64"]}, {"name": "hypervisor", "values": ["baremetal", "virtualized"]}],
	"machineTypes": [
		{"name": "metal", "capabilities": {"architecture": ["amd64"], "hypervisor": ["baremetal"]}},
		{"name": "small", "architecture": "arm64", "usable": false}],
	"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0", "capabilityFlavors": [
		{"architecture": ["amd64"], "hypervisor": ["baremetal"]}, {"architecture": ["arm64"]}]}]}],
	"providerConfig": {"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0", "capabilityFlavors": [
			{"image": "linux:metal", "capabilities": {"architecture": ["amd64"], "hypervisor": ["baremetal"]}},
			{"image": "linux:arm", "capabilities": {"architecture": ["arm64"]}}]}]}]}
}`, `{
	"type": "local", "regions": [{"name": "local"}, {"name": ""}],
	"machineCapabilities": [{"name": "architecture", "values": ["amd64", "amd64", "arm64"]}, {"name": "azure-net"}, {"name": "azure-net", "values": ["x"]}],
	"machineTypes": [{"name": "m"}, {"name": "m", "architecture": "riscv"}, {"name": "", "capabilities": {"architecture": []}}],
	"machineImages": [
		{"name": "linux", "versions": [
			{"version": "1.0.0", "expirationDate": "2020-01-01T00:00:00Z", "capabilityFlavors": [{"architecture": ["amd64"]}, {"architecture": ["amd64", "amd64"]}]},
			{"version": "2", "capabilityFlavors": [{}]}, {"version": "", "architectures": ["arm64"]}]},
		{"name": "linux"}, {"name": "flatcar", "versions": [{"version": "3.x"}]}],
	"providerConfig": {"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "linux", "versions": [
			{"version": "1.0.0", "image": "linux:old"}, {"version": "1.0.0", "image": "x", "capabilityFlavors": [{"image": "", "capabilities": {"gpu": ["a.b[0]"]}}]},
			{"version": "2", "capabilityFlavors": [{"image": "a", "capabilities": {"architecture": []}}, {"image": "b"}, {"image": "c"}]}]},
			{"name": "", "versions": [{}]}, {"name": "linux"}]}
}`, `{
	"machineTypes": [{"name": "m", "architecture": "arm64"}, {"name": "n"}],
	"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0", "architectures": ["amd64", "arm64", "amd64"]}, {"version": "1.1.0"}]}],
	"providerConfig": {"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0", "image": "linux"}, {"version": "1.1.0", "capabilityFlavors": [{"image": "linux"}]}]}]}
}`, `{
	"machineImages": [{"name": "linux", "versions": [{"version": "1.0.0"}]}],
	"providerConfig": {"apiVersion": "local.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "more": 1,
		"machineImages": [{"name": "linux", "versions": [{"version": 5}, {"version": "1.0.0", "capabilityFlavours": [{}]}]}, 7]}
}`, `{
	"type": "openstack", "regions": [{"name": "eu"}, {"name": "us"}],
	"machineCapabilities": [{"name": "architecture", "values": ["amd64", "arm64"]}, {"name": "openstack-net", "values": ["fast", "slow"]}],
	"machineTypes": [{"name": "m", "capabilities": {"architecture": ["amd64"]}}, {"name": "n", "capabilities": {"architecture": ["arm64"], "openstack-net": ["slow"]}}],
	"machineImages": [{"name": "linux", "versions": [
		{"version": "1.0.0", "capabilityFlavors": [{"architecture": ["amd64"]}, {"architecture": ["arm64"], "openstack-net": ["slow", "fast"]}]},
		{"version": "0.9.0", "capabilityFlavors": [{"architecture": ["amd64"]}, {"architecture": ["arm64"]}]},
		{"version": "0.8.0", "capabilityFlavors": [{"architecture": ["amd64"]}]}]}],
	"providerConfig": {"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "linux", "versions": [
			{"version": "1.0.0", "image": "ignored", "regions": [{"name": "eu"}], "capabilityFlavors": [
				{"capabilities": {"architecture": ["amd64"]}, "regions": [{"name": "eu", "id": "a"}, {"name": "eu", "id": "", "architecture": "arm64"}]},
				{"capabilities": {"architecture": ["arm64"]}, "image": "by-name", "regions": [{"name": "mars", "id": "c"}]}]},
			{"version": "0.9.0", "image": "old", "regions": [{"name": "eu", "id": "d"}, {"name": "us", "id": "e", "architecture": "arm64"}, {"name": "us", "id": "f", "architecture": "riscv"}]},
			{"version": "0.8.0", "image": "older"}]}]}
}`, `{
	"type": "openstack", "regions": [{"name": "eu"}],
	"machineCapabilities": [{"name": "architecture", "values": ["amd64"]}, {"name": "openstack-trustedLaunch", "values": ["disabled", "on"]}, {"name": "gardener-updateType", "values": ["inPlace", "never"]}],
	"machineTypes": [{"name": "m", "capabilities": {"gardener-bootType": ["secure"], "openstack-trustedLaunch": ["disabled"]}}, {"name": "n", "capabilities": {"gardener-updateType": []}}],
	"machineImages": [{"name": "linux", "versions": [
		{"version": "1.0.0", "inPlaceUpdates": {"supported": true}, "capabilityFlavors": [{"gardener-bootType": ["secure"]}, {"openstack-trustedLaunch": ["disabled"], "gardener-x": []}]}, {"version": "2.0.0"}]}],
	"providerConfig": {"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "linux", "versions": [
			{"version": "1.0.0", "capabilityFlavors": [
				{"capabilities": {"gardener-bootType": ["secure"]}, "image": "a"}, {"capabilities": {"gardener-bootType": ["secure"], "gardener-gpuSupport": ["nvidia", "voodoo"]}, "image": "b"},
				{"capabilities": {"openstack-trustedLaunch": ["disabled"], "gardener-y": ["z"]}, "image": "c"}]},
			{"version": "2.0.0", "capabilityFlavors": [{"capabilities": {"gardener-bootType": []}, "image": "d"}, {"image": "e"}]}]}]}
}`, `{"providerConfig": null}`, `{"providerConfig": {"kind": "InfrastructureConfig"}, "machineImages": [{}]}`}

// slow is far beyond what any profile of fuzzing's size needs.
const slow = 10 * time.Second

func FuzzCheckCloudProfile(f *testing.F) {
	for _, spec := range specs {
		f.Add([]byte(spec))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var profile v1beta1.CloudProfile
		if json.Unmarshal(data, &profile.Spec) != nil {
			return
		}
		start := time.Now()
		exercise(t, local.Provider{}, &profile)
		exercise(t, openstack.Provider{}, &profile)
		if took := time.Since(start); took > slow {
			t.Errorf("%d bytes took %s", len(data), took)
		}
	})
}

// exercise checks a profile and asks about every machine type in it.
func exercise[R any](t *testing.T, provider consistency.Provider[R], profile *v1beta1.CloudProfile) {
	before := profile.DeepCopy()
	p, report := consistency.CheckCloudProfile(provider, profile)
	checkFindings(t, report.Errors)
	checkFindings(t, report.Warnings)

	pools := []consistency.Pool{{Image: "none", Version: "1", Path: field.NewPath("pool")}}
	for _, image := range profile.Spec.MachineImages {
		for _, version := range image.Versions {
			pools = append(pools, consistency.Pool{Name: "pool", Image: image.Name, Version: version.Version, Architecture: "arm64"},
				consistency.Pool{Name: "pool", Image: image.Name, Version: version.Version, Worker: capability.Worker{SecureBoot: true, GPU: new("nvidia"), UpdateStrategy: v1beta1.ManualInPlaceUpdate},
					Config: &runtime.RawExtension{Raw: []byte(trustedLaunch)}})
		}
	}
	for _, mt := range append(profile.Spec.MachineTypes, v1beta1.MachineType{Name: "none"}) {
		for i, pool := range pools {
			pool.MachineType, pool.Order = mt.Name, capability.Order(i%2)
			if len(profile.Spec.Regions) > 0 {
				pool.Region = profile.Spec.Regions[0].Name
			}
			r := p.ResolvePool(pool)
			if (r.Err == nil) != (r.Decision.Chosen >= 0) {
				t.Fatalf("chosen %d, but %v", r.Decision.Chosen, r.Err)
			}
			if r.Err != nil {
				checkFindings(t, field.ErrorList{r.Err})
			}
		}
	}
	if !reflect.DeepEqual(before, profile) {
		t.Fatal("the profile was changed")
	}
}

// FuzzResolvePool asks for an image with whatever bytes as the worker's providerConfig, and as its strategy and GPU.
func FuzzResolvePool(f *testing.F) {
	var spec, legacy v1beta1.CloudProfileSpec
	for text, into := range map[string]*v1beta1.CloudProfileSpec{workerPools: &spec, "machineImages: [{name: gl, versions: [{version: 10.0.0}]}]\nmachineTypes: [{name: any}]\n": &legacy} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			f.Fatal(err)
		}
	}
	with, _ := consistency.Compile(openstack.Provider{}, &spec, field.NewPath("spec"))
	without, _ := consistency.Compile(openstack.Provider{}, &legacy, field.NewPath("spec"))
	for _, config := range []string{"", "null", "{", "[]", trustedLaunch, `{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "WorkerConfig", "trustedLaunch": [true], "nodeTemplate": {"capacity": {"cpu": "x"}}}`} {
		f.Add([]byte(config), "AutoInPlaceUpdate", "nvidia", "gl@9.0.0")
		f.Add([]byte(config), "", "", "gl@10.0.0")
	}
	f.Fuzz(func(t *testing.T, config []byte, strategy, gpu, image string) {
		pool := consistency.Pool{Name: "w", MachineType: "any", Region: "europe", Path: field.NewPath("w"), Config: &runtime.RawExtension{Raw: config}}
		pool.Image, pool.Version = cutImage(image)
		pool.Worker = capability.Worker{UpdateStrategy: v1beta1.MachineUpdateStrategy(strategy), GPU: &gpu}
		for _, p := range []*consistency.Profile[openstack.Image]{with, without} {
			r := p.ResolvePool(pool)
			if (r.Err == nil) != (r.Decision.Chosen >= 0) {
				t.Fatalf("chosen %d, but %v", r.Decision.Chosen, r.Err)
			}
			for _, err := range r.Further {
				checkFindings(t, field.ErrorList{err})
			}
			for _, s := range r.Suggestions {
				if again := p.ResolvePool(applied(pool, s)); again.Err != nil {
					t.Fatalf("%+v: %v", s, again.Err)
				}
			}
		}
	})
}

// What fuzzing starts from must reach the checks, or it starts from nothing.
func TestSpecsReachTheChecks(t *testing.T) {
	reached := map[string]bool{}
	for i, spec := range specs {
		var profile v1beta1.CloudProfile
		if err := json.Unmarshal([]byte(spec), &profile.Spec); err != nil {
			t.Fatal(err)
		}
		_, report := consistency.CheckCloudProfile(local.Provider{}, &profile)
		if i == 0 && len(report.Errors)+len(report.Warnings) > 0 {
			t.Errorf("the sound one: %v", report)
		}
		_, other := consistency.CheckCloudProfile(openstack.Provider{}, &profile)
		for _, err := range slices.Concat(report.Errors, report.Warnings, other.Errors, other.Warnings) {
			reached[err.Origin] = true
		}
	}
	if len(reached) < 25 {
		t.Errorf("%d rules only: %v", len(reached), reached)
	}
}
