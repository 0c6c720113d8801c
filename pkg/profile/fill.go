// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/profile/internal/onetoone"
	"github.com/capkit/capkit/pkg/provider"
)

// Filled is the result of [FillCloudProfile] for one image version.
type Filled struct {
	// Image and Version are the indices in spec.machineImages and its versions.
	Image, Version int
	// Flavors are the new capabilityFlavors of the version, never empty. They replace existing ones.
	Flavors []v1beta1.MachineImageFlavor
}

// FillCloudProfile returns core flavors, derived from the provider config, for the image versions of a CloudProfile that have none
// (semantics S12). With the policy CoreFollows, it also returns replacements for core flavors that do not correspond to the provider
// config. The result is in the order of the profile, and empty if the profile registers no capabilities.
//
// A version is left out if its mapping is missing, if the mapping and its core flavors would not correspond one to one, which [Read]
// reports, if its field architectures differs, or if Gardener would refuse a flavor because of its architectures. The spec is not modified,
// and the result shares nothing with it.
func FillCloudProfile[R any](cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec) []Filled {
	r := newReading(cloud, spec, field.NewPath("spec"))
	r.vocabulary, _ = compileVocabulary(cloud, spec.MachineCapabilities, nil)
	return r.fill()
}

// FillNamespacedCloudProfile is like [FillCloudProfile] for the versions that a NamespacedCloudProfile defines itself. It uses the parent's
// vocabulary.
func FillNamespacedCloudProfile[R any](cloud provider.Provider[R], object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfileSpec) []Filled {
	vocabulary, _ := compileVocabulary(cloud, parent.MachineCapabilities, nil)
	return newNamespacedReading(cloud, object, vocabulary, entries.Index(parent)).fill()
}

func (r *Reading[R]) fill() []Filled {
	var fillable []entries.Version
	for v := range entries.Versions(r.Spec) {
		if (r.policies.CoreFollows || len(v.CapabilityFlavors) == 0) && !r.Inherits(v.ID) {
			fillable = append(fillable, v)
		}
	}
	if r.vocabulary.Legacy() || r.Spec.ProviderConfig == nil || len(fillable) == 0 {
		return nil
	}
	r.decode()
	provided := r.byName()
	var filled []Filled
	for _, v := range fillable {
		if entries := provided[v.ID.Image]; entries != nil {
			if flavors := r.flavorsOf(v, entries); len(flavors) > 0 {
				filled = append(filled, Filled{v.Image, v.Index, flavors})
			}
		}
	}
	return filled
}

// flavorsOf returns the core flavors for the entries of a version, in the order of the entries. It returns nil if core could not list them,
// if core's existing flavors correspond to the entries, or for a single flavor without declarations, which core assumes anyway.
func (r *Reading[R]) flavorsOf(v entries.Version, entries *imageEntries[R]) []v1beta1.MachineImageFlavor {
	flavors := r.declaredBy(v.MachineImageVersion, entries.versions[v.Version])
	refused := func(f v1beta1.MachineImageFlavor) bool { return onetoone.Refused(r.vocabulary, f.Capabilities) }
	if len(flavors) == 0 || len(flavors) == 1 && len(flavors[0].Capabilities) == 0 ||
		!r.agreesWith(v.Architectures, flavors) || slices.ContainsFunc(flavors, refused) {
		return nil
	}
	filled := *v.MachineImageVersion
	filled.CapabilityFlavors = flavors
	if !r.corresponds(v.ID, &filled, entries) || len(v.CapabilityFlavors) > 0 && r.corresponds(v.ID, v.MachineImageVersion, entries) {
		return nil
	}
	return flavors
}

// corresponds reports whether core's flavors of a version correspond one to one to the provider config's entries. It ignores repeated
// flavors in the entries, which core cannot repair.
func (r *Reading[R]) corresponds(id provider.ImageVersion, version *v1beta1.MachineImageVersion, entries *imageEntries[R]) bool {
	c := r.correspondVersion(id, version, entries, r.At)
	return len(c.Report.Silenced) == 0 && !slices.ContainsFunc(c.Report.Errors, func(f finding.Finding) bool { return !onetoone.IsRepeated(f) })
}

// declaredBy returns the flavors that the entries of a version declare, without reserved capabilities that core cannot carry. Flavors that
// differ only in these are merged. It returns nil if an entry could not be read.
func (r *Reading[R]) declaredBy(version *v1beta1.MachineImageVersion, entries []*imageselector.Version[R]) []v1beta1.MachineImageFlavor {
	var flavors []v1beta1.MachineImageFlavor
	seen := sets.New[capability.Set]()
	for _, entry := range entries {
		if r.Unread.Touches(entry.Path) {
			return nil
		}
		for _, flavor := range entry.Flavors {
			declared := onetoone.Carried(r.vocabulary, flavor.Supported(r.vocabulary), nil)
			set, _ := r.vocabulary.Flavor(declared, Undeclared(version), nil)
			if !seen.Has(set) {
				seen.Insert(set)
				flavors = append(flavors, v1beta1.MachineImageFlavor{Capabilities: clone(declared)})
			}
		}
	}
	return flavors
}

// clone returns a deep copy of capabilities.
func clone(capabilities v1beta1.Capabilities) v1beta1.Capabilities {
	copied := make(v1beta1.Capabilities, len(capabilities))
	for name, values := range capabilities {
		copied[name] = slices.Clone(values)
	}
	return copied
}

// agreesWith reports whether flavors have exactly the architectures of the deprecated field, or the field is empty.
func (r *Reading[R]) agreesWith(architectures []string, flavors []v1beta1.MachineImageFlavor) bool {
	if len(architectures) == 0 {
		return true
	}
	supported := sets.New[string]()
	for _, flavor := range flavors {
		set, _ := r.vocabulary.Set(flavor.Capabilities, nil)
		supported.Insert(set.Values(capability.Architecture)...)
	}
	return supported.Equal(sets.New(architectures...))
}
