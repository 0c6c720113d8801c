// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

// PoolsOf returns the questions of a Worker's pools, in their order. They equal the result of [provider.PoolsOf] for the Worker's Shoot,
// except that their paths are those of the Worker, which also lacks the CRI. A pool shares its zones, its providerConfig and the pointers
// of its volumes with the Worker.
func PoolsOf(worker *extensionsv1alpha1.Worker) []provider.Pool {
	at := field.NewPath("spec", "pools")
	pools := make([]provider.Pool, 0, len(worker.Spec.Pools))
	for i := range worker.Spec.Pools {
		pool := &worker.Spec.Pools[i]
		pools = append(pools, provider.Pool{
			Name: pool.Name, Region: worker.Spec.Region, Zones: pool.Zones, Path: at.Index(i), MachineType: pool.MachineType,
			Image: pool.MachineImage.Name, Version: pool.MachineImage.Version,
			Architecture: ptr.Deref(pool.Architecture, ""),
			Worker:       capability.Worker{UpdateStrategy: ptr.Deref(pool.UpdateStrategy, "")},
			Config:       pool.ProviderConfig, Volume: volumeOf(pool.Volume), DataVolumes: dataVolumesOf(pool.DataVolumes),
			Kubelet: ptr.Deref(pool.KubernetesVersion, ""),
		})
	}
	return pools
}

func volumeOf(volume *extensionsv1alpha1.Volume) *v1beta1.Volume {
	if volume == nil {
		return nil
	}
	return &v1beta1.Volume{
		Name: volume.Name, Type: volume.Type, VolumeSize: volume.Size, Encrypted: volume.Encrypted,
	}
}

func dataVolumesOf(volumes []extensionsv1alpha1.DataVolume) []v1beta1.DataVolume {
	var found []v1beta1.DataVolume
	for _, volume := range volumes {
		found = append(found, v1beta1.DataVolume{
			Name: volume.Name, Type: volume.Type, VolumeSize: volume.Size, Encrypted: volume.Encrypted,
		})
	}
	return found
}
