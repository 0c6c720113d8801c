// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/profile/internal/onetoone"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Conversion is the replacement for an entry in a NamespacedCloudProfile's provider config, in its parent's format (semantics S11).
type Conversion struct {
	// Image and Version are the indices in machineImages and its versions. They are out of range for an entry in another list.
	Image, Version int
	// Entries replace the version. There is at least one.
	Entries []map[string]any
}

// ConvertNamespaced returns the conversions of all versions that do not have the parent's format, in the order of the object. capabilities
// is the parent's spec.machineCapabilities, which determines the format. Versions with errors, and versions that the other format cannot
// express, are left out. The object is not modified.
func ConvertNamespaced[R any](cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition, object *v1beta1.NamespacedCloudProfile) []Conversion {
	vocabulary, _ := compileVocabulary(cloud, capabilities, nil)
	r := newNamespacedReading(cloud, object, vocabulary, nil)
	r.decode()
	other := func(v imageselector.Version[R]) bool { return v.Legacy != vocabulary.Legacy() }
	if !slices.ContainsFunc(r.Images, func(i imageselector.Image[R]) bool { return slices.ContainsFunc(i.Versions, other) }) {
		return nil
	}
	r.compare()
	var conversions []Conversion
	for i, image := range r.Images {
		for k := range image.Versions {
			id := provider.ImageVersion{Image: image.Name, Version: image.Versions[k].Version}
			if entries, possible := r.InFormatOfParent(id, &image.Versions[k]); possible && len(entries) > 0 {
				conversions = append(conversions, Conversion{i, k, entries})
			}
		}
	}
	return conversions
}

// InFormatOfParent writes a version in the parent's format, and reports whether that is possible. It returns no entries, and true, if the
// version already has that format or has errors.
func (r *Reading[R]) InFormatOfParent(id provider.ImageVersion, version *imageselector.Version[R]) ([]map[string]any, bool) {
	if version.Legacy == r.vocabulary.Legacy() || r.Unread.Touches(version.Path) {
		return nil, true
	}
	ignorer, _ := provider.As[providerconfig.FieldIgnorer](r.provider)
	kept, within := providerconfig.Ignored(ignorer, r.Spec.ProviderConfig, version.Path, r.At.Child("providerConfig"))
	entries, possible := r.inFormatOfParent(id, version)
	if len(entries) > 0 {
		maps.Copy(entries[0], kept)
	}
	return entries, possible && !within
}

// inFormatOfParent writes a version that has the other format.
func (r *Reading[R]) inFormatOfParent(id provider.ImageVersion, version *imageselector.Version[R]) ([]map[string]any, bool) {
	flavors, complete := r.agreedOn(id, version)
	switch {
	case !complete:
		return nil, true
	case version.Legacy && !r.listedByCore(id, flavors), !version.Legacy && r.hasReserved(id, version):
		return nil, false
	case version.Legacy:
		return r.encode(version.Version, provider.FormatFlavors, flavors)
	}
	for i := range flavors {
		architecture := v1beta1constants.ArchitectureAMD64
		if named := flavors[i].Capabilities[capability.Architecture]; len(named) > 0 {
			architecture = named[0]
		}
		flavors[i].Capabilities = v1beta1.Capabilities{capability.Architecture: {architecture}}
	}
	return r.encode(version.Version, provider.FormatLegacy, flavors)
}

// encode has the provider write a version, and reports whether the provider reads the result as the same flavors.
func (r *Reading[R]) encode(
	version string, format provider.Format, flavors []imageselector.Flavor[R],
) ([]map[string]any, bool) {
	entries, err := Encode(r.provider, imageselector.Version[R]{
		Version: version, Legacy: format == provider.FormatLegacy, Flavors: flavors,
	}, format)
	if err != nil {
		return nil, false
	}
	return entries, r.saysTheSame(entries, flavors)
}

// Encode has a provider write an image version in a format, and returns the entries for its config, without null members.
func Encode[R any](cloud provider.Provider[R], version imageselector.Version[R], format provider.Format) ([]map[string]any, error) {
	written, err := cloud.Encode(version, format)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(written)
	if err != nil {
		return nil, err
	}
	var entries []map[string]any
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, err
	}
	for _, entry := range entries {
		maps.DeleteFunc(entry, func(_ string, value any) bool { return value == nil })
	}
	return entries, nil
}

