// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package local is the Provider for Gardener's local setup, where machines are containers: one container image for each flavor, the same in
// every region. It is the shortest example of a Provider.
package local

import (
	"errors"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Image refers to a container image.
type Image struct {
	// Image is the name of the container image, with its tag or digest.
	Image string `json:"image"`
}

// Provider implements [provider.Provider] for the provider type local. The zero value is ready for use.
type Provider struct{}

var (
	_ provider.Provider[Image] = Provider{}
	_ provider.ReferenceSharer = Provider{}
)

// Type returns "local".
func (Provider) Type() string { return "local" }

// SharesReferences returns true: one container image can serve several architectures, and its tag can move.
func (Provider) SharesReferences() bool { return true }

// Decode reads a CloudProfileConfig of group local.provider.extensions.gardener.cloud. The container image of a legacy version serves every
// architecture, so the version becomes one flavor without declarations.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Image], finding.Report) {
	config := &CloudProfileConfig{}

	report := finding.Report{Errors: providerconfig.Decode(raw, ConfigKind, config, at)}
	images := providerconfig.Images(config.MachineImages, at.Child("machineImages"), parts, convert, &report)
	return provider.Config[Image]{Images: images}, report
}

func parts(image *MachineImages) (string, []MachineImageVersion) {
	return image.Name, image.Versions
}

func convert(written *MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Image] {
	v := imageselector.Version[Image]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	for i, f := range written.CapabilityFlavors {
		path := at.Child("capabilityFlavors").Index(i)
		v.Flavors = append(v.Flavors, imageselector.Flavor[Image]{
			Capabilities: f.Capabilities, Path: path,
			Global: &imageselector.Global[Image]{Ref: Image{f.Image}, Path: path.Child("image")},
		})
	}
	switch path := at.Child("image"); {
	case written.Image == "":
	case v.Legacy:
		v.Flavors = []imageselector.Flavor[Image]{{Path: path, Global: &imageselector.Global[Image]{Ref: Image{written.Image}, Path: path}}}
	default:
		report.Warnings = append(report.Warnings, providerconfig.ImageIgnored(path, written.Image))
	}
	return v
}

// Encode writes a version. The legacy format has one image for all architectures.
func (Provider) Encode(version imageselector.Version[Image], format provider.Format) ([]any, error) {
	written := MachineImageVersion{Version: version.Version}
	for _, flavor := range version.Flavors {
		if flavor.Global == nil || len(flavor.Regional) > 0 {
			return nil, errors.New("an image has one name, which is the same in every region")
		}
		image := flavor.Global.Ref.Image
		switch {
		case format == provider.FormatFlavors:
			written.CapabilityFlavors = append(written.CapabilityFlavors, MachineImageFlavor{
				Capabilities: flavor.Capabilities, Image: image,
			})
		case len(flavor.Capabilities) > 1 || len(flavor.Capabilities) != len(flavor.Capabilities[constants.ArchitectureName]):
			return nil, errors.New("the legacy format has no place for any capability but one architecture")
		case image == "" || written.Image != "" && written.Image != image:
			return nil, errors.New("the legacy format has one image for all architectures")
		default:
			written.Image = image
		}
	}
	return []any{written}, nil
}

// ValidateReference requires the name of an image.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	if ref.Image == "" {
		return field.ErrorList{providerconfig.ReferenceMissing(at, "the container image of the flavor")}
	}
	return nil
}

// Workers returns an empty Workers, because machines of the local setup have no WorkerConfig.
func (Provider) Workers() provider.Workers { return provider.Workers{} }
