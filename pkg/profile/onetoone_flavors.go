// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/words"
)

// correspondence holds what the one-to-one check of one image version works on (semantics S8).
type correspondence[R any] struct {
	vocabulary *capability.Vocabulary
	// name is image@version, as messages say it.
	name string
	// core holds the distinct flavors of the core version, bySet the same; at is the path of the version in core, and list
	// that of its flavors, or of its architectures if these count.
	core     []*coreFlavor[R]
	bySet    map[capability.Set]*coreFlavor[R]
	at, list *field.Path
	// room is where the core flavors are.
	room []coreFlavor[R]
	// undeclaredValues are the values that a flavor of this version has of worker capabilities which it does not declare.
	// A capability that is not among them has the value that its definition says.
	undeclaredValues v1beta1.Capabilities
	// carried returns the reserved capabilities that core flavors of this version declare although they are not registered.
	carried func() sets.Set[string]
	// plain is how many flavors, of both sides, declare nothing but what is registered.
	plain int
	// derive returns the reference that the provider derives for a flavor of this version, nil if it needs a mapping. It is nil
	// itself for a provider that derives none, and where the mapping may be one that could not be read.
	derive func(set capability.Set, at *field.Path) *imageselector.Global[R]
	// where says where to add a flavor that is missing in these entries.
	where func(entries []*imageselector.Version[R]) string
	// eitherFormat says that the version may be written in another format than the one that the vocabulary asks for.
	eitherFormat bool
	// entries are those of the provider config for this version.
	entries []*imageselector.Version[R]
	// taken holds, by what they support as written, the first provider flavors that correspond to a core flavor, and stray
	// those that core does not list.
	taken, stray map[capability.Set]*imageselector.Flavor[R]
	// fits holds the results of fitting: many entries may have few shapes.
	fits map[shape]fit[R]
	// unclear holds what the provider flavors support whose capabilities have errors, as far as it is understood.
	unclear []capability.Set
	// unclearCore says that core lists a flavor with errors of its own. refused holds what its flavors support of which core itself
	// refuses a part, since that is not registered: as far as it is understood.
	unclearCore bool
	refused     []capability.Set
	// extent holds the paths of the version, on both sides; nil until it is needed.
	extent []fieldpath.Path
	// usable collects the flavors to choose from, and doubtful, that of the profile, the paths of those that the check
	// refuses.
	usable   []imageselector.Flavor[R]
	doubtful map[*field.Path]bool
	// quiet says that the report of the profile is full, so that errors are left out.
	quiet bool
	// report has errors only. Silenced are those about flavors that others may explain: those with errors of their own.
	report finding.Report
}

// coreFlavor is one flavor of a core image version.
type coreFlavor[R any] struct {
	set     capability.Set
	written v1beta1.Capabilities
	// at is the path of the flavor; that of the version if the flavor is implied.
	at *field.Path
	// refused is true if core itself refuses a part of the flavor.
	refused bool
	// matched is true if a provider flavor corresponds to this one, ambiguous if a legacy flavor may correspond to this
	// one or to another one of the same architecture.
	matched, ambiguous bool
	// meant is the first provider flavor with errors of its own that corresponds to this one but for these.
	meant *imageselector.Flavor[R]
	// legacy is the last provider flavor that corresponds to this one and takes over what it supports: one of a legacy
	// version, which states its architecture only. Nil if there is none.
	legacy *imageselector.Flavor[R]
}

// alone reports whether no provider flavor corresponds to the flavor, nor may be meant to.
func (f *coreFlavor[R]) alone() bool { return !f.matched && !f.ambiguous && f.meant == nil }

// check compares the flavors of the core version with those of the provider's entries.
func (c *correspondence[R]) check() {
	wrongFormat := false
	for _, entry := range c.entries {
		if !entry.Legacy && c.vocabulary.Legacy() && !c.eitherFormat {
			c.reportAll(ruleCapabilitiesOff, field.ErrorTypeForbidden, entry,
				"the profile registers no capabilities: register them in spec.machineCapabilities first, "+
					"or write this version in the legacy format, without capabilityFlavors")
			wrongFormat = true
			continue
		}
		for i := range entry.Flavors {
			c.match(entry, &entry.Flavors[i])
		}
	}
	if !wrongFormat { // else the flavors that seem to be missing may be there, in the wrong format
		c.deriveMissing()
		c.reportMissing()
	}
}

