// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/release/source"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
)

// What of a version a profile has already, and what has to be changed in its manifest.

// wanted is a version that a profile is to have.
type wanted struct {
	id      provider.ImageVersion
	flavors []*flavor
	// has are the flavors that the provider config has of it.
	has []*mappedFlavor
	// changed, replaced and conflicts say what becomes of it.
	changed, replaced, conflicts bool
}

func (w *wanted) action() string {
	switch {
	case w.conflicts:
		return ActionConflict
	case w.replaced:
		return ActionReplaced
	case w.changed:
		return ActionAdded
	}
	return ActionUnchanged
}

// mappedFlavor is a flavor of the provider config.
type mappedFlavor struct {
	version *imageselector.Version[any]
	flavor  *imageselector.Flavor[any]
	set     capability.Set
}

// compare finds the flavors that the profile has already.
func (w *wanted) compare(t *target) {
	undeclared := t.undeclared(w.id)
	for id, version := range entries.Mappings(t.existing) {
		if id != w.id {
			continue
		}
		for i := range version.Flavors {
			f := &version.Flavors[i]
			set, _ := t.vocabulary.Flavor(f.Supported(t.vocabulary), undeclared, nil)
			w.has = append(w.has, &mappedFlavor{version, f, set})
		}
	}
	for _, f := range w.flavors {
		if i := slices.IndexFunc(w.has, func(m *mappedFlavor) bool { return m.set == f.set }); i >= 0 {
			f.same = w.has[i]
		}
	}
}

// edits are operations on a manifest.
type edits struct {
	ops   []edit.Op
	order []string
	// lists are items to be inserted into lists, by path, in the order of paths.
	lists map[string][]insertion
	paths []string
}

// insertion is a new item of a list, before the one that has an index.
type insertion struct {
	before int
	value  any
}

func (e *edits) add(op edit.Op) { e.ops = append(e.ops, op.InOrder(e.order...)) }

// insert notes a new item.
func (e *edits) insert(path string, before int, value any) {
	if e.lists == nil {
		e.lists = map[string][]insertion{}
	}
	if e.lists[path] == nil {
		e.paths = append(e.paths, path)
	}
	e.lists[path] = append(e.lists[path], insertion{before, value})
}

// flush makes operations of the items that were noted. The mappings in which lists are have to be there.
func (e *edits) flush(tree map[string]any) {
	for _, path := range e.paths {
		items := e.lists[path]
		slices.SortStableFunc(items, func(a, b insertion) int { return a.before - b.before })
		at := fieldpath.Parse(path)
		if len(asList(edit.Value(tree, at))) > 0 {
			for _, item := range items {
				e.add(edit.Insert(append(slices.Clip(at), fieldpath.Segment{Index: item.before}), item.value))
			}
			continue
		}
		var values []any
		for _, item := range items {
			values = append(values, item.value)
		}
		e.set(tree, path, values)
	}
	e.lists, e.paths = nil, nil
}

// set gives a member a value, which may be there already.
func (e *edits) set(tree map[string]any, path string, value any, before ...string) {
	at := fieldpath.Parse(path)
	if _, there := mapping(edit.Value(tree, at[:len(at)-1]))[at[len(at)-1].Name]; there {
		e.add(edit.Replace(at, value))
		return
	}
	e.add(edit.Insert(at, value, before...))
}

// placed is a version in a list, at an index; or a new one, with its place among the new ones.
type placed struct {
	version string
	index   int
	isNew   bool
	values  []any
}

// insertVersions notes new entries of a list of versions: before the first Older one or, where Older ones come first, behind the last
// Older one. So the order in which versions are imported does not matter.
func (e *edits) insertVersions(path string, list []any, entries []placed) {
	all := make([]placed, 0, len(list)+len(entries))
	for i, item := range list {
		version, _ := mapping(item)["version"].(string)
		all = append(all, placed{version: version, index: i})
	}
	ascending := ascends(all)
	slices.SortStableFunc(entries, func(a, b placed) int {
		switch {
		case source.Older(b.version, a.version):
			return -1
		case source.Older(a.version, b.version):
			return 1
		}
		return 0
	})
	for _, entry := range entries {
		entry.isNew = true
		i := slices.IndexFunc(all, func(p placed) bool {
			if ascending {
				return source.Older(entry.version, p.version)
			}
			return source.Older(p.version, entry.version)
		})
		if i < 0 {
			i = len(all)
		}
		all = slices.Insert(all, i, entry)
	}
	before := len(list)
	var found []placed
	for _, p := range slices.Backward(all) {
		if !p.isNew {
			before = p.index
			continue
		}
		p.index = before
		found = append(found, p)
	}
	for _, p := range slices.Backward(found) {
		for _, value := range p.values {
			e.insert(path, p.index, value)
		}
	}
}

