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

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/release/source"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/profile/entries"
)

// The changes in core.

// changeCore records the changes in core.
func (t *target) changeCore(versions []*wanted) {
	t.order = append([]string{"name", "version", "classification", "architectures", "cri", "capabilityFlavors", "capabilities"}, t.names()...)
	added := map[string][]newVersion{}
	for _, w := range versions {
		if v, found := entries.Find(&t.Spec, w.id); found {
			t.extendCore(w, v)
			continue
		}
		w.changed = true
		added[w.id.Image] = append(added[w.id.Image], newVersion{w.id.Version, []map[string]any{t.coreVersion(w)}})
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		named := func(image v1beta1.MachineImage) bool { return image.Name == name }
		if i := slices.IndexFunc(t.Spec.MachineImages, named); i >= 0 {
			path := fmt.Sprintf("spec.machineImages[%d].versions", i)
			t.insertVersions(path, edit.Items(edit.Value(t.tree, fieldpath.Parse(path))), added[name])
			continue
		}
		image := newImage(name, added[name])
		if t.Parent != nil && !slices.ContainsFunc(t.Parent.MachineImages, named) {
			image["updateStrategy"] = string(v1beta1.UpdateStrategyMajor) // Gardener defaults it only in CloudProfiles
		}
		t.insert("spec.machineImages", len(t.Spec.MachineImages), image)
	}
	t.flush()
}

// newImage returns an image with new versions.
func newImage(name string, versions []newVersion) map[string]any {
	inside := &edits{}
	inside.insertVersions("versions", nil, versions)
	var values []any
	for _, item := range inside.lists["versions"] {
		values = append(values, item.value)
	}
	return map[string]any{"name": name, "versions": values}
}

// coreVersion returns a new version for core.
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
		version["capabilityFlavors"] = inTree(flavors)
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

// runtimesOf returns the container runtimes of a new version, from the newest version of the image that has any. A
// NamespacedCloudProfile always gets some: there Gardener requires them and has no default.
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
	return edit.Items(inTree(found))
}

// coreFlavors returns a version's distinct flavors for core, including existing ones of the provider config.
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

// extendCore adds missing parts to a version in core. If the version leaves its flavors to a webhook, it continues to do so.
func (t *target) extendCore(w *wanted, v entries.Version) {
	at := v.PathIn(field.NewPath("spec")).String()
	if len(v.Architectures) > 0 || t.legacy {
		t.extendArchitectures(w, v.Architectures, at+".architectures")
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
		i := firstOf(v.CapabilityFlavors, func(c v1beta1.MachineImageFlavor) bool {
			return slices.Compare(t.rank(c.Capabilities), t.rank(f.core)) > 0
		})
		is := inTree(f.core)
		if !slices.ContainsFunc(t.lists[at+".capabilityFlavors"], func(other insertion) bool { return reflect.DeepEqual(other.value, is) }) {
			w.changed = true
			t.insert(at+".capabilityFlavors", i, is)
		}
	}
}

func (t *target) extendArchitectures(w *wanted, has []string, path string) {
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
		t.set(path, inTree(more), "capabilityFlavors", "cri")
		return
	}
	for _, architecture := range more[len(is):] {
		t.insert(path, len(has), architecture)
	}
}

// inTree returns a value as decoded from a manifest.
func inTree(value any) any {
	raw, _ := json.Marshal(value)
	return edit.Decoded(raw)
}
