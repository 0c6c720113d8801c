// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"gomodules.xyz/jsonpatch/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/pkg/admission/internal/serving"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/ratchet"
	"github.com/capkit/capkit/pkg/render"
	"github.com/capkit/capkit/pkg/update"
)

// checkCloudProfile checks CloudProfiles (semantics S6 to S10).
func (c *component) checkCloudProfile(ctx context.Context, object, old *v1beta1.CloudProfile) (finding.Report, error) {
	if report, err := c.checkType(ctx, object, old); err != nil || len(report.Errors) > 0 {
		return report, err
	}
	if object.Spec.Type != c.provider.Type() || old != nil && sameCloudProfile(object, old) {
		return finding.Report{}, nil
	}
	before := c.before(ctx, old)
	if before == nil { // it is new, or was of another provider
		compiled, report := check.CloudProfile(c.provider, object)
		c.profiles.expect(object.Name, compiled, report)
		return report, nil
	}
	users, err := c.users(ctx, object.Name)
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return finding.Report{}, err
	}
	compiled, report := check.CloudProfileUpdate(before, object, old)
	c.profiles.expect(object.Name, compiled, report)
	report.Warnings = append(report.Warnings, c.effects(before, compiled, users)...)
	return report.Sorted(), nil
}

// effects warns about the effects of a profile's update on its users (semantics S9).
func (c *component) effects(before, after *profile.Profile[any], users []update.User) finding.List {
	slices.SortFunc(users, func(a, b update.User) int {
		return cmp.Or(cmp.Compare(a.Shoot.Namespace, b.Shoot.Namespace), cmp.Compare(a.Shoot.Name, b.Shoot.Name))
	})
	by := maintenance.Validates
	if c.corrects && len(*c.maintainers) > 0 {
		by = maintenance.Corrects
	}
	changes := update.Of(gardenerlib.Library{}, update.View[any]{Before: before, After: after, Users: users, Admission: by})
	return check.Effects(before, after, &changes, by)
}

// checkNamespacedCloudProfile checks NamespacedCloudProfiles (semantics S10, S11).
func (c *component) checkNamespacedCloudProfile(ctx context.Context, object, old *v1beta1.NamespacedCloudProfile) (finding.Report, error) {
	if old != nil && sameNamespacedCloudProfile(object, old) {
		return finding.Report{}, nil
	}
	parent, report, err := c.parentOf(ctx, object)
	if err != nil || parent == nil {
		return report, err
	}
	if old == nil {
		_, report := check.NamespacedCloudProfile(parent, object)
		return report, nil
	}
	users, err := c.shoots(ctx, kindNamespacedCloudProfile, client.ObjectKeyFromObject(object), nil)
	if err != nil {
		return finding.Report{}, err
	}
	compiled, report := check.NamespacedCloudProfileUpdate(parent, object, old)
	if err := ctx.Err(); err != nil {
		return finding.Report{}, err
	}
	before, _ := namespaced.Extend(parent, old) // entries that cannot be rendered are left out, as in the status
	report.Warnings = append(report.Warnings, c.effects(before, compiled, users)...)
	return report.Sorted(), nil
}

// checkShoot checks the worker pools of Shoots, and applies the provider's own rules (semantics S10, S13).
func (c *component) checkShoot(ctx context.Context, object, old *v1beta1.Shoot) (finding.Report, error) {
	if len(object.Spec.Provider.Workers) == 0 || old != nil && sameShoot(object, old) {
		return finding.Report{}, nil
	}
	report, err := c.validateShoot(ctx, object)
	if err != nil || old == nil {
		return report, err
	}
	if len(report.Errors) > 0 {
		before, err := c.validateShoot(ctx, old)
		if err != nil {
			return finding.Report{}, err
		}
		report = ratchet.Excuse(ratchet.Judged{Object: object, Report: report}, ratchet.Judged{Object: old, Report: before})
	}
	if c.updates != nil {
		report.Add(c.updates.ValidateShootUpdate(object, old))
		report = report.Sorted()
	}
	return report, nil
}

// validateShoot checks one version of a Shoot.
func (c *component) validateShoot(ctx context.Context, shoot *v1beta1.Shoot) (finding.Report, error) {
	if err := ctx.Err(); err != nil {
		return finding.Report{}, err
	}
	kind, key := profileOf(shoot)
	compiled, report, err := c.profile(ctx, kind, key, field.NewPath("spec", "cloudProfile", "name"))
	if err != nil || compiled == nil {
		return report, err
	}
	var scope *string
	if c.credentials != nil && check.NeedsScope(compiled, shoot) {
		if scope, report.Errors, err = c.scopeOf(ctx, shoot); err != nil {
			return finding.Report{}, err
		}
	}
	dns, err := c.checkDNS(ctx, shoot)
	if err != nil {
		return finding.Report{}, err
	}
	report.Errors = append(report.Errors, dns...)
	if c.settings != nil && !*c.worker {
		report.Errors = append(report.Errors, c.settings.OwnSettings(shoot)...)
	}
	report.Add(check.Shoot(compiled, shoot, scope))
	return report.Sorted(), nil
}

