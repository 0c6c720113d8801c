// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit

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

	"github.com/capkit/capkit/pkg/worker"
)

// Restoring reports whether a Worker comes from another seed, in a control plane migration. Only then use the result of [Memory.Recall].
func Restoring(worker *extensionsv1alpha1.Worker) bool {
	last := worker.Status.LastOperation
	return last != nil && last.Type == v1beta1.LastOperationTypeRestore
}

// Remembered has the data that a control plane migration would lose: Gardener takes neither a Worker's status nor its machine classes to
// the new seed (semantics S14).
type Remembered[R, S any] struct {
	// Status is the provider's WorkerStatus, which has the records of images.
	Status *S `json:"status"`
	// Classes are the existing machine classes of the pools.
	Classes []worker.Class[R] `json:"machineClasses,omitempty"`
}

// Memory keeps the data of one Worker that a control plane migration would lose. It uses a ConfigMap that the Worker's status.resources
// refers to, which Gardener migrates. The Worker's state is not an option: Gardener needs it for the machines, and refuses to restore a
// Worker with a state of its own. R and S must survive a JSON round trip.
//
// A Memory is for one reconciliation, as a delegate is, and not safe for concurrent use.
type Memory[R, S any] struct {
	client client.Client
	reader client.Reader
	worker *extensionsv1alpha1.Worker

	recalled *Remembered[R, S] // nil before it is read
	config   *corev1.ConfigMap // where it was read from; nil if there was none
}

// NewMemory returns the Memory of a Worker. It writes with the client, and reads with the reader, which must not answer from a cache. The
// Worker is that of the reconciliation; [Memory.Remember] modifies its status.
func NewMemory[R, S any](c client.Client, reader client.Reader, worker *extensionsv1alpha1.Worker) *Memory[R, S] {
	return &Memory[R, S]{client: c, reader: reader, worker: worker}
}

const (
	// memoryResource is the name of the reference in status.resources.
	memoryResource = "worker-memory"
	// memoryKey is the ConfigMap's key for the memory.
	memoryKey = "memory.json"
)

// memoryOf returns the ConfigMap of a Worker, without its content.
func memoryOf(worker *extensionsv1alpha1.Worker) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "worker-memory-" + worker.Name, Namespace: worker.Namespace}}
}

// Recall returns the remembered data of the Worker, and reads it only once. The result must not be modified. Missing or unreadable data
// counts as empty: Status is never nil. Use it only if the Worker is [Restoring]; otherwise the Worker's status and its machine classes
// have the same data or more.
func (m *Memory[R, S]) Recall(ctx context.Context) (*Remembered[R, S], error) {
	if m.recalled != nil {
		return m.recalled, nil
	}
	config, recalled := memoryOf(m.worker), &Remembered[R, S]{}
	switch err := m.reader.Get(ctx, client.ObjectKeyFromObject(config), config); {
	case apierrors.IsNotFound(err):
		config = nil
	case err != nil:
		return nil, fmt.Errorf("reading what is remembered of the Worker: %w", err)
	default:
		if err := json.Unmarshal([]byte(config.Data[memoryKey]), recalled); err != nil {
			logf.FromContext(ctx).Info("Going on without what is remembered of the Worker", "configMap", config.Name, "reason", err.Error())
			recalled = &Remembered[R, S]{}
		}
	}
	if recalled.Status == nil {
		recalled.Status = new(S)
	}
	m.recalled, m.config = recalled, config
	return recalled, nil
}

// Remember writes the data to remember, and the reference to it, if they differ. Call it once status and machine classes are written. The
// Worker owns the ConfigMap, which is deleted with it.
func (m *Memory[R, S]) Remember(ctx context.Context, what Remembered[R, S]) error {
	if _, err := m.Recall(ctx); err != nil {
		return err
	}
	content, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("what is to be remembered of the Worker: %w", err)
	}
	config := memoryOf(m.worker)
	if m.config != nil {
		config = m.config.DeepCopy()
	}
	config.Data = map[string]string{memoryKey: string(content)}
	if err := controllerutil.SetOwnerReference(m.worker, config, m.client.Scheme()); err != nil {
		return fmt.Errorf("what is to be remembered of the Worker: %w", err)
	}
	if m.config == nil {
		err = m.client.Create(ctx, config)
	} else {
		err = patchChanged(ctx, m.client, config, client.MergeFrom(m.config))
	}
	if err != nil {
		return fmt.Errorf("writing what is to be remembered of the Worker: %w", err)
	}
	m.config = config
	return m.referTo(ctx, config)
}

// referTo refers to the ConfigMap in the Worker's status.resources.
func (m *Memory[R, S]) referTo(ctx context.Context, config *corev1.ConfigMap) error {
	reference := v1beta1.NamedResourceReference{
		Name:        memoryResource,
		ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: config.Name},
	}
	if slices.Contains(m.worker.Status.Resources, reference) {
		return nil
	}
	before := m.worker.DeepCopy()
	m.worker.Status.Resources = append(slices.DeleteFunc(m.worker.Status.Resources, func(r v1beta1.NamedResourceReference) bool {
		return r.Name == memoryResource
	}), reference)
	if err := m.client.Status().Patch(ctx, m.worker, client.MergeFrom(before)); err != nil {
		m.worker.Status.Resources = before.Status.Resources
		return fmt.Errorf("referring to what is to be remembered of the Worker: %w", err)
	}
	return nil
}
