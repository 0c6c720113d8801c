// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// memory is what a control plane migration would lose: Gardener takes neither the status of a Worker nor its machine
// classes to the new seed. It is kept in a ConfigMap that status.resources of the Worker refers to, since Gardener does
// take that. The state of the Worker would be the other place; Gardener needs that for the machines, and refuses
// to restore a Worker that has a state of its own.
type memory struct {
	Status  *v1alpha1.WorkerStatus `json:"status"`
	Classes []class                `json:"machineClasses,omitempty"`
}

const (
	// memoryResource is the name of the reference in status.resources.
	memoryResource = "worker-memory"
	// memoryKey is where the memory is in the ConfigMap.
	memoryKey = "memory.json"
)

// memoryOf returns the ConfigMap of a Worker, without its content.
func memoryOf(worker *extensionsv1alpha1.Worker) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "worker-memory-" + worker.Name, Namespace: worker.Namespace}}
}

// recall reads the memory of a Worker, once. What cannot be read counts as nothing: it is written anew.
func (d *delegate) recall(ctx context.Context) error {
	if d.memory != nil {
		return nil
	}
	config, remembered := memoryOf(d.worker), &memory{}
	switch err := d.reader.Get(ctx, client.ObjectKeyFromObject(config), config); {
	case apierrors.IsNotFound(err):
		config = nil
	case err != nil:
		return fmt.Errorf("reading what is remembered of the Worker: %w", err)
	default:
		if err := json.Unmarshal([]byte(config.Data[memoryKey]), remembered); err != nil {
			logf.FromContext(ctx).Info("Going on without what is remembered of the Worker", "configMap", config.Name, "reason", err.Error())
			remembered = &memory{}
		}
	}
	if remembered.Status == nil {
		remembered.Status = &v1alpha1.WorkerStatus{}
	}
	d.memory, d.memoryConfig = remembered, config
	return nil
}

// remember writes the memory of a Worker, and the reference to it, if they are not as they should be.
func (d *delegate) remember(ctx context.Context, m *memory) error {
	if err := d.recall(ctx); err != nil {
		return err
	}
	content, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("what is to be remembered of the Worker: %w", err)
	}
	config := memoryOf(d.worker)
	if d.memoryConfig != nil {
		config = d.memoryConfig.DeepCopy()
	}
	config.Data = map[string]string{memoryKey: string(content)}
	if err := controllerutil.SetOwnerReference(d.worker, config, d.client.Scheme()); err != nil {
		return fmt.Errorf("what is to be remembered of the Worker: %w", err)
	}
	if d.memoryConfig == nil {
		err = d.client.Create(ctx, config)
	} else {
		err = patchChanged(ctx, d.client, config, client.MergeFrom(d.memoryConfig))
	}
	if err != nil {
		return fmt.Errorf("writing what is to be remembered of the Worker: %w", err)
	}
	d.memoryConfig = config
	return d.referTo(ctx, config)
}

// referTo refers to the ConfigMap in status.resources of the Worker.
func (d *delegate) referTo(ctx context.Context, config *corev1.ConfigMap) error {
	reference := v1beta1.NamedResourceReference{
		Name:        memoryResource,
		ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: config.Name},
	}
	if slices.Contains(d.worker.Status.Resources, reference) {
		return nil
	}
	before := d.worker.DeepCopy()
	d.worker.Status.Resources = append(slices.DeleteFunc(d.worker.Status.Resources, func(r v1beta1.NamedResourceReference) bool {
		return r.Name == memoryResource
	}), reference)
	return d.client.Status().Patch(ctx, d.worker, client.MergeFrom(before))
}

// patchChanged patches an object if that changes anything.
func patchChanged(ctx context.Context, c client.Client, obj client.Object, patch client.Patch) error {
	if data, err := patch.Data(obj); err != nil || string(data) == "{}" {
		return err
	}
	return c.Patch(ctx, obj, patch)
}
