// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package after

import (
	"context"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/render"
)

// mutator is a function as an extensionswebhook.Mutator.
type mutator func(ctx context.Context, newObj, oldObj client.Object) error

// Mutate changes newObj.
func (m mutator) Mutate(ctx context.Context, newObj, oldObj client.Object) error {
	return m(ctx, newObj, oldObj)
}

// CloudProfileMutator fills in core's flavors.
func (w *Webhooks) CloudProfileMutator() extensionswebhook.Mutator {
	return mutator(func(_ context.Context, newObj, oldObj client.Object) error {
		object := newObj.(*v1beta1.CloudProfile)
		if old, is := oldObj.(*v1beta1.CloudProfile); is && equality.Semantic.DeepEqual(object.Spec, old.Spec) {
			return nil
		}
		fill(object.Spec.MachineImages, profile.FillCloudProfile(w.Cloud, &object.Spec))
		return nil
	})
}

func fill(images []v1beta1.MachineImage, filled []profile.Filled) {
	for _, f := range filled {
		images[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
	}
}

// NamespacedCloudProfileMutator fills in those of the versions that NamespacedCloudProfiles define.
func (w *Webhooks) NamespacedCloudProfileMutator() extensionswebhook.Mutator {
	return mutator(func(ctx context.Context, newObj, oldObj client.Object) error {
		object, parent := newObj.(*v1beta1.NamespacedCloudProfile), &v1beta1.CloudProfile{}
		if old, is := oldObj.(*v1beta1.NamespacedCloudProfile); is && equality.Semantic.DeepEqual(object.Spec, old.Spec) {
			return nil
		}
		if err := w.Reader.Get(ctx, client.ObjectKey{Name: object.Spec.Parent.Name}, parent); err != nil {
			return client.IgnoreNotFound(err) // for the validator to deny
		}
		fill(object.Spec.MachineImages, profile.FillNamespacedCloudProfile(w.Cloud, object, &parent.Spec))
		return nil
	})
}

// StatusMutator merges provider configs into the status of NamespacedCloudProfiles, which Gardener has written.
func (w *Webhooks) StatusMutator() extensionswebhook.Mutator {
	return mutator(func(ctx context.Context, newObj, _ client.Object) error {
		object := newObj.(*v1beta1.NamespacedCloudProfile)
		status := &object.Status.CloudProfileSpec
		if object.Generation != object.Status.ObservedGeneration {
			return nil // Gardener has yet to render the spec as it is
		}
		changes, err := render.Config(w.Cloud, status.MachineCapabilities, object, status.ProviderConfig)
		if err != nil { // a config that nobody can read; it must not keep Gardener from writing the rest of the status
			logf.FromContext(ctx).Info("Not merging a provider config", "reason", err.Error())
			return nil
		}
		status.ProviderConfig, err = render.Apply(changes, status.ProviderConfig)
		return err
	})
}
