// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"errors"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/openstack/machines/servergroups"
	"github.com/capkit/capkit/pkg/words"
	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
)

// delegate implements one reconciliation of one Worker; genericactuator creates a new one for each. It is not safe for concurrent use,
// which genericactuator does not need.
type delegate struct {
	client client.Client
	// reader does not use a cache: decisions must not be based on data older than the last write.
	reader client.Reader
	events events.EventRecorder
	// connect connects to Nova.
	connect func(ctx context.Context) (servergroups.Compute, error)

	worker  *extensionsv1alpha1.Worker
	cluster *extensionscontroller.Cluster

	// These are read or created on first use.
	status   *v1alpha1.WorkerStatus
	ensured  bool // the server groups exist
	existing *kit.Existing
	planned  *plan
	// refused is the error about new pools that are left out of planned.
	refused error
	memory  *kit.Memory[openstack.Image, v1alpha1.WorkerStatus]
}

var _ genericactuator.WorkerDelegate = &delegate{}

// PreReconcileHook creates the server groups that pools request.
func (d *delegate) PreReconcileHook(ctx context.Context) error {
	if err := d.readStatus(ctx); err != nil {
		return err
	}
	return d.ensureServerGroups(ctx)
}

// GenerateMachineDeployments returns the desired machine deployments of the pools.
func (d *delegate) GenerateMachineDeployments(ctx context.Context) (extensionsworker.MachineDeployments, error) {
	if err := d.plan(ctx); err != nil {
		return nil, err
	}
	return d.planned.deployments(), nil
}

// DeployMachineClasses writes machine classes and their secrets where they differ from the desired ones. For a Worker that is being
// deleted it skips classes that cannot be made, so that they do not block the deletion.
func (d *delegate) DeployMachineClasses(ctx context.Context) error {
	if d.worker.DeletionTimestamp != nil {
		return d.prepareDeletion(ctx)
	}
	if err := d.plan(ctx); err != nil {
		return err
	}
	if err := d.checkDriver(ctx); err != nil {
		return err
	}
	if err := d.existing.Deploy(ctx, d.client, d.planned.wanted()); err != nil {
		return err
	}
	for i := range d.planned.pools {
		// Events about the same objects are merged under the text of the first. The related class keeps those of different pools apart.
		if pool := &d.planned.pools[i]; len(pool.classes) > 0 {
			kit.Report(d.events, d.worker, pool.classes[0], &pool.image)
		}
	}
	return nil
}

// UpdateMachineImagesStatus adds missing image records to the status of the Worker, and stores the state that a control plane migration
// would lose.
func (d *delegate) UpdateMachineImagesStatus(ctx context.Context) error {
	if err := d.plan(ctx); err != nil {
		return err
	}
	m := kit.Remembered[openstack.Image, v1alpha1.WorkerStatus]{Status: d.status}
	var images []worker.Image[openstack.Image]
	for i := range d.planned.pools {
		images = append(images, d.planned.pools[i].image)
		for _, c := range d.planned.pools[i].classes {
			m.Classes = append(m.Classes, classOf(c))
		}
	}
	d.status.MachineImages = machineImages(worker.Records(images), d.planned.legacy)
	if err := d.writeStatus(ctx); err != nil {
		return err
	}
	return d.memory.Remember(ctx, m)
}

// PostReconcileHook deletes server groups that no pool needs any more, and returns the error about refused new pools.
func (d *delegate) PostReconcileHook(ctx context.Context) error {
	if err := d.readStatus(ctx); err != nil {
		return err
	}
	return errors.Join(d.cleanUpServerGroups(ctx), d.refused)
}

// PreDeleteHook does nothing.
func (d *delegate) PreDeleteHook(context.Context) error { return nil }

// PostDeleteHook deletes all server groups of the Worker.
func (d *delegate) PostDeleteHook(ctx context.Context) error {
	if err := d.readStatus(ctx); err != nil {
		return err
	}
	return d.cleanUpServerGroups(ctx)
}