// addCoreFlavors compiles the core flavors of a version: those written; in legacy mode one for each architecture; else
// the one that omits everything (semantics S1, S2). Of equal ones the first is kept. A NamespacedCloudProfile's version
// may be written in another format than that of the parent. Gardener converts it (S11): architectures become flavors,
// and of flavors only the architectures are left.
func (c *correspondence[R]) addCoreFlavors(version *v1beta1.MachineImageVersion) {
	architectures, flavors := version.Architectures, version.CapabilityFlavors
	byArchitecture := c.vocabulary.Legacy()
	if c.eitherFormat && (len(architectures) > 0) != (len(flavors) > 0) {
		byArchitecture = len(architectures) > 0
	}
	c.list = c.at.Child("capabilityFlavors")
	if byArchitecture {
		c.list = c.at.Child("architectures")
	}
	if c.vocabulary.Legacy() && !c.eitherFormat {
		flavors = nil // core refuses them
	}
	switch {
	case byArchitecture && len(architectures) > 0:
		for i := range architectures {
			c.addCoreFlavor(v1beta1.Capabilities{capability.Architecture: {architectures[i]}}, c.list.Index(i))
		}
	case !c.vocabulary.Legacy() && len(flavors) > 0:
		c.core = make([]*coreFlavor[R], 0, len(flavors))
		paths := fieldpath.Elements(c.list, len(flavors))
		for i := range flavors {
			if c.addCoreFlavor(flavors[i].Capabilities, &paths[i]) {
				c.plain++
			}
		}
	case !c.vocabulary.Legacy():
		c.addCoreFlavor(nil, c.at)
	default:
		c.addArchitecturesOf(flavors)
	}
}

// addArchitecturesOf compiles a core flavor for each architecture of some flavors. If they have none, Gardener takes them
// for amd64.
func (c *correspondence[R]) addArchitecturesOf(flavors []v1beta1.MachineImageFlavor) {
	known := sets.New[string]()
	for i := range flavors {
		for _, architecture := range flavors[i].Capabilities[capability.Architecture] {
			if !known.Has(architecture) {
				known.Insert(architecture)
				c.addCoreFlavor(v1beta1.Capabilities{capability.Architecture: {architecture}}, c.list.Index(i))
			}
		}
	}
	if len(known) == 0 {
		c.addCoreFlavor(v1beta1.Capabilities{capability.Architecture: {constants.ArchitectureAMD64}}, c.at)
	}
}

// addCoreFlavor compiles a core flavor, which stands at the path at. It reports whether it declares nothing but what is registered.
func (c *correspondence[R]) addCoreFlavor(written v1beta1.Capabilities, at *field.Path) (plain bool) {
	set, plain := c.vocabulary.PlainFlavor(written, c.undeclaredValues)
	var errs finding.List
	if !plain {
		if empty := emptyLists(c.vocabulary, c.name, written, at); len(empty) > 0 {
			c.report.Errors, c.unclearCore = append(c.report.Errors, empty...), true
			return plain
		}
		if _, errs = c.vocabulary.Flavor(written, c.undeclaredValues, c.at); len(errs) > 0 {
			c.refused = append(c.refused, set)
		}
	}
	if first := c.bySet[set]; first != nil {
		if c.leavesOut() || len(errs) > 0 { // what core refuses in it would tell the two apart
			return plain
		}
		c.report.Found(ruleCoreFlavorDuplicate, field.ErrorTypeDuplicate, at, c.vocabulary.Format(written),
			"%s: %s is the same flavor as %s; remove one of the two", c.name, c.format(written, set), first.at)
		return plain
	}
	c.room = append(c.room, coreFlavor[R]{set: set, written: written, at: at, refused: len(errs) > 0})
	core := &c.room[len(c.room)-1]
	c.core, c.bySet[set] = append(c.core, core), core
	return plain
}

