// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// Filled is what [FillCloudProfile] fills in for one image version.
type Filled struct {
	// Image and Version are the indices in spec.machineImages and its versions.
	Image, Version int
	// Flavors for the version's capabilityFlavors, never empty.
	Flavors []v1beta1.MachineImageFlavor
}

// reservedPrefix marks the capabilities that core keeps for itself (semantics S3).
const reservedPrefix = "gardener-"

// FillCloudProfile returns the core flavors that follow from the provider config for image versions of a CloudProfile that
// have none (semantics S12), in the order of the profile; none if it registers no capabilities. A version is left as it is
// if its mapping is missing or has errors, which are for [CheckCloudProfile] to report, and if the field architectures
// says something else. The spec is not changed, and the result shares nothing with it.
func FillCloudProfile[R any](provider Provider[R], spec *v1beta1.CloudProfileSpec) []Filled {
	p := &Profile[R]{provider: provider, spec: spec, at: field.NewPath("spec")}
	return p.fill(spec.MachineCapabilities)
}

// FillNamespacedCloudProfile does the same for the versions that a NamespacedCloudProfile defines itself, with the
// vocabulary of its parent.
func FillNamespacedCloudProfile[R any](provider Provider[R], profile *v1beta1.NamespacedCloudProfile, above *v1beta1.CloudProfileSpec) []Filled {
	p := &Profile[R]{provider: provider, at: field.NewPath("spec"), parent: &parent[R]{versions: map[imageVersion]bool{}}}
	p.spec = &v1beta1.CloudProfileSpec{MachineImages: profile.Spec.MachineImages, ProviderConfig: profile.Spec.ProviderConfig}
	for _, image := range above.MachineImages {
		for _, version := range image.Versions {
			p.parent.versions[imageVersion{image.Name, version.Version}] = true
		}
	}
	return p.fill(above.MachineCapabilities)
}

func (p *Profile[R]) fill(capabilities []v1beta1.CapabilityDefinition) []Filled {
	if len(capabilities) == 0 || p.spec.ProviderConfig == nil || !slices.ContainsFunc(p.spec.MachineImages, p.hasUnfilled) {
		return nil
	}
	p.vocabulary, _ = capability.Compile(capabilities, nil)
	images, report := p.provider.Images(p.spec.ProviderConfig, p.at.Child("providerConfig"))
	p.images, p.unread = images, unreadPlaces(report.Errors, p.at.Child("providerConfig"))
	provided, _ := p.byName()
	var filled []Filled
	for i := range p.spec.MachineImages {
		image := &p.spec.MachineImages[i]
		entries, found := provided[image.Name]
		for k := range image.Versions {
			if !found || !p.unfilled(image.Name, &image.Versions[k]) {
				continue
			}
			flavors := p.flavorsOf(entries.versions[image.Versions[k].Version])
			if len(flavors) > 0 && agreesWith(image.Versions[k].Architectures, flavors) {
				filled = append(filled, Filled{i, k, flavors})
			}
		}
	}
	return filled
}

func (p *Profile[R]) hasUnfilled(image v1beta1.MachineImage) bool {
	return slices.ContainsFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool { return p.unfilled(image.Name, &v) })
}

func (p *Profile[R]) unfilled(image string, version *v1beta1.MachineImageVersion) bool {
	return len(version.CapabilityFlavors) == 0 && !p.inherits(imageVersion{image, version.Version})
}

// flavorsOf returns the core flavors that the entries of one version stand for, in their order; nil if one of them has
// errors. A flavor that declares nothing is what core assumes anyway.
func (p *Profile[R]) flavorsOf(entries []*imageselector.Version[R]) []v1beta1.MachineImageFlavor {
	var flavors []v1beta1.MachineImageFlavor
	seen := map[capability.Set]bool{}
	for _, entry := range entries {
		if p.unread.touches(entry.Path) {
			return nil
		}
		for i := range entry.Flavors {
			declared := declaredForCore(entry.Flavors[i].Capabilities)
			set, errs := p.vocabulary.Set(declared, nil)
			if len(errs) > 0 || len(declared) == 0 {
				return nil
			}
			if !seen[set] {
				seen[set] = true
				flavors = append(flavors, v1beta1.MachineImageFlavor{Capabilities: declared})
			}
		}
	}
	return flavors
}

// declaredForCore returns a copy of capabilities without those that core reserves.
func declaredForCore(capabilities v1beta1.Capabilities) v1beta1.Capabilities {
	declared := make(v1beta1.Capabilities, len(capabilities))
	for name, values := range capabilities {
		if !strings.HasPrefix(name, reservedPrefix) {
			declared[name] = slices.Clone(values)
		}
	}
	return declared
}

// agreesWith tells whether flavors have the architectures that the deprecated field lists, if it lists any.
func agreesWith(architectures []string, flavors []v1beta1.MachineImageFlavor) bool {
	if len(architectures) == 0 {
		return true
	}
	var declared []string
	for _, flavor := range flavors {
		for _, architecture := range flavor.Capabilities[capability.Architecture] {
			if !slices.Contains(architectures, architecture) {
				return false
			}
			if !slices.Contains(declared, architecture) {
				declared = append(declared, architecture)
			}
		}
	}
	return len(declared) == len(architectures)
}
