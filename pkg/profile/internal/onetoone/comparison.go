// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package onetoone compares the flavors of one image version, as core lists them, with those of the provider config (semantics S8). It
// knows neither config nor profile: package profile finds the entries of a version, and says what else is known of them. Start reading
// at [New], and at [Comparison.Check].
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

// Version is an image version of core, and what is known of its profile.
type Version struct {
	// Listed is the version as core lists it, Name its image@version, as messages say it, and At where it stands.
	Listed *v1beta1.MachineImageVersion
	Name   string
	At     *field.Path
	// Vocabulary is that of the profile.
	Vocabulary *capability.Vocabulary
	// EitherFormat says that the version may be written in another format than the one that the vocabulary asks for: Gardener converts
	// that of a NamespacedCloudProfile.
	EitherFormat bool
	// Undeclared are the values that a flavor of this version has of worker capabilities which it does not declare.
	// A capability that is not among them has the value that its definition says.
	Undeclared v1beta1.Capabilities
	// Quiet says that the report of the profile is full, so that errors are left out.
	Quiet bool
}

// Comparison is that of one version. [New] makes one, and compiles the flavors of core. The fields up to Doubtful are set by whoever goes
// on to [Comparison.Check], which fills in the others.
type Comparison[R any] struct {
	Version
	// Entries are those of the provider config for this version.
	Entries []*imageselector.Version[R]
	// Derive returns the reference that the provider derives for a flavor of this version, nil if it needs a mapping. It is nil
	// itself for a provider that derives none, and where the mapping may be one that could not be read.
	Derive func(set capability.Set, at *field.Path) *imageselector.Global[R]
	// Where says where to add a flavor that is missing in these entries.
	Where func(entries []*imageselector.Version[R]) string
	// Image is the path of the first of several entries of the image; nil if there is one.
	Image *field.Path
	// Doubtful, that of the profile, gets the paths of the flavors to choose from that the check refuses.
	Doubtful map[*field.Path]bool

	// Core holds the distinct flavors of the core version.
	Core []*CoreFlavor[R]
	// Usable collects the flavors to choose from.
	Usable []imageselector.Flavor[R]
	// Plain is how many flavors, of both sides, declare nothing but what is registered.
	Plain int
	// Report has errors only. Silenced are those about flavors that others may explain: those with errors of their own.
	Report finding.Report

	// bySet holds the flavors of Core by what they support; list is the path of its flavors, or of its architectures if these count.
	bySet map[capability.Set]*CoreFlavor[R]
	list  *field.Path
	// room is where the core flavors are.
	room []CoreFlavor[R]
	// carried returns the reserved capabilities that core flavors of this version declare although they are not registered.
	carried func() sets.Set[string]
	// taken holds, by what they support as written, the first provider flavors that correspond to a core flavor, and stray
	// those that core does not list. lacking holds what core would have to list for these.
	taken, stray map[capability.Set]*imageselector.Flavor[R]
	lacking      sets.Set[capability.Set]
	// fits holds the results of fitting: many entries may have few shapes.
	fits map[shape]fit[R]
	// unclear holds what the provider flavors support whose capabilities have errors, as far as it is understood.
	unclear []capability.Set
	// unclearCore says that core lists a flavor with errors of its own, or flavors where no capabilities are registered. refused holds what
	// its flavors support that core itself refuses, for their architectures or since a part is not registered: as far as it is understood.
	unclearCore bool
	refused     []capability.Set
	// imageless says that the entry which is compared has no image, which is reported. openEntry says that there was one which does not
	// even say for which flavor it would be.
	imageless, openEntry bool
	// extent holds the paths of the version, on both sides; nil until it is needed.
	extent []fieldpath.Path
}

// CoreFlavor is one flavor of a core image version.
type CoreFlavor[R any] struct {
	// Set is what it supports.
	Set capability.Set
	// At is the path of the flavor; that of the version if the flavor is implied.
	At *field.Path

	written v1beta1.Capabilities
	// refused is true if core itself refuses the flavor, and partly if that is for a part that is not registered: then the rest is in Set.
	refused, partly bool
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
func (f *CoreFlavor[R]) alone() bool { return !f.matched && !f.ambiguous && f.meant == nil }

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
	}
	c.addCoreFlavors()
	return c
}

// Sets returns what the core flavors support.
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
	if !wrongFormat { // else the flavors that seem to be missing may be there, in the wrong format
		c.DeriveMissing()
		c.ReportMissing()
	}
}

// addCoreFlavors compiles the core flavors of a version: those written; in legacy mode one for each architecture; else
// the one that omits everything (semantics S1, S2). Of equal ones the first is kept. A NamespacedCloudProfile's version
// may be written in another format than that of the parent. Gardener converts it (S11): architectures become flavors,
// and of flavors only the architectures are left.
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
		c.unclearCore = len(flavors) > 0 && len(architectures) == 0 // which the flavors may say
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

// addArchitecturesOf compiles a core flavor for each architecture of some flavors. If they have none, Gardener takes them
// for amd64.
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

// addCoreFlavor compiles a core flavor, which stands at the path at. It reports whether it declares nothing but what is registered.
func (c *Comparison[R]) addCoreFlavor(written v1beta1.Capabilities, at *field.Path) (plain bool) {
	set, plain := c.Vocabulary.PlainFlavor(written, c.Undeclared)
	partly := false
	if !plain {
		if empty := EmptyLists(c.Vocabulary, c.Name, written, at); len(empty) > 0 {
			c.unclearCore = true
			for _, err := range empty { // core refuses that of the architecture
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
		switch { // what core refuses in one would tell the two apart
		case partly:
		case first.partly:
			*first = flavor
		case !c.LeavesOut():
			c.Report.Found(ruleCoreFlavorDuplicate, field.ErrorTypeDuplicate, at, c.Vocabulary.Format(written),
				"%s: %s is the same flavor as %s; remove one of the two", c.Name, c.format(written, set), first.At)
		}
		return plain
	}
	c.room = append(c.room, flavor)
	core := &c.room[len(c.room)-1]
	c.Core, c.bySet[set] = append(c.Core, core), core
	return plain
}

// Refused reports whether the API server refuses a core flavor for its architectures: it may name one at the most, and has to if several
// are registered.
func Refused(vocabulary *capability.Vocabulary, flavor v1beta1.Capabilities) bool {
	named := len(flavor[capability.Architecture])
	return named > 1 || named == 0 && len(vocabulary.Registered(capability.Architecture)) > 1
}

// carriedBy returns the reserved capabilities, not registered, that core declares, by their canonical names. Gardener v1.150 refuses them.
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

// onlyReserved reports whether a capability is a reserved one that is not registered.
func onlyReserved(vocabulary *capability.Vocabulary, name string) bool {
	return strings.HasPrefix(name, capability.ReservedPrefix) && !vocabulary.IsRegistered(name)
}

// EmptyLists reports the capabilities that core declares with an empty list, which Gardener v1.150 accepts: nothing could ever match them.
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

// DeriveMissing derives what the provider config does not have: the references of core's flavors that no provider flavor corresponds
// to, and those for regions in which one that does has none. It reports whether there is a flavor to choose from.
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
