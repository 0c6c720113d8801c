// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/words"
)

// slips maps misspelt regions of a provider config to the regions of the profile that are meant. Warnings that follow from a slip, such as
// a flavor without an image in the meant region, are not reported separately.
type slips map[string]string

// findSlips finds the misspelt regions among those of the provider config that the profile lacks, in lexical order.
func (c *checker[R]) findSlips() {
	c.slips, c.followed, c.bare = slips{}, map[string]finding.List{}, c.bareRegions()
	speller, bare := words.NewSpeller(c.profile.Regions()), words.NewSpeller(sets.List(c.bare))
	for _, region := range sets.List(c.ImageRegions().Difference(sets.New(c.profile.Regions()...))) {
		if meant := cmp.Or(speller.Slip(region), bare.Closest(region)); meant != "" {
			c.slips[region] = meant
			c.bare.Delete(meant)
		}
	}
	c.imaged = slices.DeleteFunc(slices.Clone(c.profile.Regions()), c.bare.Has)
}

// bareRegions returns the regions of the profile without any image, if others have some. Usually such a region is new, or misspelt in the
// provider config.
func (c *checker[R]) bareRegions() sets.Set[string] {
	if c.Spec != c.profile.Spec() {
		return sets.New[string]()
	}
	covered := sets.New[string]()
	for v := range c.Versions() {
		flavors := c.Catalog.Flavors(v.ID.Image, v.ID.Version)
		for i := range flavors {
			if flavors[i].Global != nil {
				return sets.New[string]()
			}
			for k := range flavors[i].Regional {
				covered.Insert(flavors[i].Regional[k].Region)
			}
		}
	}
	if len(covered) == 0 {
		return covered
	}
	return sets.New(c.profile.Regions()...).Difference(covered)
}

// withoutAnything warns about regions without any image.
func (c *checker[R]) withoutAnything() {
	rest := c.bare.Clone()
	for i := range c.profile.Spec().Regions {
		if region := c.profile.Spec().Regions[i].Name; rest.Has(region) {
			rest.Delete(region)
			c.Report.Found(ruleRegionUncovered, field.ErrorTypeRequired, c.At.Child("regions").Index(i), region,
				"region %s: no image version has an image there, so that nothing boots; add images for it to %s", region, c.mapping())
		}
	}
}

// explaining groups regions by the slip that means them. Regions that no slip means are under the empty key. If several slips mean a
// region, the first in lexical order wins.
func (s slips) explaining(regions []string) map[string][]string {
	known := slices.Sorted(maps.Keys(s))
	explained := map[string][]string{}
	for _, region := range regions {
		slip := ""
		if i := slices.IndexFunc(known, func(k string) bool { return s[k] == region }); i >= 0 {
			slip = known[i]
		}
		explained[slip] = append(explained[slip], region)
	}
	return explained
}

// slipsOf returns the slips among the regions of the given references.
func slipsOf[R any](references []imageselector.Regional[R], all slips) slips {
	found := slips{}
	for i := range references {
		if meant, slipped := all[references[i].Region]; slipped {
			found[references[i].Region] = meant
		}
	}
	return found
}

// warnUnless adds a warning. If it follows from a slip, it is reported only if the slip's warning is suppressed, see
// [finding.Finding.Implied].
func (c *checker[R]) warnUnless(slip string, warning finding.Finding) {
	if slip == "" {
		c.Report.Warn(warning)
	} else if len(c.followed[slip]) < finding.Most {
		c.followed[slip] = append(c.followed[slip], warning)
	}
}
