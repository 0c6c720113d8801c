// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/release/source"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// Turning a release's artifacts into a profile's flavors.

// flavor is an artifact in a profile.
type flavor struct {
	*source.Artifact
	has source.Mapped
	// declares are the capabilities in the provider config, and core those in core, which cannot carry all of them.
	declares, core v1beta1.Capabilities
	// implied are the map's other capabilities, for which legacy formats have fields.
	implied v1beta1.Capabilities
	set     capability.Set
	// read is the flavor as the provider reads it, with references only for the profile's regions.
	read imageselector.Flavor[any]
	// same is the profile's existing flavor; nil if it has none.
	same *mappedFlavor
}

// flavorsOf returns the profile's flavors of one version, in the order in which they are written. It records faults
// and skipped artifacts.
func (t *target) flavorsOf(artifacts []source.Artifact) []*flavor {
	var all []*flavor
	for i := range artifacts {
		if f := t.flavorOf(&artifacts[i]); f != nil {
			all = append(all, f)
		}
	}
	t.resolveAlone(all)
	kept := slices.DeleteFunc(all, func(f *flavor) bool { return !t.fit(f) })
	if t.contents.Map != nil && t.contents.Map.Source == source.Inventory {
		kept = together(kept)
	}
	t.leaveUndeclared(kept)
	kept = t.distinct(slices.DeleteFunc(kept, func(f *flavor) bool { return !t.refer(f) }))
	slices.SortStableFunc(kept, func(a, b *flavor) int { return slices.Compare(t.rank(a.declares), t.rank(b.declares)) })
	return kept
}

// flavorOf applies the map to an artifact. It returns nil if the profile cannot use the artifact.
func (t *target) flavorOf(a *source.Artifact) *flavor {
	f := &flavor{Artifact: a, has: source.Mapped{Capabilities: a.Capabilities}}
	if a.Facts == nil {
		return f
	}
	m := t.contents.Map
	if when := m.Skips(a.Facts, t.contents.Matched); when != nil {
		var conditions []string
		for _, key := range slices.Sorted(maps.Keys(when)) {
			conditions = append(conditions, key+": "+when[key])
		}
		why := " with {" + strings.Join(conditions, ", ") + "}, by skip of the map,"
		t.skip("an image"+why, "images"+why)
		return nil
	}
	if m.Source == source.Inventory {
		if !t.active(a.Facts) {
			t.skip("an image that is not active", "images that are not active")
			return nil
		}
		if !t.isMapGiven {
			m = &source.Map{Rows: slices.Concat(m.Rows, source.TableOf(t.Cloud))}
		}
	}
	f.has = m.Of(a.Facts, t.vocabularyOf)
	if _, said := f.has.Capabilities[capability.Architecture]; said || t.legacy {
		return f
	}
	_, known, _ := t.nameOf(capability.Architecture)
	if len(known) > 1 {
		t.faults = append(t.faults, source.Fault{
			Place: a.At, Rule: source.RuleSource, Type: field.ErrorTypeRequired, Field: capability.Architecture,
			Message: fmt.Sprintf("nothing says the architecture of the image, and the profile registers %s: add it to the source or the map, "+
				"or choose other images by --match", words.And(known)),
		})
		return nil
	}
	f.has.Capabilities[capability.Architecture] = known
	return f
}

// active reports whether the cloud can boot an image with these facts. An image without a status is active.
func (t *target) active(facts map[string][]string) bool {
	if len(facts["status"]) == 0 {
		return true
	}
	status := strings.ToLower(facts["status"][0])
	describer, describes := provider.As[inventory.Describer](t.Cloud)
	return status == "active" || describes && slices.Contains(describer.DescribeInventories().Active, status)
}

