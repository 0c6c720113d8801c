// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// Conversion is what an entry of a NamespacedCloudProfile's provider config becomes in the format of its parent
// (semantics S11).
type Conversion struct {
	// Image and Version are the indices in machineImages and its versions.
	Image, Version int
	// Entries take the place of the version: at least one.
	Entries []map[string]any
}

// ConvertNamespaced returns the conversions of all versions that are in another format than the parent's, in the order
// in which they are written. capabilities, the parent's spec.machineCapabilities, decide which one that is. A version
// stays as it is if it has errors, or if the other format cannot say the same. The profile is not changed.
func ConvertNamespaced[R any](cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition, profile *v1beta1.NamespacedCloudProfile) []Conversion {
	p := newNamespacedCompiler(cloud, profile, nil, nil)
	p.vocabulary, _ = capability.Compile(capabilities, nil, cloud.Workers().Definitions()...)
	p.compile()
	var conversions []Conversion
	for i, image := range p.images {
		for k := range image.Versions {
			id := imageVersion{image.Name, image.Versions[k].Version}
			if entries, possible := p.inFormatOfParent(id, &image.Versions[k]); possible && len(entries) > 0 {
				conversions = append(conversions, Conversion{i, k, entries})
			}
		}
	}
	return conversions
}

// inFormatOfParent writes a version in the format of the parent, and reports whether that is possible. There are no
// entries if it is in that format, or has errors.
func (p *compiler[R]) inFormatOfParent(id imageVersion, version *imageselector.Version[R]) ([]map[string]any, bool) {
	if version.Legacy == p.vocabulary.Legacy() || p.unread.Touches(version.Path) {
		return nil, true
	}
	flavors, complete := p.agreedOn(id, version)
	switch {
	case !complete:
		return nil, true
	case version.Legacy && !p.listedByCore(id, flavors), !version.Legacy && p.hasReserved(id, version):
		return nil, false
	case version.Legacy:
		return p.encode(version.Version, provider.FormatFlavors, flavors)
	}
	for i := range flavors {
		architecture := v1beta1constants.ArchitectureAMD64
		if named := flavors[i].Capabilities[capability.Architecture]; len(named) > 0 {
			architecture = named[0]
		}
		flavors[i].Capabilities = v1beta1.Capabilities{capability.Architecture: {architecture}}
	}
	return p.encode(version.Version, provider.FormatLegacy, flavors)
}

// encode has the provider write a version, and reports whether it reads that as the same.
func (p *compiler[R]) encode(
	version string, format provider.Format, flavors []imageselector.Flavor[R],
) ([]map[string]any, bool) {
	written, err := p.provider.Encode(imageselector.Version[R]{
		Version: version, Legacy: format == provider.FormatLegacy, Flavors: flavors,
	}, format)
	if err != nil {
		return nil, false
	}
	var entries []map[string]any
	if raw, err := json.Marshal(written); err != nil || json.Unmarshal(raw, &entries) != nil {
		return nil, false
	}
	for _, entry := range entries { // null says nothing
		maps.DeleteFunc(entry, func(_ string, value any) bool { return value == nil })
	}
	return entries, p.saysTheSame(entries, flavors)
}

// agreedOn returns a copy of the flavors of a version, in the order of the catalog, if core agrees with all of them.
func (p *compiler[R]) agreedOn(id imageVersion, version *imageselector.Version[R]) ([]imageselector.Flavor[R], bool) {
	flavors := p.catalog.Flavors(id.image, id.version)
	if p.positions == nil {
		p.positions = map[imageVersion]map[*field.Path][]int{}
	}
	positions := p.positions[id]
	if positions == nil {
		positions = make(map[*field.Path][]int, len(flavors))
		for i := range flavors {
			positions[flavors[i].Path] = append(positions[flavors[i].Path], i)
		}
		p.positions[id] = positions
	}
	var chosen []int
	for i := range version.Flavors {
		at := version.Flavors[i].Path
		if len(positions[at]) == 0 || p.doubtful[at] {
			return nil, false
		}
		chosen = append(chosen, positions[at]...)
	}
	slices.Sort(chosen)
	agreed := make([]imageselector.Flavor[R], 0, len(chosen))
	for _, i := range chosen {
		agreed = append(agreed, flavors[i])
	}
	return agreed, len(agreed) > 0
}

// listedByCore reports whether core lists these flavors: not one, say, that leaves out its architecture instead, for
// images of several.
func (p *compiler[R]) listedByCore(id imageVersion, flavors []imageselector.Flavor[R]) bool {
	core := p.newCorrespondence(id, p.core[id], p.at)
	return !slices.ContainsFunc(flavors, func(f imageselector.Flavor[R]) bool {
		set, _ := p.vocabulary.Flavor(f.Capabilities, core.undeclaredValues, nil)
		return core.bySet[set] == nil
	})
}

// hasReserved reports whether a flavor says something by a capability of Gardener, for which the legacy format has no
// place. The parent registers no other ones.
func (p *compiler[R]) hasReserved(id imageVersion, version *imageselector.Version[R]) bool {
	undeclared := undeclaredBy(p.core[id])
	return slices.ContainsFunc(version.Flavors, func(f imageselector.Flavor[R]) bool {
		set, _ := p.vocabulary.Flavor(f.Capabilities, undeclared, nil)
		without, _ := p.vocabulary.Flavor(carriedOf(p.vocabulary, f.Capabilities, nil), undeclared, nil)
		return set != without
	})
}

// saysTheSame reports whether the provider reads entries of one version as these flavors.
func (p *compiler[R]) saysTheSame(entries []map[string]any, flavors []imageselector.Flavor[R]) bool {
	var kind metav1.TypeMeta
	if json.Unmarshal(p.spec.ProviderConfig.Raw, &kind) != nil {
		return false
	}
	config, err := json.Marshal(map[string]any{
		"apiVersion": kind.APIVersion, "kind": kind.Kind, "machineImages": []any{map[string]any{"name": "image", "versions": entries}},
	})
	if err != nil {
		return false
	}
	read, report := p.provider.Decode(&runtime.RawExtension{Raw: config}, field.NewPath("converted"))
	if len(report.Errors) > 0 || len(read.Images) != 1 {
		return false
	}
	var again []imageselector.Flavor[R]
	for _, version := range read.Images[0].Versions {
		again = append(again, version.Flavors...)
	}
	return !slices.ContainsFunc(flavors, func(f imageselector.Flavor[R]) bool {
		return !slices.ContainsFunc(again, func(g imageselector.Flavor[R]) bool {
			return supportsTheSame(f.Capabilities, g.Capabilities) && sameReferences(&f, &g)
		})
	})
}

// supportsTheSame reports whether a flavor that was read again supports what was written. In the legacy format one
// image may serve all architectures without a word.
func supportsTheSame(written, again v1beta1.Capabilities) bool {
	return sameValues(written, again) || len(again) == 0 && len(written) == 1 && written[capability.Architecture] != nil
}

func sameReferences[R any](a, b *imageselector.Flavor[R]) bool {
	if (a.Global == nil) != (b.Global == nil) || a.Global != nil && !reflect.DeepEqual(a.Global.Ref, b.Global.Ref) {
		return false
	}
	return slices.EqualFunc(a.Regional, b.Regional, func(x, y imageselector.Regional[R]) bool {
		return x.Region == y.Region && reflect.DeepEqual(x.Ref, y.Ref)
	})
}
