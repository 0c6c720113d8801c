// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/cli/page"
	"github.com/capkit/capkit/pkg/cli/plan"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
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
	check(*v1beta1.CloudProfile) (anyProfile, finding.Report)
	// compile compiles the spec of a CloudProfile, which stands at the path, nil if it was rendered, and counts its errors.
	compile(spec *v1beta1.CloudProfileSpec, at *field.Path) (anyProfile, int)
	// fill and fillNamespaced return the core flavors that follow from a provider config.
	fill(*v1beta1.CloudProfileSpec) []profile.Filled
	fillNamespaced(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfileSpec) []profile.Filled
	// checkUpdate reports on an update of a CloudProfile whose profile before is given.
	checkUpdate(before anyProfile, updated, old *v1beta1.CloudProfile) finding.Report
	// plan returns what an update does, as [plan.Of] has it.
	plan(views []view) ([]plan.Change, []update.Pool)
	// render is [namespaced.Render].
	render(object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile) (*v1beta1.CloudProfileSpec, error)
}

// anyProfile answers questions about worker pools, and about the NamespacedCloudProfiles whose parent it is.
type anyProfile interface {
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
	withFaults(field.ErrorList) anyProfile
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

func (t typed[R]) check(object *v1beta1.CloudProfile) (anyProfile, finding.Report) {
	compiled, report := check.CloudProfile(t.Provider, object)
	return compiledProfile[R]{compiled, t}, report
}

func (t typed[R]) compile(spec *v1beta1.CloudProfileSpec, at *field.Path) (anyProfile, int) {
	compiled, report := profile.Compile(t.Provider, spec, at)
	return compiledProfile[R]{compiled, t}, len(report.Errors)
}

func (t typed[R]) fill(spec *v1beta1.CloudProfileSpec) []profile.Filled {
	return profile.FillCloudProfile(t.Provider, spec)
}

func (t typed[R]) fillNamespaced(
	object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfileSpec,
) []profile.Filled {
	return profile.FillNamespacedCloudProfile(t.Provider, object, parent)
}

func (t typed[R]) checkUpdate(before anyProfile, updated, old *v1beta1.CloudProfile) finding.Report {
	_, report := check.CloudProfileUpdate(before.(compiledProfile[R]).Profile, updated, old)
	return report
}

// view is an [update.View] of profiles of any provider.
type view struct {
	name     string
	old, new anyProfile
	shoots   []plan.Shoot
	order    capability.Order
	formerly formerly
}

// formerly is as in an [update.View].
type formerly = func(resolve.Combination) (version string, counts bool)

func (t typed[R]) plan(views []view) ([]plan.Change, []update.Pool) {
	of := make([]update.View[R], 0, len(views))
	for _, v := range views {
		was, is := v.old.(compiledProfile[R]), v.new.(compiledProfile[R])
		of = append(of, update.View[R]{
			Name: v.name, Before: was.Profile, After: is.Profile, Users: plan.UsersOf(v.shoots), Order: v.order, All: true,
			Formerly: v.formerly,
		})
	}
	return plan.Of(of...)
}

func (t typed[R]) render(
	object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile,
) (*v1beta1.CloudProfileSpec, error) {
	return namespaced.Render(t.Provider, object, parent)
}

type compiledProfile[R any] struct {
	*profile.Profile[R]
	provider typed[R]
}

func (p compiledProfile[R]) madeBy() Provider { return p.provider }

func (p compiledProfile[R]) spec() *v1beta1.CloudProfileSpec { return p.Spec() }

// Boots implements anyProfile.
func (p compiledProfile[R]) Boots(pool provider.Pool) func(image, version string) bool {
	return resolve.Boots(p.Profile, pool)
}

// ValidateShoot implements anyProfile.
func (p compiledProfile[R]) ValidateShoot(shoot *v1beta1.Shoot, scope *string) finding.Report {
	return check.Shoot(p.Profile, shoot, scope)
}

// CheckRegion implements anyProfile.
func (p compiledProfile[R]) CheckRegion(region string, at *field.Path) *finding.Finding {
	return resolve.Region(p.Profile, region, at)
}

func (p compiledProfile[R]) whyNot(pool provider.Pool) string { return resolve.WhyNot(p.Profile, pool) }

func (p compiledProfile[R]) further(pool provider.Pool) finding.List {
	return resolve.Pool(p.Profile, pool).Further
}

func (p compiledProfile[R]) resolve(pool provider.Pool) answer {
	a := answerFrom(p.Profile, resolve.Explain(p.Profile, pool))
	// Without both the question is about no providerConfig. Machines that are updated in place are not replaced.
	inPlace := helper.IsUpdateStrategyInPlace(&pool.Worker.UpdateStrategy)
	if (pool.Path != nil || pool.Config != nil) && !inPlace {
		a.RollingUpdate = p.provider.Workers().Rolling(pool)
	}
	return a
}

func (p compiledProfile[R]) withFaults(errs field.ErrorList) anyProfile {
	p.Profile = p.WithFaults(errs)
	return p
}

func (p compiledProfile[R]) checkNamespaced(object *v1beta1.NamespacedCloudProfile) finding.Report {
	_, report := check.NamespacedCloudProfile(p.Profile, object)
	return report
}

func (p compiledProfile[R]) checkNamespacedUpdate(updated, old *v1beta1.NamespacedCloudProfile) finding.Report {
	_, report := check.NamespacedCloudProfileUpdate(p.Profile, updated, old)
	return report
}
