// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"fmt"
	"maps"
	"slices"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/gardener/gardener/pkg/utils/flow"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack/servergroups"
	"github.com/capkit/capkit/pkg/words"
	"github.com/capkit/capkit/pkg/worker"
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
	existing *existing
	planned  *plan
	memory   *memory
	// memoryConfig is where the memory was read from; nil if there was none.
	memoryConfig *corev1.ConfigMap
}

var _ genericactuator.WorkerDelegate = &delegate{}

// existing is what the seed has for a Worker.
type existing struct {
	classes map[string]*machinev1alpha1.MachineClass
	secrets map[string]*corev1.Secret
}

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
	var deployments extensionsworker.MachineDeployments
	for i := range d.planned.pools {
		deployments = append(deployments, d.planned.pools[i].deployments...)
	}
	return deployments, nil
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
	if err := d.deploy(ctx, d.planned); err != nil {
		return err
	}
	for i := range d.planned.pools {
		// Events about the same objects become one, with the text of the first: so each has the class of its pool, too.
		if pool := &d.planned.pools[i]; pool.image.Replaced != "" && len(pool.classes) > 0 {
			d.events.Eventf(d.worker, pool.classes[0], corev1.EventTypeWarning, "ImageReplaced", "SelectImage", "%s", pool.image.Replaced)
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
	d.status.MachineImages = machineImages(worker.Records(d.planned.images()), d.planned.legacy)
	if err := d.writeStatus(ctx); err != nil {
		return err
	}
	m := &memory{Status: d.status}
	for i := range d.planned.pools {
		for _, c := range d.planned.pools[i].classes {
			m.Classes = append(m.Classes, classOf(c))
		}
	}
	return d.remember(ctx, m)
}

// PostReconcileHook deletes server groups that no pool needs any more.
func (d *delegate) PostReconcileHook(ctx context.Context) error { return d.cleanUpServerGroups(ctx) }

// PreDeleteHook does nothing.
func (d *delegate) PreDeleteHook(context.Context) error { return nil }

// PostDeleteHook deletes all server groups of the Worker.
func (d *delegate) PostDeleteHook(ctx context.Context) error {
	if err := d.readStatus(ctx); err != nil {
		return err
	}
	return d.cleanUpServerGroups(ctx)
}

// restoring reports whether the Worker comes from another seed: what is remembered counts then, and only then.
func (d *delegate) restoring() bool {
	last := d.worker.Status.LastOperation
	return last != nil && last.Type == v1beta1.LastOperationTypeRestore
}

// readStatus reads the status of the Worker. If it has none while it is restored, what is remembered counts.
func (d *delegate) readStatus(ctx context.Context) error {
	if d.status != nil {
		return nil
	}
	if d.worker.Status.ProviderStatus == nil && d.restoring() {
		if err := d.recall(ctx); err != nil {
			return err
		}
		d.status = d.memory.Status.DeepCopy()
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
	before := d.worker.DeepCopy()
	d.worker.Status.ProviderStatus = raw
	patch := client.MergeFrom(before)
	if data, err := patch.Data(d.worker); err != nil || string(data) == "{}" {
		d.worker.Status.ProviderStatus = before.Status.ProviderStatus
		return err
	}
	if err := d.client.Status().Patch(ctx, d.worker, patch); err != nil {
		return fmt.Errorf("writing the status of the Worker: %w", err)
	}
	return nil
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
	planned, err := d.situation().plan()
	if err != nil {
		return err
	}
	for _, fault := range planned.faults {
		logf.FromContext(ctx).Info("Going on in spite of an error that does not decide about machines", "fault", words.Printable(fault.Error.Error()))
	}
	d.planned = planned
	return nil
}

// read reads what the seed has for the Worker.
func (d *delegate) read(ctx context.Context) error {
	if d.existing != nil {
		return d.recall(ctx)
	}
	classes, secrets := &machinev1alpha1.MachineClassList{}, &corev1.SecretList{}
	if err := d.reader.List(ctx, classes, client.InNamespace(d.worker.Namespace)); err != nil {
		return fmt.Errorf("reading machine classes: %w", err)
	}
	// One request for the user data of all pools and the secrets of all classes.
	if err := d.reader.List(ctx, secrets, client.InNamespace(d.worker.Namespace)); err != nil {
		return fmt.Errorf("reading secrets: %w", err)
	}
	found := &existing{classes: map[string]*machinev1alpha1.MachineClass{}, secrets: map[string]*corev1.Secret{}}
	for i := range classes.Items {
		found.classes[classes.Items[i].Name] = &classes.Items[i]
	}
	for i := range secrets.Items {
		found.secrets[secrets.Items[i].Name] = &secrets.Items[i]
	}
	d.existing = found
	return d.recall(ctx)
}

// situation is what there is now.
func (d *delegate) situation() *situation {
	s := &situation{worker: d.worker, cluster: d.cluster, status: d.status, userData: map[corev1.SecretKeySelector][]byte{}}
	for _, name := range slices.Sorted(maps.Keys(d.existing.classes)) {
		s.classes = append(s.classes, classOf(d.existing.classes[name]))
	}
	if d.restoring() {
		for _, c := range d.memory.Classes {
			if d.existing.classes[c.Name] == nil {
				s.classes = append(s.classes, c)
			}
		}
	}
	for i := range d.worker.Spec.Pools {
		selector := d.worker.Spec.Pools[i].UserDataSecretRef
		if secret := d.existing.secrets[selector.Name]; secret != nil {
			s.userData[selector] = secret.Data[selector.Key]
		}
	}
	return s
}

// deploy writes the planned machine classes, each after its secret.
func (d *delegate) deploy(ctx context.Context, planned *plan) error {
	var tasks []flow.TaskFn
	for i := range planned.pools {
		pool := &planned.pools[i]
		for k := range pool.classes {
			tasks = append(tasks, func(ctx context.Context) error {
				if err := d.deploySecret(ctx, pool.secrets[k]); err != nil {
					return fmt.Errorf("writing the secret of machine class %s: %w", pool.classes[k].Name, withoutContent(err))
				}
				if err := d.deployClass(ctx, pool.classes[k]); err != nil {
					return fmt.Errorf("writing machine class %s: %w", pool.classes[k].Name, err)
				}
				return nil
			})
		}
	}
	return flow.ParallelN(genericactuator.MaxConcurrentMachineTasks, tasks...)(ctx)
}

func (d *delegate) deploySecret(ctx context.Context, wanted *corev1.Secret) error {
	found := d.existing.secrets[wanted.Name]
	if found == nil {
		return d.client.Create(ctx, wanted.DeepCopy())
	}
	changed := found.DeepCopy()
	changed.Labels = merged(changed.Labels, wanted.Labels)
	changed.Data = wanted.Data
	return patchChanged(ctx, d.client, changed, client.MergeFrom(found))
}

// withoutContent returns an error of an API server without what the object has in it, which a refusal may repeat.
func withoutContent(err error) error {
	if reason := apierrors.ReasonForError(err); reason == metav1.StatusReasonInvalid || reason == metav1.StatusReasonBadRequest {
		return fmt.Errorf("the API server answers %s", reason)
	}
	return err
}

func (d *delegate) deployClass(ctx context.Context, wanted *machinev1alpha1.MachineClass) error {
	found := d.existing.classes[wanted.Name]
	if found == nil {
		return d.client.Create(ctx, wanted.DeepCopy())
	}
	changed, wanted := found.DeepCopy(), wanted.DeepCopy()
	changed.Labels = merged(changed.Labels, wanted.Labels)
	changed.NodeTemplate, changed.ProviderSpec, changed.Provider = wanted.NodeTemplate, wanted.ProviderSpec, wanted.Provider
	changed.CredentialsSecretRef, changed.SecretRef = wanted.CredentialsSecretRef, wanted.SecretRef
	return patchChanged(ctx, d.client, changed, client.MergeFrom(found))
}

// merged returns labels with others added, which count if there are both.
func merged(labels, others map[string]string) map[string]string {
	all := make(map[string]string, len(labels)+len(others))
	maps.Copy(all, labels)
	maps.Copy(all, others)
	return all
}

// prepareDeletion writes what machine-controller-manager needs to delete the machines: the classes that can be made, and
// in others the reference to the credentials, which may have changed.
func (d *delegate) prepareDeletion(ctx context.Context) error {
	log := logf.FromContext(ctx)
	if err := d.read(ctx); err != nil {
		return err
	}
	situation := d.situation()
	if err := d.readStatus(ctx); err == nil {
		situation.status = d.status
	} else { // PostDeleteHook says so, once the machines are gone
		situation.status = &v1alpha1.WorkerStatus{}
	}
	planned, err := situation.plan()
	if err != nil {
		log.Info("Going on with the deletion, with machine classes as they are where they cannot be made", "reason", err.Error())
	}
	if err := d.deploy(ctx, planned); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(d.existing.classes)) {
		if planned.hasClass(name) {
			continue
		}
		found := d.existing.classes[name]
		changed := found.DeepCopy()
		changed.CredentialsSecretRef = d.worker.Spec.SecretRef.DeepCopy()
		if err := patchChanged(ctx, d.client, changed, client.MergeFrom(found)); err != nil {
			return fmt.Errorf("writing machine class %s: %w", name, err)
		}
	}
	return nil
}
