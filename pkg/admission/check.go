// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/consistency"
)

// check judges an object that is about to be written; old returns the one that is stored, nil on creation. The error is
// about what the check itself needs, and no fault of the object.
type check[T any, P object[T]] func(ctx context.Context, object P, old func() (P, error)) (consistency.Report, error)

// validating returns the handler that answers with the result of a check, and counts what it found by the rules of a
// catalogue.
func validating[T any, P object[T]](kind schema.GroupVersionKind, rules catalogue, check check[T, P]) admission.Handler {
	return handle(kind, func(ctx context.Context, object P, old func() (P, error)) admission.Response {
		report, err := check(ctx, object, old)
		if err != nil {
			return failed(ctx, err)
		}
		rules.count(kind.Kind, report)
		logRefusal(ctx, report)
		return answer(kind, object.GetName(), report)
	})
}

const nothingChecked = "%s %s could not be read, so nothing was checked: %w"

// errNotRendered says that Gardener's controller has yet to do its part.
var errNotRendered = errors.New("its status has not been rendered yet; try again")

// notRendered returns the error about a NamespacedCloudProfile that can be read, but not be used yet.
func notRendered(name string) error {
	return fmt.Errorf(nothingChecked, "NamespacedCloudProfile", name, errNotRendered)
}

// unlisted returns the error about objects of a kind that are found by another one, and counts it.
func unlisted(kind, of string, err error) error {
	lookupFailuresTotal.WithLabelValues(kind).Inc()
	return fmt.Errorf("listing the %ss of %s: %w", kind, of, err)
}

// unreadable returns the error about an object of a kind that a check needs, and counts it.
func unreadable(kind, name string, err error) error {
	lookupFailuresTotal.WithLabelValues(kind).Inc()
	return fmt.Errorf(nothingChecked, kind, name, err)
}

// cloudProfileCheck checks CloudProfiles (semantics S6 to S10).
type cloudProfileCheck[R any] struct {
	provider consistency.Provider[R]
	lookup   *lookup[R]
}

func (c cloudProfileCheck[R]) check(ctx context.Context, object *v1beta1.CloudProfile, stored func() (*v1beta1.CloudProfile, error)) (consistency.Report, error) {
	old, err := stored()
	if err != nil || object.Spec.Type != c.provider.Type() || old != nil && equality.Semantic.DeepEqual(object.Spec, old.Spec) {
		return consistency.Report{}, err
	}
	updated, report := consistency.CheckCloudProfile(c.provider, object)
	if old == nil {
		return report, nil
	}
	before := c.lookup.before(ctx, old)
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
type namespacedCheck[R any] struct{ lookup *lookup[R] }

func (c namespacedCheck[R]) check(ctx context.Context, object *v1beta1.NamespacedCloudProfile, stored func() (*v1beta1.NamespacedCloudProfile, error)) (consistency.Report, error) {
	old, err := stored()
	if err != nil || old != nil && equality.Semantic.DeepEqual(object.Spec, old.Spec) {
		return consistency.Report{}, err
	}
	parent, report, err := c.lookup.cloudProfile(ctx, object.Spec.Parent.Name, field.NewPath("spec", "parent", "name"))
	if err != nil || parent == nil {
		return report, err
	}
	report = consistency.CheckNamespacedCloudProfile(parent.profile, object)
	if old == nil {
		return report, nil
	}
	if len(report.Errors) > 0 {
		report = consistency.Ratchet(report, consistency.CheckNamespacedCloudProfile(parent.profile, old), object, old)
	}
	users, err := c.lookup.shoots(ctx, object.Namespace, "NamespacedCloudProfile/"+object.Name, nil)
	if err != nil {
		return consistency.Report{}, err
	}
	report.Warnings = append(report.Warnings, consistency.CompareNamespacedCloudProfiles(parent.profile, old, object, users)...)
	consistency.SortByPath(report.Warnings)
	return report, nil
}

// shootCheck checks Shoots: their worker pools, and what the provider has rules about (semantics S10, S13).
type shootCheck[R any] struct {
	lookup *lookup[R]
	// rules are the provider's own; nil if it has none.
	rules consistency.Extended
}

func (c shootCheck[R]) check(ctx context.Context, object *v1beta1.Shoot, stored func() (*v1beta1.Shoot, error)) (consistency.Report, error) {
	if len(object.Spec.Provider.Workers) == 0 {
		return consistency.Report{}, nil
	}
	old, err := stored()
	if err != nil || old != nil && equality.Semantic.DeepEqual(object.Spec, old.Spec) {
		return consistency.Report{}, err
	}
	report, err := c.report(ctx, object)
	if err != nil || old == nil {
		return report, err
	}
	if len(report.Errors) > 0 {
		before, err := c.report(ctx, old)
		if err != nil {
			return consistency.Report{}, err
		}
		sameBinding(before.Errors)
		sameBinding(report.Errors)
		report = consistency.Ratchet(report, before, object, old)
		ownBinding(report, object)
	}
	if c.rules != nil {
		report = joined(report, c.rules.CheckShootUpdate(old, object))
	}
	return report, nil
}

// The fields by which a Shoot names its credentials, of which the first is to be given up for the second.
const secretBindingName, credentialsBindingName = "spec.secretBindingName", "spec.credentialsBindingName"

// sameBinding lets errors about credentials stand at one field, so that moving on to a CredentialsBinding of the same Secret
// is not what is blamed for them.
func sameBinding(errs field.ErrorList) {
	for _, err := range errs {
		if err.Field == secretBindingName {
			err.Field = credentialsBindingName
		}
	}
}

// ownBinding puts them back to where the Shoot has it.
func ownBinding(report consistency.Report, shoot *v1beta1.Shoot) {
	if shoot.Spec.CredentialsBindingName != nil {
		return
	}
	for _, err := range slices.Concat(report.Errors, report.Warnings) {
		if err.Field == credentialsBindingName {
			err.Field = secretBindingName
		}
	}
}

func (c shootCheck[R]) report(ctx context.Context, shoot *v1beta1.Shoot) (consistency.Report, error) {
	profile, report, err := c.lookup.profileOf(ctx, shoot)
	if err != nil || profile == nil {
		return report, err
	}
	var domain *string
	if c.rules != nil && profile.profile.DependsOnDomain(shoot) {
		if domain, report.Errors, err = (credentials{c.rules, c.lookup.live}).domainOf(ctx, shoot); err != nil {
			return consistency.Report{}, err
		}
	}
	return joined(report, profile.profile.CheckShoot(shoot, domain)), nil
}

// joined returns what two checks of an object have found.
func joined(a, b consistency.Report) consistency.Report {
	both := consistency.Report{Errors: slices.Concat(a.Errors, b.Errors), Warnings: slices.Concat(a.Warnings, b.Warnings)}
	consistency.SortByPath(both.Errors)
	consistency.SortByPath(both.Warnings)
	return both
}
