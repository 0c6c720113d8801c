// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package machines is the worker controller of the extension for acme: a delegate of Gardener's genericactuator, put together of
// packages worker and kit and of what only acme knows, which is how a machine class looks.
package machines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
	"github.com/capkit/capkit/test/authors/acme"
)

// NewActuator returns what works on Workers, for extensionsworker.Add.
func NewActuator(mgr manager.Manager, garden cluster.Cluster) extensionsworker.Actuator {
	c, reader := mgr.GetClient(), mgr.GetAPIReader()
	delegates := &Delegates{Client: c, Reader: reader, Events: mgr.GetEventRecorder("acme-worker")}
	return kit.NewActuator(genericactuator.NewActuator(kit.WithoutEmptyPatches(mgr), garden, delegates, nil), delegates, c, reader)
}

// Delegates makes a delegate for each reconciliation.
type Delegates struct {
	Client client.Client
	Reader client.Reader // must not answer from a cache
	Events events.EventRecorder
}

// WorkerDelegate returns the delegate for a Worker.
func (f *Delegates) WorkerDelegate(
	_ context.Context, w *extensionsv1alpha1.Worker, in *extensionscontroller.Cluster,
) (genericactuator.WorkerDelegate, error) {
	memory := kit.NewMemory[acme.Template, acme.WorkerStatus](f.Client, f.Reader, w)
	return &delegate{Delegates: f, worker: w, cluster: in, memory: memory}, nil
}

// delegate answers for one Worker in one reconciliation.
type delegate struct {
	*Delegates

	worker  *extensionsv1alpha1.Worker
	cluster *extensionscontroller.Cluster
	memory  *kit.Memory[acme.Template, acme.WorkerStatus]

	existing *kit.Existing // nil before it is read
	plan     *plan         // nil before it is made
}

// plan is what the pools are to have.
type plan struct {
	legacy bool // the profile has no capabilities
	pools  []pool
}

// pool is what one pool is to have: classes and deployments, each by zone.
type pool struct {
	image       worker.Image[acme.Template]
	wanted      []kit.Wanted
	deployments extensionsworker.MachineDeployments
}

// wanted returns the machine classes of all pools.
func (p *plan) wanted() (wanted []kit.Wanted) {
	for i := range p.pools {
		wanted = append(wanted, p.pools[i].wanted...)
	}
	return wanted
}

// GenerateMachineDeployments comes first, so that nothing is written if a pool has no image.
func (d *delegate) GenerateMachineDeployments(ctx context.Context) (extensionsworker.MachineDeployments, error) {
	made, err := d.makePlan(ctx)
	if err != nil {
		return nil, err
	}
	d.plan = made
	var deployments extensionsworker.MachineDeployments
	for i := range made.pools {
		deployments = append(deployments, made.pools[i].deployments...)
	}
	return deployments, nil
}

// DeployMachineClasses is called in a deletion, too, without GenerateMachineDeployments.
func (d *delegate) DeployMachineClasses(ctx context.Context) error {
	if d.worker.DeletionTimestamp != nil {
		return d.prepareDeletion(ctx)
	}
	if err := d.existing.Deploy(ctx, d.Client, d.plan.wanted()); err != nil {
		return err
	}
	for i := range d.plan.pools {
		if p := &d.plan.pools[i]; len(p.wanted) > 0 {
			kit.Report(d.Events, d.worker, p.wanted[0].Class, &p.image)
		}
	}
	return nil
}

// prepareDeletion never fails for want of an image, or of anything else that a machine class is made of.
func (d *delegate) prepareDeletion(ctx context.Context) error {
	made, err := d.makePlan(ctx)
	if d.existing == nil {
		return err
	}
	if err != nil {
		logf.FromContext(ctx).Info("Going on with the deletion, with machine classes as they are", "reason", err.Error())
	}
	return d.existing.PrepareDeletion(ctx, d.Client, made.wanted(), d.worker.Spec.SecretRef)
}

// UpdateMachineImagesStatus is called once the machine classes are written.
func (d *delegate) UpdateMachineImagesStatus(ctx context.Context) error {
	var images []worker.Image[acme.Template]
	for i := range d.plan.pools {
		images = append(images, d.plan.pools[i].image)
	}
	status := statusOf(worker.Records(images), d.plan.legacy)
	raw, err := json.Marshal(status)
	if err != nil {
		return err
	}
	if err := kit.PatchStatus(ctx, d.Client, d.worker, &runtime.RawExtension{Raw: raw}); err != nil {
		return err
	}
	remembered := kit.Remembered[acme.Template, acme.WorkerStatus]{Status: status}
	for _, w := range d.plan.wanted() {
		remembered.Classes = append(remembered.Classes, kit.ClassOf(w.Class, templateOf(w.Class)))
	}
	return d.memory.Remember(ctx, remembered)
}

// PreReconcileHook does nothing: acme needs nothing for machines that is not there.
func (d *delegate) PreReconcileHook(context.Context) error { return nil }

// PostReconcileHook does nothing.
func (d *delegate) PostReconcileHook(context.Context) error { return nil }

// PreDeleteHook does nothing.
func (d *delegate) PreDeleteHook(context.Context) error { return nil }

