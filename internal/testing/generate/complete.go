// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"math/rand/v2"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// Complete returns a CloudProfile for OpenStack whose JSON has about this size in bytes, and about which there are no findings. Each
// version has 16 flavors, as in [Local], and each flavor has an image in each of 6 regions. The result depends only on the size.
func Complete(size int) *v1beta1.CloudProfile {
	profile := withoutVersions("openstack")
	r := rand.New(rand.NewPCG(uint64(size), 35))
	config := openstackConfig()
	for _, name := range regions {
		profile.Spec.Regions = append(profile.Spec.Regions, v1beta1.Region{Name: name, Zones: []v1beta1.AvailabilityZone{{Name: name + "a"}}})
	}
	for _, name := range images {
		config.MachineImages = append(config.MachineImages, v1alpha1.MachineImages{Name: name})
	}
	for i, written := 0, len(marshal(profile))+len(marshal(config)); i < len(images) || written < size; i++ {
		c, p := &profile.Spec.MachineImages[i%len(images)], &config.MachineImages[i%len(images)]
		core := fullVersion(i)
		provided := v1alpha1.MachineImageVersion{Version: core.Version}
		for k := range 16 {
			flavor := v1alpha1.MachineImageFlavor{Capabilities: combination(k)}
			for _, region := range regions {
				flavor.Regions = append(flavor.Regions, v1alpha1.RegionIDMapping{Name: region, ID: uuid(r)})
			}
			provided.CapabilityFlavors = append(provided.CapabilityFlavors, flavor)
		}
		c.Versions, p.Versions = append(c.Versions, core), append(p.Versions, provided)
		written += len(marshal(core)) + len(marshal(provided)) + 2
	}
	profile.Spec.ProviderConfig = &runtime.RawExtension{Raw: marshal(config)}
	return profile
}
