// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/utils/ptr"
)

// Merge returns the spec of the CloudProfile that a NamespacedCloudProfile and its parent result in, as Gardener's controller writes it
// into status.cloudProfileSpec. The provider config is the parent's. Architectures are sorted, because Gardener lists them in an order that
// changes from run to run. The result shares no memory with the arguments, which are not modified.
//
// It is the rule of MergeCloudProfiles in Gardener's controller for NamespacedCloudProfiles, which only programs of its size can link.
func Merge(child *v1beta1.NamespacedCloudProfileSpec, parent *v1beta1.CloudProfileSpec) *v1beta1.CloudProfileSpec {
	return MergeShared(child, parent).DeepCopy()
}

// MergeShared is [Merge] with a result that shares memory with the parent. Neither the result nor the parent may be modified afterwards.
func MergeShared(child *v1beta1.NamespacedCloudProfileSpec, parent *v1beta1.CloudProfileSpec) *v1beta1.CloudProfileSpec {
	spec, own := ptr.To(*parent), child.DeepCopy()
	spec.Kubernetes.Versions, spec.MachineTypes = slices.Clone(spec.Kubernetes.Versions), slices.Clone(spec.MachineTypes)
	spec.MachineImages, spec.VolumeTypes = slices.Clone(spec.MachineImages), slices.Clone(spec.VolumeTypes)
	for i := range spec.MachineImages {
		spec.MachineImages[i].Versions = slices.Clone(spec.MachineImages[i].Versions)
	}
	for i := range own.MachineImages {
		for k := range own.MachineImages[i].Versions {
			inFormatOf(spec, &own.MachineImages[i].Versions[k])
		}
	}
	for i := range own.MachineTypes {
		typeInFormatOf(spec, &own.MachineTypes[i])
	}
	if own.Kubernetes != nil {
		known := func(v v1beta1.ExpirableVersion) bool {
			return slices.ContainsFunc(spec.Kubernetes.Versions, func(is v1beta1.ExpirableVersion) bool { return is.Version == v.Version })
		}
		versions := slices.DeleteFunc(own.Kubernetes.Versions, func(v v1beta1.ExpirableVersion) bool { return !known(v) })
		spec.Kubernetes.Versions = merged(spec.Kubernetes.Versions, versions,
			func(v *v1beta1.ExpirableVersion) string { return v.Version }, expiring)
	}
	spec.MachineImages = merged(spec.MachineImages, own.MachineImages, func(i *v1beta1.MachineImage) string { return i.Name }, overridden)
	spec.MachineTypes = merged(spec.MachineTypes, own.MachineTypes, func(t *v1beta1.MachineType) string { return t.Name }, replaced)
	spec.VolumeTypes = merged(spec.VolumeTypes, own.VolumeTypes, func(t *v1beta1.VolumeType) string { return t.Name }, replaced)
	if own.CABundle != nil {
		spec.CABundle = ptr.To(ptr.Deref(spec.CABundle, "") + *own.CABundle)
	}
	if own.Limits != nil {
		spec.Limits = ptr.To(ptr.Deref(spec.Limits, v1beta1.Limits{}))
		if ptr.Deref(own.Limits.MaxNodesTotal, 0) > 0 {
			spec.Limits.MaxNodesTotal = own.Limits.MaxNodesTotal
		}
	}
	fillArchitectures(spec)
	return spec
}

// inFormatOf converts an image version to the parent's format: with a flavor for each architecture, or without flavors.
func inFormatOf(parent *v1beta1.CloudProfileSpec, v *v1beta1.MachineImageVersion) {
	switch {
	case len(parent.MachineCapabilities) == 0:
		if len(v.Architectures) == 0 {
			v.Architectures = architecturesOf(v.CapabilityFlavors, nil)
		}
		v.CapabilityFlavors = nil
	case len(v.CapabilityFlavors) == 0:
		v.CapabilityFlavors = []v1beta1.MachineImageFlavor{}
		for _, architecture := range v.Architectures {
			v.CapabilityFlavors = append(v.CapabilityFlavors, v1beta1.MachineImageFlavor{
				Capabilities: v1beta1.Capabilities{constants.ArchitectureName: {architecture}},
			})
		}
	}
}

// typeInFormatOf converts a machine type to the parent's format: with its architecture as the only capability, or without capabilities.
func typeInFormatOf(parent *v1beta1.CloudProfileSpec, t *v1beta1.MachineType) {
	if len(parent.MachineCapabilities) == 0 {
		if values := t.Capabilities[constants.ArchitectureName]; t.Architecture == nil && len(values) > 0 {
			t.Architecture = &values[0]
		}
		t.Capabilities = nil
		return
	}
	if len(t.Capabilities) == 0 {
		architecture := t.GetArchitecture(parent.MachineCapabilities)
		if architecture == "" {
			architecture = ptr.Deref(t.Architecture, constants.ArchitectureAMD64)
		}
		t.Capabilities = v1beta1.Capabilities{constants.ArchitectureName: {architecture}}
	}
}

