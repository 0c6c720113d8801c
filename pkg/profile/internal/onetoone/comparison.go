// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package onetoone compares the flavors that core lists for one image version with those of the provider config (semantics S8). It knows
// neither config nor profile: package profile finds the entries of a version and supplies the context. Start reading at [New] and
// [Comparison.Check].
package onetoone

import (
	"slices"
	"strings"
	"sync"

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

// Version is an image version of core, with the properties of its profile that matter here.
type Version struct {
	// Listed is the version as core lists it, Name its image@version for messages, and At its path.
	Listed *v1beta1.MachineImageVersion
	Name   string
	At     *field.Path
	// Vocabulary is that of the profile.
	Vocabulary *capability.Vocabulary
	// EitherFormat reports that the version may be written in another format than the vocabulary requires, because Gardener converts a
	// NamespacedCloudProfile.
	EitherFormat bool
	// Undeclared are this version's values for worker capabilities that a flavor does not declare. Capabilities that are not listed here
	// have the undeclared value of their definition.
	Undeclared v1beta1.Capabilities
	// Quiet reports that the profile's report is full, so that errors are left out.
	Quiet bool
}

// Comparison compares one version. [New] makes one, and compiles the core flavors. The caller of [Comparison.Check] sets the fields up to
// Doubtful, and Check sets the others.
type Comparison[R any] struct {
	Version
	// Entries are the provider config's entries for this version.
	Entries []*imageselector.Version[R]
	// Derive returns the reference that the provider derives for a flavor of this version, or nil if the flavor needs a mapping. It is nil
	// if the provider derives none, or if the mapping may be unreadable.
	Derive func(set capability.Set, at *field.Path) *imageselector.Global[R]
	// Where describes where to add a flavor that these entries lack.
	Where func(entries []*imageselector.Version[R]) string
	// Image is the path of the first entry of the image if it has several; otherwise nil.
	Image *field.Path
	// Doubtful is that of the profile. It receives the paths of the flavors in Usable that the check rejects.
	Doubtful map[*field.Path]bool

	// Core holds the distinct flavors of the core version.
	Core []*CoreFlavor[R]
	// Usable collects the flavors for selection.
	Usable []imageselector.Flavor[R]
	// Plain counts the flavors, of both sides, that declare only registered values.
	Plain int
	// Report has errors only. Silenced has errors that flavors with errors of their own may explain.
	Report finding.Report

	// bySet indexes Core by supported values. list is the path of the core flavors, or of the architectures if those define the flavors.
	bySet map[capability.Set]*CoreFlavor[R]
	list  *field.Path
	// room backs the pointers in Core.
	room []CoreFlavor[R]
	// carried returns the canonical names of the unregistered reserved capabilities that core flavors of this version declare.
	carried func() sets.Set[string]
	// taken, meant and stray are indexed by the supported values as written. taken holds the first provider flavors that correspond to a
	// core flavor, meant those that would if they had no errors, and stray those that core does not list. lacking holds the sets that core
	// would have to list for the latter.
	taken, meant, stray map[capability.Set]*imageselector.Flavor[R]
	lacking             sets.Set[capability.Set]
	// fits memoizes fitting, because many entries may have few shapes.
	fits map[shape]fit[R]
	// unclear holds the supported values, as far as they are understood, of provider flavors with errors in their capabilities.
	unclear []capability.Set
	// unclearCore reports that core lists a flavor with errors, or lists flavors although no capabilities are registered. refused holds the
	// supported values, as far as they are understood, of flavors that core itself refuses, for their architectures or an unregistered
	// part.
	unclearCore bool
	refused     []capability.Set
	// imageless reports that the current entry has no image, which is reported elsewhere. openEntry reports that some entry has neither an
	// image nor a flavor, or has an unlisted flavor without an image.
	imageless, openEntry bool
	// least holds, of equal flavors, the one whose capabilities are written in the least text so far.
	least map[equalFlavors]writtenFlavor
	// atEnd report flavors that core does not list, once all equal ones are known.
	atEnd []func()
	// extent holds the paths of the version, on both sides. It is nil until needed.
	extent []fieldpath.Path
}

// equalFlavors are the flavors of one side that support the same.
type equalFlavors struct {
	set    capability.Set
	ofCore bool
}

// writtenFlavor is a flavor of either side, with its path.
type writtenFlavor struct {
	capabilities v1beta1.Capabilities
	at           *field.Path
}

// CoreFlavor is one flavor of a core image version.
type CoreFlavor[R any] struct {
	// Set holds the supported values.
	Set capability.Set
	// At is the path of the flavor, or of the version if the flavor is implied.
	At *field.Path

	written v1beta1.Capabilities
	// refused reports that core itself refuses the flavor, and partly that it does so because of an unregistered part. Set then holds the
	// rest.
	refused, partly bool
	// matched reports that a provider flavor corresponds to this one. ambiguous reports that a legacy flavor may correspond to this one or
	// to another of the same architecture.
	matched, ambiguous bool
	// meant reports that a provider flavor would correspond to this one if it had no errors.
	meant bool
	// legacy holds the different provider flavors that correspond to this one by architecture and take over its capabilities.
	legacy []*imageselector.Flavor[R]
}

// alone reports whether no provider flavor corresponds to the flavor or may be meant to.
func (f *CoreFlavor[R]) alone() bool { return !f.matched && !f.ambiguous && !f.meant }

func (f *CoreFlavor[R]) architectures() string {
	return strings.Join(f.Set.Values(capability.Architecture), ", ")
}

// New returns the comparison of a version, with its core flavors.
func New[R any](version Version) *Comparison[R] {
	n := len(version.Listed.CapabilityFlavors)
	c := &Comparison[R]{
		Version: version,
		carried: sync.OnceValue(func() sets.Set[string] { return carriedBy(version.Vocabulary, version.Listed) }),
		room:    make([]CoreFlavor[R], 0, n),
		bySet:   make(map[capability.Set]*CoreFlavor[R], n), taken: make(map[capability.Set]*imageselector.Flavor[R], n),
		stray: map[capability.Set]*imageselector.Flavor[R]{}, lacking: sets.New[capability.Set](), fits: map[shape]fit[R]{}, Doubtful: map[*field.Path]bool{},
		meant: map[capability.Set]*imageselector.Flavor[R]{}, least: map[equalFlavors]writtenFlavor{},
	}
	c.addCoreFlavors()
	return c
}

// Sets returns the sets of values that the core flavors support.
func (c *Comparison[R]) Sets() sets.Set[capability.Set] { return sets.KeySet(c.bySet) }

// Check compares the flavors of the core version with those of the provider's entries.
func (c *Comparison[R]) Check() {
	wrongFormat := false
	for _, entry := range c.Entries {
		if !entry.Legacy && c.Vocabulary.Legacy() && !c.EitherFormat {
			c.reportAll(ruleCapabilitiesOff, field.ErrorTypeForbidden, entry,
				"the profile registers no capabilities: register them in spec.machineCapabilities first, "+
					"or write this version in the legacy format, without capabilityFlavors")
			wrongFormat = true
			continue
		}
		c.imageless = !c.hasImage(entry)
		c.openEntry = c.openEntry || len(entry.Flavors) == 0
		for i := range entry.Flavors {
			c.match(entry, &entry.Flavors[i])
		}
	}
	for _, report := range c.atEnd {
		report()
	}
	if !wrongFormat { // else missing flavors may only have the wrong format
		c.DeriveMissing()
		c.ReportMissing()
	}
}

// addCoreFlavors compiles the core flavors of a version: the written ones, in legacy mode one for each architecture, or else one that
// leaves everything out (semantics S1, S2). Of equal flavors, the first is kept. A NamespacedCloudProfile's version may have another format
// than its parent. It is compiled as Gardener converts it (S11): architectures become flavors, or only the architectures of flavors are
// kept.
func (c *Comparison[R]) addCoreFlavors() {
	architectures, flavors := c.Listed.Architectures, c.Listed.CapabilityFlavors
	byArchitecture := c.Vocabulary.Legacy()
	if c.EitherFormat && (len(architectures) > 0) != (len(flavors) > 0) {
		byArchitecture = len(architectures) > 0
	}
	c.list = c.At.Child("capabilityFlavors")
	if byArchitecture {
		c.list = c.At.Child("architectures")
	}
	if c.Vocabulary.Legacy() && !c.EitherFormat {
		c.unclearCore = len(flavors) > 0 && len(architectures) == 0 // the flavors may name them
		flavors = nil                                               // core refuses them
	}
	switch {
	case byArchitecture && len(architectures) > 0:
		for i := range architectures {
			c.addCoreFlavor(v1beta1.Capabilities{capability.Architecture: {architectures[i]}}, c.list.Index(i))
		}
	case !c.Vocabulary.Legacy() && len(flavors) > 0:
		c.Core = make([]*CoreFlavor[R], 0, len(flavors))
		paths := fieldpath.Elements(c.list, len(flavors))
		for i := range flavors {
			if c.addCoreFlavor(flavors[i].Capabilities, &paths[i]) {
				c.Plain++
			}
		}
	case !c.Vocabulary.Legacy():
		c.addCoreFlavor(nil, c.At)
	default:
		c.addArchitecturesOf(flavors)
	}
}

// addArchitecturesOf compiles a core flavor for each architecture of the given flavors. If they name none, Gardener assumes amd64.
func (c *Comparison[R]) addArchitecturesOf(flavors []v1beta1.MachineImageFlavor) {
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
		c.addCoreFlavor(v1beta1.Capabilities{capability.Architecture: {constants.ArchitectureAMD64}}, c.At)
	}
}

