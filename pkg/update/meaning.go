// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update

import (
	"iter"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// Meaning is a flavor that leaves out a reserved capability, and supports other values of it after the update. The update registers the
// capability, no longer registers it, or registers it differently (semantics S3).
type Meaning struct {
	provider.ImageVersion
	// View is the name of the only view with this change; empty if the profile itself has it.
	View string
	// Capability is the name that the profile registers, after the update or else before it. From and To use the words of its text.
	Capability string
	// How is [IsNew] if the update registers the capability, [IsGone] if it no longer does, and otherwise [Differs].
	How Aspect
	// Flavor are the flavor's declarations after the update. They leave out the capability. The flavor existed before.
	Flavor v1beta1.Capabilities
	// From and To are the values with which the flavor serves worker pools that request the capability, before and after the update.
	From, To []string
	// Claims are the values in To, but not in From, that are neither the capability's undeclared value nor core's statement about updates
	// in place. Nobody has declared them.
	Claims []string
}

// Gained returns the values that the flavor has only after the update. The caller owns the result.
func (m *Meaning) Gained() []string { return without(m.To, m.From) }

// Lost returns the values that the flavor has only before the update. The caller owns the result.
func (m *Meaning) Lost() []string { return without(m.From, m.To) }

func without(values, others []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return slices.Contains(others, value) })
}

// claims returns the Claims of a flavor of an image version in core.
func (m *Meaning) claims(version *v1beta1.MachineImageVersion) []string {
	said, _ := texts.Declared(profile.Undeclared(version), m.Capability)
	for _, d := range slices.Concat(capability.Reserved(), capability.FirstText()) {
		if d.Name == m.Capability {
			said = append(slices.Clip(said), d.Undeclared)
		}
	}
	return without(m.Gained(), said)
}

// registration is a change of a reserved capability's registration.
type registration struct {
	// name is the registered name after the update or, if there is none, before it.
	name string
	how  Aspect
}

// registrations yields the changed registrations of reserved capabilities, in the order of [capability.Reserved]. It ignores the order of
// values.
func (c *comparison[R]) registrations() iter.Seq[registration] {
	return func(yield func(registration) bool) {
		if c.sameVocabulary {
			return
		}
		for _, d := range capability.Reserved() {
			was, had := registrationOf(c.before.Spec(), d.Name)
			is, has := registrationOf(c.after.Spec(), d.Name)
			found := registration{is.Name, Differs}
			switch {
			case was.Name == is.Name && sets.New(was.Values...).Equal(sets.New(is.Values...)):
				continue
			case !had:
				found.how = IsNew
			case !has:
				found = registration{was.Name, IsGone}
			}
			if !yield(found) {
				return
			}
		}
	}
}

// meanings collects the flavors with another meaning after the update.
func (l *look[R]) meanings() {
	for r := range l.registrations() {
		for v := range l.After.Versions() {
			former := l.formerFlavors(v.ID)
			flavors := l.After.Catalog().Flavors(v.ID.Image, v.ID.Version)
			for i := range flavors {
				if _, says := texts.Declared(flavors[i].Capabilities, r.name); says {
					continue
				}
				if was := former(&flavors[i]); was != nil {
					m := Meaning{
						ImageVersion: v.ID, View: l.Name, Capability: r.name, How: r.how, Flavor: flavors[i].Capabilities,
						From: servesWith(l.Before, v.ID, was, r.name), To: servesWith(l.After, v.ID, &flavors[i], r.name),
					}
					m.Claims = m.claims(v.MachineImageVersion)
					l.meaning(m)
				}
			}
		}
	}
}

// meaning adds a meaning, unless its values are unchanged or the profile itself has it as well.
func (l *look[R]) meaning(m Meaning) {
	if len(m.Gained())+len(m.Lost()) == 0 {
		return
	}
	of := m
	of.View = ""
	key := keyOf(of)
	if !l.ownMeanings.Has(key) {
		l.Meanings = append(l.Meanings, &m)
	}
	if m.View == "" {
		l.ownMeanings.Insert(key)
	}
}

// servesWith returns the values with which a flavor serves worker pools that request a capability, in the words of the given name's text.
func servesWith[R any](p *profile.Profile[R], id provider.ImageVersion, flavor *imageselector.Flavor[R], name string) []string {
	values := p.Supports(id, flavor).ValuesIfAsked(name)
	words := p.Vocabulary().InWords(capability.Requirement{Capability: name}).Capability
	if words == name {
		return values
	}
	return texts.TranslateAll(words, values)
}

// formerFlavors returns a function that finds a flavor of an image version as it was before the update: the flavor with the same
// declarations, or else one with a common reference. The function returns nil for a new flavor.
func (l *look[R]) formerFlavors(id provider.ImageVersion) func(*imageselector.Flavor[R]) *imageselector.Flavor[R] {
	flavors := l.Before.Catalog().Flavors(id.Image, id.Version)
	declaring, referring := map[string]*imageselector.Flavor[R]{}, map[string]*imageselector.Flavor[R]{}
	first := func(table map[string]*imageselector.Flavor[R], key string, flavor *imageselector.Flavor[R]) {
		if table[key] == nil {
			table[key] = flavor
		}
	}
	for i := range flavors {
		first(declaring, keyOf(inOneText(flavors[i].Capabilities)), &flavors[i])
		for key := range referencesOf(&flavors[i]) {
			first(referring, key, &flavors[i])
		}
	}
	return func(flavor *imageselector.Flavor[R]) *imageselector.Flavor[R] {
		if was := declaring[keyOf(inOneText(flavor.Capabilities))]; was != nil {
			return was
		}
		for key := range referencesOf(flavor) {
			if was := referring[key]; was != nil {
				return was
			}
		}
		return nil
	}
}

// referencesOf yields a key for each of a flavor's references, together with its region.
func referencesOf[R any](flavor *imageselector.Flavor[R]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range flavor.Regional {
			if r := &flavor.Regional[i]; !yield(r.Region + "\x00" + keyOf(r.Ref)) {
				return
			}
		}
		if flavor.Global != nil {
			yield(keyOf(flavor.Global.Ref))
		}
	}
}

// inOneText returns capabilities in the second text of GEP-0054, with sorted values. It does not modify the argument.
func inOneText(c v1beta1.Capabilities) v1beta1.Capabilities {
	all := texts.InSecond(c)
	for name, values := range all {
		all[name] = slices.Sorted(slices.Values(values))
	}
	return all
}

// registrationOf returns a profile's registration of a reserved capability, under either of its names (semantics S3), and whether it has
// one.
func registrationOf(spec *v1beta1.CloudProfileSpec, name string) (v1beta1.CapabilityDefinition, bool) {
	for _, def := range spec.MachineCapabilities {
		if texts.Canonical(def.Name) == texts.Canonical(name) {
			return def, true
		}
	}
	return v1beta1.CapabilityDefinition{}, false
}