// match finds what a flavor of an entry corresponds to in core.
func (c *correspondence[R]) match(entry *imageselector.Version[R], flavor *imageselector.Flavor[R]) {
	supported := flavor.Supported(c.vocabulary)
	set, plain := c.vocabulary.PlainFlavor(supported, c.undeclaredValues)
	var errs finding.List
	if plain {
		c.plain++
	} else {
		errs = c.errorsOf(entry, flavor, supported)
	}
	switch {
	case len(errs) > 0:
		c.reportUnclear(flavor, set, errs)
	case entry.Legacy || c.vocabulary.Legacy():
		c.matchLegacy(entry, flavor, set)
	case plain:
		c.matchFlavor(flavor, set, set)
	default:
		c.matchFlavor(flavor, set, c.asCore(flavor.Capabilities, set))
	}
}

// errorsOf returns what is wrong with the capabilities of a flavor of an entry.
func (c *correspondence[R]) errorsOf(entry *imageselector.Version[R], flavor *imageselector.Flavor[R], supported v1beta1.Capabilities) finding.List {
	path, suffix := flavor.Path.Child("capabilities"), ""
	if entry.Legacy { // which writes its architecture as one value, not as a list
		path, suffix = flavor.Path, "[0]"
	}
	_, errs := c.vocabulary.Flavor(flavor.Capabilities, c.undeclaredValues, path)
	for _, err := range errs {
		err.Field = strings.TrimSuffix(err.Field, suffix)
	}
	for _, name := range slices.Sorted(maps.Keys(flavor.Implied)) { // whose values nobody has written
		registered, values := c.vocabulary.Registered(name), supported[name]
		if len(flavor.Capabilities[name]) == 0 && len(values) > 0 && !slices.Contains(registered, values[0]) {
			errs = append(errs, ruleValueUnregistered.Fault(field.ErrorTypeNotSupported, flavor.Path, name, "the legacy fields mean %s, "+
				"and none of these values is registered, only [%s]; register them in spec.machineCapabilities, or write the version with capabilityFlavors",
				c.vocabulary.Format(v1beta1.Capabilities{name: values}), words.Few(registered)))
		}
	}
	return errs
}

// matchFlavor finds the core flavor that a provider flavor corresponds to: the one that supports exactly the same, asCore,
// apart from reserved capabilities that core does not carry. So several flavors, which differ in these, may correspond
// to one.
func (c *correspondence[R]) matchFlavor(flavor *imageselector.Flavor[R], set, asCore capability.Set) {
	core := c.bySet[asCore]
	if core == nil {
		c.reportUnexpected(flavor, set)
		return
	}
	first := c.taken[set]
	if first == nil && core.set == set {
		first = core.legacy
	}
	if first != nil {
		if !c.leavesOut() {
			c.report.Errors = append(c.report.Errors, c.duplicate(flavor, set, first))
		}
		c.addDoubtful(flavor)
		return
	}
	core.matched, c.taken[set] = true, flavor
	c.usable = append(c.usable, *flavor)
}

// addDoubtful keeps a flavor to choose from that the check refuses.
func (c *correspondence[R]) addDoubtful(flavor *imageselector.Flavor[R]) {
	c.usable, c.doubtful[flavor.Path] = append(c.usable, *flavor), true
}

// asCore returns the set of a provider flavor without the reserved capabilities that core does not carry.
func (c *correspondence[R]) asCore(written v1beta1.Capabilities, set capability.Set) capability.Set {
	carried := carriedOf(c.vocabulary, written, c.carried())
	if len(carried) == len(written) {
		return set
	}
	set, _ = c.vocabulary.Flavor(carried, c.undeclaredValues, nil)
	return set
}