// filled turns core flavors into a patch.
func filled(flavors []profile.Filled) []jsonpatch.Operation {
	patch := make([]jsonpatch.Operation, 0, len(flavors))
	for _, f := range flavors {
		path := fmt.Sprintf("/spec/machineImages/%d/versions/%d/capabilityFlavors", f.Image, f.Version)
		patch = append(patch, jsonpatch.NewOperation("add", path, f.Flavors))
	}
	return patch
}

// fillCloudProfile fills in the core flavors of CloudProfiles (semantics S12), unless an update does not change the spec.
func (c *component) fillCloudProfile(_ context.Context, object *v1beta1.CloudProfile, old older[*v1beta1.CloudProfile]) ([]jsonpatch.Operation, error) {
	if object.Spec.Type != c.provider.Type() {
		return nil, nil
	}
	flavors := profile.FillCloudProfile(c.provider, &object.Spec)
	if len(flavors) == 0 {
		return nil, nil
	}
	if before, err := old(); err != nil || before != nil && sameCloudProfile(object, before) {
		return nil, err
	}
	return filled(flavors), nil
}

// fillNamespacedCloudProfile fills in the core flavors of versions that NamespacedCloudProfiles define (semantics S12).
func (c *component) fillNamespacedCloudProfile(
	ctx context.Context, object *v1beta1.NamespacedCloudProfile, old older[*v1beta1.NamespacedCloudProfile],
) ([]jsonpatch.Operation, error) {
	if len(object.Spec.MachineImages) == 0 || object.Spec.ProviderConfig == nil {
		return nil, nil
	}
	if before, err := old(); err != nil || before != nil && sameNamespacedCloudProfile(object, before) {
		return nil, err
	}
	parent, _, err := c.parentOf(ctx, object)
	if err != nil || parent == nil { // validation denies it
		return nil, err
	}
	return filled(profile.FillNamespacedCloudProfile(c.provider, object, parent.Spec())), nil
}

// renderStatus merges the provider config of a NamespacedCloudProfile into the parent's provider config, which Gardener has copied into
// the status (semantics S11).
func (c *component) renderStatus(
	ctx context.Context, object *v1beta1.NamespacedCloudProfile, _ older[*v1beta1.NamespacedCloudProfile],
) ([]jsonpatch.Operation, error) {
	status := &object.Status.CloudProfileSpec
	if object.Generation != object.Status.ObservedGeneration || status.Type != c.provider.Type() {
		return nil, nil // Gardener has not rendered this generation of the spec yet
	}
	found, err := render.Config(c.provider, status.MachineCapabilities, object, status.ProviderConfig)
	if err != nil { // the config is unreadable; it must not keep Gardener from writing the rest of the status
		reason := serving.Shown(err.Error(), serving.MaxErrorText)
		log.FromContext(ctx).Info("Not merging the provider config into the status", "reason", reason)
		return nil, nil
	}
	patch := make([]jsonpatch.Operation, 0, len(found))
	for _, c := range found {
		patch = append(patch, jsonpatch.NewOperation(c.Op, "/status/cloudProfileSpec/providerConfig"+c.Path, c.Value))
	}
	return patch, nil
}

// sameCloudProfile, sameNamespacedCloudProfile and sameShoot report whether an update leaves the spec unchanged.
func sameCloudProfile(updated, old *v1beta1.CloudProfile) bool {
	return sameSpec(&updated.Spec, &old.Spec, updated.Spec.ProviderConfig, old.Spec.ProviderConfig)
}

func sameNamespacedCloudProfile(updated, old *v1beta1.NamespacedCloudProfile) bool {
	return sameSpec(&updated.Spec, &old.Spec, updated.Spec.ProviderConfig, old.Spec.ProviderConfig)
}

func sameShoot(updated, old *v1beta1.Shoot) bool {
	config, oldConfig := updated.Spec.Provider.InfrastructureConfig, old.Spec.Provider.InfrastructureConfig
	return sameSpec(&updated.Spec, &old.Spec, config, oldConfig)
}

// sameSpec reports whether two specs are equal to Kubernetes, for which nil equals empty, and 1000m equals 1. The configs are compared
// first, because that is the cheapest way to find a difference. Specs that are deeply equal in Go are equal to Kubernetes too, whose own
// comparison takes many times as long for a large CloudProfile.
func sameSpec[S any](updated, old *S, config, oldConfig *runtime.RawExtension) bool {
	var none runtime.RawExtension
	return bytes.Equal(ptr.Deref(config, none).Raw, ptr.Deref(oldConfig, none).Raw) &&
		(reflect.DeepEqual(updated, old) || equality.Semantic.DeepEqual(updated, old))
}