// PostDeleteHook does nothing. A cloud that has made something for the Worker deletes it here.
func (d *delegate) PostDeleteHook(context.Context) error { return nil }

// makePlan finds out what the pools are to have. If there is an error, the plan has those for which there is none.
func (d *delegate) makePlan(ctx context.Context) (*plan, error) {
	made := &plan{}
	existing, err := kit.Read(ctx, d.Reader, d.worker.Namespace)
	if err != nil {
		return made, err
	}
	d.existing = existing
	status, before, err := d.before(ctx)
	if err != nil {
		return made, err
	}
	compiled, _ := profile.Compile(acme.Provider{}, &d.cluster.CloudProfile.Spec, field.NewPath("spec"))
	made.legacy = compiled.Vocabulary().Legacy()
	images, classes := worker.NewImages(compiled, recordsOf(status)), kit.Classes(existing.Classes, before, templateOf)
	var errs []error
	for i, question := range worker.PoolsOf(d.worker) {
		p, err := d.pool(images, classes, question, &d.worker.Spec.Pools[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, fault := range p.image.Faults {
			logf.FromContext(ctx).Info("Going on in spite of an error", "fault", words.Printable(fault.Error.Error()))
		}
		made.pools = append(made.pools, *p)
	}
	return made, errors.Join(errs...)
}

// before returns the status of the Worker, and machine classes that it had in the seed that it comes from.
func (d *delegate) before(ctx context.Context) (*acme.WorkerStatus, []worker.Class[acme.Template], error) {
	status := &acme.WorkerStatus{}
	if !kit.Restoring(d.worker) {
		return status, nil, kit.ReadStatus(d.worker.Status.ProviderStatus, statusKind, status)
	}
	remembered, err := d.memory.Recall(ctx)
	if err != nil {
		return nil, nil, err
	}
	if d.worker.Status.ProviderStatus == nil {
		return remembered.Status, remembered.Classes, nil
	}
	return status, remembered.Classes, kit.ReadStatus(d.worker.Status.ProviderStatus, statusKind, status)
}

// pool returns what a pool is to have. The error names it.
func (d *delegate) pool(
	images *worker.Images[acme.Template], classes []worker.Class[acme.Template], question provider.Pool, of *extensionsv1alpha1.WorkerPool,
) (*pool, error) {
	data, err := kit.HashData(acme.Provider{}.Workers().Rolling(question), nil)
	if err != nil {
		return nil, err
	}
	hash, err := extensionsworker.WorkerPoolHash(*of, d.cluster, data, nil)
	if err != nil {
		return nil, err
	}
	shoot, names := d.cluster.Shoot.Status.TechnicalID, make([]string, len(of.Zones))
	for zone := range of.Zones {
		names[zone] = kit.ClassName(kit.DeploymentName(shoot, of.Name, zone), hash)
	}
	made := &pool{}
	made.image, err = images.Of(worker.Question[acme.Template]{Pool: question, Names: names, Classes: kit.ClassesOf(shoot, of.Name, classes)})
	if err != nil {
		return nil, err
	}
	userData := d.existing.UserData(of.UserDataSecretRef)
	if len(userData) == 0 {
		return nil, fmt.Errorf("worker pool %s: it has no user data yet", of.Name)
	}
	for zone, name := range names {
		class, err := d.classOf(name, &made.image, of, of.Zones[zone])
		if err != nil {
			return nil, err
		}
		made.wanted = append(made.wanted, kit.Wanted{Class: class, Secret: kit.SecretOf(class, userData)})
		made.deployments = append(made.deployments, kit.DeploymentOf(of, kit.DeploymentName(shoot, of.Name, zone), name, zone))
	}
	return made, nil
}

// classOf returns the machine class of a pool in a zone, which boots the image.
func (d *delegate) classOf(
	name string, image *worker.Image[acme.Template], of *extensionsv1alpha1.WorkerPool, zone string,
) (*machinev1alpha1.MachineClass, error) {
	if written := d.existing.Classes[name]; image.Stays && written != nil {
		return kit.AsItIs(written, d.worker.Spec.SecretRef), nil
	}
	raw, err := json.Marshal(acme.MachineSpec{Template: image.Reference, MachineType: of.MachineType, Zone: zone})
	if err != nil {
		return nil, err
	}
	return &machinev1alpha1.MachineClass{
		ObjectMeta:           metav1.ObjectMeta{Name: name, Namespace: d.worker.Namespace, Labels: kit.ClassLabels(of.MachineImage)},
		ProviderSpec:         runtime.RawExtension{Raw: raw},
		Provider:             "acme",
		CredentialsSecretRef: &d.worker.Spec.SecretRef,
		SecretRef:            &corev1.SecretReference{Name: name, Namespace: d.worker.Namespace},
	}, nil
}

// templateOf returns what a machine class boots. One that cannot be read boots nothing that is known.
func templateOf(class *machinev1alpha1.MachineClass) acme.Template {
	spec := &acme.MachineSpec{}
	if json.Unmarshal(class.ProviderSpec.Raw, spec) != nil {
		return acme.Template{}
	}
	return spec.Template
}