// ascends reports whether versions are in order, the oldest first.
func ascends(all []placed) bool {
	rises := false
	for i := 1; i < len(all); i++ {
		if source.Older(all[i].version, all[i-1].version) {
			return false
		}
		rises = rises || source.Older(all[i-1].version, all[i].version)
	}
	return rises
}

// core notes what has to change in core.
func (e *edits) core(t *target, versions []*wanted) {
	e.order = append([]string{"name", "version", "classification", "architectures", "cri", "capabilityFlavors", "capabilities"}, t.names()...)
	added, order := map[string][]placed{}, []string{}
	for _, w := range versions {
		if v, found := entries.Find(&t.Spec, w.id); found {
			e.extendCore(t, w, v)
			continue
		}
		w.changed = true
		if added[w.id.Image] == nil {
			order = append(order, w.id.Image)
		}
		added[w.id.Image] = append(added[w.id.Image], placed{version: w.id.Version, values: []any{t.coreVersion(w)}})
	}
	for _, name := range order {
		i := slices.IndexFunc(t.Spec.MachineImages, func(image v1beta1.MachineImage) bool { return image.Name == name })
		if i >= 0 {
			path := fmt.Sprintf("spec.machineImages[%d].versions", i)
			e.insertVersions(path, asList(edit.Value(t.tree, fieldpath.Parse(path))), added[name])
			continue
		}
		e.insert("spec.machineImages", len(t.Spec.MachineImages), newImage(name, added[name]))
	}
	e.flush(t.tree)
}

// newImage is an image with new versions.
func newImage(name string, versions []placed) map[string]any {
	inside := &edits{}
	inside.insertVersions("versions", nil, versions)
	var values []any
	for _, item := range inside.lists["versions"] {
		values = append(values, item.value)
	}
	return map[string]any{"name": name, "versions": values}
}

// coreVersion is a new version of core.
func (t *target) coreVersion(w *wanted) map[string]any {
	version := map[string]any{"version": w.id.Version}
	if t.options.Classification != "" {
		version["classification"] = t.options.Classification
	}
	if runtimes := t.runtimesOf(w.id.Image); len(runtimes) > 0 {
		version["cri"] = runtimes
	}
	flavors := t.coreFlavors(w)
	if !t.legacy {
		list := make([]any, 0, len(flavors))
		for _, c := range flavors {
			list = append(list, tree(c))
		}
		version["capabilityFlavors"] = list
		return version
	}
	var all []any
	for _, architecture := range architectures {
		if slices.ContainsFunc(flavors, func(c v1beta1.Capabilities) bool { return slices.Contains(c[capability.Architecture], architecture) }) {
			all = append(all, architecture)
		}
	}
	version["architectures"] = all
	return version
}

// runtimesOf returns the container runtimes of a new version: those of the newest version of the image that says any. In a NamespacedCloudProfile
// Gardener demands them, and fills in nothing.
func (t *target) runtimesOf(name string) []any {
	newest, found := "", []v1beta1.CRI(nil)
	look := func(spec *v1beta1.CloudProfileSpec) {
		for _, image := range spec.MachineImages {
			for _, v := range image.Versions {
				if image.Name == name && len(v.CRI) > 0 && (newest == "" || source.Older(newest, v.Version)) {
					newest, found = v.Version, v.CRI
				}
			}
		}
	}
	if look(&t.Spec); t.Parent != nil && newest == "" {
		if look(t.Parent); newest == "" {
			found = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
		}
	}
	if len(found) == 0 {
		return nil
	}
	raw, _ := json.Marshal(found)
	return asList(edit.Decoded(raw))
}

// coreFlavors are the flavors of core for a version, those that the provider config has already included, each once.
func (t *target) coreFlavors(w *wanted) (flavors []v1beta1.Capabilities) {
	for _, f := range w.flavors {
		flavors = append(flavors, f.core)
	}
	for _, m := range w.has {
		own := maps.Clone(m.flavor.Supported(t.vocabulary))
		maps.DeleteFunc(own, func(name string, _ v1beta1.CapabilityValues) bool {
			_, _, core := t.nameOf(name)
			return !core
		})
		flavors = append(flavors, own)
	}
	slices.SortStableFunc(flavors, func(a, b v1beta1.Capabilities) int { return slices.Compare(t.rank(a), t.rank(b)) })
	var known []capability.Set
	return slices.DeleteFunc(flavors, func(c v1beta1.Capabilities) bool {
		set, _ := t.vocabulary.Flavor(c, nil, nil)
		if slices.Contains(known, set) {
			return true
		}
		known = append(known, set)
		return false
	})
}

