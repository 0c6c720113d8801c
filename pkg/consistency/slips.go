// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/strictjson"
)

// slips are the misspelt regions of a provider config, each with the region of the profile that is meant. What follows from a slip,
// such as a flavor without an image in the region that is meant, is not told besides.
type slips map[string]string

// findSlips finds the misspelt regions of the provider config, among the first that the profile does not have, in lexical order.
func (p *compiler[R]) findSlips() {
	p.slips, p.followed = slips{}, map[string]finding.List{}
	speller := strictjson.NewSpeller(p.regions)
	for _, region := range sets.List(p.imageRegions.Difference(sets.New(p.regions...))) {
		if meant := speller.Slip(region); meant != "" {
			p.slips[region] = meant
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

// warnUnless adds a warning. One that follows from a slip is only told who silences that, see [finding.Finding.Instead].
func (p *compiler[R]) warnUnless(slip string, warning finding.Finding) {
	if slip == "" {
		p.report.Warn(warning)
	} else if len(p.followed[slip]) < finding.Most {
		p.followed[slip] = append(p.followed[slip], warning)
	}
}
