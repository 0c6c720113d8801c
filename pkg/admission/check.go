// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/consistency"
)

// check judges an object that is about to be written; old is nil on creation. The error is about what the check itself
// needs, and no fault of the object.
type check[T client.Object] func(ctx context.Context, object, old T) (consistency.Report, error)

// validating returns the handler that answers with the result of a check.
func validating[T client.Object](scheme *runtime.Scheme, kind string, check check[T]) admission.Handler {
	return admission.WithValidator[T](scheme, validator[T]{kind, check}).Handler
}

// validator is a check in the form that controller-runtime expects.
type validator[T client.Object] struct {
	kind  string
	check check[T]
}

// ValidateCreate checks a new object.
func (v validator[T]) ValidateCreate(ctx context.Context, object T) (admission.Warnings, error) {
	var none T
	return v.validate(ctx, object, none)
}

// ValidateUpdate checks an object against the one that is stored.
func (v validator[T]) ValidateUpdate(ctx context.Context, old, object T) (admission.Warnings, error) {
	return v.validate(ctx, object, old)
}

// ValidateDelete admits every deletion.
func (v validator[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }

func (v validator[T]) validate(ctx context.Context, object, old T) (admission.Warnings, error) {
	if object.GetDeletionTimestamp() != nil { // what is being deleted need not be right
		return nil, nil
	}
	report, err := v.check(ctx, object, old)
	if err != nil {
		return nil, internal(err)
	}
	return answer(v.kind, object.GetName(), report)
}

// errNotRendered says that Gardener's controller has yet to do its part.
var errNotRendered = errors.New("its status has not been rendered yet; try again")

func unreadable(kind, name string, err error) error {
	return fmt.Errorf("%s %s could not be read, so nothing was checked: %w", kind, name, err)
}

// internal turns an error into one for which nobody blames the object: status 500.
func internal(err error) *apierrors.StatusError { return apierrors.NewInternalError(err) }

// cloudProfileCheck checks CloudProfiles (semantics S6 to S10).
type cloudProfileCheck[R any] struct {
	provider consistency.Provider[R]
	lookup   *lookup[R]
}

func (c cloudProfileCheck[R]) check(ctx context.Context, object, old *v1beta1.CloudProfile) (consistency.Report, error) {
	if object.Spec.Type != c.provider.Type() || old != nil && equality.Semantic.DeepEqual(object.Spec, old.Spec) {
		return consistency.Report{}, nil
	}
	updated, report := consistency.CheckCloudProfile(c.provider, object)
	if old == nil {
		return report, nil
	}
	before := c.lookup.profiles.get("CloudProfile", old, &old.Spec)
	if before == nil { // of another provider
		return report, nil
	}
	report = consistency.Ratchet(report, before.report, object, old)
	users, err := c.lookup.users(ctx, object.Name)
	if err != nil {
		return consistency.Report{}, err
	}
	report.Warnings = append(report.Warnings, consistency.CompareProfiles(before.profile, updated, users)...)
	consistency.SortByPath(report.Warnings)
	return report, nil
}

// namespacedCheck checks NamespacedCloudProfiles (semantics S10, S11).
type namespacedCheck[R any] struct {
	provider consistency.Provider[R]
	lookup   *lookup[R]
}

func (c namespacedCheck[R]) check(ctx context.Context, object, old *v1beta1.NamespacedCloudProfile) (consistency.Report, error) {
	if old != nil && equality.Semantic.DeepEqual(object.Spec, old.Spec) {
		return consistency.Report{}, nil
	}
	parent, denial, err := c.lookup.cloudProfile(ctx, object.Spec.Parent.Name, field.NewPath("spec", "parent", "name"))
	switch {
	case err != nil:
		return consistency.Report{}, err
	case denial != nil:
		return consistency.Report{Errors: field.ErrorList{denial}}, nil
	case parent == nil:
		return consistency.Report{}, nil
	}
	report := consistency.CheckNamespacedCloudProfile(parent.profile, object)
	if old == nil || len(report.Errors) == 0 {
		return report, nil
	}
	return consistency.Ratchet(report, consistency.CheckNamespacedCloudProfile(parent.profile, old), object, old), nil
}

// shootCheck checks the worker pools of Shoots (semantics S10, S13).
type shootCheck[R any] struct{ lookup *lookup[R] }

func (c shootCheck[R]) check(ctx context.Context, object, old *v1beta1.Shoot) (consistency.Report, error) {
	if len(object.Spec.Provider.Workers) == 0 || old != nil && equality.Semantic.DeepEqual(object.Spec, old.Spec) {
		return consistency.Report{}, nil
	}
	report, err := c.report(ctx, object)
	if err != nil || old == nil || len(report.Errors) == 0 {
		return report, err
	}
	before, err := c.report(ctx, old)
	if err != nil {
		return consistency.Report{}, err
	}
	return consistency.Ratchet(report, before, object, old), nil
}

func (c shootCheck[R]) report(ctx context.Context, shoot *v1beta1.Shoot) (consistency.Report, error) {
	profile, denial, err := c.lookup.profileOf(ctx, shoot)
	switch {
	case err != nil:
		return consistency.Report{}, err
	case denial != nil:
		return consistency.Report{Errors: field.ErrorList{denial}}, nil
	case profile == nil:
		return consistency.Report{}, nil
	}
	return profile.profile.CheckShoot(shoot), nil
}