// extendCore adds to a version of core what it does not have. Flavors that it leaves to a webhook it goes on leaving to that.
func (e *edits) extendCore(t *target, w *wanted, v entries.Version) {
	at := v.PathIn(field.NewPath("spec")).String()
	if len(v.Architectures) > 0 || t.legacy {
		e.extendArchitectures(t, w, v.Architectures, at+".architectures")
	}
	if len(v.CapabilityFlavors) == 0 || t.legacy {
		return
	}
	for _, f := range w.flavors {
		set, _ := t.vocabulary.Flavor(f.core, nil, nil)
		has := func(c v1beta1.MachineImageFlavor) bool {
			own, _ := t.vocabulary.Flavor(c.Capabilities, nil, nil)
			return own == set
		}
		if slices.ContainsFunc(v.CapabilityFlavors, has) {
			continue
		}
		i := slices.IndexFunc(v.CapabilityFlavors, func(c v1beta1.MachineImageFlavor) bool {
			return slices.Compare(t.rank(c.Capabilities), t.rank(f.core)) > 0
		})
		if i < 0 {
			i = len(v.CapabilityFlavors)
		}
		if !slices.ContainsFunc(e.lists[at+".capabilityFlavors"], func(other insertion) bool { return reflect.DeepEqual(other.value, tree(f.core)) }) {
			w.changed = true
			e.insert(at+".capabilityFlavors", i, tree(f.core))
		}
	}
}

func (e *edits) extendArchitectures(t *target, w *wanted, has []string, path string) {
	is := has
	if len(is) == 0 {
		is = architectures[:1]
	}
	more := slices.Clone(is)
	for _, f := range w.flavors {
		for _, architecture := range f.core[capability.Architecture] {
			if !slices.Contains(more, architecture) {
				more = append(more, architecture)
			}
		}
	}
	if len(more) == len(is) {
		return
	}
	w.changed = true
	if len(has) == 0 {
		e.set(t.tree, path, textList(more), "capabilityFlavors", "cri")
		return
	}
	for _, architecture := range more[len(is):] {
		e.insert(path, len(has), architecture)
	}
}

func textList(all []string) []any {
	values := make([]any, 0, len(all))
	for _, text := range all {
		values = append(values, text)
	}
	return values
}

// tree returns capabilities as a manifest has them.
func tree(c v1beta1.Capabilities) map[string]any {
	members := map[string]any{}
	for name, values := range c {
		members[name] = textList(values)
	}
	return members
}

// config notes what has to change in the provider config.
func (e *edits) config(t *target, versions []*wanted) {
	const at = "spec.providerConfig"
	added, order := map[string][]placed{}, []string{}
	for _, w := range versions {
		if len(w.has) > 0 {
			e.extendConfig(t, w)
			continue
		}
		entries, ok := t.encode(w, w.flavors, t.legacy)
		if !ok {
			continue
		}
		if w.changed = true; added[w.id.Image] == nil {
			order = append(order, w.id.Image)
		}
		added[w.id.Image] = append(added[w.id.Image], placed{version: w.id.Version, values: entries})
	}
	config := mapping(edit.Value(t.tree, fieldpath.Parse(at)))
	images := asList(config["machineImages"])
	var fresh []any
	for _, name := range order {
		i := slices.IndexFunc(images, func(image any) bool { return mapping(image)["name"] == name })
		if i < 0 {
			fresh = append(fresh, newImage(name, added[name]))
			continue
		}
		e.insertVersions(fmt.Sprintf("%s.machineImages[%d].versions", at, i), asList(mapping(images[i])["versions"]), added[name])
	}
	switch {
	case len(fresh) == 0:
	case len(config) == 0:
		e.set(t.tree, at, map[string]any{"apiVersion": t.apiVersion, "kind": t.kind, "machineImages": fresh})
	default:
		for _, image := range fresh {
			e.insert(at+".machineImages", len(images), image)
		}
	}
	e.flush(t.tree)
}

