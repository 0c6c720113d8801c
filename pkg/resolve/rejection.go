// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/words"
)

// ByRegion complements the causes of package capability: the flavor has no image in the region.
const ByRegion = capability.Cause(imageselector.ReasonRegion)

// Rejection is one reason why a flavor is excluded. [Rejections] returns all of a flavor.
type Rejection struct {
	// By is the cause. It is empty for a flavor that was compiled with another vocabulary.
	By capability.Cause
	// Conflict is the conflicting capability. It is the zero Conflict if there is none, as for ByRegion.
	Conflict capability.Conflict
	// Region is the region without an image of the flavor, and Regions are those with one, in the flavor's order. Both are for ByRegion.
	Region  string
	Regions []string
}

// Rejections returns the reasons why the flavor of a verdict is excluded in a region: the first conflict of each cause, in the order of the
// vocabulary. So the first rejection is the decisive one. It returns nil if the flavor is a candidate. The caller owns the slice.
func Rejections[R any](v *imageselector.Verdict[R], region string) []Rejection {
	switch {
	case v.Reason == imageselector.ReasonRegion:
		return []Rejection{NoImageIn(v.Flavor, region)}
	case v.Reason == "":
		return nil
	case len(v.Conflicts) == 0:
		return []Rejection{{}}
	}
	var rejections []Rejection
	for _, c := range v.Conflicts {
		if slices.ContainsFunc(rejections, func(r Rejection) bool { return r.By == c.Cause }) {
			continue
		}
		if _, written := texts.Declared(v.Flavor.Capabilities, c.Capability); written {
			c.Undeclared = false // it declares its default
		}
		rejections = append(rejections, Rejection{By: c.Cause, Conflict: c})
	}
	return rejections
}

// NoImageIn returns the rejection of a flavor that has no image in a region.
func NoImageIn[R any](flavor *imageselector.Flavor[R], region string) Rejection {
	r := Rejection{By: ByRegion, Region: region}
	for i := range flavor.Regional {
		r.Regions = append(r.Regions, flavor.Regional[i].Region)
	}
	return r
}

// String returns the reason as a clause with the flavor as its subject: the flavor's values, and those of the machine type or the worker
// pool's request.
func (r Rejection) String() string {
	switch {
	case r.By == "":
		return "was compiled with another vocabulary"
	case r.By == ByRegion && len(r.Regions) == 0:
		return "has no image anywhere"
	case r.By == ByRegion:
		return fmt.Sprintf("has no image in region %s, only in %s", words.Quoted(r.Region), words.Few(r.Regions))
	}
	c := r.Conflict
	clause := "has " + c.Capability + " " + registered(c.Offer)
	if c.Undeclared {
		clause = "does not declare " + c.Capability
		if len(c.Offer) > 0 {
			clause += fmt.Sprintf(", so it has [%s]", words.Few(c.Offer))
		}
	}
	if c.Cause != capability.CauseWorker {
		clause += ", the machine type " + registered(c.Need)
	}
	if c.Cause != capability.CauseMachine && c.Asked != nil {
		clause += fmt.Sprintf(", the worker pool asks for [%s]", words.Few(c.Asked))
	}
	return clause
}

// registered lists the values of a capability that are registered, of those that a flavor or a machine type has.
func registered(values []string) string {
	if len(values) == 0 {
		return "[none registered]"
	}
	return "[" + words.Few(values) + "]"
}

// misspeltRegion returns the first reference whose region probably misspells that of the pool, in a flavor that fits the pool otherwise. It
// returns nil if there is none, or if the reference is in no manifest.
func (p Resolver[R]) misspeltRegion(r *Resolution[R]) *imageselector.Regional[R] {
	for i := range r.Decision.Verdicts {
		v := &r.Decision.Verdicts[i]
		if v.Reason != imageselector.ReasonRegion {
			continue
		}
		for k := range v.Flavor.Regional {
			one := &v.Flavor.Regional[k]
			if one.Path != nil && words.Slip(one.Region, []string{r.Pool.Region}) != "" && !p.HasRegion(one.Region) &&
				words.Slip(one.Region, p.Regions()) == r.Pool.Region {
				return one
			}
		}
	}
	return nil
}

// rejections describes why the flavors are excluded, or which error of the profile may be the reason. It does not repeat the values that
// known asks for, which may be nil.
func (p Resolver[R]) rejections(r *Resolution[R], known *capability.Requirement) string {
	if r.cause = p.CauseOf(r.Pool.MachineType, r.Decision.Request); r.cause != "" {
		return repairFirst(r.cause)
	}
	if slip := p.misspeltRegion(r); slip != nil {
		r.cause = "at " + slip.NamePath().String()
		return fmt.Sprintf("the profile has images for %s, which is not one of its regions, and may mean %s, %s; repair that first",
			words.Quoted(slip.Region), r.Pool.Region, r.cause)
	}
	rejections := make([]string, 0, len(r.Decision.Verdicts))
	for i := range r.Decision.Verdicts {
		v := &r.Decision.Verdicts[i]
		first := Rejections(v, r.Pool.Region)[0]
		if c := &first.Conflict; known != nil && c.Capability == known.Capability && slices.Equal(c.Asked, known.Values) {
			c.Asked = nil
		}
		rejections = append(rejections, p.Vocabulary().Format(v.Flavor.Capabilities)+" "+first.String())
	}
	return words.JoinFew(rejections, "; ")
}