// addCoreFlavor compiles the core flavor at the path at, and reports whether it declares only registered values.
func (c *Comparison[R]) addCoreFlavor(written v1beta1.Capabilities, at *field.Path) (plain bool) {
	set, plain := c.Vocabulary.PlainFlavor(written, c.Undeclared)
	partly := false
	if !plain {
		if empty := EmptyLists(c.Vocabulary, c.Name, written, at); len(empty) > 0 {
			c.unclearCore = true
			for _, err := range empty { // core refuses an empty list of architectures
				ReportUnless(Refused(c.Vocabulary, written) && err.Field == at.Child(capability.Architecture).String(), &c.Report, err)
			}
			return plain
		}
		_, errs := c.Vocabulary.Flavor(written, c.Undeclared, at)
		partly = len(errs) > 0
	}
	refused := partly || Refused(c.Vocabulary, written)
	if refused {
		c.refused = append(c.refused, set)
	}
	flavor := CoreFlavor[R]{Set: set, written: written, At: at, refused: refused, partly: partly}
	if first := c.bySet[set]; first != nil {
		switch { // a part that core refuses would distinguish them
		case partly:
		case first.partly:
			*first = flavor
		case !c.LeavesOut():
			c.Report.Found(ruleCoreFlavorDuplicate, field.ErrorTypeDuplicate, at, c.Vocabulary.Format(written),
				"%s: %s is the same flavor as %s; remove one of the two", c.Name, c.format(written, set), first.At,
			).Place = c.repeats(equalFlavors{set, true}, writtenFlavor{first.written, first.At}, writtenFlavor{written, at})
		}
		return plain
	}
	c.room = append(c.room, flavor)
	core := &c.room[len(c.room)-1]
	c.Core, c.bySet[set] = append(c.Core, core), core
	return plain
}

