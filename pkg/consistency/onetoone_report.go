// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

func (c *correspondence[R]) reportDuplicate(flavor *imageselector.Flavor[R], set capability.Set, first *field.Path) {
	c.errs = append(c.errs, c.duplicate(flavor, set, first))
}

// duplicate returns the error about the second of two flavors that are the same.
func (c *correspondence[R]) duplicate(
	flavor *imageselector.Flavor[R], set capability.Set, first *field.Path,
) finding.Finding {
	repair := "remove one of the two"
	if len(flavor.Regional) > 0 {
		repair += ", or put their regions together"
	}
	return finding.New(ruleFlavorDuplicate, field.ErrorTypeDuplicate, flavor.Path, c.vocabulary.Format(flavor.Capabilities),
		fmt.Sprintf("%s: %s is the same flavor as %s; %s", c.name, c.format(flavor.Capabilities, set), first, repair))
}

// reportUnexpected reports a provider flavor that core does not list. The second of two equal ones is a duplicate.
func (c *correspondence[R]) reportUnexpected(flavor *imageselector.Flavor[R], set capability.Set) {
	if first := c.stray[set]; first != nil {
		c.reportDuplicate(flavor, set, first.Path)
		return
	}
	c.stray[set] = flavor
	if c.unclearCore { // core may mean this one
		c.silenced = append(c.silenced, c.unexpected(flavor, set))
		return
	}
	c.errs = append(c.errs, c.unexpected(flavor, set))
}

// unexpected returns the error about a provider flavor that core does not list.
func (c *correspondence[R]) unexpected(flavor *imageselector.Flavor[R], set capability.Set) finding.Finding {
	place := c.at.Child("capabilityFlavors")
	if c.architectures {
		place = c.at.Child("architectures")
	}
	all := list(len(c.core), func(i int) *coreFlavor[R] { return &c.core[i] })
	ofCore := c.format(carriedOf(c.vocabulary, flavor.Capabilities, c.carried), c.asCore(flavor.Capabilities, set))
	return finding.New(ruleFlavorUnexpected, field.ErrorTypeForbidden, flavor.Path, c.vocabulary.Format(flavor.Capabilities),
		fmt.Sprintf("%s: core does not list a flavor %s, only %s; add it to %s, or remove it here", c.name, ofCore, all, place))
}

// reportMissing reports the core flavors that no provider flavor corresponds to, except those that a flavor with errors
// of its own may have meant. Entries without any flavor are reported for that already.
func (c *correspondence[R]) reportMissing() {
	if !slices.ContainsFunc(c.entries, func(e *imageselector.Version[R]) bool { return len(e.Flavors) > 0 }) {
		return
	}
	for i := range c.core {
		core := &c.core[i]
		if core.matched || core.ambiguous || core.meant != nil {
			continue
		}
		where := c.entries[0].Path.Child("capabilityFlavors")
		if c.entries[0].Legacy {
			where = c.entries[0].Path
		}
		missing := finding.New(ruleFlavorMissing, field.ErrorTypeRequired, c.corePath(core.index), nil, fmt.Sprintf(
			"%s: no provider image for %s; add it under %s", c.name, c.format(core.written, core.set), where))
		if c.maybeMeant(core.set) {
			c.silenced = append(c.silenced, missing)
		} else {
			c.errs = append(c.errs, missing)
		}
	}
}

// maxUnclear bounds the flavors with errors of their own that are considered one by one; with more, nothing is said
// about what is missing before those are repaired.
const maxUnclear = 16

// maybeMeant reports whether a flavor with unknown capabilities or values could be the core flavor once they are
// repaired.
func (c *correspondence[R]) maybeMeant(core capability.Set) bool {
	return len(c.unclear) > maxUnclear || slices.ContainsFunc(c.unclear, func(unclear capability.Set) bool {
		excludes := func(c capability.Conflict) bool { return len(c.Offer) > 0 }
		return !slices.ContainsFunc(unclear.Conflicts(core, capability.Set{}), excludes)
	})
}

// format prints capabilities as written and, where that says less, what they amount to.
func (c *correspondence[R]) format(written v1beta1.Capabilities, set capability.Set) string {
	short := c.vocabulary.Format(written)
	switch full := set.String(); {
	case len(full) < len(short): // it declares what holds anyway
		return short + " (the same as " + full + ")"
	case full != short:
		return short + " (in full " + full + ")"
	}
	return short
}

// maxCoreFlavors is how many core flavors a message lists.
const maxCoreFlavors = 5

// list names the first few of n core flavors, and only looks at those: many findings may each list many.
func list[R any](n int, flavor func(i int) *coreFlavor[R]) string {
	names := make([]string, 0, maxCoreFlavors)
	for i := range min(n, maxCoreFlavors) {
		names = append(names, flavor(i).set.String())
	}
	return finding.JoinFirst(n, names, ", ")
}

func (c *correspondence[R]) report(rule string, kind field.ErrorType, at *field.Path, value any, detail string) {
	c.errs = append(c.errs, finding.New(rule, kind, at, value, c.name+": "+detail))
}

// reportAll reports something because of which the version is not checked any further. What all of its entries and core
// say of it belongs to the finding.
func (c *correspondence[R]) reportAll(rule string, kind field.ErrorType, at *field.Path, detail string) {
	c.errs = append(c.errs, c.withExtent(finding.New(rule, kind, at, nil, c.name+": "+detail))...)
}

// withExtent returns findings because of which the version is not checked any further: all of it is their extent.
func (c *correspondence[R]) withExtent(findings ...finding.Finding) finding.List {
	if c.extent == nil {
		c.extent = []finding.Path{finding.PathOf(c.at)}
		for _, entry := range c.entries {
			c.extent = append(c.extent, finding.PathOf(entry.Path))
		}
	}
	for i := range findings {
		findings[i].Extent = c.extent
	}
	return findings
}

// about puts the name of an image version before what findings say.
func about(name string, findings finding.List) finding.List {
	for _, err := range findings {
		err.Detail = name + ": " + err.Detail
	}
	return findings
}
