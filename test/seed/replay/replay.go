// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package replay is provider-openstack as far as a seed can tell: Gardener's generic actuator, with what provider-openstack
// made of some worker pools in place of its code. Tests of a takeover let it make machines first.
package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// Recording is a Worker and what provider-openstack made of it. It is read only once it is in use.
type Recording struct {
	// Worker, Shoot and Profile are what it had. The status of the Worker is the one before.
	Worker  *extensionsv1alpha1.Worker
	Shoot   *v1beta1.Shoot
	Profile *v1beta1.CloudProfile
	// Classes, Secrets and Deployments are what it made, in one order.
	Classes     []machinev1alpha1.MachineClass
	Secrets     []corev1.Secret
	Deployments extensionsworker.MachineDeployments
}

// Load reads a recording: files input-*.json and upstream-*.json.
func Load(folder fs.FS) (*Recording, error) {
	r := &Recording{}
	var errs []error
	for name, into := range map[string]any{
		"input-worker": &r.Worker, "input-shoot": &r.Shoot, "input-cloudprofile": &r.Profile,
		"upstream-machineclasses": &r.Classes, "upstream-secrets": &r.Secrets, "upstream-machinedeployments": &r.Deployments,
	} {
		content, err := fs.ReadFile(folder, name+".json")
		if err == nil {
			err = json.Unmarshal(content, into)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	written := r.Worker
	r.Worker = &extensionsv1alpha1.Worker{
		ObjectMeta: metav1.ObjectMeta{Namespace: written.Namespace, Name: written.Name}, Spec: written.Spec, Status: written.Status,
	}
	return r, nil
}

// Without leaves pools out, and server groups: there is none of the pools that are left.
func (r *Recording) Without(pools ...string) {
	r.Worker.Status.ProviderStatus = nil
	r.Worker.Spec.Pools = slices.DeleteFunc(r.Worker.Spec.Pools, func(p extensionsv1alpha1.WorkerPool) bool { return slices.Contains(pools, p.Name) })
	left := map[string]bool{}
	r.Deployments = slices.DeleteFunc(r.Deployments, func(d extensionsworker.MachineDeployment) bool {
		left[d.ClassName] = !slices.Contains(pools, d.PoolName)
		return !left[d.ClassName]
	})
	r.Classes = slices.DeleteFunc(r.Classes, func(c machinev1alpha1.MachineClass) bool { return !left[c.Name] })
	r.Secrets = slices.DeleteFunc(r.Secrets, func(s corev1.Secret) bool { return !left[s.Name] })
}

// Add adds the worker controller to a manager.
func (r *Recording) Add(ctx context.Context, mgr manager.Manager) error {
	if err := machinev1alpha1.AddToScheme(mgr.GetScheme()); err != nil {
		return err
	}
	return extensionsworker.Add(ctx, mgr, extensionsworker.AddArgs{
		Actuator:   genericactuator.NewActuator(mgr, nil, &factory{r, mgr.GetClient()}, nil),
		Predicates: extensionsworker.DefaultPredicates(ctx, mgr, false),
		Type:       "openstack",
	})
}

type factory struct {
	*Recording
	client client.Client
}

// WorkerDelegate returns the delegate for the Worker of the recording.
func (f *factory) WorkerDelegate(
	_ context.Context, worker *extensionsv1alpha1.Worker, _ *extensionscontroller.Cluster,
) (genericactuator.WorkerDelegate, error) {
	return &delegate{f, worker}, nil
}

type delegate struct {
	*factory
	worker *extensionsv1alpha1.Worker
}

// DeployMachineClasses writes what was recorded over what there is.
func (d *delegate) DeployMachineClasses(ctx context.Context) error {
	for i := range d.Classes {
		secret, class := d.Secrets[i].DeepCopy(), d.Classes[i].DeepCopy()
		if err := apply(ctx, d.client, &corev1.Secret{}, secret, func(there *corev1.Secret) { there.Data = secret.Data }); err != nil {
			return err
		}
		if err := apply(ctx, d.client, &machinev1alpha1.MachineClass{}, class, func(there *machinev1alpha1.MachineClass) {
			meta := there.ObjectMeta
			class.DeepCopyInto(there)
			there.ObjectMeta = meta
		}); err != nil {
			return err
		}
	}
	return nil
}

// apply creates an object, or makes one that is there the same.
func apply[O client.Object](ctx context.Context, c client.Client, there, wanted O, change func(O)) error {
	wanted.SetCreationTimestamp(metav1.Time{})
	err := c.Get(ctx, client.ObjectKeyFromObject(wanted), there)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err != nil {
		return c.Create(ctx, wanted)
	}
	patch := client.MergeFrom(there.DeepCopyObject().(client.Object))
	change(there)
	labels := there.GetLabels()
	for name, value := range wanted.GetLabels() {
		labels[name] = value
	}
	there.SetLabels(labels)
	return c.Patch(ctx, there, patch)
}

// GenerateMachineDeployments returns what was recorded.
func (d *delegate) GenerateMachineDeployments(context.Context) (extensionsworker.MachineDeployments, error) {
	return slices.Clone(d.Deployments), nil
}

// image is a record of what machines boot, as provider-openstack leaves it in the status of a Worker.
type image struct {
	Name         string               `json:"name"`
	Version      string               `json:"version"`
	Image        string               `json:"image,omitempty"`
	ID           string               `json:"id,omitempty"`
	Architecture string               `json:"architecture,omitempty"`
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
}

// UpdateMachineImagesStatus writes the images that the classes boot into the status of the Worker, each once.
func (d *delegate) UpdateMachineImagesStatus(ctx context.Context) error {
	status := map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "WorkerStatus"}
	if raw := d.Worker.Status.ProviderStatus; raw != nil {
		if err := json.Unmarshal(raw.Raw, &status); err != nil {
			return err
		}
	}
	var images []image
	seen := map[string]bool{}
	for i := range d.Classes {
		booted, err := d.imageOf(&d.Classes[i])
		if err != nil {
			return err
		}
		if key := booted.Version + booted.ID + booted.Image; !seen[key] {
			seen[key] = true
			images = append(images, booted)
		}
	}
	status["machineImages"] = images
	raw, err := json.Marshal(status)
	if err != nil {
		return err
	}
	patch := client.MergeFrom(d.worker.DeepCopy())
	d.worker.Status.ProviderStatus = &runtime.RawExtension{Raw: raw}
	return d.client.Status().Patch(ctx, d.worker, patch)
}

// imageOf returns the record of what a class boots. Its flavor declares no more than the architecture.
func (d *delegate) imageOf(class *machinev1alpha1.MachineClass) (image, error) {
	var config struct {
		Spec struct{ ImageID, ImageName string }
	}
	if err := json.Unmarshal(class.ProviderSpec.Raw, &config); err != nil {
		return image{}, err
	}
	pool, err := d.poolOf(class.Name)
	if err != nil {
		return image{}, err
	}
	booted := image{
		Name: pool.MachineImage.Name, Version: pool.MachineImage.Version, ID: config.Spec.ImageID, Image: config.Spec.ImageName,
	}
	architecture := "amd64"
	if pool.Architecture != nil {
		architecture = *pool.Architecture
	}
	if len(d.Profile.Spec.MachineCapabilities) > 0 {
		booted.Capabilities = v1beta1.Capabilities{"architecture": {architecture}}
	} else {
		booted.Architecture = architecture
	}
	return booted, nil
}

func (d *delegate) poolOf(class string) (*extensionsv1alpha1.WorkerPool, error) {
	for _, deployment := range d.Deployments {
		for i := range d.Worker.Spec.Pools {
			if pool := &d.Worker.Spec.Pools[i]; deployment.ClassName == class && deployment.PoolName == pool.Name {
				return pool, nil
			}
		}
	}
	return nil, fmt.Errorf("no pool has machine class %s", class)
}

// PreReconcileHook does nothing.
func (d *delegate) PreReconcileHook(context.Context) error { return nil }

// PostReconcileHook does nothing.
func (d *delegate) PostReconcileHook(context.Context) error { return nil }

// PreDeleteHook does nothing.
func (d *delegate) PreDeleteHook(context.Context) error { return nil }

// PostDeleteHook does nothing.
func (d *delegate) PostDeleteHook(context.Context) error { return nil }
