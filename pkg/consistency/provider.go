// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/imageselector"
)

// Provider is all that an extension author writes: how the images of a cloud stand in its CloudProfileConfig. R is the
// provider's reference to an image artifact in one region: an OpenStack image ID, an AMI, a container image. As JSON it
// is what the command line shows. Implementations are stateless and safe for concurrent use.
type Provider[R any] interface {
	// Type is the provider type, as in spec.type of a CloudProfile: "openstack".
	Type() string

	// CloudProfileConfig decodes a provider config that stands at the path at, strictly; [DecodeConfig] does the
	// decoding. The images come in the order written, and each carries the path where it is written. An entry
	// without capabilityFlavors becomes a legacy version with one flavor for each architecture, in order of first
	// appearance (semantics S7).
	//
	// The report holds what only the provider can see: fields that exclude each other, fields that mean nothing where
	// they stand. Everything that follows from the returned images is checked by this package. After errors what
	// could be read is returned all the same. A raw that is nil, or has no content, is an error.
	CloudProfileConfig(raw *runtime.RawExtension, at *field.Path) (CloudProfileConfig[R], Report)

	// ValidateRef checks the syntax of a reference that stands at the path at: of a region's entry if the reference is
	// regional, of the image's field if it is global. It never looks anything up. The Origin of each error is the name
	// of its rule.
	ValidateRef(ref R, at *field.Path) field.ErrorList

	// Workers returns what the provider's workers can ask for by their providerConfig; the zero Workers if that is
	// nothing. It is the same at every call.
	Workers() Workers
}

// CloudProfileConfig is a provider config that was read.
type CloudProfileConfig[R any] struct {
	// Images maps the machine images, in the order written.
	Images []imageselector.Image[R]
	// Constraints are what the rest of the config says; nil if the provider has no rules of its own about it.
	Constraints Constraints
}
