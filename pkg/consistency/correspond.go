// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// correspondence holds what the one-to-one check of one image version works on (semantics S8).
type correspondence[R any] struct {
	vocabulary *capability.Vocabulary
	// name is image@version, as messages say it.
	name string
	// core holds the distinct flavors of the core version, bySet their indices; at is the path of the version.
	core  []coreFlavor
	bySet map[capability.Set]int
	at    *field.Path
	// entries are those of the provider config for this version.
	entries []*imageselector.Version[R]
	// unclear holds the sets of provider flavors whose capabilities have errors of their own.
	unclear []capability.Set
	// stray holds the provider flavors that core does not have.
	stray map[capability.Set]*field.Path
	// usable collects the provider flavors with the capabilities that deciding works with.
	usable []imageselector.Flavor[R]
	errs   field.ErrorList
}

// coreFlavor is one flavor of a core image version.
type coreFlavor struct {
	set     capability.Set
	written v1beta1.Capabilities
	// index in capabilityFlavors or architectures; -1 if the version has neither and the flavor is implied.
	index int
	// by is the provider flavor that corresponds to it.
	by *field.Path
}

// correspond checks core's image versions and the provider's images one to one. It returns the images that deciding
// works with: those versions that core lists, in core's order.
func (p *Profile[R]) correspond() ([]imageselector.Image[R], field.ErrorList) {
	provided, errs := p.byName()
	anyUnread := p.unread.touches(p.at.Child("providerConfig", "machineImages"))
	usable := make([]imageselector.Image[R], 0, len(p.spec.MachineImages))
	for i := range p.spec.MachineImages {
		image := &p.spec.MachineImages[i]
		path := p.at.Child("machineImages").Index(i)
		entries, found := provided[image.Name]
		if !found {
			if !anyUnread {
				errs = append(errs, finding(RuleImageMissing, field.ErrorTypeRequired, path, nil, fmt.Sprintf(
					"%s: the provider config has no image of that name; add it, with its versions, under %s",
					image.Name, p.at.Child("providerConfig", "machineImages"))))
			}
			continue
		}
		versions := make([]imageselector.Version[R], 0, len(image.Versions))
		for k := range image.Versions {
			c := correspondence[R]{
				vocabulary: p.vocabulary, name: image.Name + "@" + image.Versions[k].Version,
				bySet:   make(map[capability.Set]int, len(image.Versions[k].CapabilityFlavors)),
				entries: entries.versions[image.Versions[k].Version], at: path.Child("versions").Index(k),
			}
			c.check(&image.Versions[k], entries.path)
			if !p.versionUnread(c.entries, anyUnread) {
				errs = append(errs, c.errs...)
			}
			versions = append(versions, imageselector.Version[R]{Version: image.Versions[k].Version, Flavors: c.usable})
		}
		usable = append(usable, imageselector.Image[R]{Name: image.Name, Versions: versions})
	}
	return usable, errs
}

// versionUnread tells whether a provider's entry for a version, or the entry that seems to be missing, could not be read.
func (p *Profile[R]) versionUnread(entries []*imageselector.Version[R], anyUnread bool) bool {
	return anyUnread && (len(entries) == 0 ||
		slices.ContainsFunc(entries, func(e *imageselector.Version[R]) bool { return p.unread.touches(e.Path) }))
}

// named holds the versions of the provider images of one name. Several entries of one version are one (semantics S7).
type named[R any] struct {
	versions map[string][]*imageselector.Version[R]
	path     *field.Path
}

// byName indexes the provider's images, and reports names that are missing or used twice.
func (p *Profile[R]) byName() (map[string]named[R], field.ErrorList) {
	var errs field.ErrorList
	index := make(map[string]named[R], len(p.images))
	for i := range p.images {
		image := &p.images[i]
		entry, found := index[image.Name]
		switch {
		case image.Name == "":
			errs = append(errs, p.nameMissing(image.Path, "name", "image")...)
		case found:
			errs = append(errs, finding(RuleImageDuplicate, field.ErrorTypeDuplicate, image.Path.Child("name"), image.Name,
				fmt.Sprintf("image %s stands in %s already; put its versions there", image.Name, entry.path)))
		default:
			entry = named[R]{versions: make(map[string][]*imageselector.Version[R], len(image.Versions)), path: image.Path}
			index[image.Name] = entry
		}
		for k := range image.Versions {
			version := &image.Versions[k]
			if version.Version == "" {
				errs = append(errs, p.nameMissing(version.Path, "version", "image version")...)
			} else if image.Name != "" {
				entry.versions[version.Version] = append(entry.versions[version.Version], version)
			}
		}
	}
	return index, errs
}

