// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package hcloud is a Provider of the shape that the extension for Hetzner Cloud has, with types of our own: images are known by names,
// which are the same for all architectures; a list under a region overrides the list for all regions; and a system image of the
// cloud needs no mapping.
package hcloud

import (
	"errors"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Image is the name of an image, whatever the architecture.
type Image struct {
	Name string `json:"imageName"`
}

// CloudProfileConfig maps machine images.
type CloudProfileConfig struct {
	metav1.TypeMeta `json:",inline"`

	// Regions may have images that override those of MachineImages.
	Regions       []Region       `json:"regions,omitempty"`
	MachineImages []MachineImage `json:"machineImages,omitempty"`
}

// Region has the images that are others there than elsewhere.
type Region struct {
	Name          string         `json:"name"`
	MachineImages []MachineImage `json:"machineImages,omitempty"`
	// Network is what has nothing to do with images.
	Network string `json:"network,omitempty"`
}

// MachineImage is one of spec.machineImages.
type MachineImage struct {
	Name     string                `json:"name"`
	Versions []MachineImageVersion `json:"versions"`
}

// MachineImageVersion has a name, or flavors with names.
type MachineImageVersion struct {
	Version           string   `json:"version"`
	ImageName         string   `json:"imageName,omitempty"`
	CapabilityFlavors []Flavor `json:"capabilityFlavors,omitempty"`
}

// Flavor is one image artifact.
type Flavor struct {
	Capabilities v1beta1.Capabilities `json:"capabilities,omitempty"`
	ImageName    string               `json:"imageName,omitempty"`
}

// Kind is that of the config.
var Kind = schema.GroupVersionKind{Group: "hcloud.provider.extensions.gardener.cloud", Version: "v1alpha1", Kind: "CloudProfileConfig"}

// Provider is the provider.
type Provider struct{}

var (
	_ provider.Provider[Image]         = Provider{}
	_ provider.ReferenceDeriver[Image] = Provider{}
	_ provider.ReferenceSharer         = Provider{}
	_ provider.ListExtender            = Provider{}
)

// Type returns "hcloud".
func (Provider) Type() string { return "hcloud" }

// Workers returns nothing.
func (Provider) Workers() provider.Workers { return provider.Workers{} }

// SharesReferences returns true: an image has one name for all architectures.
func (Provider) SharesReferences() bool { return true }

// Decode reads the images for all regions, and puts those of single regions into them.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Image], finding.Report) {
	config := &CloudProfileConfig{}
	report := finding.Report{Errors: providerconfig.Decode(raw, Kind, config, at)}
	images := decode(config.MachineImages, at.Child("machineImages"), &report)
	for i, region := range config.Regions {
		path := at.Child("regions").Index(i)
		overrides := decode(region.MachineImages, path.Child("machineImages"), &report)
		images = providerconfig.Override(images, overrides, region.Name, path.Child("name"))
	}
	return provider.Config[Image]{Images: images}, report
}

func decode(images []MachineImage, at *field.Path, report *finding.Report) []imageselector.Image[Image] {
	return providerconfig.Images(images, at, func(i *MachineImage) (string, []MachineImageVersion) { return i.Name, i.Versions }, convert, report)
}

// convert reads a version. In the legacy format it has one image for all architectures.
func convert(written *MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Image] {
	v := imageselector.Version[Image]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	if v.Legacy {
		v.Flavors = []imageselector.Flavor[Image]{{Path: at, Global: named(written.ImageName, at)}}
	} else if written.ImageName != "" {
		report.Errors = append(report.Errors, providerconfig.FormatMixed(at.Child("imageName"), "imageName"))
	}
	for i, f := range written.CapabilityFlavors {
		path := at.Child("capabilityFlavors").Index(i)
		v.Flavors = append(v.Flavors, imageselector.Flavor[Image]{Capabilities: f.Capabilities, Path: path, Global: named(f.ImageName, path)})
	}
	return v
}

// named refers to an image by its name; nil if there is none.
func named(name string, at *field.Path) *imageselector.Global[Image] {
	if name == "" {
		return nil
	}
	return &imageselector.Global[Image]{Ref: Image{name}, Path: at.Child("imageName")}
}

// Encode writes a version. The legacy format has one image for all architectures. What overrides an image in a region stands elsewhere.
func (Provider) Encode(version imageselector.Version[Image], format provider.Format) ([]any, error) {
	written := MachineImageVersion{Version: version.Version}
	for _, flavor := range version.Flavors {
		var name string
		if flavor.Global != nil {
			name = flavor.Global.Ref.Name
		}
		architectures := flavor.Capabilities[capability.Architecture]
		switch {
		case len(flavor.Regional) > 0:
			return nil, errors.New("an image of one region stands under regions, and not among the machineImages")
		case format == provider.FormatFlavors:
			written.CapabilityFlavors = append(written.CapabilityFlavors, Flavor{flavor.Capabilities, name})
		case len(flavor.Capabilities) > 1 || len(flavor.Capabilities) != len(architectures):
			return nil, errors.New("the legacy format has no place for any capability but one architecture")
		case len(version.Flavors) > 1 && (name == "" || written.ImageName != "" && written.ImageName != name):
			return nil, errors.New("the legacy format has one image for all architectures")
		default:
			written.ImageName = name
		}
	}
	return []any{written}, nil
}

// ValidateReference demands a name.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	if ref.Name == "" {
		return field.ErrorList{providerconfig.ReferenceMissing(at, "the name of the image")}
	}
	return nil
}

// systemImages are the names of the images that the cloud has itself, for both architectures.
var systemImages = []string{"debian", "fedora", "rocky", "ubuntu"}

// DeriveReference returns the name of a system image.
func (Provider) DeriveReference(v provider.ImageVersion, _ v1beta1.Capabilities) (ref Image, derived bool) {
	if !slices.Contains(systemImages, v.Image) {
		return ref, false
	}
	return Image{v.Image + "-" + v.Version}, true
}

// NamespacedLists says that a NamespacedCloudProfile may override its images in a region, beside what the parent has there.
func (Provider) NamespacedLists() []provider.List {
	versions := provider.List{Field: "versions", Key: "version"}
	images := provider.List{Field: "machineImages", Key: "name", Lists: []provider.List{versions}}
	return []provider.List{{Field: "regions", Key: "name", Lists: []provider.List{images}}}
}
