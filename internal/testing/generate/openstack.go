// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package generate creates CloudProfiles of any size that resemble those of a real landscape, for tests and benchmarks.
package generate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

var (
	vocabulary = []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}},
		{Name: "hypervisor", Values: []string{"virtualized", "baremetal"}},
		{Name: "storageAccess", Values: []string{"NVMe", "SCSI"}},
		{Name: "networking", Values: []string{"accelerated", "standard", "legacy"}},
	}
	images  = []string{"gardenlinux", "flatcar", "ubuntu", "suse-chost", "suse-sles", "redhat-coreos", "memoryone-chost"}
	regions = []string{"eu-de-1", "eu-de-2", "eu-nl-1", "na-us-1", "na-us-2", "ap-jp-1"}
)

// machineTypes is the number of machine types.
const machineTypes = 48

// OpenStack returns the spec of a CloudProfile for OpenStack whose provider config has about this size in bytes, as compact JSON. All
// versions have flavors: four to twelve, each with an image ID for three to six regions. The profile has no errors. The result depends
// only on the size.
func OpenStack(size int) *v1beta1.CloudProfileSpec {
	r := rand.New(rand.NewPCG(uint64(size), 33))
	config := openstackConfig()
	spec := &v1beta1.CloudProfileSpec{Type: "openstack", MachineCapabilities: vocabulary, MachineTypes: types(r)}
	for _, name := range regions {
		spec.Regions = append(spec.Regions, v1beta1.Region{Name: name})
	}
	for _, name := range images {
		spec.MachineImages = append(spec.MachineImages, v1beta1.MachineImage{Name: name})
		config.MachineImages = append(config.MachineImages, v1alpha1.MachineImages{Name: name})
	}
	for i, written := 0, len(marshal(config)); i < len(images) || written < size; i++ {
		core, provider := version(r, versionName(i))
		c, p := &spec.MachineImages[i%len(images)], &config.MachineImages[i%len(images)]
		c.Versions, p.Versions = append(c.Versions, core), append(p.Versions, provider)
		written += len(marshal(provider)) + 1
	}
	spec.ProviderConfig = &runtime.RawExtension{Raw: marshal(config)}
	return spec
}

// openstackConfig returns a provider config without images.
func openstackConfig() *v1alpha1.CloudProfileConfig {
	return &v1alpha1.CloudProfileConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "CloudProfileConfig"},
		Constraints: v1alpha1.Constraints{
			FloatingPools:         []v1alpha1.FloatingPool{{Name: "FloatingIP-external-*"}},
			LoadBalancerProviders: []v1alpha1.LoadBalancerProvider{{Name: "haproxy"}},
		},
		KeystoneURL: new("https://identity.example.com:443/v3"),
	}
}

// version creates the flavors of one version in core and in the provider config.
func version(r *rand.Rand, name string) (v1beta1.MachineImageVersion, v1alpha1.MachineImageVersion) {
	core := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: name}}
	provider := v1alpha1.MachineImageVersion{Version: name}
	seen := map[string]bool{}
	for n := 4 + r.IntN(9); len(core.CapabilityFlavors) < n; {
		c := declare(r)
		id := fmt.Sprint(c) // values are in the vocabulary's order, and never all of them
		if seen[id] {
			continue
		}
		seen[id] = true
		core.CapabilityFlavors = append(core.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: c})
		flavor := v1alpha1.MachineImageFlavor{Capabilities: c}
		for _, k := range r.Perm(len(regions))[:3+r.IntN(len(regions)-2)] {
			flavor.Regions = append(flavor.Regions, v1alpha1.RegionIDMapping{Name: regions[k], ID: uuid(r)})
		}
		provider.CapabilityFlavors = append(provider.CapabilityFlavors, flavor)
	}
	return core, provider
}

// declare declares one architecture, and some or no values of each other capability.
func declare(r *rand.Rand) v1beta1.Capabilities {
	c := v1beta1.Capabilities{}
	for i, def := range vocabulary {
		if i > 0 && r.IntN(3) == 0 {
			continue
		}
		values := slices.Clone(def.Values)
		for len(values) > 1 && (len(values) == len(def.Values) || i == 0 || r.IntN(2) == 0) {
			k := r.IntN(len(values))
			values = slices.Delete(values, k, k+1)
		}
		c[def.Name] = values
	}
	return c
}

func types(r *rand.Rand) []v1beta1.MachineType {
	var all []v1beta1.MachineType
	for i := range machineTypes {
		all = append(all, v1beta1.MachineType{Name: fmt.Sprintf("g_c%d_m%d", 2<<(i%6), 4*(i+1)), Capabilities: declare(r)})
	}
	return all
}

func uuid(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>48&0xfff, b&0xffffffffffff)
}

func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // all types can be encoded
	}
	return raw
}