// carriedOf returns capabilities without the reserved ones that core's flavors do not carry: those that are neither
// registered nor among names, which are canonical. The result may be the argument, and shares its values with it.
func carriedOf(vocabulary *capability.Vocabulary, written v1beta1.Capabilities, names sets.Set[string]) v1beta1.Capabilities {
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

func (c *correspondence[R]) reportUnclear(flavor *imageselector.Flavor[R], set capability.Set, errs finding.List) {
	full := c.leavesOut()
	if !full {
		c.report.Errors = append(c.report.Errors, about(c.name, errs)...)
	}
	c.unclear = append(c.unclear, set)
	core := c.bySet[c.asCore(flavor.Capabilities, set)]
	if core == nil {
		if !full {
			c.report.Silenced = append(c.report.Silenced, c.unexpected(flavor, set))
		}
		return
	}
	c.addDoubtful(flavor)
	if first := cmp.Or(core.meant, c.taken[set]); first != nil && !full {
		c.report.Silenced = append(c.report.Silenced, c.duplicate(flavor, set, first))
		return
	}
	core.meant = cmp.Or(core.meant, flavor)
}

// leavesOut reports whether errors are left out, for one that then is.
func (c *correspondence[R]) leavesOut() bool {
	full := c.quiet || c.report.Full()
	c.report.ErrorsLeftOut = c.report.ErrorsLeftOut || full
	return full
}

// matchLegacy finds the core flavors that a flavor of a legacy version corresponds to: those of its architecture. More
// than one of an architecture the legacy format cannot tell apart.
func (c *correspondence[R]) matchLegacy(entry *imageselector.Version[R], flavor *imageselector.Flavor[R], set capability.Set) {
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

// shape is what decides which core flavors a legacy flavor corresponds to: what it supports, and the names of the
// registered capabilities besides the architecture about which its fields say that, sorted and joined.
type shape struct {
	set     capability.Set
	implied string
}

// fit holds the core flavors of a legacy flavor's architectures that support the same of what it implies, and those
// among them that share an architecture with another.
type fit[R any] struct{ all, alike []*coreFlavor[R] }

// fitting returns the core flavors that a legacy flavor, which supports set, corresponds to.
func (c *correspondence[R]) fitting(flavor *imageselector.Flavor[R], set capability.Set) fit[R] {
	var implied []string
	for name := range flavor.Implied {
		if c.vocabulary.IsRegistered(name) {
			implied = append(implied, name)
		}
	}
	slices.Sort(implied)
	key := shape{set, strings.Join(implied, ",")}
	if known, found := c.fits[key]; found {
		return known
	}
	var found fit[R]
	byArchitecture := map[string][]*coreFlavor[R]{}
	for _, core := range c.core {
		if core.set.Compatible(set) && !slices.ContainsFunc(implied, func(name string) bool {
			return !slices.Equal(core.set.Values(name), set.Values(name))
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
	c.fits[key] = found
	return found
}

func (f *coreFlavor[R]) architectures() string {
	return strings.Join(f.set.Values(capability.Architecture), ", ")
}

// claim notes that a flavor in a profile without capabilities, or that of a legacy version, corresponds to core
// flavors, each of another architecture. It takes over what they support, as a flavor for each.
func (c *correspondence[R]) claim(
	flavor *imageselector.Flavor[R], set capability.Set, legacy bool, fitting []*coreFlavor[R],
) {
	var first *imageselector.Flavor[R]
	if legacy {
		for _, core := range fitting {
			first, core.matched = cmp.Or(first, c.taken[core.set]), true
		}
	}
	first = cmp.Or(first, c.taken[set])
	switch {
	case first == nil:
		c.taken[set] = flavor
	case (fitting[0].legacy != first || maps.EqualFunc(first.Implied, flavor.Implied, slices.Equal[v1beta1.CapabilityValues])) && !c.leavesOut():
		// else both are legacy, and differ in what the vocabulary does not register
		c.report.Errors = append(c.report.Errors, c.duplicate(flavor, set, first))
	}
	for _, core := range fitting {
		if said := asCoreSays(flavor, set, core); first != nil {
			c.addDoubtful(said)
		} else {
			core.matched, core.legacy = true, flavor
			c.usable = append(c.usable, *said)
		}
	}
}

// asCoreSays returns a legacy flavor, which supports set, as one that supports what a core flavor does, on the
// architectures that they share: a core flavor that leaves its architecture out has several.
func asCoreSays[R any](
	flavor *imageselector.Flavor[R], set capability.Set, core *coreFlavor[R],
) *imageselector.Flavor[R] {
	resolved := *flavor
	resolved.Capabilities = core.written
	shared := core.set.Intersect(set).Values(capability.Architecture)
	if !slices.Equal(shared, core.set.Values(capability.Architecture)) {
		resolved.Capabilities = v1beta1.Capabilities{}
		maps.Copy(resolved.Capabilities, core.written)
		resolved.Capabilities[capability.Architecture] = shared
	}
	return &resolved
}