// nameMissing reports a name that is not there, unless that is because the entry could not be read.
func (p *Profile[R]) nameMissing(at *field.Path, name, what string) field.ErrorList {
	if p.unread.touches(at) {
		return nil
	}
	return field.ErrorList{nameMissing(at, name, what)}
}

func nameMissing(at *field.Path, name, what string) *field.Error {
	return finding(RuleNameMissing, field.ErrorTypeRequired, at.Child(name), nil, "every "+what+" needs a "+name)
}

// check compares the flavors of one core version with those of the provider's entries for it. image is the path of the
// provider's image.
func (c *correspondence[R]) check(version *v1beta1.MachineImageVersion, image *field.Path) {
	c.coreFlavors(version)
	if len(c.entries) == 0 {
		c.report(RuleVersionMissing, field.ErrorTypeRequired, c.at, nil, fmt.Sprintf(
			"the provider config has no entry for this version; add one under %s", image.Child("versions")))
		return
	}
	unregistered := false
	for _, entry := range c.entries {
		for i := range entry.Flavors {
			switch flavor := &entry.Flavors[i]; {
			case entry.Legacy:
				c.legacy(entry, flavor)
			case c.vocabulary.Legacy():
				unregistered = true
				c.usable = append(c.usable, *flavor)
			default:
				c.flavor(flavor)
			}
		}
		if unregistered {
			c.report(RuleCapabilitiesOff, field.ErrorTypeForbidden, entry.Path.Child("capabilityFlavors"), nil,
				"the profile registers no capabilities: register them in spec.machineCapabilities first, or write this version in the legacy format, without capabilityFlavors")
			return
		}
	}
	c.missing()
}

// coreFlavors compiles the core flavors of a version: those written; in legacy mode one for each architecture; else the
// one that omits everything (semantics S1, S2). Of equal ones the first is kept.
func (c *correspondence[R]) coreFlavors(version *v1beta1.MachineImageVersion) {
	switch {
	case c.vocabulary.Legacy() && len(version.Architectures) == 0:
		c.coreFlavor(v1beta1.Capabilities{capability.Architecture: {constants.ArchitectureAMD64}}, -1)
	case c.vocabulary.Legacy():
		for i := range version.Architectures {
			c.coreFlavor(v1beta1.Capabilities{capability.Architecture: version.Architectures[i : i+1 : i+1]}, i)
		}
	case len(version.CapabilityFlavors) == 0:
		c.coreFlavor(nil, -1)
	default:
		c.core = make([]coreFlavor, 0, len(version.CapabilityFlavors))
		for i := range version.CapabilityFlavors {
			c.coreFlavor(version.CapabilityFlavors[i].Capabilities, i)
		}
	}
}

func (c *correspondence[R]) coreFlavor(written v1beta1.Capabilities, index int) {
	set, _ := c.vocabulary.Set(written, nil)
	if first, found := c.bySet[set]; found {
		c.report(RuleCoreFlavorDuplicate, field.ErrorTypeDuplicate, c.corePath(index), c.vocabulary.Format(written), fmt.Sprintf(
			"%s is the same flavor as %s; remove one of the two", c.format(written, set), c.corePath(c.core[first].index)))
		return
	}
	c.bySet[set] = len(c.core)
	c.core = append(c.core, coreFlavor{set: set, written: written, index: index})
}

func (c *correspondence[R]) corePath(index int) *field.Path {
	switch {
	case index < 0:
		return c.at
	case c.vocabulary.Legacy():
		return c.at.Child("architectures").Index(index)
	}
	return c.at.Child("capabilityFlavors").Index(index)
}

// flavor finds the core flavor that a provider flavor corresponds to: the one that supports exactly the same.
func (c *correspondence[R]) flavor(flavor *imageselector.Flavor[R]) {
	set, errs := c.vocabulary.Set(flavor.Capabilities, flavor.Path.Child("capabilities"))
	c.usable = append(c.usable, *flavor)
	if len(errs) > 0 {
		c.errs = append(c.errs, errs...)
		c.unclear = append(c.unclear, set)
		return
	}
	i, found := c.bySet[set]
	if !found {
		c.unexpected(flavor, set)
		return
	}
	c.claim(&c.core[i], flavor)
}

// claim notes that a provider flavor corresponds to a core flavor, which only one may do.
func (c *correspondence[R]) claim(core *coreFlavor, flavor *imageselector.Flavor[R]) {
	if core.by != nil {
		c.duplicate(flavor, core.set, core.by)
		return
	}
	core.by = flavor.Path
}

func (c *correspondence[R]) duplicate(flavor *imageselector.Flavor[R], set capability.Set, first *field.Path) {
	c.report(RuleFlavorDuplicate, field.ErrorTypeDuplicate, flavor.Path, c.vocabulary.Format(flavor.Capabilities), fmt.Sprintf(
		"%s is the same flavor as %s; remove one of the two", c.format(flavor.Capabilities, set), first))
}

