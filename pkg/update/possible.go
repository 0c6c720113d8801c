// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"cmp"
	"iter"
	"maps"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// all collects the effects on every combination of image version, machine type and region that the profile has before or after the update.
// It covers pools without requests, pools with one request each whose capability is offered before or after, and the view's Besides. The
// order is that of the lists after the update, followed by removed entries.
//
// If a profile lacks the region, the combination boots nothing, because no Shoot can be created there. Existing worker pools carry on, so
// choices about a region that the update removes are recorded for [look.pool].
func (l *look[R]) all() {
	versions := resolve.Distinct(resolve.Listed(l.After), resolve.Listed(l.Before))
	regions := resolve.Distinct(l.After.Regions(), l.Before.Regions())
	offers := func(name string) bool { return l.Before.Offers(name) || l.After.Offers(name) }
	templates := append(resolve.Templates(l.After.Provider().Workers().Settings(), offers), l.Besides...)
	formerly := l.Formerly
	if formerly == nil {
		formerly = func(of resolve.Combination) (string, bool) { return of.Version, true }
	}
	for _, machineType := range resolve.Distinct(entries.MachineTypes(l.After.Spec()), entries.MachineTypes(l.Before.Spec())) {
		for i, template := range templates {
			pool := provider.Pool{MachineType: machineType, Worker: template.Worker}
			was, is := l.Before.Ask(pool, template.More...), l.After.Ask(pool, template.More...)
			requested := requestedBy(&was, &is)
			for of := range product(versions, regions) {
				of.MachineType = machineType
				former, counts := formerly(of)
				if !counts {
					continue
				}
				had, has := l.Before.HasRegion(of.Region), l.After.HasRegion(of.Region)
				found := &compared[R]{requested: requested, Boots: l.decide(unless(had, was), unless(has, is), of, former)}
				l.possible(of, found)
				if i == 0 && l.index == 0 && found.Before != nil && found.same() {
					l.Same++
				}
			}
		}
	}
}

// possible collects the effect on a possible combination, if there is any. A choice about a removed region is recorded.
func (l *look[R]) possible(of resolve.Combination, found *compared[R]) {
	if found.same() {
		return
	}
	choice := l.choice(of, found)
	if !l.After.HasRegion(of.Region) {
		l.regional[asked{of, keyOf(found.requested)}] = choice
	}
}

// product yields each version in each region.
func product(versions []provider.ImageVersion, regions []string) iter.Seq[resolve.Combination] {
	return func(yield func(resolve.Combination) bool) {
		for _, id := range versions {
			for _, region := range regions {
				if !yield(resolve.Combination{Image: id.Image, Version: id.Version, Region: region}) {
					return
				}
			}
		}
	}
}

// unless returns a question, refused if the region does not exist.
func unless(region bool, q profile.Question) profile.Question {
	if !region {
		q.Reason = cmp.Or(q.Reason, imageselector.ReasonRegion)
	}
	return q
}

// Redirect is an image version whose new machines boot another flavor than existing ones, on some machine types, in worker pools without
// special requests.
type Redirect struct {
	entries.Version
	// MachineTypes in the order of the profile after the update.
	MachineTypes []string
}

// Redirected returns the active image versions whose new machines boot another flavor after the update, although the previous flavor would
// still serve (semantics S9). The order is that of the profile after the update. It looks at usable machine types only.
func Redirected[R any](before, after *profile.Profile[R]) []Redirect {
	c := compare(before, after)
	asked := c.askUsable()
	sameQuestions := c.sameVocabulary && before.Order() == after.Order() && before.OffersTheSame(after)
	var redirects []Redirect
	for v := range after.Versions() {
		if !v.Active() || len(before.Catalog().Flavors(v.ID.Image, v.ID.Version)) == 0 || len(after.Catalog().Flavors(v.ID.Image, v.ID.Version)) < 2 {
			continue // there is nothing to choose
		}
		same := sameQuestions && c.sameFlavorsOf(v.ID) // the usual case
		known := map[*questions]bool{}
		var types []string
		for i, name := range after.Usable() {
			if same && c.sameType(name) {
				continue
			}
			if q := asked[i]; q != nil && memo.Get(known, q, func() bool { return c.redirects(v.ID, q) }) {
				types = append(types, name)
			}
		}
		if len(types) > 0 {
			redirects = append(redirects, Redirect{v, types})
		}
	}
	return redirects
}

// sameFlavorsOf reports whether an image version is certain to have the same flavors and references before and after the update, so that
// equal questions get equal answers.
func (c *comparison[R]) sameFlavorsOf(id provider.ImageVersion) bool {
	was, is := c.before.Catalog().Flavors(id.Image, id.Version), c.after.Catalog().Flavors(id.Image, id.Version)
	return slices.EqualFunc(was, is, func(a, b imageselector.Flavor[R]) bool {
		return sameCapabilities(a.Capabilities, b.Capabilities) && sameCapabilities(a.Implied, b.Implied) && entries.SameReferences(&a, &b)
	}) && sameCapabilities(profile.Undeclared(c.before.Version(id)), profile.Undeclared(c.after.Version(id)))
}

func sameCapabilities(a, b v1beta1.Capabilities) bool {
	return maps.EqualFunc(a, b, slices.Equal[v1beta1.CapabilityValues])
}

// questions are the questions of worker pools on a machine type, before and after the update.
type questions struct{ was, is profile.Question }

// askUsable returns the questions of worker pools without special requests, for each usable machine type; nil for a new one. Machine types
// with equal requests share a pointer.
func (c *comparison[R]) askUsable() []*questions {
	type key struct {
		was, is       imageselector.Request
		wasNot, isNot imageselector.Reason
	}
	known := map[key]*questions{}
	asked := make([]*questions, len(c.after.Usable()))
	for i, name := range c.after.Usable() {
		if _, had := c.before.Machine(name); had {
			pool := provider.Pool{MachineType: name}
			q := &questions{c.before.AskBriefly(pool), c.after.AskBriefly(pool)}
			asked[i] = memo.Get(known, key{q.was.Request, q.is.Request, q.was.Reason, q.is.Reason}, func() *questions { return q })
		}
	}
	return asked
}

// redirects reports whether new machines of an image version boot another flavor in some region.
func (c *comparison[R]) redirects(id provider.ImageVersion, q *questions) bool {
	return slices.ContainsFunc(c.after.Regions(), func(region string) bool {
		of := resolve.Combination{Image: id.Image, Version: id.Version, Region: region}
		found := c.decide(q.was, q.is, of, id.Version)
		return found.After != nil && found.Kept != nil && !reflect.DeepEqual(found.Kept, found.After)
	})
}