// resolveAlone gives an image the values of Alone in each respect in which no ordinary image exists beside it. An
// image that is special in several respects stays special in the last of them if there is an ordinary image. With all
// values in every respect, it would be chosen instead of the ordinary one.
func (t *target) resolveAlone(all []*flavor) {
	if t.contents.Map == nil {
		return
	}
	names := t.contents.Map.AloneNames()
	if len(names) == 0 {
		return
	}
	both := make([][]string, len(all))
	for i, f := range all {
		both[i] = f.aloneIn(names, slices.DeleteFunc(slices.Clone(all), func(b *flavor) bool { return !f.sameBut(names, b) }))
	}
	for i, f := range all {
		for _, name := range both[i] {
			f.has.Capabilities[name] = f.has.Alone[name]
		}
	}
}

// sameBut reports whether two images have the same capabilities, except the named ones.
func (f *flavor) sameBut(names []string, b *flavor) bool {
	rest := func(f *flavor) string {
		c := maps.Clone(f.has.Capabilities)
		for _, name := range names {
			delete(c, name)
		}
		return fmt.Sprint(c)
	}
	return rest(f) == rest(b)
}

// aloneIn returns the capabilities in which an image gets all values, given the images beside it.
func (f *flavor) aloneIn(names []string, beside []*flavor) (both []string) {
	for _, name := range names {
		_, special := f.has.Alone[name]
		if special && !slices.ContainsFunc(beside, func(b *flavor) bool { return ordinaryIn(name, names, b, f) }) {
			both = append(both, name)
		}
	}
	ordinary := slices.ContainsFunc(beside, func(b *flavor) bool { return len(b.has.Alone) == 0 })
	if ordinary && len(both) == len(f.has.Alone) && len(both) > 0 {
		return both[:len(both)-1]
	}
	return both
}

// ordinaryIn reports whether image b is ordinary in one respect in which another is special, and matches it in all others.
func ordinaryIn(name string, names []string, b, special *flavor) bool {
	for _, n := range names {
		_, is := b.has.Alone[n]
		if _, wants := special.has.Alone[n]; is != (wants && n != name) {
			return false
		}
	}
	return true
}

// fit computes the capabilities that a flavor declares in the profile. It reports whether the profile registers values for it.
func (t *target) fit(f *flavor) bool {
	f.declares, f.core, f.implied = v1beta1.Capabilities{}, v1beta1.Capabilities{}, v1beta1.Capabilities{}
	for _, written := range slices.Sorted(maps.Keys(f.has.Capabilities)) {
		values := f.has.Capabilities[written]
		name, known, core := t.nameOf(written)
		if name == "" {
			if t.legacy && strings.HasPrefix(written, t.Cloud.Type()+"-") {
				f.implied[written] = values
			} else {
				t.unregistered[written] = true
			}
			continue
		}
		if name != written {
			values = texts.TranslateAll(written, values)
		}
		var kept []string
		for _, value := range known {
			if slices.Contains(values, value) {
				kept = append(kept, value)
			}
		}
		if len(kept) == 0 {
			t.skip(fmt.Sprintf("an image with %s, a value of %s that the profile does not register,", words.And(values), name),
				fmt.Sprintf("images with %s, a value of %s that the profile does not register,", words.And(values), name))
			return false
		}
		if f.declares[name] = kept; core {
			f.core[name] = kept
		}
	}
	return true
}

// nameOf returns a capability's name and possible values in the profile, and whether core can carry it. The name is
// empty if the profile does not have the capability.
func (t *target) nameOf(written string) (name string, values []string, core bool) {
	if t.legacy && written == capability.Architecture {
		return written, architectures, true
	}
	for _, as := range []string{written, texts.Other(written)} {
		for _, c := range t.vocabularyOf {
			if as != "" && c.Name == as {
				return as, c.Values, true
			}
		}
	}
	if t.legacy || source.ReservedAs(written) == nil {
		return "", nil, false
	}
	name = texts.Canonical(written)
	if other := texts.Other(name); t.firstText && other != "" {
		name = other
	}
	return name, source.ReservedAs(name).Values, false
}

// leaveUndeclared removes unregistered reserved capabilities from all flavors, if every flavor has the default for
// images that do not declare them.
func (t *target) leaveUndeclared(all []*flavor) {
	declared := map[string]bool{}
	for _, f := range all {
		for name, values := range f.declares {
			d := source.ReservedAs(name)
			_, core := f.core[name]
			declared[name] = declared[name] || core || d == nil || !slices.Equal(values, []string{d.Undeclared})
		}
	}
	for _, f := range all {
		maps.DeleteFunc(f.declares, func(name string, _ v1beta1.CapabilityValues) bool { return !declared[name] })
	}
}

