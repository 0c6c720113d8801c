// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package metal is a Provider of the shape that the extension for metal-stack has, with types of our own: no profile maps images. The
// configuration of the extension does, for all profiles; without it, the ID of an image is its name and version.
package metal

import (
	"errors"
	"regexp"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Image is the ID of an image, which is the same in every partition.
type Image struct {
	ID string `json:"image"`
}

// CloudProfileConfig says nothing of images.
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	Partitions []Partition `json:"partitions,omitempty"`
}

// Partition is a zone.
type Partition struct {
	Name string `json:"name"`
}

// Kind is that of the config.
var Kind = schema.GroupVersionKind{Group: "metal.provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "CloudProfileConfig"}

// Provider is the provider, with what the configuration of the extension says. It must not be changed any more.
type Provider struct {
	// Images maps the images that there are. Nil: the ID of an image is its name and version.
	Images map[provider.ImageVersion]Image
}

var (
	_ provider.Provider[Image]         = Provider{}
	_ provider.ReferenceDeriver[Image] = Provider{}
	_ provider.ReferenceSharer         = Provider{}
	_ provider.PolicyChooser           = Provider{}
)

// Type returns "metal".
func (Provider) Type() string { return "metal" }

// Workers returns nothing.
func (Provider) Workers() provider.Workers { return provider.Workers{} }

// SharesReferences returns true: an image has one ID for all architectures.
func (Provider) SharesReferences() bool { return true }

// Policies say that images are mapped in the configuration of the extension.
func (Provider) Policies() policy.Policies {
	return policy.Policies{MappedIn: "the configuration of the extension"}
}

// Decode reads a config, which a profile may do without.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Image], finding.Report) {
	var report finding.Report
	if providerconfig.HasContent(raw) {
		report.Errors = providerconfig.Decode(raw, Kind, &CloudProfileConfig{}, at)
	}
	return provider.Config[Image]{}, report
}

// Encode writes nothing: Decode reads no images.
func (Provider) Encode(imageselector.Version[Image], provider.Format) ([]any, error) {
	return nil, errors.New("images are mapped in the configuration of the extension")
}

var imageID = regexp.MustCompile(`^[a-z][a-z0-9.-]*$`)

// ValidateReference checks the syntax of an ID.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	if !imageID.MatchString(ref.ID) {
		return field.ErrorList{field.Invalid(at, ref.ID, "an image ID has letters, digits, dots and dashes").WithOrigin("metal-image-id")}
	}
	return nil
}

// DeriveReference looks an image up in the configuration of the extension, or makes the ID of its name and version.
func (p Provider) DeriveReference(v provider.ImageVersion, _ v1beta1.Capabilities) (Image, bool) {
	if p.Images == nil {
		return Image{v.Image + "-" + v.Version}, true
	}
	image, mapped := p.Images[v]
	return image, mapped
}
