// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// The changes in the provider config.

// changeConfig records the changes in the provider config.
func (t *target) changeConfig(versions []*wanted) {
	const at = "spec.providerConfig"
	added := map[string][]newVersion{}
	for _, w := range versions {
		if len(w.has) > 0 {
			t.extendConfig(w)
			continue
		}
		entries := t.encode(w, w.flavors, t.legacy)
		if entries == nil {
			continue
		}
		w.changed = true
		added[w.id.Image] = append(added[w.id.Image], newVersion{w.id.Version, entries})
	}
	config := edit.Members(edit.Value(t.tree, fieldpath.Parse(at)))
	images := edit.Items(config["machineImages"])
	var fresh []any
	for _, name := range slices.Sorted(maps.Keys(added)) {
		i := slices.IndexFunc(images, func(image any) bool { return edit.Members(image)["name"] == name })
		if i < 0 {
			fresh = append(fresh, newImage(name, added[name]))
			continue
		}
		t.insertVersions(fmt.Sprintf("%s.machineImages[%d].versions", at, i), edit.Items(edit.Members(images[i])["versions"]), added[name])
	}
	switch {
	case len(fresh) == 0:
	case len(config) == 0:
		t.set(at, map[string]any{"apiVersion": t.apiVersion, "kind": t.kind, "machineImages": fresh})
	default:
		for _, image := range fresh {
			t.insert(at+".machineImages", len(images), image)
		}
	}
	t.flush()
}

// encode returns the provider config's entries for flavors of a version. If they cannot be written, it reports an error and returns nil.
func (t *target) encode(w *wanted, flavors []*flavor, legacy bool) []map[string]any {
	converted := imageselector.Version[any]{Version: w.id.Version, Legacy: legacy || t.keepsLegacy}
	for _, f := range flavors {
		read := f.read
		if read.Capabilities = f.declares; legacy {
			read.Capabilities, read.Implied = v1beta1.Capabilities{capability.Architecture: f.declares[capability.Architecture]}, f.implied
		}
		converted.Flavors = append(converted.Flavors, read)
	}
	entries, err := transform.Encode(t.Cloud, t.apiVersion, t.kind, converted)
	if err != nil {
		t.fail(RuleProfile, field.ErrorTypeForbidden, "spec.machineImages", "%s cannot be written: %v", w.id, err)
		return nil
	}
	return entries
}

// encodeFlavor returns one flavor of a version as written in the provider config: an entry in the legacy format,
// otherwise one of an entry's flavors. It returns nil if the flavor needs several entries or cannot be written.
func (t *target) encodeFlavor(w *wanted, f *flavor, legacy bool) map[string]any {
	entries := t.encode(w, []*flavor{f}, legacy)
	switch {
	case len(entries) != 1:
		return nil
	case legacy:
		return entries[0]
	}
	return edit.Members(edit.Items(entries[0]["capabilityFlavors"])[0])
}

// extendConfig adds missing parts to a version in the provider config, and compares the existing references.
func (t *target) extendConfig(w *wanted) {
	if w.sharesOne(t) {
		return
	}
	for _, f := range w.flavors {
		if f.same == nil {
			t.addFlavor(w, f)
			continue
		}
		more := *f
		more.read.Regional = nil
		for _, r := range f.read.Regional {
			last := lastIn(f.same.flavor, r.Region)
			switch {
			case last == nil:
				more.read.Regional = append(more.read.Regional, r)
			case !t.sameImage(last.Ref, r.Ref):
				t.replaceRegion(w, f, last.Path, last.NamedAt != nil, r)
			}
		}
		if g := f.read.Global; g != nil && f.same.flavor.Global != nil && !t.sameImage(g.Ref, f.same.flavor.Global.Ref) {
			t.replaceGlobal(w, f)
		}
		if more.read.Global = nil; len(more.read.Regional) > 0 {
			t.addRegions(w, &more)
		}
	}
}

