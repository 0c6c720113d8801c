// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package after is the extension on capkit: what is left of its code for images. Its types are those that it had, and its webhooks have
// the interfaces of Gardener's library, as before.
//
// It is written to be copied, and imports nothing but the packages that any extension imports.
package after

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/test/authors/convert/api"
)

// AMI is an image in one region.
type AMI struct {
	ID string `json:"ami"`
}

// Provider says how the extension writes images.
type Provider struct{}

// Type is the provider type.
func (Provider) Type() string { return api.Type }

// Decode reads a CloudProfileConfig.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[AMI], finding.Report) {
	config := &api.CloudProfileConfig{}
	report := finding.Report{Errors: providerconfig.Decode(raw, api.GroupVersion.WithKind("CloudProfileConfig"), config, at)}
	images := providerconfig.Images(config.MachineImages, at.Child("machineImages"),
		func(image *api.MachineImages) (string, []api.MachineImageVersion) { return image.Name, image.Versions }, decode, &report)
	return provider.Config[AMI]{Images: images}, report
}

func decode(written *api.MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[AMI] {
	version := imageselector.Version[AMI]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	if version.Legacy {
		version.Flavors = providerconfig.LegacyFlavors(written.Regions, at.Child("regions"), region)
		return version
	}
	if len(written.Regions) > 0 {
		report.Errors = append(report.Errors, providerconfig.FormatMixed(at.Child("regions"), "regions"))
	}
	for i := range written.CapabilityFlavors {
		flavor, path := &written.CapabilityFlavors[i], at.Child("capabilityFlavors").Index(i)
		version.Flavors = append(version.Flavors, imageselector.Flavor[AMI]{
			Capabilities: flavor.Capabilities, Path: path,
			Regional: providerconfig.Regions(flavor.Regions, path.Child("regions"), region, report),
		})
	}
	return version
}

func region(written *api.RegionAMIMapping) providerconfig.Region[AMI] {
	return providerconfig.Region[AMI]{Name: written.Name, Ref: AMI{ID: written.AMI}, Architecture: written.Architecture}
}

// Encode writes a version.
func (Provider) Encode(version imageselector.Version[AMI], format provider.Format) ([]any, error) {
	written, known := api.MachineImageVersion{Version: version.Version}, map[string]bool{}
	for i := range version.Flavors {
		flavor := &version.Flavors[i]
		if format == provider.FormatFlavors {
			written.CapabilityFlavors = append(written.CapabilityFlavors,
				api.MachineImageFlavor{Capabilities: flavor.Capabilities, Regions: encode(flavor.Regional, nil)})
			continue
		}
		architecture, err := providerconfig.LegacyArchitecture(flavor.Capabilities)
		if err != nil {
			return nil, err
		}
		if known[architecture] || len(flavor.Regional) == 0 {
			return nil, errors.New("the legacy format has one flavor with AMIs for each architecture")
		}
		known[architecture] = true
		written.Regions = append(written.Regions, encode(flavor.Regional, &architecture)...)
	}
	return []any{written}, nil
}

func encode(regional []imageselector.Regional[AMI], architecture *string) (regions []api.RegionAMIMapping) {
	for _, r := range regional {
		regions = append(regions, api.RegionAMIMapping{Name: r.Region, AMI: r.Ref.ID, Architecture: architecture})
	}
	return regions
}

// ValidateReference demands an AMI in each region.
func (Provider) ValidateReference(ref AMI, at *field.Path) field.ErrorList {
	if ref.ID == "" {
		return field.ErrorList{providerconfig.ReferenceMissing(at.Child("ami"), "the AMI")}
	}
	return nil
}

// Workers ask for nothing.
func (Provider) Workers() provider.Workers { return provider.Workers{} }

// Converted is the provider with the policies by which the extension goes on as it did.
type Converted struct{ Provider }

// Policies are those of the gardener library, of the mutator that was there, and of the look into the status of the Worker.
func (Converted) Policies() policy.Policies {
	return policy.Policies{Order: capability.Gardener, CoreFollows: true, Undecided: policy.Recalls}
}
