// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package after

import (
	"cmp"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
	"github.com/capkit/capkit/test/authors/convert/api"
)

// Machines answers for the worker pools of one Worker, in one reconciliation.
type Machines struct {
	images *worker.Images[AMI]
	pools  []provider.Pool
	legacy bool
}

// NewMachines takes the CloudProfile of the Cluster, and the Worker with its status, decoded.
func NewMachines(
	cloud provider.Provider[AMI], spec *v1beta1.CloudProfileSpec, w *extensionsv1alpha1.Worker, status *api.WorkerStatus,
) *Machines {
	compiled, _ := profile.Compile(cloud, spec, field.NewPath("spec"))
	var records []worker.Record[AMI]
	for _, booted := range status.MachineImages {
		records = append(records, worker.Record[AMI]{
			Image: booted.Name, Version: booted.Version, Architecture: ptr.Deref(booted.Architecture, ""),
			Capabilities: booted.Capabilities, Reference: AMI{ID: booted.AMI},
		})
	}
	return &Machines{worker.NewImages(compiled, records), worker.PoolsOf(w), compiled.Vocabulary().Legacy()}
}

// Image returns what a pool of the Worker boots, by its index: the AMI for its machine classes, which are going to have these names, and
// the flavor, where the profile still lists the version. Classes are those that the pool has.
func (m *Machines) Image(pool int, names []string, classes []worker.Class[AMI]) (worker.Image[AMI], error) {
	return m.images.Of(worker.Question[AMI]{Pool: m.pools[pool], Names: names, Classes: classes})
}

// Status returns what the Worker's status is to say after its pools have got these images.
func (m *Machines) Status(images []worker.Image[AMI]) *api.WorkerStatus {
	status := &api.WorkerStatus{}
	status.SetGroupVersionKind(api.GroupVersion.WithKind("WorkerStatus"))
	for _, r := range kit.InFormat(worker.Records(images), m.legacy) {
		booted := api.MachineImage{Name: r.Image, Version: r.Version, AMI: r.Reference.ID, Capabilities: r.Capabilities}
		if m.legacy {
			booted.Architecture = new(cmp.Or(r.Architecture, "amd64"))
		}
		status.MachineImages = append(status.MachineImages, booted)
	}
	return status
}
