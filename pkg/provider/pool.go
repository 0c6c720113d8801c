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

// Pool is what decides the image of a worker pool. [PoolOf] makes one of a Shoot's worker; a worker controller makes its
// own of what the extension resource says.
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

// PoolOf returns the question that a worker of a Shoot asks. at is the path of the worker. Image and version are empty
// if the worker leaves them to Gardener. The pool shares the worker's volumes and providerConfig.
func PoolOf(worker *v1beta1.Worker, region string, at *field.Path) Pool {
	pool := Pool{
		Name: worker.Name, MachineType: worker.Machine.Type, Region: region, Path: at,
		Architecture: ptr.Deref(worker.Machine.Architecture, ""),
		Worker:       capability.Worker{UpdateStrategy: ptr.Deref(worker.UpdateStrategy, "")}, Config: worker.ProviderConfig,
		Volume: worker.Volume, DataVolumes: worker.DataVolumes,
	}
	if image := worker.Machine.Image; image != nil {
		pool.Image, pool.Version = image.Name, ptr.Deref(image.Version, "")
	}
	return pool
}

// PoolsOf returns the questions that the worker pools of a Shoot ask, in their order; none for a Shoot without workers.
func PoolsOf(shoot *v1beta1.Shoot) []Pool {
	at := field.NewPath("spec", "provider", "workers")
	pools := make([]Pool, 0, len(shoot.Spec.Provider.Workers))
	for i := range shoot.Spec.Provider.Workers {
		pools = append(pools, PoolOf(&shoot.Spec.Provider.Workers[i], shoot.Spec.Region, at.Index(i)))
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