// refer reads a flavor's references in the profile's regions as the provider does. It reports whether there are any
// without faults, and records the faults.
func (t *target) refer(f *flavor) bool {
	regions, places := t.regionsOf(f)
	entry := map[string]any{"capabilities": f.declares}
	maps.Copy(entry, f.Global)
	if len(regions) > 0 {
		entry["regions"] = regions
	}
	f.set, _ = t.vocabulary.Flavor(f.declares, t.undeclared(provider.ImageVersion{Image: f.Image, Version: f.Version}), nil)
	if len(regions) == 0 && len(f.Global) == 0 {
		f.read.Capabilities = f.declares
		t.nowhere = append(t.nowhere, f)
		return false
	}
	root := field.NewPath("images")
	whole := map[string]any{"version": f.Version, "capabilityFlavors": []any{entry}}
	if t.keepsLegacy { // the entry itself contains the references
		delete(entry, "capabilities")
		entry["version"], whole = f.Version, entry
	}
	version, errs := transform.ReadEntry(t.Cloud, t.apiVersion, t.kind, whole, root)
	if version != nil && len(version.Flavors) == 1 {
		f.read = version.Flavors[0]
		for _, r := range f.read.Regional {
			errs = append(errs, t.Cloud.ValidateReference(r.Ref, r.Path)...)
		}
		if f.read.Global != nil {
			errs = append(errs, t.Cloud.ValidateReference(f.read.Global.Ref, f.read.Global.Path)...)
		}
	}
	found := finding.Of(errs)
	t.wrongReferences(f, found, root, places)
	return len(found) == 0 && version != nil
}

// wrongReferences records the provider's errors about a flavor at their places in the source.
func (t *target) wrongReferences(f *flavor, found finding.List, root *field.Path, places []source.Place) {
	path := root.Child("machineImages").Index(0).Child("versions").Index(0)
	if !t.keepsLegacy {
		path = path.Child("capabilityFlavors").Index(0)
	}
	below := path.String()
	for _, err := range found {
		at, place := strings.TrimPrefix(strings.TrimPrefix(err.Field, below), "."), f.At
		for i := range places {
			if strings.HasPrefix(at, fmt.Sprintf("regions[%d]", i)) {
				place = places[i]
			}
		}
		t.faults = append(t.faults, source.Fault{Place: place, Rule: source.RuleSource, Type: err.Type, Field: at, Message: source.MessageOf(err.Error)})
	}
}

// regionsOf returns a flavor's references in the profile's regions, in the profile's order, and their places. It records other regions.
func (t *target) regionsOf(f *flavor) (regions []any, places []source.Place) {
	for _, r := range f.Regions {
		if !slices.Contains(t.regions, r.Name) {
			t.skippedRegions[r.Name] = true
		}
	}
	for _, name := range t.regions {
		if i := slices.IndexFunc(f.Regions, func(r source.Region) bool { return r.Name == name }); i >= 0 {
			fields := maps.Clone(f.Regions[i].Fields)
			fields["name"] = name
			regions, places = append(regions, fields), append(places, f.Places[i])
		}
	}
	return regions, places
}

// distinct returns the flavors without duplicates. It reports each duplicate with the capabilities that would distinguish it.
func (t *target) distinct(all []*flavor) (kept []*flavor) {
	for _, f := range all {
		i := slices.IndexFunc(kept, func(other *flavor) bool { return other.set == f.set })
		if i < 0 {
			kept = append(kept, f)
			continue
		}
		t.ambiguous(kept[i], f)
	}
	return kept
}

