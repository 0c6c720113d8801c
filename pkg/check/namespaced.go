// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// namespacedChecker finds the parts that a NamespacedCloudProfile must not have (semantics S11).
type namespacedChecker[R any] struct {
	*profile.Reading[R]
	parent *profile.Profile[R]
	// name is the name of the parent.
	name string
	// said holds field and rule of existing errors, which need not be reported again.
	said sets.Set[[2]string]
}

// readNamespaced reads a NamespacedCloudProfile. The report of the reading has all of its errors.
func readNamespaced[R any](parent *profile.Profile[R], object *v1beta1.NamespacedCloudProfile) *profile.Reading[R] {
	r := profile.ReadNamespaced(parent, object)
	n := &namespacedChecker[R]{Reading: r, parent: parent, name: object.Spec.Parent.Name}
	n.checkInherited()
	n.checkMappings()
	n.checkConfigFields()
	r.Report.End(r.At.Child("providerConfig"))
	return r
}

// checkInherited checks versions of the parent: the profile may change only their lifecycle.
func (n *namespacedChecker[R]) checkInherited() {
	mapped := map[provider.ImageVersion]bool{}
	for id := range entries.Mappings(n.Images) {
		mapped[id] = true
	}
	for v := range n.Versions() {
		if !n.Inherits(v.ID) || n.Version(v.ID) != v.MachineImageVersion || !profile.Describes(v.MachineImageVersion) {
			continue
		}
		if n.Report.LeavesOut() {
			return
		}
		also := ""
		if mapped[v.ID] {
			also = ", and its entry in the provider config"
		}
		for _, part := range []struct {
			name    string
			entries int
		}{{"architectures", len(v.Architectures)}, {"capabilityFlavors", len(v.CapabilityFlavors)}} {
			if part.entries == 0 {
				continue
			}
			err := RuleVersionInherited.Fault(field.ErrorTypeForbidden, n.PathOf(v).Child(part.name), nil,
				"%s: the parent, CloudProfile %s, has this version, so only its expirationDate can be changed here; remove %s%s",
				v.ID, n.name, part.name, also)
			if also == "" && !n.SupportsTheSame(n.parent, v) {
				err.About = "without images" // an update that removes the images must not keep the error
			}
			n.Report.Errors = append(n.Report.Errors, err)
		}
	}
}

// checkMappings reports mappings of the parent's versions, and versions that cannot be written in the parent's format, which the rendered
// status requires.
func (n *namespacedChecker[R]) checkMappings() {
	for id, version := range entries.Mappings(n.Images) {
		if n.Inherits(id) {
			also := ""
			if v := n.Version(id); v != nil && profile.Describes(v) {
				also = ", and the flavors of the version"
			}
			n.Report.Found(RuleMappingInherited, field.ErrorTypeForbidden, version.Path, version.Version,
				"%s: the parent, CloudProfile %s, has this version, with images of its own; remove the entry%s",
				id, n.name, also).Subject = finding.Subject{Image: id.Image, Version: id.Version}
			continue
		}
		if !n.parent.Vocabulary().Legacy() {
			continue
		}
		if _, possible := n.InFormatOfParent(id, version); !possible {
			n.Report.Found(ruleNamespacedFormat, field.ErrorTypeForbidden, version.Path.Child("capabilityFlavors"), nil,
				"%s: the parent, CloudProfile %s, registers no capabilities, and the legacy format has one image for each "+
					"architecture only; write %s, each with architecture: ARCHITECTURE, instead of these capabilityFlavors; those of spec.machineImages may stay",
				id, n.name, profile.ReferenceForm(n.parent.Provider()))
		}
	}
}

// checkConfigFields requires that the provider config has only machine images and the lists that the provider extends.
func (n *namespacedChecker[R]) checkConfigFields() {
	if n.Spec.ProviderConfig == nil {
		return
	}
	var fields map[string]any
	if json.Unmarshal(n.Spec.ProviderConfig.Raw, &fields) != nil {
		return // reported as unreadable
	}
	n.checkAPIVersion(fields)
	own := []string{"machineImages"}
	if extender, ok := provider.As[provider.ListExtender](n.parent.Provider()); ok {
		n.said = sets.New[[2]string]()
		for i := range n.Report.Errors {
			n.said.Insert([2]string{n.Report.Errors[i].Field, n.Report.Errors[i].Origin})
		}
		for _, list := range extender.NamespacedLists() {
			own = append(own, list.Field)
			n.checkEntries(n.At.Child("providerConfig"), list, fields[list.Field])
		}
	}
	if ignorer, _ := provider.As[providerconfig.FieldIgnorer](n.parent.Provider()); ignorer != nil {
		n.checkImages(fields["machineImages"])
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := n.At.Child("providerConfig", name)
		if name == "apiVersion" || name == "kind" || slices.Contains(own, name) || providerconfig.Empty(fields[name]) || n.Unread.Covers(at) {
			continue
		}
		n.Report.Found(ruleNamespacedConfig, field.ErrorTypeForbidden, at, nil,
			"the provider config of a NamespacedCloudProfile has %s only; %s is that of the parent, CloudProfile %s: remove it",
			strings.Join(own, ", "), name, n.name)
	}
}

