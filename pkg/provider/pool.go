// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
)

// Pool is what decides the image of a worker pool. [PoolsOf] makes those of a Shoot; a worker controller makes its own of
// what the extension resource says.
type Pool struct {
	// Name of the worker pool; empty if the question is not about one.
	Name string
	// MachineType, Image and Version as the pool names them, upper and lower case included.
	MachineType, Image, Version string
	// Architecture is the pool's machine.architecture, empty if it asks for none. A machine type that names none has it;
	// one that names another is refused (semantics S2).
	Architecture string
	// Region of the Shoot.
	Region string
	// Volume and DataVolumes are those of the machines, for a provider's own requests; nil if there are none.
	Volume      *v1beta1.Volume
	DataVolumes []v1beta1.DataVolume
	// Worker are the properties of the pool that ask for reserved capabilities, Config is its providerConfig, which asks
	// for those of the provider (semantics S3). Nil: it has none.
	Worker capability.Worker
	Config *runtime.RawExtension
	// Order ranks the flavors that fit.
	Order capability.Order
	// Path of the pool, below which errors are reported; nil if it stands in no manifest.
	Path *field.Path
}

// PoolsOf returns the questions that the worker pools of a Shoot ask, in their order; none for a Shoot without workers.
// Image and version are empty if a worker leaves them to Gardener. A pool shares the worker's volumes and providerConfig.
func PoolsOf(shoot *v1beta1.Shoot) []Pool {
	at := field.NewPath("spec", "provider", "workers")
	pools := make([]Pool, 0, len(shoot.Spec.Provider.Workers))
	for i, worker := range shoot.Spec.Provider.Workers {
		image := ptr.Deref(worker.Machine.Image, v1beta1.ShootMachineImage{})
		pools = append(pools, Pool{
			Name: worker.Name, Region: shoot.Spec.Region, Path: at.Index(i), MachineType: worker.Machine.Type,
			Image: image.Name, Version: ptr.Deref(image.Version, ""),
			Architecture: ptr.Deref(worker.Machine.Architecture, ""),
			Worker:       capability.Worker{UpdateStrategy: ptr.Deref(worker.UpdateStrategy, "")},
			Config:       worker.ProviderConfig, Volume: worker.Volume, DataVolumes: worker.DataVolumes,
		})
	}
	return pools
}

// ConfigPath is the path of the pool's providerConfig; nil, that of a document of its own, if the pool stands in no
// manifest.
func (p *Pool) ConfigPath() *field.Path { return p.child("providerConfig") }

func (p *Pool) child(name string) *field.Path {
	if p.Path == nil {
		return nil
	}
	return p.Path.Child(name)
}
