// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package repair

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/fieldpath"
)

// Repairing findings about reserved capabilities (semantics S3).

// repairFirstText replaces names and values of the first text of GEP-0054 by those of the second, everywhere in the object.
func repairFirstText(_ *input.Given, object any, _ report.Finding) patch {
	s := &secondText{renamed: map[string]bool{}}
	spec := fieldpath.Parse("spec")
	for i, def := range edit.Items(edit.Value(object, spec.Child("machineCapabilities"))) {
		at := spec.Child("machineCapabilities").Index(i)
		def := edit.Members(def)
		if name, _ := def["name"].(string); texts.OfFirst(name) {
			s.ops = append(s.ops, edit.Replace(at.Child("name"), texts.Canonical(name)))
			s.values(name, def["values"], at.Child("values"))
		}
	}
	for i, t := range edit.Items(edit.Value(object, spec.Child("machineTypes"))) {
		t := edit.Members(t)
		s.declared(t["capabilities"], spec.Child("machineTypes").Index(i).Child("capabilities"))
	}
	eachVersion(object, "spec.machineImages", func(_, _ string, version map[string]any, at fieldpath.Path) {
		for i, flavor := range edit.Items(version["capabilityFlavors"]) {
			s.declared(flavor, at.Child("capabilityFlavors").Index(i))
		}
	})
	eachVersion(object, "spec.providerConfig.machineImages", func(_, _ string, version map[string]any, at fieldpath.Path) {
		for i, flavor := range edit.Items(version["capabilityFlavors"]) {
			flavor := edit.Members(flavor)
			s.declared(flavor["capabilities"], at.Child("capabilityFlavors").Index(i).Child("capabilities"))
		}
	})
	if s.taken || len(s.ops) == 0 {
		return patch{}
	}
	var what []string
	for _, name := range slices.Sorted(maps.Keys(s.renamed)) {
		what = append(what, fmt.Sprintf("%s is now %s", name, texts.Canonical(name)))
	}
	return patch{strings.Join(what, ", "), s.ops}
}

// secondText collects the operations that write the second text's names and values.
type secondText struct {
	ops     []edit.Op
	renamed map[string]bool
	// taken is set if both names occur side by side: no operation can merge them.
	taken bool
}

// declared adds the operations for capabilities that are declared at a path.
func (s *secondText) declared(capabilities any, at fieldpath.Path) {
	declared := edit.Members(capabilities)
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if !texts.OfFirst(name) {
			continue
		}
		if _, both := declared[texts.Canonical(name)]; both {
			s.taken = true
		}
		s.ops = append(s.ops, edit.Rename(at.Child(name), texts.Canonical(name)))
		s.values(name, declared[name], at.Child(name))
	}
}

// values adds the operations for the values of a capability.
func (s *secondText) values(name string, values any, at fieldpath.Path) {
	s.renamed[name] = true
	for i, value := range edit.Items(values) {
		text, _ := value.(string)
		if other, found := texts.Translate(name, text); found && other != text {
			s.ops = append(s.ops, edit.Replace(at.Index(i), other))
		}
	}
}

// repairIncomplete registers all values of a reserved capability, in Gardener's order.
func repairIncomplete(_ *input.Given, object any, f report.Finding) patch {
	path := fieldpath.Parse(f.Field)
	if len(path) == 0 {
		return patch{}
	}
	name, _ := edit.Value(object, path[:len(path)-1].Child("name")).(string)
	for _, d := range capability.Reserved() {
		if d.Name == name {
			values := make([]any, 0, len(d.Values))
			for _, value := range d.Values {
				values = append(values, value)
			}
			return patch{fmt.Sprintf("%s has [%s]", name, strings.Join(d.Values, ", ")), []edit.Op{edit.Replace(path, values)}}
		}
	}
	return patch{}
}

// repairSilent declares a flavor's values from before the registration: at the finding and, for the provider config, in
// equal flavors of core. If core has only different flavors for the version, the repair is ambiguous and does nothing.
func repairSilent(_ *input.Given, object any, f report.Finding) patch {
	path := fieldpath.Parse(f.Field)
	reserved := capability.Reserved()
	i := slices.IndexFunc(reserved, func(d capability.Definition) bool { return len(path) > 0 && d.Name == path[len(path)-1].Name })
	if i < 0 {
		return patch{}
	}
	silent, at := reserved[i], path[:len(path)-1]
	capabilities, isObject := edit.Value(object, at).(map[string]any)
	if !isObject {
		return patch{}
	}
	had := []any{silent.Undeclared}
	ops := []edit.Op{edit.Insert(at.Child(silent.Name), had)}
	if image, version := versionAt(object, at); version != "" {
		written, same := 0, 0
		eachVersion(object, "spec.machineImages", func(i, v string, core map[string]any, at fieldpath.Path) {
			for k, flavor := range edit.Items(core["capabilityFlavors"]) {
				if i != image || v != version {
					continue
				}
				if written++; reflect.DeepEqual(flavor, any(capabilities)) {
					same++
					ops = append(ops, edit.Insert(at.Child("capabilityFlavors").Index(k).Child(silent.Name), had))
				}
			}
		})
		if written > 0 && same == 0 {
			return patch{}
		}
	}
	return patch{fmt.Sprintf("%s is [%s]", silent.Name, silent.Undeclared), ops}
}

// versionAt returns the image version of the provider config that contains a path; empty if none does.
func versionAt(object any, path fieldpath.Path) (image, version string) {
	eachVersion(object, "spec.providerConfig.machineImages", func(i, v string, _ map[string]any, at fieldpath.Path) {
		if len(path) > len(at) && slices.Equal(path[:len(at)], at) {
			image, version = i, v
		}
	})
	return image, version
}

// eachVersion calls do for each image version in the list at a path, with the names of image and version.
func eachVersion(object any, images string, do func(image, version string, value map[string]any, at fieldpath.Path)) {
	at := fieldpath.Parse(images)
	for i, image := range edit.Items(edit.Value(object, at)) {
		image := edit.Members(image)
		name, _ := image["name"].(string)
		for k, version := range edit.Items(image["versions"]) {
			version := edit.Members(version)
			text, _ := version["version"].(string)
			do(name, text, version, at.Index(i).Child("versions").Index(k))
		}
	}
}