// Refused reports whether the API server refuses a core flavor because of its architectures. A flavor may name one at most, and must name
// one if several are registered.
func Refused(vocabulary *capability.Vocabulary, flavor v1beta1.Capabilities) bool {
	named := len(flavor[capability.Architecture])
	return named > 1 || named == 0 && len(vocabulary.Registered(capability.Architecture)) > 1
}

// carriedBy returns the canonical names of the unregistered reserved capabilities that core declares. Gardener v1.150 refuses them.
func carriedBy(vocabulary *capability.Vocabulary, version *v1beta1.MachineImageVersion) sets.Set[string] {
	carried := sets.New[string]()
	for i := range version.CapabilityFlavors {
		for name := range version.CapabilityFlavors[i].Capabilities {
			if onlyReserved(vocabulary, name) {
				carried.Insert(texts.Canonical(name))
			}
		}
	}
	return carried
}

// onlyReserved reports whether a capability is reserved and not registered.
func onlyReserved(vocabulary *capability.Vocabulary, name string) bool {
	return strings.HasPrefix(name, capability.ReservedPrefix) && !vocabulary.IsRegistered(name)
}

// EmptyLists returns errors about registered capabilities that core declares with an empty list. Gardener v1.150 accepts these, but nothing
// can match them.
func EmptyLists(vocabulary *capability.Vocabulary, of string, declared v1beta1.Capabilities, at *field.Path) finding.List {
	var empty []string
	for name, values := range declared {
		if len(values) == 0 && vocabulary.IsRegistered(name) {
			empty = append(empty, name)
		}
	}
	slices.Sort(empty)
	var errs finding.List
	for _, name := range empty {
		errs = append(errs, ruleValueMissing.Fault(field.ErrorTypeRequired, at.Child(name), nil,
			"%s: an empty list matches nothing: list values of %s, or leave the capability out to support all of [%s]",
			of, name, words.Few(vocabulary.Registered(name))))
	}
	return errs
}

// DeriveMissing derives references that the provider config lacks: for core flavors without a provider flavor, and for the regions in which
// a usable flavor has none. It reports whether there is any flavor for selection.
func (c *Comparison[R]) DeriveMissing() bool {
	if c.Derive == nil {
		return false
	}
	for i := range c.Usable {
		flavor := &c.Usable[i]
		if flavor.Global == nil {
			set, _ := c.Vocabulary.Flavor(flavor.Supported(c.Vocabulary), c.Undeclared, nil)
			flavor.Global = c.Derive(set, flavor.Path)
		}
	}
	for _, core := range c.Core {
		if !core.alone() {
			continue
		}
		if global := c.Derive(core.Set, core.At); global != nil {
			core.matched = true
			c.Usable = append(c.Usable, imageselector.Flavor[R]{Capabilities: core.written, Global: global, Path: core.At})
		}
	}
	return len(c.Usable) > 0
}