// encode returns the entries of the provider config for flavors of a version. It reports whether they can be written, and otherwise why not.
func (t *target) encode(w *wanted, flavors []*flavor, legacy bool) ([]any, bool) {
	converted := imageselector.Version[any]{Version: w.id.Version, Legacy: legacy}
	for _, f := range flavors {
		read := f.read
		if read.Capabilities = f.declares; legacy {
			read.Capabilities, read.Implied = v1beta1.Capabilities{capability.Architecture: f.declares[capability.Architecture]}, f.implied
		}
		converted.Flavors = append(converted.Flavors, read)
	}
	format := provider.FormatFlavors
	if legacy {
		format = provider.FormatLegacy
	}
	written, err := profile.Encode(t.Cloud, converted, format)
	if err != nil {
		t.fail(RuleProfile, field.ErrorTypeForbidden, "spec.machineImages", "%s cannot be written: %v", w.id, err)
		return nil, false
	}
	entries := make([]any, 0, len(written))
	for _, entry := range written {
		if legacy {
			t.shorten(entry)
		}
		entries = append(entries, entry)
	}
	return entries, true
}

// shorten leaves the architecture amd64 out of an entry in the legacy format, where the provider reads the same without it.
func (t *target) shorten(entry map[string]any) {
	at := field.NewPath("entry")
	whole, _ := t.decode(entry, at)
	for _, place := range append([]any{entry}, asList(entry["regions"])...) {
		if members := mapping(place); members["architecture"] == architectures[0] {
			delete(members, "architecture")
			if without, errs := t.decode(entry, at); whole == nil || len(errs) > 0 || without == nil || !reflect.DeepEqual(whole.Flavors, without.Flavors) {
				members["architecture"] = architectures[0]
			}
		}
	}
}

// extendConfig adds to a version of the provider config what it does not have, and compares the rest.
func (e *edits) extendConfig(t *target, w *wanted) {
	for _, f := range w.flavors {
		if f.same == nil {
			e.addFlavor(t, w, f)
			continue
		}
		more := *f
		more.read.Regional = nil
		for _, r := range f.read.Regional {
			last := lastIn(f.same.flavor, r.Region)
			switch {
			case last == nil:
				more.read.Regional = append(more.read.Regional, r)
			case !reflect.DeepEqual(last.Ref, r.Ref):
				e.differs(t, w, f, last.Path, last.NamedAt != nil, r)
			}
		}
		if g := f.read.Global; g != nil && f.same.flavor.Global != nil && !reflect.DeepEqual(g.Ref, f.same.flavor.Global.Ref) {
			e.otherGlobal(t, w, f)
		}
		if more.read.Global = nil; len(more.read.Regional) > 0 {
			e.addRegions(t, w, &more)
		}
	}
}

// lastIn returns the reference that counts in a region; nil if there is none.
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
	t.fail(RuleConflict, field.ErrorTypeInvalid, at, "%s: %s", w.id, fmt.Sprintf(format, args...))
}

// differs reports that a region has another reference, or replaces it.
func (e *edits) differs(t *target, w *wanted, f *flavor, path *field.Path, elsewhere bool, r imageselector.Regional[any]) {
	at := path.String()
	if !t.options.Replace || elsewhere {
		w.conflict(t, at, "region %s has another image than the source, for %s; --replace replaces it", r.Region, t.format(f.declares))
		return
	}
	only := *f
	only.read.Regional, only.read.Global = []imageselector.Regional[any]{r}, nil
	entry := e.regionsOf(t, w, &only, f.same.version.Legacy)
	if len(entry) != 1 {
		return
	}
	e.replaceMembers(t, w, at, mapping(entry[0]), []string{"name", "architecture"})
}

// replaceMembers replaces the members of a mapping at a path that differ, but for some.
func (e *edits) replaceMembers(t *target, w *wanted, at string, is map[string]any, but []string) {
	was := mapping(edit.Value(t.tree, fieldpath.Parse(at)))
	for _, name := range edit.Order(is) {
		if !slices.Contains(but, name) && !reflect.DeepEqual(was[name], is[name]) {
			w.replaced = true
			e.set(t.tree, at+"."+name, is[name])
		}
	}
}

// otherGlobal reports that the reference for all regions is another one, or replaces it.
func (e *edits) otherGlobal(t *target, w *wanted, f *flavor) {
	at := f.same.flavor.Global.Path.String()
	if !t.options.Replace {
		w.conflict(t, at, "%s has another image than in the source; --replace replaces it", t.format(f.declares))
		return
	}
	only := *f
	only.read.Regional = nil
	entries, ok := t.encode(w, []*flavor{&only}, f.same.version.Legacy)
	if !ok || len(entries) != 1 {
		return
	}
	is := mapping(entries[0])
	if !f.same.version.Legacy {
		is = mapping(asList(is["capabilityFlavors"])[0])
	}
	path := fieldpath.Parse(at)
	in, member := at[:strings.LastIndex(at, ".")], path[len(path)-1].Name
	if _, stays := is[member]; !stays {
		e.add(edit.Delete(path))
	}
	e.replaceMembers(t, w, in, is, []string{"version", "capabilities", "architecture", "acceleratedNetworking"})
}

