// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// firstText warns once about names that the second text of GEP-0054 replaced (semantics S3). If the profile uses both names of a
// capability, that is an error instead.
func (c *checker[R]) firstText() {
	mixed := map[string]bool{}
	for _, f := range c.Report.Errors {
		if f.Origin == profile.RuleReservedMixed {
			name, _ := f.BadValue.(string)
			mixed[texts.Canonical(name)] = true
		}
	}
	var at *field.Path
	var first string
	more := 0
	for name, path := range c.ReservedNames() {
		switch {
		case !texts.OfFirst(name) || mixed[texts.Canonical(name)]:
		case at == nil:
			at, first = path(), name
		default:
			more++
		}
	}
	if at == nil {
		return
	}
	also := ""
	if more > 0 {
		also = "; there are such names in " + words.Count(more, "more place")
	}
	c.Report.Found(ruleFirstText, field.ErrorTypeInvalid, at, first,
		"%s is the name that GEP-0054 had at first; it means the same, and its name is now %s%s", first,
		profile.InSecondText(texts.Canonical(first)), also)
}

// silent warns about flavors that omit a registered capability of Gardener (semantics S3). They have all of its values, and so claim to be
// signed, or to be fit for updates in place.
func (c *checker[R]) silent() {
	vocabulary := c.profile.Vocabulary()
	silence := silencesOf(vocabulary)
	if silence.none() {
		return
	}
	legacy := map[provider.ImageVersion]bool{} // legacy versions have core's capabilities
	for id, version := range entries.Mappings(c.Images) {
		legacy[id] = version.Legacy
		for i := range version.Flavors {
			if !version.Legacy {
				flavor := &version.Flavors[i]
				c.silentFlavor(id, silence.of(c.Version(id), flavor.Supported(vocabulary)), flavor.Path.Child("capabilities"))
			}
		}
	}
	for v := range c.Versions() {
		for i := range v.CapabilityFlavors {
			if legacy[v.ID] {
				c.silentFlavor(v.ID, silence.of(v.MachineImageVersion, v.CapabilityFlavors[i].Capabilities), c.PathOf(v).Child("capabilityFlavors").Index(i))
			}
		}
	}
}

func (c *checker[R]) silentFlavor(id provider.ImageVersion, silent []lack, at *field.Path) {
	for _, s := range silent {
		claims := "so that it claims to be signed"
		if s.Capability == capability.UpdateType {
			claims = "so that it claims to be fit for updates in place, and core does not say inPlaceUpdates.supported"
		}
		c.Report.Found(ruleReservedSilent, field.ErrorTypeRequired, at.Child(s.Capability), nil,
			"%s: this flavor says nothing about %s, which is registered, %s: it has [%s]; write %s: [%s], which it had before, or [%s] if that is so",
			id, s.Capability, claims, strings.Join(s.Has, ", "), s.Capability, strings.Join(s.Had, ", "), strings.Join(s.Has, ", "))
	}
}
