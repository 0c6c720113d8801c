// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package after

import (
	"context"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	gardencoreinstall "github.com/gardener/gardener/pkg/apis/core/install"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/ratchet"
)

// Webhooks are the webhooks of the extension. Reader finds CloudProfiles and NamespacedCloudProfiles.
type Webhooks struct {
	Cloud  provider.Provider[AMI]
	Reader client.Reader
}

// validator is a function as an extensionswebhook.Validator. Its objects are never nil, and old is nil if updated is created.
type validator[T any] func(ctx context.Context, updated, old *T) (finding.Report, error)

// Validate returns the errors. Nothing is done about an object that is being deleted.
func (v validator[T]) Validate(ctx context.Context, newObj, oldObj client.Object) error {
	if newObj.GetDeletionTimestamp() != nil {
		return nil
	}
	updated, err := versioned[T](newObj)
	if err != nil {
		return err
	}
	var old *T
	if oldObj != nil {
		if old, err = versioned[T](oldObj); err != nil {
			return err
		}
	}
	report, err := v(ctx, updated, old)
	if err != nil {
		return err
	}
	for _, warning := range report.Warnings { // the interface has no place for them
		logf.FromContext(ctx).Info("Warning", "object", client.ObjectKeyFromObject(newObj), "field", warning.Field, "detail", warning.Detail)
	}
	return report.Errors.Errors().ToAggregate()
}

var scheme = runtime.NewScheme()

func init() { gardencoreinstall.Install(scheme) }

// versioned returns an object of core.gardener.cloud as its v1beta1 type. One of the internal type is converted.
func versioned[T any](object runtime.Object) (*T, error) {
	if already, is := any(object).(*T); is {
		return already, nil
	}
	converted := new(T)
	return converted, scheme.Convert(object, converted, nil)
}

// CloudProfileValidator checks CloudProfiles.
func (w *Webhooks) CloudProfileValidator() extensionswebhook.Validator {
	return validator[v1beta1.CloudProfile](func(_ context.Context, updated, old *v1beta1.CloudProfile) (report finding.Report, _ error) {
		switch {
		case old == nil || old.Spec.Type != updated.Spec.Type:
			_, report = check.CloudProfile(w.Cloud, updated)
		case !equality.Semantic.DeepEqual(updated.Spec, old.Spec):
			_, report = check.CloudProfileUpdate(w.compile(old), updated, old)
		}
		return report, nil
	})
}

// NamespacedCloudProfileValidator checks NamespacedCloudProfiles.
func (w *Webhooks) NamespacedCloudProfileValidator() extensionswebhook.Validator {
	return validator[v1beta1.NamespacedCloudProfile](func(ctx context.Context, updated, old *v1beta1.NamespacedCloudProfile) (report finding.Report, err error) {
		if old != nil && equality.Semantic.DeepEqual(updated.Spec, old.Spec) {
			return report, nil
		}
		parent := &v1beta1.CloudProfile{}
		if err := w.Reader.Get(ctx, client.ObjectKey{Name: updated.Spec.Parent.Name}, parent); err != nil {
			return report, err
		}
		if old == nil {
			_, report = check.NamespacedCloudProfile(w.compile(parent), updated)
		} else {
			_, report = check.NamespacedCloudProfileUpdate(w.compile(parent), updated, old)
		}
		return report, nil
	})
}

// ShootValidator checks the worker pools of Shoots. What is wrong with the stored Shoot as well does not deny an update.
func (w *Webhooks) ShootValidator() extensionswebhook.Validator {
	return validator[v1beta1.Shoot](func(ctx context.Context, updated, old *v1beta1.Shoot) (finding.Report, error) {
		if old != nil && equality.Semantic.DeepEqual(updated.Spec, old.Spec) {
			return finding.Report{}, nil
		}
		report, err := w.judge(ctx, updated)
		if err != nil || old == nil || len(report.Errors) == 0 {
			return report, err
		}
		before, err := w.judge(ctx, old)
		return ratchet.Excuse(ratchet.Judged{Object: updated, Report: report}, ratchet.Judged{Object: old, Report: before}), err
	})
}

func (w *Webhooks) judge(ctx context.Context, shoot *v1beta1.Shoot) (finding.Report, error) {
	compiled, err := w.profileOf(ctx, shoot)
	if err != nil {
		return finding.Report{}, err
	}
	return check.Shoot(compiled, shoot, nil), nil
}

// profileOf returns the profile of a Shoot, compiled. An extension with many Shoots keeps it for each resource version.
func (w *Webhooks) profileOf(ctx context.Context, shoot *v1beta1.Shoot) (*profile.Profile[AMI], error) {
	above, child := &v1beta1.CloudProfile{}, &v1beta1.NamespacedCloudProfile{}
	reference := ptr.Deref(gardenerutils.BuildV1beta1CloudProfileReference(shoot), v1beta1.CloudProfileReference{})
	name := reference.Name
	if reference.Kind == "NamespacedCloudProfile" {
		if err := w.Reader.Get(ctx, client.ObjectKey{Namespace: shoot.Namespace, Name: name}, child); err != nil {
			return nil, err
		}
		name = child.Spec.Parent.Name
	}
	if err := w.Reader.Get(ctx, client.ObjectKey{Name: name}, above); err != nil {
		return nil, err
	}
	if child.Name == "" {
		return w.compile(above), nil
	}
	compiled, err := namespaced.Compile(w.Cloud, child, above)
	if err != nil { // a provider config that nobody can read is left out, as in the status
		logf.FromContext(ctx).Info("Not merging a provider config", "reason", err.Error())
	}
	return compiled, nil
}

func (w *Webhooks) compile(object *v1beta1.CloudProfile) *profile.Profile[AMI] {
	compiled, _ := profile.Compile(w.Cloud, &object.Spec, field.NewPath("spec"))
	return compiled
}