// regionsOf returns the entries of a list of regions for a flavor.
func (e *edits) regionsOf(t *target, w *wanted, f *flavor, legacy bool) []any {
	entries, ok := t.encode(w, []*flavor{f}, legacy)
	if !ok || len(entries) != 1 {
		return nil
	}
	if legacy {
		return asList(mapping(entries[0])["regions"])
	}
	return asList(mapping(asList(mapping(entries[0])["capabilityFlavors"])[0])["regions"])
}

// addRegions adds regions to a flavor.
func (e *edits) addRegions(t *target, w *wanted, f *flavor) {
	at := f.same.flavor.Path.String()
	if f.same.version.Legacy {
		at = f.same.version.Path.String()
	}
	for _, entry := range e.regionsOf(t, w, f, f.same.version.Legacy) {
		w.changed = true
		e.insertRegion(t, at+".regions", entry)
	}
}

// insertRegion inserts an entry before the first that is of a region which the profile lists later.
func (e *edits) insertRegion(t *target, path string, entry any) {
	rank := func(entry any) int {
		name, _ := mapping(entry)["name"].(string)
		return slices.Index(t.regions, name)
	}
	list := asList(edit.Value(t.tree, fieldpath.Parse(path)))
	i := slices.IndexFunc(list, func(other any) bool { return rank(other) > rank(entry) })
	if i < 0 {
		i = len(list)
	}
	e.insert(path, i, entry)
}

// addFlavor adds a flavor to a version that has others.
func (e *edits) addFlavor(t *target, w *wanted, f *flavor) {
	if m := w.refersTo(t, f); m != nil {
		w.conflict(t, m.flavor.Path.String(), "an image of the source, of %s, is here with other capabilities: correct them, or remove the flavor",
			t.format(f.declares))
		return
	}
	i := slices.IndexFunc(w.has, func(m *mappedFlavor) bool { return !m.version.Legacy })
	if i < 0 {
		e.addBesideLegacy(t, w, f)
		return
	}
	entries, ok := t.encode(w, []*flavor{f}, false)
	if !ok {
		return
	}
	version := w.has[i].version
	at := slices.IndexFunc(version.Flavors, func(other imageselector.Flavor[any]) bool {
		return slices.Compare(t.rank(other.Capabilities), t.rank(f.declares)) > 0
	})
	if at < 0 {
		at = len(version.Flavors)
	}
	w.changed = true
	e.insert(version.Path.String()+".capabilityFlavors", at, asList(mapping(entries[0])["capabilityFlavors"])[0])
}

// refersTo returns a flavor of the profile that has a reference of another one; nil if none does. Providers whose references may stand
// for several have none.
func (w *wanted) refersTo(t *target, f *flavor) *mappedFlavor {
	if sharer, shares := provider.As[provider.ReferenceSharer](t.Cloud); shares && sharer.SharesReferences() {
		return nil
	}
	for _, m := range w.has {
		if g := f.read.Global; g != nil && m.flavor.Global != nil && reflect.DeepEqual(g.Ref, m.flavor.Global.Ref) {
			return m
		}
		for _, r := range f.read.Regional {
			if other := lastIn(m.flavor, r.Region); other != nil && reflect.DeepEqual(other.Ref, r.Ref) {
				return m
			}
		}
	}
	return nil
}

// addBesideLegacy adds a flavor to a version in the legacy format: in that if it can say the same, or else in an entry of its own.
func (e *edits) addBesideLegacy(t *target, w *wanted, f *flavor) {
	last := w.has[len(w.has)-1].version
	at := last.Path.String()
	legacy := len(f.declares) == 1 && len(f.declares[capability.Architecture]) == 1
	entries, ok := t.encode(w, []*flavor{f}, legacy)
	if !ok {
		return
	}
	w.changed = true
	if regions, has := mapping(entries[0])["regions"]; has && legacy && len(entries) == 1 && len(mapping(entries[0])) == 2 {
		for _, entry := range asList(regions) {
			e.insertRegion(t, at+".regions", entry)
		}
		return
	}
	path := fieldpath.Parse(at)
	for _, entry := range entries {
		e.insert(at[:strings.LastIndex(at, "[")], path[len(path)-1].Index+1, entry)
	}
}