// readStatus reads the status of the Worker. During a restore, the remembered status replaces a missing one.
func (d *delegate) readStatus(ctx context.Context) error {
	if d.status != nil {
		return nil
	}
	if d.worker.Status.ProviderStatus == nil && kit.Restoring(d.worker) {
		remembered, err := d.memory.Recall(ctx)
		if err != nil {
			return err
		}
		d.status = remembered.Status.DeepCopy()
		return nil
	}
	status, err := readStatus(d.worker.Status.ProviderStatus)
	if err == nil {
		d.status = status
	}
	return err
}

// writeStatus writes the status of the Worker if it differs.
func (d *delegate) writeStatus(ctx context.Context) error {
	raw, err := writeStatus(d.status)
	if err != nil {
		return err
	}
	return kit.PatchStatus(ctx, d.client, d.worker, raw)
}

// plan computes the desired state of the pools once.
func (d *delegate) plan(ctx context.Context) error {
	if d.planned != nil {
		return nil
	}
	if err := d.readStatus(ctx); err != nil {
		return err
	}
	if err := d.ensureServerGroups(ctx); err != nil {
		return err
	}
	if err := d.read(ctx); err != nil {
		return err
	}
	situation, err := d.situation(ctx)
	if err != nil {
		return err
	}
	planned, err := situation.plan()
	if err != nil {
		if mayWait, readErr := d.mayWait(ctx, planned); readErr != nil || !mayWait {
			return errors.Join(err, readErr)
		}
		logf.FromContext(ctx).Info("Going on without new pools", "reason", words.Printable(err.Error()))
		d.refused = err // PostReconcileHook returns it
	}
	for _, fault := range planned.faults {
		logf.FromContext(ctx).Info("Going on in spite of an error that does not decide about machines", "fault", words.Printable(fault.Error.Error()))
	}
	d.planned = planned
	return nil
}

// mayWait reports whether pools without a plan may wait while the others proceed: they must be new, and replace no other pool. During a
// restore they may not, because the seed does not have the former machine deployments.
func (d *delegate) mayWait(ctx context.Context, planned *plan) (bool, error) {
	if len(planned.pools) == 0 || kit.Restoring(d.worker) {
		return false, nil
	}
	return kit.LosesNothing(ctx, d.reader, d.worker.Namespace, planned.deployments())
}

// read reads the Worker's existing objects from the seed once.
func (d *delegate) read(ctx context.Context) (err error) {
	if d.existing == nil {
		d.existing, err = kit.Read(ctx, d.reader, d.worker.Namespace)
	}
	return err
}

// situation returns the current state.
func (d *delegate) situation(ctx context.Context) (*situation, error) {
	remembered, err := d.memory.Recall(ctx) // needed even outside a restore: no plan is made that could not be stored
	if err != nil {
		return nil, err
	}
	var before []worker.Class[openstack.Image]
	if kit.Restoring(d.worker) {
		before = remembered.Classes
	}
	s := &situation{
		worker: d.worker, cluster: d.cluster, status: d.status, userData: map[corev1.SecretKeySelector][]byte{},
		classes: kit.Classes(d.existing.Classes, before, referenceOf), written: d.existing.Classes,
	}
	for i := range d.worker.Spec.Pools {
		selector := d.worker.Spec.Pools[i].UserDataSecretRef
		s.userData[selector] = d.existing.UserData(selector)
	}
	return s, nil
}

// prepareDeletion writes the objects that machine-controller-manager needs to delete the machines, as far as they can be made.
func (d *delegate) prepareDeletion(ctx context.Context) error {
	if err := d.read(ctx); err != nil {
		return err
	}
	situation, err := d.situation(ctx)
	if err != nil {
		return err
	}
	if err := d.readStatus(ctx); err == nil {
		situation.status = d.status
	} else { // PostDeleteHook returns this error once the machines are gone
		situation.status = &v1alpha1.WorkerStatus{}
	}
	planned, err := situation.plan()
	if err != nil {
		logf.FromContext(ctx).Info("Going on with the deletion, with machine classes as they are where they cannot be made",
			"reason", err.Error())
	}
	wanted := planned.wanted()
	if err := d.checkDriver(ctx); err != nil {
		logf.FromContext(ctx).Info("Going on with the deletion, with machine classes as they are", "reason", err.Error())
		wanted = nil
	}
	return d.existing.PrepareDeletion(ctx, d.client, wanted, d.worker.Spec.SecretRef)
}