// sameImage reports whether two references name the same image, even if the cloud has several notations for it.
func (t *target) sameImage(a, b any) bool {
	describer, describes := provider.As[inventory.Describer](t.Cloud)
	first, is := a.(inventory.Referrer)
	second, too := b.(inventory.Referrer)
	if same := reflect.DeepEqual(a, b); same || !describes || !is || !too {
		return same
	}
	keyOf := describer.DescribeInventories().Key
	if keyOf == nil {
		return false
	}
	x, y := first.InInventory(), second.InInventory()
	key, _ := keyOf(x.ID)
	other, _ := keyOf(y.ID)
	return key == other && x.Name == y.Name
}

// sharesOne reports whether flavors with different images share one entry, for all architectures, in the profile. This is a conflict.
func (w *wanted) sharesOne(t *target) bool {
	of := map[*mappedFlavor]*imageselector.Global[any]{}
	for _, f := range w.flavors {
		g := of[f.same]
		if f.same == nil || f.read.Global == nil {
			continue
		}
		if g != nil && !t.sameImage(g.Ref, f.read.Global.Ref) {
			w.conflict(t, f.same.flavor.Path.String(), "%s: the source has a different image for %s, and the provider config one for all architectures",
				w.id, t.vocabulary.Format(f.declares))
			return true
		}
		of[f.same] = f.read.Global
	}
	return false
}

// lastIn returns the effective reference of a region, the last one; nil if there is none.
func lastIn(f *imageselector.Flavor[any], region string) (last *imageselector.Regional[any]) {
	for i := range f.Regional {
		if f.Regional[i].Region == region {
			last = &f.Regional[i]
		}
	}
	return last
}

func (w *wanted) conflict(t *target, at, format string, args ...any) {
	w.conflicts = true
	used := ""
	if by := t.usedBy(w.id); len(by) > 0 {
		used = "; it is used by " + words.Few(by)
	}
	t.fail(RuleConflict, field.ErrorTypeInvalid, at, "%s%s", fmt.Sprintf(format, args...), used)
}

// replaceRegion replaces another reference in a region, or reports a conflict.
func (t *target) replaceRegion(w *wanted, f *flavor, path *field.Path, elsewhere bool, r imageselector.Regional[any]) {
	at := path.String()
	if !t.options.Replace || elsewhere {
		w.conflict(t, at, "region %s: %s has another image here than in the source, for %s; --replace replaces it",
			words.Quoted(r.Region), w.id, t.vocabulary.Format(f.declares))
		return
	}
	only := *f
	only.read.Regional, only.read.Global = []imageselector.Regional[any]{r}, nil
	for _, entry := range edit.Items(t.encodeFlavor(w, &only, f.same.version.Legacy)["regions"]) {
		t.replaceMembers(w, at, edit.Members(entry), []string{"name", "architecture"})
	}
}

// replaceMembers replaces the differing members of the mapping at a path, except some.
func (t *target) replaceMembers(w *wanted, at string, is map[string]any, but []string) {
	for _, name := range t.differing(at, is, but) {
		path := at + "." + name
		if w.replaced = true; t.replaced[path] {
			continue
		}
		if t.replaced == nil {
			t.replaced = map[string]bool{}
		}
		t.replaced[path] = true
		t.set(path, is[name])
	}
}

// differing returns the names of members that differ in the mapping at a path, except some.
func (t *target) differing(at string, is map[string]any, but []string) (names []string) {
	was := edit.Members(edit.Value(t.tree, fieldpath.Parse(at)))
	for _, name := range edit.Order(is) {
		if !slices.Contains(but, name) && !reflect.DeepEqual(was[name], is[name]) {
			names = append(names, name)
		}
	}
	return names
}

