// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli/page"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/plan"
	"github.com/capkit/capkit/pkg/provider"
)

// Provider is a [provider.Provider] whose type of reference the command need not know. [For] makes one.
type Provider interface {
	Type() string
	Workers() provider.Workers
	// Cloud is the provider itself, for what it may be besides: a [provider.CredentialsValidator], for example.
	Cloud() any
	// Untyped is [provider.Untyped] of it, for what holds for the providers of all clouds.
	Untyped() provider.Provider[any]
	// faults returns what is wrong with the provider itself.
	faults() error
	// check reports on a CloudProfile and compiles it.
	check(*v1beta1.CloudProfile) (profile, finding.Report)
	// compile compiles the spec of a CloudProfile, which stands at the path, nil if it was rendered, and counts its errors.
	compile(spec *v1beta1.CloudProfileSpec, at *field.Path) (profile, int)
	// fill and fillNamespaced return the core flavors that follow from a provider config.
	fill(*v1beta1.CloudProfileSpec) []consistency.Filled
	fillNamespaced(profile *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfileSpec) []consistency.Filled
	// checkUpdate reports on an update of a CloudProfile whose profile before is given.
	checkUpdate(before profile, updated, old *v1beta1.CloudProfile) finding.Report
	// plan returns what an update does, as [plan.Of] has it.
	plan(views []view) ([]plan.Change, []plan.Unread)
	// render is [namespaced.Render].
	render(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile) (*v1beta1.CloudProfileSpec, error)
}

// profile answers questions about worker pools, and about the NamespacedCloudProfiles whose parent it is.
type profile interface {
	resolve(provider.Pool) answer
	madeBy() Provider
	// Boots returns what reports whether a worker pool would boot a version of an image; nil if that cannot be told.
	Boots(pool provider.Pool) func(image, version string) bool
	// whyNot says why a worker pool boots nothing, without its name and what would work; empty if it boots.
	whyNot(provider.Pool) string
	// further is what is wrong with a worker pool besides that it boots nothing.
	further(provider.Pool) finding.List
	// cells yields the answers to everything that a worker pool could ask; sheet returns them as a page has them, whose texts
	// are added to texts.
	cells(order capability.Order) iter.Seq[cell]
	sheet(name string, order capability.Order, texts *page.Texts) page.Profile
	// asked returns what a worker pool asks for and boots, as [page.Pools] has it.
	asked(provider.Pool) (asks []string, boots string)
	// withFaults returns the profile with errors that Gardener's validation has found in it.
	withFaults(field.ErrorList) profile
	// spec is what was compiled. It must not be changed.
	spec() *v1beta1.CloudProfileSpec
	// checkNamespaced reports on a NamespacedCloudProfile whose parent the profile is.
	checkNamespaced(*v1beta1.NamespacedCloudProfile) finding.Report
	// checkNamespacedUpdate does so on an update of one.
	checkNamespacedUpdate(updated, old *v1beta1.NamespacedCloudProfile) finding.Report
	// ValidateShoot reports the worker pools of a Shoot that get no image.
	ValidateShoot(shoot *v1beta1.Shoot, scope *string) finding.Report
	// CheckRegion returns an error at the path if the profile does not have the region.
	CheckRegion(region string, at *field.Path) *finding.Finding
}

// For makes a provider known to the command.
func For[R any](cloud provider.Provider[R]) Provider { return typed[R]{cloud} }

// byType returns providers in the order of their types.
func byType(providers map[string]Provider) []Provider {
	return slices.SortedFunc(maps.Values(providers), func(a, b Provider) int { return cmp.Compare(a.Type(), b.Type()) })
}

type typed[R any] struct{ provider.Provider[R] }

func (t typed[R]) faults() error { return provider.Check(t.Provider) }

// Cloud implements [Provider].
func (t typed[R]) Cloud() any { return t.Provider }

// Untyped implements [Provider].
func (t typed[R]) Untyped() provider.Provider[any] { return provider.Untyped(t.Provider) }

