// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// withoutImage warns about machine types without a fitting active image version in some region.
func (c *checker[R]) withoutImage() {
	type answer struct {
		// regions are those without an image, by slip. expired explains, by slip, that the fitting versions have expired.
		regions map[string][]string
		expired map[string]string
		fitted  bool
	}
	c.looks = 0
	offers := activeOffers(c.profile)
	expired := sync.OnceValue(c.expiredOffers)
	answers := map[capability.Set]answer{}
	answerFor := func(machine capability.Set) answer {
		var without []string
		a := answer{expired: map[string]string{}}
		for i, region := range c.profile.Regions() {
			fits := c.fitsAny(machine, offers[i])
			a.fitted = a.fitted || fits
			if !fits && !c.bare.Has(region) {
				without = append(without, region)
			}
		}
		a.regions = c.slips.explaining(without)
		for slip, regions := range a.regions {
			a.expired[slip] = c.onlyExpired(machine, expired(), regions)
		}
		return a
	}
	for i := range c.Spec.MachineTypes {
		t := &c.Spec.MachineTypes[i]
		if !ptr.Deref(t.Usable, true) {
			continue
		}
		if c.looks >= maxLooks {
			return
		}
		machine := c.machine(t.Name)
		a := memo.Get(answers, machine, func() answer { return answerFor(machine) })
		for slip, regions := range a.regions {
			why := cmp.Or(a.expired[slip], c.nothingFits(t, regions, a.fitted))
			c.warnUnless(slip, RuleMachineWithoutImage.Fault(field.ErrorTypeInvalid, c.At.Child("machineTypes").Index(i), t.Name,
				"machine type %s: %s", t.Name, why))
		}
	}
	c.expiredHere(offers, expired)
}

// expiredHere warns about machine types of the parent that lose their last active image version by an expiration date of the object.
func (c *checker[R]) expiredHere(offers []sets.Set[capability.Set], expired func() []map[capability.Set][]string) {
	var dated []entries.Version
	for v := range c.Versions() {
		if c.parent != nil && !isActive(c.profile.Version(v.ID)) && isActive(c.parent.Version(v.ID)) {
			dated = append(dated, v)
		}
	}
	if len(dated) == 0 {
		return
	}
	above, own := activeOffers(c.parent), sets.New(entries.MachineTypes(c.Spec)...)
	for _, name := range c.parent.Usable() {
		if own.Has(name) {
			continue
		}
		if c.looks >= maxLooks {
			return
		}
		machine := c.machine(name)
		var lost []string
		for i, region := range c.profile.Regions() {
			if !c.fitsAny(machine, offers[i]) && c.fitsAny(machine, above[i]) {
				lost = append(lost, region)
			}
		}
		at := slices.IndexFunc(dated, func(v entries.Version) bool {
			return slices.ContainsFunc(lost, func(region string) bool {
				c.looks++
				return c.fitsAny(machine, sets.New(c.parent.Catalog().Offers(v.ID.Image, v.ID.Version, region)...))
			})
		})
		if at >= 0 {
			c.Report.Found(RuleMachineWithoutImage, field.ErrorTypeInvalid, c.PathOf(dated[at]).Child("expirationDate"), name,
				"machine type %s of the parent: %s", name, c.onlyExpired(machine, expired(), lost))
		}
	}
}

// expiredOffers returns, for each region, the capabilities of the flavors of expired image versions, with the versions.
func (c *checker[R]) expiredOffers() []map[capability.Set][]string {
	all := make([]map[capability.Set][]string, len(c.profile.Regions()))
	for i := range all {
		all[i] = map[capability.Set][]string{}
	}
	for v := range c.profile.Versions() {
		if !versions.Expired(v.ExpirableVersion) {
			continue
		}
		for i, region := range c.profile.Regions() {
			for _, offer := range c.profile.Catalog().Offers(v.ID.Image, v.ID.Version, region) {
				all[i][offer] = append(all[i][offer], v.ID.String())
			}
		}
	}
	return all
}

// onlyExpired explains that all image versions that fit a machine type in some regions have expired, with a remedy. It returns "" if
// nothing fits in one of the regions.
func (c *checker[R]) onlyExpired(machine capability.Set, offers []map[capability.Set][]string, regions []string) string {
	fitting := sets.New[string]()
	for i, region := range c.profile.Regions() {
		if !slices.Contains(regions, region) {
			continue
		}
		none := true
		c.looks += len(offers[i])
		for offer, versions := range offers[i] {
			if offer.Compatible(machine) {
				none = false
				c.looks += len(versions)
				fitting.Insert(versions...)
			}
		}
		if none {
			return ""
		}
	}
	format := "the only image version that fits it in %s has expired: %s; give it a new date, or add a version that fits"
	if fitting.Len() > 1 {
		format = "all image versions that fit it in %s have expired: %s; give one a new date, or add a version that fits"
	}
	return fmt.Sprintf(format, counted("region", regions), words.Few(sets.List(fitting)))
}

// nothingFits explains that no image version fits a machine type in some regions, with a remedy. fitted reports whether some fit in other
// regions.
func (c *checker[R]) nothingFits(t *v1beta1.MachineType, regions []string, fitted bool) string {
	if !fitted {
		has := v1beta1.Capabilities{capability.Architecture: c.machine(t.Name).Values(capability.Architecture)}
		if !c.profile.Vocabulary().Legacy() {
			maps.Copy(has, t.Capabilities)
		}
		return fmt.Sprintf("no image version fits its %s in %s; add a flavor that does, in spec.machineImages and %s, or remove the machine type",
			c.profile.Vocabulary().Format(has), counted("region", regions), c.mapping())
	}
	add := "one"
	if len(regions) > 1 {
		add = "one for each"
	}
	return fmt.Sprintf("no image version that fits has an image in %s; add %s to %s", counted("region", regions), add, c.mapping())
}

// mapping returns the words for the place where images are mapped.
func (c *checker[R]) mapping() string {
	return provider.PoliciesOf(c.profile.Provider()).Mapping("the provider config")
}

// activeOffers returns, for each region of a profile, the capabilities of the flavors of active image versions.
func activeOffers[R any](p *profile.Profile[R]) []sets.Set[capability.Set] {
	all := make([]sets.Set[capability.Set], len(p.Regions()))
	for i := range all {
		all[i] = sets.New[capability.Set]()
	}
	for v := range p.Versions() {
		if !v.Active() {
			continue
		}
		for i, region := range p.Regions() {
			all[i].Insert(p.Catalog().Offers(v.ID.Image, v.ID.Version, region)...)
		}
	}
	return all
}
