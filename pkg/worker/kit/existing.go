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

// Existing is what the seed has for a Worker, each by its name. [Read] makes it. It is safe for concurrent use, and must not be
// changed.
type Existing struct {
	// Classes are the machine classes.
	Classes map[string]*machinev1alpha1.MachineClass
	// Secrets are all those of the namespace: those of machine classes, and those that have the user data of pools.
	Secrets map[string]*corev1.Secret
}

// Read reads what the seed has in the namespace of a Worker, with a request for each kind. The reader must not answer from a cache:
// what is decided on must not be older than what was written last.
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

// UserData returns what the userDataSecretRef of a pool refers to; nil if it is not there yet. It must not be changed.
func (e *Existing) UserData(selector corev1.SecretKeySelector) []byte {
	if secret := e.Secrets[selector.Name]; secret != nil {
		return secret.Data[selector.Key]
	}
	return nil
}

// LosesNothing reports whether all machine deployments that a seed has in the namespace of a Worker are among those that are wanted, by
// their names. Pools that could not be decided may be left out of what is wanted only then: genericactuator deletes what is not wanted,
// and a pool that takes the place of another one, under another name, would take its machines away before it has any itself. The
// reader must not answer from a cache.
func LosesNothing(ctx context.Context, reader client.Reader, namespace string, wanted extensionsworker.MachineDeployments) (bool, error) {
	deployments := &machinev1alpha1.MachineDeploymentList{}
	if err := reader.List(ctx, deployments, client.InNamespace(namespace)); err != nil {
		return false, fmt.Errorf("reading machine deployments: %w", err)
	}
	return !slices.ContainsFunc(deployments.Items, func(d machinev1alpha1.MachineDeployment) bool { return !wanted.HasDeployment(d.Name) }), nil
}

// Wanted is a machine class that a pool is to have, with its secret, which [SecretOf] makes.
type Wanted struct {
	Class  *machinev1alpha1.MachineClass
	Secret *corev1.Secret
}

// Deploy writes machine classes, each after its secret, several at once, as far as they are not as they should be. Labels, annotations and
// metadata that others have added stay; so do classes that are not wanted, which genericactuator deletes when no machine needs them
// any more. It changes neither e nor what is wanted. The error names each class that could not be written, and shows nothing of
// a secret.
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

// PrepareDeletion writes what machine-controller-manager needs to delete the machines of a Worker: the classes that can be made
// still, which are wanted, and in all others the reference to the credentials, which may have changed. A delegate calls it in
// DeployMachineClasses, which genericactuator calls in a deletion, too. Leave out of wanted what cannot be made, and return no error
// for it: no profile and no image may block the deletion of a Shoot (semantics S14).
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

// withoutContent returns an error of an API server without what the object has in it, which a refusal may repeat.
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

// merged returns labels or annotations with others added, which count if there are both.
func merged(labels, others map[string]string) map[string]string {
	all := make(map[string]string, len(labels)+len(others))
	maps.Copy(all, labels)
	maps.Copy(all, others)
	return all
}
