// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package onetoone

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/words"
)

// match finds the core flavors that correspond to a flavor of an entry.
func (c *Comparison[R]) match(entry *imageselector.Version[R], flavor *imageselector.Flavor[R]) {
	supported := flavor.Supported(c.Vocabulary)
	set, plain := c.Vocabulary.PlainFlavor(supported, c.Undeclared)
	var errs finding.List
	if plain {
		c.Plain++
	} else {
		errs = c.errorsOf(entry, flavor, supported)
	}
	switch {
	case flavor.Unclear || len(errs) > 0:
		c.reportUnclear(flavor, set, errs)
	case entry.Legacy || c.Vocabulary.Legacy():
		c.matchLegacy(entry, flavor, set)
	case plain:
		c.matchFlavor(flavor, set, set)
	default:
		c.matchFlavor(flavor, set, c.AsCore(flavor.Capabilities, set))
	}
}

// errorsOf returns the errors in the capabilities of an entry's flavor.
func (c *Comparison[R]) errorsOf(entry *imageselector.Version[R], flavor *imageselector.Flavor[R], supported v1beta1.Capabilities) finding.List {
	path, suffix := flavor.Path.Child("capabilities"), ""
	if entry.Legacy { // legacy entries have a single architecture, not a list
		path, suffix = flavor.Path, "[0]"
	}
	_, errs := c.Vocabulary.Flavor(flavor.Capabilities, c.Undeclared, path)
	for _, err := range errs {
		err.Field = strings.TrimSuffix(err.Field, suffix)
	}
	for _, name := range slices.Sorted(maps.Keys(flavor.Implied)) { // these values are in no manifest
		registered, values := c.Vocabulary.Registered(name), supported[name]
		if len(flavor.Capabilities[name]) == 0 && len(values) > 0 && !slices.Contains(registered, values[0]) {
			errs = append(errs, ruleValueUnregistered.Fault(field.ErrorTypeNotSupported, flavor.Path, name, "the legacy fields mean %s, "+
				"and none of these values is registered, only [%s]; register them in spec.machineCapabilities, or write the version with capabilityFlavors",
				c.Vocabulary.Format(v1beta1.Capabilities{name: values}), words.Few(registered)))
		}
	}
	return errs
}

// matchFlavor finds the core flavor that a provider flavor corresponds to: the one that supports exactly asCore, which is set without
// reserved capabilities that core does not carry. So several flavors that differ only in these may correspond to one.
func (c *Comparison[R]) matchFlavor(flavor *imageselector.Flavor[R], set, asCore capability.Set) {
	core := c.bySet[asCore]
	if core == nil {
		c.reportUnexpected(flavor, set)
		return
	}
	first := c.taken[set]
	if first == nil && core.Set == set && len(core.legacy) > 0 {
		first = core.legacy[0]
	}
	if first != nil {
		if !c.LeavesOut() {
			c.reportDuplicate(flavor, set, first)
		}
		c.addDoubtful(flavor)
		return
	}
	if meant := c.meant[set]; meant != nil && !c.LeavesOut() {
		c.Report.Silenced = append(c.Report.Silenced, c.duplicate(flavor, set, meant))
	}
	core.matched, c.taken[set] = true, flavor
	c.Usable = append(c.Usable, *flavor)
}

// addDoubtful adds a flavor to Usable, although the check rejects it.
func (c *Comparison[R]) addDoubtful(flavor *imageselector.Flavor[R]) {
	c.Usable, c.Doubtful[flavor.Path] = append(c.Usable, *flavor), true
}

// AsCore returns the set of a provider flavor without the reserved capabilities that core does not carry.
func (c *Comparison[R]) AsCore(written v1beta1.Capabilities, set capability.Set) capability.Set {
	carried := Carried(c.Vocabulary, written, c.carried())
	if len(carried) == len(written) {
		return set
	}
	set, _ = c.Vocabulary.Flavor(carried, c.Undeclared, nil)
	return set
}

// Carried returns capabilities without the reserved ones that core's flavors do not carry, which are neither registered nor among the
// canonical names. The result may be the argument, and shares its values.
func Carried(vocabulary *capability.Vocabulary, written v1beta1.Capabilities, names sets.Set[string]) v1beta1.Capabilities {
	carried := written
	for name := range written {
		if names.Has(texts.Canonical(name)) || !onlyReserved(vocabulary, name) {
			continue
		}
		if len(carried) == len(written) {
			carried = maps.Clone(written)
		}
		delete(carried, name)
	}
	return carried
}

// reportUnclear reports the errors of a flavor that is understood only in part. Errors that may follow from these are silenced.
func (c *Comparison[R]) reportUnclear(flavor *imageselector.Flavor[R], set capability.Set, errs finding.List) {
	full := c.LeavesOut()
	if !full {
		c.Report.Errors = append(c.Report.Errors, About(c.Name, errs)...)
	}
	c.unclear = append(c.unclear, set)
	core := c.bySet[c.AsCore(flavor.Capabilities, set)]
	if core == nil {
		if !full {
			c.Report.Silenced = append(c.Report.Silenced, c.unexpected(flavor, set))
		}
		return
	}
	c.addDoubtful(flavor)
	core.meant = true
	if first := cmp.Or(c.meant[set], c.taken[set]); first == nil {
		c.meant[set] = flavor
	} else if !full {
		c.Report.Silenced = append(c.Report.Silenced, c.duplicate(flavor, set, first))
	}
}

