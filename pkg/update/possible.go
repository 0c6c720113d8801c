// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"cmp"
	"iter"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// possible is a combination that worker pools could be.
type possible struct {
	resolve.Combination
	// regional says that only one of the profiles has the region. No Shoot can be created in a region that the profile lacks; worker
	// pools that are there all the same go on.
	regional bool
}

// combinations yields what the update does to every combination of an image version that core lists, a machine type and a
// region, which it has before or after: for a pool that asks for nothing, and for one that asks for one thing, for each
// setting whose capability is offered before or after. Where a profile lacks the region nothing boots. What boots the same as
// before is left out. The order is that of the lists after the update, and then of what they had before. formerly is that of a
// [View].
func (c *comparison[R]) combinations(
	formerly func(resolve.Combination) (version string, counts bool),
) iter.Seq2[possible, compared[R]] {
	types := resolve.Distinct(namesOf(c.after.Spec()), namesOf(c.before.Spec()))
	offers := func(name string) bool { return c.before.Offers(name) || c.after.Offers(name) }
	templates := resolve.Templates(c.after.Provider().Workers().Settings(), offers)
	if formerly == nil {
		formerly = func(of resolve.Combination) (string, bool) { return of.Version, true }
	}
	return func(yield func(possible, compared[R]) bool) {
		for _, name := range types {
			for _, template := range templates {
				pool := provider.Pool{MachineType: name, Worker: template.Worker, Order: c.order}
				was, is := c.before.Ask(pool, template.More...), c.after.Ask(pool, template.More...)
				for of, found := range c.everywhere(was, is, name, formerly) {
					if !yield(of, found) {
						return
					}
				}
			}
		}
	}
}

// everywhere yields what two questions about a machine type get for each version in each region.
func (c *comparison[R]) everywhere(
	was, is profile.Question, machineType string, formerly func(resolve.Combination) (version string, counts bool),
) iter.Seq2[possible, compared[R]] {
	versions := resolve.Distinct(resolve.Listed(c.after), resolve.Listed(c.before))
	regions := resolve.Distinct(c.after.Regions(), c.before.Regions())
	requested := is.Requested()
	return func(yield func(possible, compared[R]) bool) {
		for of := range product(versions, regions) {
			of.MachineType = machineType
			former, counts := formerly(of)
			if !counts {
				continue
			}
			had, has := c.before.HasRegion(of.Region), c.after.HasRegion(of.Region)
			found := compared[R]{requested: requested, Boots: c.decide(unless(had, was), unless(has, is), of, former)}
			if !found.same() && !yield(possible{of, had != has}, found) {
				return
			}
		}
	}
}

// unless returns a question, which is refused where there is no region.
func unless(region bool, q profile.Question) profile.Question {
	if !region {
		q.Reason = cmp.Or(q.Reason, imageselector.ReasonRegion)
	}
	return q
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

func namesOf(spec *v1beta1.CloudProfileSpec) []string {
	names := make([]string, 0, len(spec.MachineTypes))
	for i := range spec.MachineTypes {
		names = append(names, spec.MachineTypes[i].Name)
	}
	return names
}

// Redirect is an image version of which new machines of some machine types boot another flavor than existing ones, in worker pools
// that ask for nothing special.
type Redirect struct {
	profile.Version
	// MachineTypes in the order of the profile after the update.
	MachineTypes []string
}

// Redirected returns the active image versions of which the update makes new machines boot another flavor, although the one so
// far would still do (semantics S9), in the order of the profile after the update. It looks at usable machine types.
func Redirected[R any](before, after *profile.Profile[R]) []Redirect {
	c := compare(before, after, capability.GEP33)
	var redirects []Redirect
	for v := range after.Versions() {
		if !v.Active() || len(before.Catalog().Flavors(v.ID.Image, v.ID.Version)) == 0 || len(after.Catalog().Flavors(v.ID.Image, v.ID.Version)) < 2 {
			continue // there is nothing to choose
		}
		known := map[[2]capability.Set]bool{} // many machine types support the same
		var types []string
		for _, name := range after.Usable() {
			was, had := before.Machine(name)
			is, _ := after.Machine(name)
			key := [2]capability.Set{was.Set, is.Set}
			differs, done := known[key]
			if !done && had {
				differs = c.redirects(v.ID, name)
				known[key] = differs
			}
			if had && differs {
				types = append(types, name)
			}
		}
		if len(types) > 0 {
			redirects = append(redirects, Redirect{v, types})
		}
	}
	return redirects
}

// redirects reports whether new machines of a machine type boot another flavor in some region.
func (c *comparison[R]) redirects(id provider.ImageVersion, machineType string) bool {
	pool := provider.Pool{MachineType: machineType, Image: id.Image, Version: id.Version, Order: c.order}
	was, is := c.before.Ask(pool), c.after.Ask(pool)
	return slices.ContainsFunc(c.after.Regions(), func(region string) bool {
		of := resolve.Combination{Image: id.Image, Version: id.Version, MachineType: machineType, Region: region}
		found := c.decide(was, is, of, id.Version)
		return found.After != nil && found.Kept != nil && !reflect.DeepEqual(found.Kept, found.After)
	})
}
