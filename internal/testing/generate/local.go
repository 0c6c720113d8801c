// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"fmt"
	"math/rand/v2"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/local"
)

// Local returns a CloudProfile for Gardener's provider local whose JSON has about this size in bytes. Each version has 16 flavors: every
// combination of two values of four capabilities. Image IDs are UUIDs, as in many clouds. The profile has no errors, not even in
// Gardener's own validation. The result depends only on the size.
func Local(size int) *v1beta1.CloudProfile {
	profile := withoutVersions("local")
	profile.Spec.Regions = []v1beta1.Region{{Name: "local"}}
	config := &local.CloudProfileConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: local.ConfigKind.GroupVersion().String(), Kind: local.ConfigKind.Kind},
	}
	r := rand.New(rand.NewPCG(uint64(size), 34))
	for _, name := range images {
		config.MachineImages = append(config.MachineImages, local.MachineImages{Name: name})
	}
	for i, written := 0, len(marshal(profile))+len(marshal(config)); i < len(images) || written < size; i++ {
		c, p := &profile.Spec.MachineImages[i%len(images)], &config.MachineImages[i%len(images)]
		core := fullVersion(i)
		provider := local.MachineImageVersion{Version: core.Version}
		for k := range 16 {
			provider.CapabilityFlavors = append(provider.CapabilityFlavors, local.MachineImageFlavor{
				Capabilities: combination(k), Image: uuid(r),
			})
		}
		c.Versions, p.Versions = append(c.Versions, core), append(p.Versions, provider)
		written += len(marshal(core)) + len(marshal(provider)) + 2
	}
	profile.Spec.ProviderConfig = &runtime.RawExtension{Raw: marshal(config)}
	return profile
}

// withoutVersions returns a CloudProfile with a vocabulary, machine types, and images without versions.
func withoutVersions(cloud string) *v1beta1.CloudProfile {
	profile := &v1beta1.CloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: cloud, Labels: map[string]string{"provider.extensions.gardener.cloud/" + cloud: "true"}},
		Spec:       v1beta1.CloudProfileSpec{Type: cloud, MachineCapabilities: vocabulary},
	}
	for i := range machineTypes {
		profile.Spec.MachineTypes = append(profile.Spec.MachineTypes, v1beta1.MachineType{
			Name: fmt.Sprintf("type-%d", i), Usable: ptr.To(true), Capabilities: combination(i % 16),
		})
	}
	for _, name := range images {
		profile.Spec.MachineImages = append(profile.Spec.MachineImages, v1beta1.MachineImage{Name: name})
	}
	return profile
}

// versionName returns the name of the i-th version, counted over all images.
func versionName(i int) string { return fmt.Sprintf("%d.%d.0", 1400+i/len(images)/4, i/len(images)%4) }

// fullVersion returns the i-th version in core, with a flavor for each combination.
func fullVersion(i int) v1beta1.MachineImageVersion {
	version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: versionName(i)}}
	version.CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
	for k := range 16 {
		version.CapabilityFlavors = append(version.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: combination(k)})
	}
	return version
}

// combination returns one of the 16 combinations of two values of four capabilities.
func combination(k int) v1beta1.Capabilities {
	c := v1beta1.Capabilities{}
	for i, def := range vocabulary {
		c[def.Name] = v1beta1.CapabilityValues{def.Values[k>>i&1]}
	}
	return c
}
