// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/ratchet"
)

// check judges an object that is about to be written; old returns the one that is stored, nil on creation. The error is
// about what the check itself needs, and no fault of the object.
type check[T any, P object[T]] func(ctx context.Context, object P, old func() (P, error)) (finding.Report, error)

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
	provider provider.Provider[R]
	lookup   *lookup[R]
}

func (c cloudProfileCheck[R]) check(
	ctx context.Context, object *v1beta1.CloudProfile, stored func() (*v1beta1.CloudProfile, error),
) (finding.Report, error) {
	old, err := stored()
	if err != nil || object.Spec.Type != c.provider.Type() || old != nil && sameCloudProfile(object, old) {
		return finding.Report{}, err
	}
	profile, report, err := c.validate(ctx, object, old)
	if err == nil && len(report.Errors) == 0 {
		c.lookup.profiles.expect(object, profile)
	}
	return report, err
}

// validate compiles a CloudProfile and judges it; old is nil on creation.
func (c cloudProfileCheck[R]) validate(
	ctx context.Context, object, old *v1beta1.CloudProfile,
) (*consistency.Profile[R], finding.Report, error) {
	var before *compiled[R]
	if old != nil {
		before = c.lookup.before(ctx, old)
	}
	if before == nil { // it is new, or was of another provider
		profile, report := consistency.ValidateCloudProfile(c.provider, object)
		return profile, report, nil
	}
	users, err := c.lookup.users(ctx, object.Name)
	if err != nil {
		return nil, finding.Report{}, err
	}
	profile, report := consistency.ValidateCloudProfileUpdate(before.profile, object, old, users)
	return profile, report, nil
}

// namespacedCheck checks NamespacedCloudProfiles (semantics S10, S11).
type namespacedCheck[R any] struct{ lookup *lookup[R] }

func (c namespacedCheck[R]) check(
	ctx context.Context, object *v1beta1.NamespacedCloudProfile, stored func() (*v1beta1.NamespacedCloudProfile, error),
) (finding.Report, error) {
	old, err := stored()
	if err != nil || old != nil && sameNamespacedCloudProfile(object, old) {
		return finding.Report{}, err
	}
	parent, report, err := c.lookup.cloudProfile(ctx, object.Spec.Parent.Name, field.NewPath("spec", "parent", "name"))
	if err != nil || parent == nil {
		return report, err
	}
	if old == nil {
		return consistency.ValidateNamespacedCloudProfile(parent.profile, object), nil
	}
	users, err := c.lookup.shoots(ctx, object.Namespace, "NamespacedCloudProfile/"+object.Name, nil)
	if err != nil {
		return finding.Report{}, err
	}
	return consistency.ValidateNamespacedCloudProfileUpdate(parent.profile, object, old, users), nil
}

// shootCheck checks Shoots: their worker pools, and what the provider has rules about (semantics S10, S13).
type shootCheck[R any] struct {
	lookup *lookup[R]
	// credentials finds the scope of a Shoot's credentials, and updates judges what an update changes; nil if the
	// provider cannot.
	credentials provider.CredentialsValidator
	updates     provider.ShootUpdateValidator
}

func (c shootCheck[R]) check(
	ctx context.Context, object *v1beta1.Shoot, stored func() (*v1beta1.Shoot, error),
) (finding.Report, error) {
	if len(object.Spec.Provider.Workers) == 0 {
		return finding.Report{}, nil
	}
	old, err := stored()
	if err != nil || old != nil && sameShoot(object, old) {
		return finding.Report{}, err
	}
	report, err := c.validate(ctx, object)
	if err != nil || old == nil {
		return report, err
	}
	if len(report.Errors) > 0 {
		before, err := c.validate(ctx, old)
		if err != nil {
			return finding.Report{}, err
		}
		report = ratchet.Excuse(
			ratchet.Judged{Object: object, Report: report}, ratchet.Judged{Object: old, Report: before},
		)
	}
	if c.updates != nil {
		report.Add(c.updates.ValidateShootUpdate(object, old))
		report = report.Sorted()
	}
	return report, nil
}

// validate judges one version of a Shoot.
func (c shootCheck[R]) validate(ctx context.Context, shoot *v1beta1.Shoot) (finding.Report, error) {
	profile, report, err := c.lookup.profileOf(ctx, shoot)
	if err != nil || profile == nil {
		return report, err
	}
	var scope *string
	if c.credentials != nil && profile.profile.NeedsScope(shoot) {
		if scope, report.Errors, err = (credentials{c.credentials, c.lookup.live}).scopeOf(ctx, shoot); err != nil {
			return finding.Report{}, err
		}
	}
	report.Add(profile.profile.ValidateShoot(shoot, scope))
	return report.Sorted(), nil
}
