// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package azure is the Provider for Azure: one image for each flavor, named in one of four ways, the same in every region. It converts the
// wire format of pkg/apis/azure, and reports the errors that only this format can have: references.go about images, rules.go about other
// parts. settings.go has the requests of worker pools. Other checks belong to package check.
package azure

import (
	"errors"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/azure/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Image refers to an image by one of the first four fields, in all regions. The JSON names are those of the wire format.
type Image struct {
	URN                     string `json:"urn,omitempty"`
	CommunityGalleryImageID string `json:"communityGalleryImageID,omitempty"`
	SharedGalleryImageID    string `json:"sharedGalleryImageID,omitempty"`
	ID                      string `json:"id,omitempty"`
	// SkipMarketplaceAgreement reports whether the image named by URN needs no acceptance of its terms.
	SkipMarketplaceAgreement bool `json:"skipMarketplaceAgreement,omitempty"`
}

// Provider implements [provider.Provider] for the provider type azure. It also has rules about the other parts of a CloudProfileConfig. The
// zero value is ready for use.
type Provider struct{}

var _ provider.Provider[Image] = Provider{}

// Type returns "azure".
func (Provider) Type() string { return "azure" }

// Decode reads a CloudProfileConfig of group azure.provider.extensions.gardener.cloud. A legacy entry is one image of one architecture,
// with or without accelerated networking; several entries of one version are combined.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Image], finding.Report) {
	config := &v1alpha1.CloudProfileConfig{}
	kind := schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")
	report := finding.Report{Errors: providerconfig.Decode(raw, kind, config, at)}
	images := providerconfig.Images(config.MachineImages, at.Child("machineImages"), parts, convert, &report)
	return provider.Config[Image]{Images: images, Validator: rulesOf(config)}, report
}

func parts(image *v1alpha1.MachineImages) (string, []v1alpha1.MachineImageVersion) {
	return image.Name, image.Versions
}

// implied maps a legacy entry's acceleratedNetworking to its implied capabilities. It must not be modified.
var implied = map[bool]v1beta1.Capabilities{
	true:  {Networking: {networkingAccelerated, networkingBasic}},
	false: {Networking: {networkingBasic}},
}

func convert(written *v1alpha1.MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Image] {
	version := imageselector.Version[Image]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	if version.Legacy {
		version.Flavors = []imageselector.Flavor[Image]{{
			Capabilities: providerconfig.OfArchitecture(written.Architecture),
			Implied:      implied[ptr.Deref(written.AcceleratedNetworking, false)],
			Global:       reference(&written.Image, written.SkipMarketplaceAgreement, at, report), Path: at,
		}}
		return version
	}
	checkMixed(written, at, report)
	for i := range written.CapabilityFlavors {
		f, path := &written.CapabilityFlavors[i], at.Child("capabilityFlavors").Index(i)
		version.Flavors = append(version.Flavors, imageselector.Flavor[Image]{
			Capabilities: f.Capabilities, Path: path, Global: reference(&f.Image, f.SkipMarketplaceAgreement, path, report),
		})
	}
	return version
}

// reference returns the reference of a version or flavor at a path, nil if there is none. If the image is named in several ways, the first
// way wins, as in the extension.
func reference(written *v1alpha1.Image, skip *bool, at *field.Path, report *finding.Report) *imageselector.Global[Image] {
	global := &imageselector.Global[Image]{}
	global.Ref.SkipMarketplaceAgreement = ptr.Deref(skip, false)
	set := waysIn(written)
	checkReference(set, skip, at, report)
	if len(set) == 0 {
		return nil
	}
	*set[0].in(&global.Ref), global.Path = **set[0].written(written), at.Child(set[0].field)
	return global
}

// Encode writes a version, in the legacy format with an entry for each flavor.
func (Provider) Encode(version imageselector.Version[Image], format provider.Format) ([]any, error) {
	written := v1alpha1.MachineImageVersion{Version: version.Version}
	entries := make([]any, 0, len(version.Flavors))
	for _, flavor := range version.Flavors {
		if len(flavor.Regional) > 0 {
			return nil, errors.New("an image is the same in every region")
		}
		image, skip, err := write(flavor.Global)
		if err != nil {
			return nil, err
		}
		if format == provider.FormatFlavors {
			written.CapabilityFlavors = append(written.CapabilityFlavors, v1alpha1.MachineImageFlavor{
				SkipMarketplaceAgreement: skip, Capabilities: flavor.Capabilities, Image: image,
			})
			continue
		}
		architecture, err := providerconfig.LegacyArchitecture(flavor.Capabilities)
		if err != nil {
			return nil, err
		}
		entry := v1alpha1.MachineImageVersion{
			Version: version.Version, SkipMarketplaceAgreement: skip, Architecture: &architecture, Image: image,
		}
		if slices.Contains(flavor.Implied[Networking], networkingAccelerated) {
			entry.AcceleratedNetworking = ptr.To(true)
		}
		entries = append(entries, entry)
	}
	switch {
	case len(version.Flavors) == 0:
		return nil, errors.New("a version has an image")
	case format == provider.FormatFlavors:
		return []any{written}, nil
	}
	return entries, nil
}

// write returns a reference in the wire format. An empty reference becomes an empty URN.
func write(global *imageselector.Global[Image]) (image v1alpha1.Image, skip *bool, err error) {
	if global == nil {
		return image, nil, nil
	}
	ref := global.Ref
	for _, w := range ways {
		if value := w.in(&ref); *value != "" {
			*w.written(&image) = value
		}
	}
	switch len(waysIn(&image)) {
	case 0:
		image.URN = &ref.URN
	case 1:
	default:
		return image, nil, errors.New("an image is named in one way")
	}
	if ref.SkipMarketplaceAgreement {
		skip = ptr.To(true)
	}
	return image, skip, nil
}
