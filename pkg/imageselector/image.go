// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector

import (
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

// Image is one entry of a provider config's machineImages.
type Image[R any] struct {
	// Name is the name by which spec.machineImages knows the image.
	Name string
	// Versions in the order written. Entries with the same version string are one version whose flavors add up
	// (semantics S7).
	Versions []Version[R]
	// Path is where the user wrote the entry.
	Path *field.Path
}

// Version is one entry of an image's versions.
type Version[R any] struct {
	// Version is the version string, compared as written.
	Version string
	// Legacy is set if the entry has no capabilityFlavors. Its flavors then declare an architecture at most; what else
	// its fields say of capabilities is implied (semantics S7).
	Legacy bool
	// Flavors in the order written.
	Flavors []Flavor[R]
	// Undeclared holds the values of single worker capabilities that a flavor of this entry supports which does not
	// declare them, in place of what their definitions say (semantics S3). Nil if there is nothing to say.
	Undeclared v1beta1.Capabilities
	// Path is where the user wrote the entry.
	Path *field.Path
}

// Flavor is one image artifact, with what it supports and where it can be found.
type Flavor[R any] struct {
	// Capabilities as declared. What is absent is supported in full (semantics S2), but for worker capabilities (S3).
	// See [capability.Vocabulary.Flavor].
	Capabilities v1beta1.Capabilities
	// Implied is what the fields of a legacy entry say of capabilities besides the architecture, such as Azure's
	// acceleratedNetworking (semantics S7). Each capability counts, as if it were declared, where the vocabulary
	// registers it and Capabilities does not declare it; elsewhere it says nothing. Nil if there is nothing to say. See
	// [Flavor.Supported].
	Implied v1beta1.Capabilities
	// Regional holds the reference for each region that has one of its own, in the order written. If a region has
	// several entries, the last one counts (semantics S7).
	Regional []Regional[R]
	// Global is the reference for all other regions. Nil if there is none.
	Global *Global[R]
	// Path is where the user wrote the flavor. In a legacy entry it is the first region of the flavor's architecture,
	// or the image.
	Path *field.Path
}

// Supported returns the capabilities that the flavor counts as declaring in a vocabulary: those of Capabilities, and
// those of Implied that are registered and not among them (semantics S7). It is Capabilities itself, which may be
// nil, if nothing is added, and shares its values otherwise: the caller must not change it.
func (f *Flavor[R]) Supported(v *capability.Vocabulary) v1beta1.Capabilities {
	supported := f.Capabilities
	for name, values := range f.Implied {
		if _, declared := f.Capabilities[name]; declared || !v.IsRegistered(name) {
			continue
		}
		if len(supported) == len(f.Capabilities) { // the first one that is added
			supported = maps.Collect(maps.All(f.Capabilities))
		}
		supported[name] = registeredOf(v, name, values)
	}
	return supported
}

// registeredOf returns those of implied values that are registered, for the user has not written them; all of them if
// none is.
func registeredOf(v *capability.Vocabulary, name string, values []string) v1beta1.CapabilityValues {
	registered := slices.DeleteFunc(slices.Clone(values), func(value string) bool {
		return !slices.Contains(v.Registered(name), value)
	})
	if len(registered) == 0 {
		return values
	}
	return registered
}

// Regional is a provider's pointer to an artifact in one region.
type Regional[R any] struct {
	Region string
	Ref    R
	// Path is where the user wrote the region.
	Path *field.Path
}

// Global is a provider's pointer to an artifact that holds in every region without a reference of its own.
type Global[R any] struct {
	Ref R
	// Fallback is set if booting from this reference works but is discouraged: an OpenStack image name, say, which need
	// not be unique, where an image ID would be. It changes no decision; consistency warns about it.
	Fallback bool
	// Path is where the user wrote the reference.
	Path *field.Path
}

// Reference returns the flavor's reference in a region: the region's own, else the global one (semantics S6). found
// is false if there is neither. Of several entries for the region the last one counts (semantics S7).
func (f *Flavor[R]) Reference(region string) (ref R, found bool) {
	for i := range slices.Backward(f.Regional) {
		if f.Regional[i].Region == region {
			return f.Regional[i].Ref, true
		}
	}
	if f.Global != nil {
		return f.Global.Ref, true
	}
	return ref, false
}
