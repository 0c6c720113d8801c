// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	"github.com/gardener/gardener/pkg/utils/flow"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Existing has a Worker's objects in the seed, by name. [Read] makes it. It is safe for concurrent use, and must not be modified.
type Existing struct {
	// Classes are the machine classes.
	Classes map[string]*machinev1alpha1.MachineClass
	// Secrets are all secrets of the namespace: those of machine classes, and those with the user data of pools.
	Secrets map[string]*corev1.Secret
}

// Read reads the objects in a Worker's namespace, with one request for each kind. The reader must not answer from a cache: decisions must
// not be based on data older than the last write.
func Read(ctx context.Context, reader client.Reader, namespace string) (*Existing, error) {
	classes, secrets := &machinev1alpha1.MachineClassList{}, &corev1.SecretList{}
	if err := reader.List(ctx, classes, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("reading machine classes: %w", err)
	}
	// One request for the user data of all pools and the secrets of all classes.
	if err := reader.List(ctx, secrets, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("reading secrets: %w", err)
	}
	found := &Existing{Classes: map[string]*machinev1alpha1.MachineClass{}, Secrets: map[string]*corev1.Secret{}}
	for i := range classes.Items {
		found.Classes[classes.Items[i].Name] = &classes.Items[i]
	}
	for i := range secrets.Items {
		found.Secrets[secrets.Items[i].Name] = &secrets.Items[i]
	}
	return found, nil
}

// UserData returns the data that a pool's userDataSecretRef refers to; nil if it does not exist yet. It must not be modified.
func (e *Existing) UserData(selector corev1.SecretKeySelector) []byte {
	if secret := e.Secrets[selector.Name]; secret != nil {
		return secret.Data[selector.Key]
	}
	return nil
}

// LosesNothing reports whether all existing machine deployments in a Worker's namespace are wanted, by their names. Only then may wanted
// leave out undecided pools. genericactuator deletes unwanted deployments: a pool that replaces another one under a new name would remove
// its machines before it has any of its own. The reader must not answer from a cache.
func LosesNothing(ctx context.Context, reader client.Reader, namespace string, wanted extensionsworker.MachineDeployments) (bool, error) {
	deployments := &machinev1alpha1.MachineDeploymentList{}
	if err := reader.List(ctx, deployments, client.InNamespace(namespace)); err != nil {
		return false, fmt.Errorf("reading machine deployments: %w", err)
	}
	return !slices.ContainsFunc(deployments.Items, func(d machinev1alpha1.MachineDeployment) bool { return !wanted.HasDeployment(d.Name) }), nil
}

// Wanted is a desired machine class of a pool, with its secret, made by [SecretOf].
type Wanted struct {
	Class  *machinev1alpha1.MachineClass
	Secret *corev1.Secret
}

// Deploy writes machine classes that differ, each after its secret, several at once. Labels, annotations and metadata of other writers
// stay. So do unwanted classes, which genericactuator deletes once no machine needs them. Deploy modifies neither e nor wanted. The error
// names each class that could not be written, and shows no content of a secret.
func (e *Existing) Deploy(ctx context.Context, c client.Client, wanted []Wanted) error {
	tasks := make([]flow.TaskFn, 0, len(wanted))
	for _, w := range wanted {
		tasks = append(tasks, func(ctx context.Context) error {
			if err := e.deploySecret(ctx, c, w.Secret); err != nil {
				return fmt.Errorf("writing the secret of machine class %s: %w", w.Class.Name, withoutContent(err))
			}
			if err := e.deployClass(ctx, c, w.Class); err != nil {
				return fmt.Errorf("writing machine class %s: %w", w.Class.Name, err)
			}
			return nil
		})
	}
	return flow.ParallelN(genericactuator.MaxConcurrentMachineTasks, tasks...)(ctx)
}

// PrepareDeletion writes the objects that machine-controller-manager needs to delete a Worker's machines: the wanted classes, which can
// still be made, and in all others the reference to the credentials, which may have changed. Call it in the delegate's
// DeployMachineClasses, which genericactuator also calls during a deletion. Leave out of wanted the classes that cannot be made, and return
// no error for them: no profile and no image may block the deletion of a Shoot (semantics S14).
func (e *Existing) PrepareDeletion(ctx context.Context, c client.Client, wanted []Wanted, credentials corev1.SecretReference) error {
	if err := e.Deploy(ctx, c, wanted); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(e.Classes)) {
		if slices.ContainsFunc(wanted, func(w Wanted) bool { return w.Class.Name == name }) {
			continue
		}
		found := e.Classes[name]
		changed := found.DeepCopy()
		changed.CredentialsSecretRef = credentials.DeepCopy()
		if err := patchChanged(ctx, c, changed, client.MergeFrom(found)); err != nil {
			return fmt.Errorf("writing machine class %s: %w", name, err)
		}
	}
	return nil
}

func (e *Existing) deploySecret(ctx context.Context, c client.Client, wanted *corev1.Secret) error {
	found := e.Secrets[wanted.Name]
	if found == nil {
		return c.Create(ctx, wanted.DeepCopy())
	}
	changed, wanted := found.DeepCopy(), wanted.DeepCopy()
	changed.Labels, changed.Annotations = merged(changed.Labels, wanted.Labels), merged(changed.Annotations, wanted.Annotations)
	changed.Data = wanted.Data
	return patchChanged(ctx, c, changed, client.MergeFrom(found))
}

// withoutContent returns an API server's error without the object's content, which a refusal may repeat.
func withoutContent(err error) error {
	if reason := apierrors.ReasonForError(err); reason == metav1.StatusReasonInvalid || reason == metav1.StatusReasonBadRequest {
		return fmt.Errorf("the API server answers %s", reason)
	}
	return err
}

func (e *Existing) deployClass(ctx context.Context, c client.Client, wanted *machinev1alpha1.MachineClass) error {
	found := e.Classes[wanted.Name]
	if found == nil {
		return c.Create(ctx, wanted.DeepCopy())
	}
	changed, wanted := found.DeepCopy(), wanted.DeepCopy()
	changed.Labels, changed.Annotations = merged(changed.Labels, wanted.Labels), merged(changed.Annotations, wanted.Annotations)
	changed.NodeTemplate, changed.ProviderSpec, changed.Provider = wanted.NodeTemplate, wanted.ProviderSpec, wanted.Provider
	changed.CredentialsSecretRef, changed.SecretRef = wanted.CredentialsSecretRef, wanted.SecretRef
	return patchChanged(ctx, c, changed, client.MergeFrom(found))
}

// merged returns labels or annotations with others added. The others take precedence.
func merged(labels, others map[string]string) map[string]string {
	all := make(map[string]string, len(labels)+len(others))
	maps.Copy(all, labels)
	maps.Copy(all, others)
	return all
}