func (t typed[R]) check(object *v1beta1.CloudProfile) (profile, finding.Report) {
	compiled, report := consistency.ValidateCloudProfile(t.Provider, object)
	return compiledProfile[R]{compiled, t, &object.Spec}, report
}

func (t typed[R]) compile(spec *v1beta1.CloudProfileSpec, at *field.Path) (profile, int) {
	compiled, report := consistency.Compile(t.Provider, spec, at)
	return compiledProfile[R]{compiled, t, spec}, len(report.Errors)
}

func (t typed[R]) fill(spec *v1beta1.CloudProfileSpec) []consistency.Filled {
	return consistency.FillCloudProfile(t.Provider, spec)
}

func (t typed[R]) fillNamespaced(
	profile *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfileSpec,
) []consistency.Filled {
	return consistency.FillNamespacedCloudProfile(t.Provider, profile, parent)
}

func (t typed[R]) checkUpdate(before profile, updated, old *v1beta1.CloudProfile) finding.Report {
	_, report := consistency.ValidateCloudProfileUpdate(before.(compiledProfile[R]).Profile, updated, old, nil)
	return report
}

// view is a [plan.View] of profiles of any provider.
type view struct {
	name     string
	old, new profile
	shoots   []plan.Shoot
	order    capability.Order
	formerly formerly
}

// formerly is as in a [plan.View].
type formerly = func(consistency.Combination) (version string, counts bool)

func (t typed[R]) plan(views []view) ([]plan.Change, []plan.Unread) {
	of := make([]plan.View[R], 0, len(views))
	for _, v := range views {
		was, is := v.old.(compiledProfile[R]), v.new.(compiledProfile[R])
		of = append(of, plan.View[R]{
			Name: v.name, Old: was.Profile, New: is.Profile, OldSpec: was.compiled, NewSpec: is.compiled, Shoots: v.shoots,
			Order: v.order, Formerly: v.formerly,
		})
	}
	return plan.Of(t.Workers(), of)
}

func (t typed[R]) render(
	object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile,
) (*v1beta1.CloudProfileSpec, error) {
	return namespaced.Render(t.Provider, object, parent)
}

type compiledProfile[R any] struct {
	*consistency.Profile[R]
	provider typed[R]
	compiled *v1beta1.CloudProfileSpec
}

func (p compiledProfile[R]) madeBy() Provider { return p.provider }

func (p compiledProfile[R]) spec() *v1beta1.CloudProfileSpec { return p.compiled }

func (p compiledProfile[R]) whyNot(pool provider.Pool) string {
	return strings.TrimPrefix(p.ResolvePool(pool).Message, "worker pool "+pool.Name+": ")
}

func (p compiledProfile[R]) further(pool provider.Pool) finding.List {
	return p.ResolvePool(pool).Further
}

func (p compiledProfile[R]) resolve(pool provider.Pool) answer {
	a := answerFrom(p.Profile, p.ExplainPool(pool))
	// Without both the question is about no providerConfig. Machines that are updated in place are not replaced.
	inPlace := helper.IsUpdateStrategyInPlace(&pool.Worker.UpdateStrategy)
	if (pool.Path != nil || pool.Config != nil) && !inPlace {
		a.RollingUpdate = p.provider.Workers().Rolling(pool)
	}
	return a
}

func (p compiledProfile[R]) withFaults(errs field.ErrorList) profile {
	p.Profile = p.WithFaults(errs)
	return p
}

func (p compiledProfile[R]) checkNamespaced(object *v1beta1.NamespacedCloudProfile) finding.Report {
	return consistency.ValidateNamespacedCloudProfile(p.Profile, object)
}

func (p compiledProfile[R]) checkNamespacedUpdate(updated, old *v1beta1.NamespacedCloudProfile) finding.Report {
	return consistency.ValidateNamespacedCloudProfileUpdate(p.Profile, updated, old, nil)
}
