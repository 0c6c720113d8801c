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

// slips are the misspelt regions of a provider config, each with the region of the profile that is meant. What follows from a slip,
// such as a flavor without an image in the region that is meant, is not told besides.
type slips map[string]string

// findSlips finds the misspelt regions of the provider config, among the first that the profile does not have, in lexical order.
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

// bareRegions returns the regions of the profile in which nothing has an image, while others have some: those of a region that is new, as
// a rule, or whose name is misspelt in the provider config.
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

// withoutAnything warns about the regions in which nothing has an image.
func (c *checker[R]) withoutAnything() {
	for i, region := range c.profile.Regions() {
		if c.bare.Has(region) {
			c.Report.Found(ruleRegionUncovered, field.ErrorTypeRequired, c.At.Child("regions").Index(i), region,
				"region %s: no image version has an image there, so that nothing boots; add images for it to %s", region, c.mapping())
		}
	}
}

// explaining returns, by slip, those of the regions that it means; under the empty name those that none means. If several slips
// mean a region, the first in lexical order counts. Without regions it is nil.
func (s slips) explaining(regions []string) map[string][]string {
	if len(regions) == 0 {
		return nil
	}
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

// slipsOf returns those of the slips that are among some references.
func slipsOf[R any](references []imageselector.Regional[R], all slips) slips {
	if len(all) == 0 {
		return nil
	}
	found := slips{}
	for i := range references {
		if meant, slipped := all[references[i].Region]; slipped {
			found[references[i].Region] = meant
		}
	}
	return found
}

// warnUnless adds a warning. One that follows from a slip is reported only if that is silenced, see [finding.Finding.Implied].
func (c *checker[R]) warnUnless(slip string, warning finding.Finding) {
	if slip == "" {
		c.Report.Warn(warning)
	} else if len(c.followed[slip]) < finding.Most {
		c.followed[slip] = append(c.followed[slip], warning)
	}
}