// replaceGlobal replaces another reference for all regions, or reports a conflict. The source may omit settings that
// the profile has besides the image, such as acceleratedNetworking.
func (t *target) replaceGlobal(w *wanted, f *flavor) {
	at := f.same.flavor.Global.Path.String()
	only := *f
	only.read.Regional = nil
	is := t.encodeFlavor(w, &only, f.same.version.Legacy)
	if is == nil {
		return
	}
	path := fieldpath.Parse(at)
	in, member := at[:strings.LastIndex(at, ".")], path[len(path)-1].Name
	beside := []string{"version", "capabilities", "architecture", "acceleratedNetworking"}
	_, stays := is[member]
	switch {
	case len(t.differing(in, is, beside)) == 0:
		return
	case !t.options.Replace:
		w.conflict(t, at, "%s: %s has another image than in the source; --replace replaces it", w.id, t.vocabulary.Format(f.declares))
		return
	case !stays:
		t.add(edit.Delete(path))
	}
	t.replaceMembers(w, in, is, beside)
}

// addRegions adds regions to a flavor.
func (t *target) addRegions(w *wanted, f *flavor) {
	at := f.same.flavor.Path.String()
	if f.same.version.Legacy {
		at = f.same.version.Path.String()
	}
	for _, entry := range edit.Items(t.encodeFlavor(w, f, f.same.version.Legacy)["regions"]) {
		w.changed = true
		t.insertRegion(at+".regions", entry)
	}
}

// insertRegion inserts an entry in the order of the profile's regions.
func (t *target) insertRegion(path string, entry any) {
	rank := func(entry any) int {
		name, _ := edit.Members(entry)["name"].(string)
		return slices.Index(t.regions, name)
	}
	list := edit.Items(edit.Value(t.tree, fieldpath.Parse(path)))
	t.insert(path, firstOf(list, func(other any) bool { return rank(other) > rank(entry) }), entry)
}

// addFlavor adds a flavor to an existing version.
func (t *target) addFlavor(w *wanted, f *flavor) {
	if m := w.refersTo(t, f); m != nil {
		w.conflict(t, m.flavor.Path.String(), "%s: an image of the source, of %s, is here with other capabilities: correct them, or remove the flavor",
			w.id, t.vocabulary.Format(f.declares))
		return
	}
	i := slices.IndexFunc(w.has, func(m *mappedFlavor) bool { return !m.version.Legacy })
	if i < 0 {
		t.addBesideLegacy(w, f)
		return
	}
	written := t.encodeFlavor(w, f, false)
	if written == nil {
		return
	}
	version := w.has[i].version
	at := firstOf(version.Flavors, func(other imageselector.Flavor[any]) bool {
		return slices.Compare(t.rank(other.Capabilities), t.rank(f.declares)) > 0
	})
	w.changed = true
	t.insert(version.Path.String()+".capabilityFlavors", at, written)
}

// refersTo returns an existing flavor with one of f's references; nil if there is none, or if the provider's flavors
// may share references.
func (w *wanted) refersTo(t *target, f *flavor) *mappedFlavor {
	if sharer, shares := provider.As[provider.ReferenceSharer](t.Cloud); shares && sharer.SharesReferences() {
		return nil
	}
	for _, m := range w.has {
		if g := f.read.Global; g != nil && m.flavor.Global != nil && t.sameImage(g.Ref, m.flavor.Global.Ref) {
			return m
		}
		for _, r := range f.read.Regional {
			if other := lastIn(m.flavor, r.Region); other != nil && t.sameImage(other.Ref, r.Ref) {
				return m
			}
		}
	}
	return nil
}

// addBesideLegacy adds a flavor to a version in the legacy format: to the same entry if it can express the flavor,
// otherwise in an entry of its own.
func (t *target) addBesideLegacy(w *wanted, f *flavor) {
	last := w.has[len(w.has)-1].version
	at := last.Path.String()
	legacy := len(f.declares) == 1 && len(f.declares[capability.Architecture]) == 1
	entries := t.encode(w, []*flavor{f}, legacy)
	if entries == nil {
		return
	}
	w.changed = true
	if regions, has := entries[0]["regions"]; has && legacy && len(entries) == 1 && len(entries[0]) == 2 {
		for _, entry := range edit.Items(regions) {
			t.insertRegion(at+".regions", entry)
		}
		return
	}
	path := fieldpath.Parse(at)
	for _, entry := range entries {
		t.insert(at[:strings.LastIndex(at, "[")], path[len(path)-1].Index+1, entry)
	}
}
