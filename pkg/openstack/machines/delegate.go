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

// delegate answers for one Worker in one reconciliation: genericactuator makes a new one for the next. It is not safe for
// concurrent use, as genericactuator does not need that.
type delegate struct {
	client client.Client
	// reader does not read from a cache: what is decided on must not be older than what was written last.
	reader client.Reader
	events events.EventRecorder
	// connect connects to Nova.
	connect func(ctx context.Context) (servergroups.Compute, error)

	worker  *extensionsv1alpha1.Worker
	cluster *extensionscontroller.Cluster

	// These are read, or made, when they are first needed.
	status   *v1alpha1.WorkerStatus
	ensured  bool // the server groups
	existing *kit.Existing
	planned  *plan
	// refused is about new pools, which are left out of what is planned.
	refused error
	memory  *kit.Memory[openstack.Image, v1alpha1.WorkerStatus]
}

var _ genericactuator.WorkerDelegate = &delegate{}

// PreReconcileHook makes the server groups of the pools that ask for one.
func (d *delegate) PreReconcileHook(ctx context.Context) error {
	if err := d.readStatus(ctx); err != nil {
		return err
	}
	return d.ensureServerGroups(ctx)
}

// GenerateMachineDeployments returns the machine deployments that the pools are to have.
func (d *delegate) GenerateMachineDeployments(ctx context.Context) (extensionsworker.MachineDeployments, error) {
	if err := d.plan(ctx); err != nil {
		return nil, err
	}
	return d.planned.deployments(), nil
}

// DeployMachineClasses writes the machine classes and their secrets, if they are not as they should be. For a Worker that
// is being deleted it leaves out what cannot be made: there is nothing that a deletion has to wait for.
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
		// Events about the same objects become one, with the text of the first: so each has the class of its pool, too.
		if pool := &d.planned.pools[i]; len(pool.classes) > 0 {
			kit.Report(d.events, d.worker, pool.classes[0], &pool.image)
		}
	}
	return nil
}

// UpdateMachineImagesStatus writes the records of images into the status of the Worker, if they are not there, and takes
// down what a control plane migration would lose.
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

// PostReconcileHook deletes server groups that no pool needs any more, and says which new pools are refused.
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

// readStatus reads the status of the Worker. If it has none while it is restored, what is remembered counts.
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

// writeStatus writes the status of the Worker, if it has another one.
func (d *delegate) writeStatus(ctx context.Context) error {
	raw, err := writeStatus(d.status)
	if err != nil {
		return err
	}
	return kit.PatchStatus(ctx, d.client, d.worker, raw)
}

// plan finds out what the pools are to have, once.
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

// mayWait reports whether pools that are not planned may wait while the others go on: if they are new, and take no other's place. While a
// Worker is restored, the seed does not have the machine deployments that there were.
func (d *delegate) mayWait(ctx context.Context, planned *plan) (bool, error) {
	if len(planned.pools) == 0 || kit.Restoring(d.worker) {
		return false, nil
	}
	return kit.LosesNothing(ctx, d.reader, d.worker.Namespace, planned.deployments())
}

// read reads what the seed has for the Worker, once.
func (d *delegate) read(ctx context.Context) (err error) {
	if d.existing == nil {
		d.existing, err = kit.Read(ctx, d.reader, d.worker.Namespace)
	}
	return err
}

// situation is what there is now.
func (d *delegate) situation(ctx context.Context) (*situation, error) {
	remembered, err := d.memory.Recall(ctx) // also if nothing of it counts: no plan is made that could not be remembered
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

// prepareDeletion writes what machine-controller-manager needs to delete the machines, as far as it can be made.
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
	} else { // PostDeleteHook says so, once the machines are gone
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