// architecturesOf returns the architectures that flavors support, sorted. Without flavors these are all architectures of the vocabulary.
func architecturesOf(flavors []v1beta1.MachineImageFlavor, vocabulary []v1beta1.CapabilityDefinition) []string {
	if len(flavors) == 0 {
		flavors = make([]v1beta1.MachineImageFlavor, 1)
	}
	architectures := []string{}
	for _, f := range flavors {
		values := f.Capabilities
		if len(vocabulary) > 0 {
			values = v1beta1.GetCapabilitiesWithAppliedDefaults(values, vocabulary)
		}
		architectures = append(architectures, values[constants.ArchitectureName]...)
	}
	slices.Sort(architectures)
	return slices.Compact(architectures)
}

// fillArchitectures fills in the missing architectures of machine types and image versions.
func fillArchitectures(spec *v1beta1.CloudProfileSpec) {
	for i := range spec.MachineTypes {
		t := &spec.MachineTypes[i]
		switch architecture := t.GetArchitecture(spec.MachineCapabilities); {
		case architecture == "":
			t.Architecture = ptr.To(constants.ArchitectureAMD64)
		case t.Architecture == nil:
			t.Architecture = &architecture
		}
	}
	for i := range spec.MachineImages {
		for k := range spec.MachineImages[i].Versions {
			v := &spec.MachineImages[i].Versions[k]
			if len(v.Architectures) == 0 && len(spec.MachineCapabilities) > 0 {
				v.Architectures = architecturesOf(v.CapabilityFlavors, spec.MachineCapabilities)
			}
			if len(v.Architectures) == 0 {
				v.Architectures = []string{constants.ArchitectureAMD64}
			}
			if !slices.IsSorted(v.Architectures) { // they may be the parent's
				v.Architectures = slices.Sorted(slices.Values(v.Architectures))
			}
		}
	}
}

// merged returns a list with the items of another one merged in: in place of items with the same key, and otherwise appended. Of several
// items in one list with the same key, the last one replaces the first. If the result is empty, it is the list itself.
func merged[T any](list, others []T, key func(*T) string, merge func(is, other T) T) []T {
	var all []T
	places := map[string]int{}
	put := func(item T, merge func(is, other T) T) {
		name := key(&item)
		if i, found := places[name]; found {
			all[i] = merge(all[i], item)
			return
		}
		places[name], all = len(all), append(all, item)
	}
	for _, item := range list {
		put(item, replaced)
	}
	for _, item := range others {
		put(item, merge)
	}
	if len(all) == 0 {
		return list
	}
	return all
}

func replaced[T any](_, other T) T { return other }

// expiring returns a version with another one's expiration date.
func expiring(is, other v1beta1.ExpirableVersion) v1beta1.ExpirableVersion {
	is.ExpirationDate = other.ExpirationDate //nolint:staticcheck // as people write it
	return is
}

// overridden returns an image with the versions of another one, and its update strategy if it has one.
func overridden(is, other v1beta1.MachineImage) v1beta1.MachineImage {
	if ptr.Deref(other.UpdateStrategy, "") != "" {
		is.UpdateStrategy = other.UpdateStrategy
	}
	is.Versions = merged(is.Versions, other.Versions, func(v *v1beta1.MachineImageVersion) string { return v.Version }, overriddenVersion)
	return is
}

// overriddenVersion returns a version with another one's expiration date, or the other one if that sets further fields.
func overriddenVersion(is, other v1beta1.MachineImageVersion) v1beta1.MachineImageVersion {
	if hasMore(&other) {
		return other
	}
	is.ExpirableVersion = expiring(is.ExpirableVersion, other.ExpirableVersion)
	return is
}

// hasMore reports whether a version has more than an expiration date.
func hasMore(v *v1beta1.MachineImageVersion) bool {
	classification := ptr.Deref(v.Classification, "") //nolint:staticcheck // as people write it
	return len(v.Architectures)+len(v.CapabilityFlavors)+len(v.CRI) > 0 || ptr.Deref(v.KubeletVersionConstraint, "") != "" || classification != ""
}

// Extends reports whether an image version of a NamespacedCloudProfile has only an expiration date, as one that extends a version of the
// parent.
func Extends(v *v1beta1.MachineImageVersion) bool {
	return v.ExpirationDate != nil && !hasMore(v) //nolint:staticcheck // as people write it
}