// checkAPIVersion refuses a config of another API version than the parent's, unless it can be read in that as well: its entries become part
// of the parent's config. It says nothing if either config cannot be read as it is.
func (n *namespacedChecker[R]) checkAPIVersion(fields map[string]any) {
	var parent metav1.TypeMeta
	config, at := n.parent.Spec().ProviderConfig, n.At.Child("providerConfig")
	if n.Unread.Any() || !providerconfig.HasContent(config) || json.Unmarshal(config.Raw, &parent) != nil || parent.APIVersion == fields["apiVersion"] {
		return
	}
	there := maps.Clone(fields)
	there["apiVersion"] = parent.APIVersion
	raw, _ := json.Marshal(there)
	_, report := n.parent.Provider().Decode(&runtime.RawExtension{Raw: raw}, at)
	of := func(f finding.Finding) bool { return f.Origin == providerconfig.RuleConfigKind }
	if providerconfig.UnreadIn(report.Errors, at).Any() && !slices.ContainsFunc(report.Errors, of) {
		n.Report.Errors = append(n.Report.Errors, finding.New(providerconfig.RuleConfigKind, field.ErrorTypeNotSupported, at.Child("apiVersion"),
			fields["apiVersion"], fmt.Sprintf("the parent, CloudProfile %s, has apiVersion: %s, in which images are written with other fields; "+
				"write this config like that of the parent", n.name, parent.APIVersion)).In(at))
	}
}

// checkImages requires that images of the parent's provider config say here, besides their versions, nothing else than there, where the
// provider ignores what it does not know.
func (n *namespacedChecker[R]) checkImages(value any) {
	images, _ := value.([]any)
	var parents map[string]map[string]any // nil until needed
	for i, image := range images {
		object, _ := image.(map[string]any)
		of, _ := object["name"].(string)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if name == "name" || name == "versions" || providerconfig.Empty(object[name]) {
				continue
			}
			if parents == nil {
				parents = imagesIn(n.parent.Spec().ProviderConfig)
			}
			if parent, found := parents[of]; found && !reflect.DeepEqual(parent[name], object[name]) {
				n.Report.Found(ruleNamespacedConfig, field.ErrorTypeForbidden, n.At.Child("providerConfig", "machineImages").Index(i).Child(name), nil,
					"image %s has versions only in a NamespacedCloudProfile whose parent has it, too; %s is that of the parent, CloudProfile %s: remove it",
					of, name, n.name)
			}
		}
	}
}

// imagesIn returns the images of a provider config by name, of two the first.
func imagesIn(config *runtime.RawExtension) map[string]map[string]any {
	images := map[string]map[string]any{}
	var fields struct {
		MachineImages []map[string]any `json:"machineImages"`
	}
	if !providerconfig.HasContent(config) || json.Unmarshal(config.Raw, &fields) != nil {
		return images
	}
	for _, image := range fields.MachineImages {
		if name, _ := image["name"].(string); images[name] == nil {
			images[name] = image
		}
	}
	return images
}

// checkEntries requires unique keys of the entries in a further list, in the object at the path above, because entries are merged by key.
// The provider already reports values that are not lists of objects.
func (n *namespacedChecker[R]) checkEntries(above *field.Path, list provider.List, value any) {
	entries, _ := value.([]any)
	first := map[string]*field.Path{}
	for i, entry := range entries {
		object, isObject := entry.(map[string]any)
		at := above.Child(list.Field).Index(i)
		key, _ := object[list.Key].(string)
		switch {
		case !isObject || n.Unread.Touches(at):
			continue
		case key == "":
			missing := profile.NameMissing(at, list.Key, "entry of "+list.Field)
			if !n.said.Has([2]string{missing.Field, missing.Origin}) {
				n.Report.Errors = append(n.Report.Errors, missing)
			}
		case first[key] != nil:
			n.Report.Found(RuleEntryDuplicate, field.ErrorTypeDuplicate, at.Child(list.Key), key,
				"%s is already in %s; remove one of the two", key, first[key])
		default:
			first[key] = at
		}
		if len(list.Lists) > 0 {
			n.checkWithin(at, list, object)
		}
	}
}

// checkWithin requires that an entry, at the path at, has only its key and its nested lists, if its list has such. Its other fields are the
// parent's.
func (n *namespacedChecker[R]) checkWithin(at *field.Path, list provider.List, object map[string]any) {
	own := []string{list.Key}
	for _, within := range list.Lists {
		own = append(own, within.Field)
		n.checkEntries(at, within, object[within.Field])
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(own, name) && !providerconfig.Empty(object[name]) {
			n.Report.Found(ruleNamespacedConfig, field.ErrorTypeForbidden, at.Child(name), nil,
				"an entry of %s has %s only in a NamespacedCloudProfile; %s is that of the parent, CloudProfile %s: remove it",
				list.Field, words.And(own), name, n.name)
		}
	}
}