// LeavesOut reports whether the report is full. If so, it records that an error was left out.
func (c *Comparison[R]) LeavesOut() bool {
	full := c.Quiet || c.Report.Full()
	c.Report.ErrorsLeftOut = c.Report.ErrorsLeftOut || full
	return full
}

// matchLegacy finds the core flavors that a legacy version's flavor corresponds to: those of its architectures. The legacy format cannot
// distinguish several core flavors of one architecture.
func (c *Comparison[R]) matchLegacy(entry *imageselector.Version[R], flavor *imageselector.Flavor[R], set capability.Set) {
	found := c.fitting(flavor, set)
	switch {
	case len(found.all) == 0:
		c.reportUnexpected(flavor, set)
	case len(found.alike) > 0:
		for _, core := range found.all {
			core.ambiguous = true
		}
		c.reportAll(ruleLegacyAmbiguous, field.ErrorTypeRequired, entry,
			"the legacy format knows architectures only, and spec.machineImages lists several flavors of %s: %s; "+
				"write this version with capabilityFlavors, one for each",
			found.alike[0].architectures(), list(found.alike))
	default:
		c.claim(flavor, set, entry.Legacy, found.all)
	}
}

// shape decides which core flavors a legacy flavor corresponds to. It has the supported values, and the names of the registered
// capabilities that the legacy fields imply, sorted and joined.
type shape struct {
	set     capability.Set
	implied string
}

// fit holds the core flavors that share an architecture with a legacy flavor and have the values that it implies. alike are those among
// them that share an architecture with another one.
type fit[R any] struct{ all, alike []*CoreFlavor[R] }

// fitting returns the core flavors that correspond to a legacy flavor, which supports set.
func (c *Comparison[R]) fitting(flavor *imageselector.Flavor[R], set capability.Set) fit[R] {
	var implied []string
	for name := range flavor.Implied {
		if c.Vocabulary.IsRegistered(name) {
			implied = append(implied, name)
		}
	}
	slices.Sort(implied)
	return memo.Get(c.fits, shape{set, strings.Join(implied, ",")}, func() (found fit[R]) {
		byArchitecture := map[string][]*CoreFlavor[R]{}
		for _, core := range c.Core {
			if core.Set.Compatible(set) && !slices.ContainsFunc(implied, func(name string) bool {
				return !slices.Equal(core.Set.Values(name), set.Values(name))
			}) {
				found.all = append(found.all, core)
				byArchitecture[core.architectures()] = append(byArchitecture[core.architectures()], core)
			}
		}
		for _, core := range found.all {
			if same := byArchitecture[core.architectures()]; len(same) > 1 {
				found.alike = same
				break
			}
		}
		return found
	})
}

// claim records that a flavor corresponds to core flavors with one architecture each. The flavor is legacy, or the profile has no
// capabilities. Usable gets a flavor for each core flavor, with the latter's capabilities.
func (c *Comparison[R]) claim(
	flavor *imageselector.Flavor[R], set capability.Set, legacy bool, fitting []*CoreFlavor[R],
) {
	var first *imageselector.Flavor[R]
	if legacy {
		for _, core := range fitting {
			first, core.matched = cmp.Or(first, c.taken[core.Set]), true
		}
	}
	first = cmp.Or(first, c.taken[set])
	alone := first == nil
	switch {
	case alone:
		c.taken[set] = flavor
	case slices.Contains(fitting[0].legacy, first): // both are legacy, and may differ in unregistered capabilities
		i := slices.IndexFunc(fitting[0].legacy, func(other *imageselector.Flavor[R]) bool {
			same := slices.Equal[v1beta1.CapabilityValues]
			return maps.EqualFunc(other.Capabilities, flavor.Capabilities, same) && maps.EqualFunc(other.Implied, flavor.Implied, same)
		})
		if first = nil; i >= 0 {
			first = fitting[0].legacy[i]
		}
	}
	if first != nil && !c.LeavesOut() {
		c.reportDuplicate(flavor, set, first)
	}
	for _, core := range fitting {
		if first == nil {
			core.legacy = append(core.legacy, flavor)
		}
		if said := asCoreSays(flavor, set, core); alone {
			core.matched, c.Usable = true, append(c.Usable, *said)
		} else {
			c.addDoubtful(said)
		}
	}
}

// asCoreSays returns a legacy flavor, which supports set, with the capabilities of a core flavor. It is limited to the architectures that
// they share, because a core flavor without an architecture has several.
func asCoreSays[R any](
	flavor *imageselector.Flavor[R], set capability.Set, core *CoreFlavor[R],
) *imageselector.Flavor[R] {
	resolved := *flavor
	resolved.Capabilities = core.written
	shared := core.Set.Intersect(set).Values(capability.Architecture)
	if !slices.Equal(shared, core.Set.Values(capability.Architecture)) {
		resolved.Capabilities = v1beta1.Capabilities{}
		maps.Copy(resolved.Capabilities, core.written)
		resolved.Capabilities[capability.Architecture] = shared
	}
	return &resolved
}