func (t *target) ambiguous(a, b *flavor) {
	places := []string{placeText(a.At), placeText(b.At)}
	if a.At.File == b.At.File && a.At.Line == b.At.Line {
		places = places[:1]
	}
	var apart []string
	all := maps.Clone(a.has.Capabilities)
	maps.Copy(all, b.has.Capabilities)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Equal(a.has.Capabilities[name], b.has.Capabilities[name]) {
			apart = append(apart, name)
		}
	}
	match, in := "or leave one of them out", "machineCapabilities"
	if a.Facts != nil {
		match = "or choose one of them, as by --match " + tellingApart(a, b)
	}
	if t.Parent != nil {
		in = "machineCapabilities of the parent"
	}
	repair := strings.TrimPrefix(match, "or ")
	switch names := words.And(apart); {
	case len(apart) > 0 && t.legacy:
		repair = fmt.Sprintf("they differ in %s: register %s in %s beside the architecture, as migrate does that, %s", names, names, in, match)
		if !slices.ContainsFunc(apart, func(name string) bool { return source.ReservedAs(name) == nil }) {
			repair = fmt.Sprintf("they differ in %s, for which only profiles with machineCapabilities have a place: register the architecture by migrate, %s",
				names, match)
		}
	case len(apart) > 0:
		repair = fmt.Sprintf("they differ in %s: register %s in %s, %s", names, names, in, match)
	}
	t.fail(RuleAmbiguous, field.ErrorTypeDuplicate, t.orParent("spec.machineCapabilities"), "%s@%s: two images are the same flavor here, %s, those in %s; %s",
		a.Image, a.Version, t.vocabulary.Format(a.declares), words.And(places), repair)
}

// tellingApart returns a condition for --match that image a meets and image b does not.
func tellingApart(a, b *flavor) string {
	for _, key := range []string{"platform", "hyper_v_generation", "published_in", "name", "id"} {
		if is := a.Facts[key]; len(is) == 1 && !slices.Equal(is, b.Facts[key]) {
			return key + "=" + is[0]
		}
	}
	return "KEY=GLOB"
}

func placeText(p source.Place) string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// names returns the profile's capabilities in the order in which they are written.
func (t *target) names() (names []string) {
	for _, c := range t.vocabularyOf {
		names = append(names, c.Name)
	}
	if t.legacy {
		names = append(names, capability.Architecture)
	}
	for _, d := range append(capability.Reserved(), capability.FirstText()...) {
		if !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names
}

// rank returns the sort key of a flavor: the positions of its values, capability by capability.
func (t *target) rank(c v1beta1.Capabilities) (rank []int) {
	const most = 1000
	for _, name := range t.names() {
		values, declared := c[name]
		first := most
		if d := source.ReservedAs(name); !declared && d != nil {
			values = []string{d.Undeclared}
		} else if !declared {
			first = -1
		}
		_, known, _ := t.nameOf(name)
		for _, value := range values {
			if i := slices.Index(known, value); i >= 0 {
				first = min(first, i)
			}
		}
		rank = append(rank, first, cmp.Compare(len(values), 1))
	}
	return rank
}

// architectures are those of profiles without capabilities.
var architectures = []string{constants.ArchitectureAMD64, constants.ArchitectureARM64}

// together joins inventory artifacts that are one flavor: images of several regions, or one global image that each region lists.
func together(artifacts []*flavor) (joined []*flavor) {
	known := map[string]*flavor{}
	for _, f := range artifacts {
		key := fmt.Sprint(f.declares)
		if first := known[key]; first == nil {
			known[key] = f
		} else if first.join(f) {
			continue
		}
		joined = append(joined, f)
	}
	return joined
}

// join adds the references of another flavor with the same capabilities. It reports whether none of them conflict.
func (f *flavor) join(other *flavor) bool {
	a, b := f.Artifact, other.Artifact
	if a.Global != nil || b.Global != nil {
		return fmt.Sprint(a.Global) == fmt.Sprint(b.Global)
	}
	for _, r := range b.Regions {
		if slices.ContainsFunc(a.Regions, func(has source.Region) bool { return has.Name == r.Name }) {
			return false
		}
	}
	joined := *a
	joined.Regions, joined.Places = slices.Concat(a.Regions, b.Regions), slices.Concat(a.Places, b.Places)
	f.Artifact = &joined
	return true
}