// agreedOn returns a copy of a version's flavors, in the order of the catalog, if core agrees with all of them.
func (r *Reading[R]) agreedOn(id provider.ImageVersion, version *imageselector.Version[R]) ([]imageselector.Flavor[R], bool) {
	flavors := r.Catalog.Flavors(id.Image, id.Version)
	positions := memo.Get(r.positions, id, func() map[*field.Path][]int {
		positions := make(map[*field.Path][]int, len(flavors))
		for i := range flavors {
			positions[flavors[i].Path] = append(positions[flavors[i].Path], i)
		}
		return positions
	})
	var chosen []int
	for i := range version.Flavors {
		at := version.Flavors[i].Path
		if len(positions[at]) == 0 || r.doubtful[at] {
			return nil, false
		}
		chosen = append(chosen, positions[at]...)
	}
	slices.Sort(chosen)
	agreed := make([]imageselector.Flavor[R], 0, len(chosen))
	for _, i := range slices.Compact(chosen) { // flavors of one place share its path
		flavor := flavors[i]
		if flavor.Global != nil && flavor.Global.Derived { // derived again if omitted
			flavor.Global = nil
		}
		agreed = append(agreed, flavor)
	}
	return agreed, len(agreed) > 0
}

// listedByCore reports whether core lists these flavors. It does not if, for example, core has one flavor without an architecture for
// images of several.
func (r *Reading[R]) listedByCore(id provider.ImageVersion, flavors []imageselector.Flavor[R]) bool {
	core := r.compareVersion(id, r.core[id], r.At)
	listed := core.Sets()
	return !slices.ContainsFunc(flavors, func(f imageselector.Flavor[R]) bool {
		set, _ := r.vocabulary.Flavor(f.Capabilities, core.Undeclared, nil)
		return !listed.Has(set)
	})
}

// hasReserved reports whether a flavor declares a capability of Gardener with effect. The legacy format has no place for it. A parent in
// that format registers no other capabilities.
func (r *Reading[R]) hasReserved(id provider.ImageVersion, version *imageselector.Version[R]) bool {
	undeclared := Undeclared(r.core[id])
	return slices.ContainsFunc(version.Flavors, func(f imageselector.Flavor[R]) bool {
		set, _ := r.vocabulary.Flavor(f.Capabilities, undeclared, nil)
		without, _ := r.vocabulary.Flavor(onetoone.Carried(r.vocabulary, f.Capabilities, nil), undeclared, nil)
		return set != without
	})
}

// saysTheSame reports whether the provider reads the written entries of one version as these flavors.
func (r *Reading[R]) saysTheSame(written []map[string]any, flavors []imageselector.Flavor[R]) bool {
	var kind metav1.TypeMeta
	if json.Unmarshal(r.Spec.ProviderConfig.Raw, &kind) != nil {
		return false
	}
	config, _ := json.Marshal(map[string]any{
		"apiVersion": kind.APIVersion, "kind": kind.Kind, "machineImages": []any{map[string]any{"name": "image", "versions": written}},
	})
	read, report := r.provider.Decode(&runtime.RawExtension{Raw: config}, field.NewPath("converted"))
	if len(report.Errors) > 0 || len(read.Images) != 1 {
		return false
	}
	var again []imageselector.Flavor[R]
	for _, version := range read.Images[0].Versions {
		again = append(again, version.Flavors...)
	}
	return !slices.ContainsFunc(flavors, func(f imageselector.Flavor[R]) bool {
		return !slices.ContainsFunc(again, func(g imageselector.Flavor[R]) bool {
			return supportsTheSame(f.Capabilities, g.Capabilities) && entries.SameReferences(&f, &g)
		})
	})
}

// supportsTheSame reports whether a flavor that was read again supports the written values. In the legacy format, an image that names no
// architecture may serve all.
func supportsTheSame(written, again v1beta1.Capabilities) bool {
	return entries.SameValues(written, again) || len(again) == 0 && len(written) == 1 && written[capability.Architecture] != nil
}