// legacy finds the core flavors that a flavor of a legacy version corresponds to: those of its architecture. More than
// one of an architecture the legacy format cannot tell apart. The flavor takes over what the core flavor supports.
func (c *correspondence[R]) legacy(entry *imageselector.Version[R], flavor *imageselector.Flavor[R]) {
	set, errs := c.vocabulary.Set(flavor.Capabilities, flavor.Path)
	if len(errs) > 0 {
		for _, err := range errs { // a legacy version writes its architecture as one value, not as a list
			err.Field = strings.TrimSuffix(err.Field, "[0]")
		}
		c.errs = append(c.errs, errs...)
		c.unclear = append(c.unclear, set)
		return
	}
	seen := map[string]bool{}
	ambiguous, found := false, false
	for i := range c.core {
		core := &c.core[i]
		architecture := strings.Join(core.set.Values(capability.Architecture), ",")
		if !core.set.Compatible(set) {
			continue
		}
		ambiguous = ambiguous || seen[architecture]
		seen[architecture], found = true, true
		resolved := *flavor
		resolved.Capabilities = core.written
		c.usable = append(c.usable, resolved)
		if !ambiguous {
			c.claim(core, flavor)
		} else {
			core.by = flavor.Path
		}
	}
	switch {
	case !found:
		c.usable = append(c.usable, *flavor)
		c.unexpected(flavor, set)
	case ambiguous:
		c.report(RuleLegacyAmbiguous, field.ErrorTypeRequired, entry.Path.Child("capabilityFlavors"), nil, fmt.Sprintf(
			"the legacy format knows architectures only, and core lists several flavors of one: %s; write this version with capabilityFlavors, one for each", c.coreList()))
	}
}

// unexpected reports a provider flavor that core does not have. One that stands there twice is a duplicate all the same.
func (c *correspondence[R]) unexpected(flavor *imageselector.Flavor[R], set capability.Set) {
	if first, found := c.stray[set]; found {
		c.duplicate(flavor, set, first)
		return
	}
	if c.stray == nil {
		c.stray = map[capability.Set]*field.Path{}
	}
	c.stray[set] = flavor.Path
	list := c.at.Child("capabilityFlavors")
	if c.vocabulary.Legacy() {
		list = c.at.Child("architectures")
	}
	c.report(RuleFlavorUnexpected, field.ErrorTypeForbidden, flavor.Path, c.vocabulary.Format(flavor.Capabilities), fmt.Sprintf(
		"core does not list a flavor %s, only %s; add it to %s, or remove it here",
		c.format(flavor.Capabilities, set), c.coreList(), list))
}

// missing reports the core flavors that no provider flavor corresponds to, except those that a flavor with errors of its
// own may have meant.
func (c *correspondence[R]) missing() {
	for i := range c.core {
		core := &c.core[i]
		if core.by != nil || c.maybeMeant(core.set) {
			continue
		}
		where := c.entries[0].Path.Child("capabilityFlavors")
		if c.entries[0].Legacy {
			where = c.entries[0].Path
		}
		c.report(RuleFlavorMissing, field.ErrorTypeRequired, c.corePath(core.index), nil, fmt.Sprintf(
			"no provider image for %s; add it under %s", c.format(core.written, core.set), where))
	}
}

// mostUnclear bounds the flavors with errors of their own that are considered one by one; with more, nothing is said
// about what is missing before those are repaired.
const mostUnclear = 16

func (c *correspondence[R]) maybeMeant(core capability.Set) bool {
	return len(c.unclear) > mostUnclear ||
		slices.ContainsFunc(c.unclear, func(unclear capability.Set) bool { return mayMean(unclear, core) })
}

// mayMean tells whether a flavor with unknown capabilities or values could be the core flavor once they are repaired.
func mayMean(unclear, core capability.Set) bool {
	return !slices.ContainsFunc(unclear.Conflicts(core), func(c capability.Conflict) bool { return len(c.Offer) > 0 })
}

// format prints capabilities as written and, where that says less, what they amount to.
func (c *correspondence[R]) format(written v1beta1.Capabilities, set capability.Set) string {
	short := c.vocabulary.Format(written)
	if full := set.String(); full != short {
		return short + " (in full " + full + ")"
	}
	return short
}

// coreList names core's flavors, the first few of them.
func (c *correspondence[R]) coreList() string {
	flavors := make([]string, 0, len(c.core))
	for i := range c.core {
		flavors = append(flavors, c.core[i].set.String())
	}
	return few(flavors)
}

func (c *correspondence[R]) report(rule string, kind field.ErrorType, at *field.Path, value any, detail string) {
	c.errs = append(c.errs, finding(rule, kind, at, value, c.name+": "+detail))
}
