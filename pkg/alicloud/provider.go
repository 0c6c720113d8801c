// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package alicloud is the Provider for AliCloud: an image ID for each region. It converts the wire format of pkg/apis/alicloud, and reports
// the errors that only this format can have. Other checks belong to package check. Worker pools have no WorkerConfig, so no setting
// requests an image.
package alicloud

import (
	"errors"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/alicloud/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// Image refers to an image in one region.
type Image struct {
	ID string `json:"id"`
}

// Provider implements [provider.Provider] for the provider type alicloud. The zero value is ready for use.
type Provider struct{}

var _ provider.Provider[Image] = Provider{}

// Type returns "alicloud".
func (Provider) Type() string { return "alicloud" }

// Decode reads a CloudProfileConfig of group alicloud.provider.extensions.gardener.cloud.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Image], finding.Report) {
	config := &v1alpha1.CloudProfileConfig{}
	kind := schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")
	report := finding.Report{Errors: providerconfig.Decode(raw, kind, config, at, changes...)}
	images := providerconfig.Images(config.MachineImages, at.Child("machineImages"), parts, convert, &report)
	return provider.Config[Image]{Images: images}, report
}

// changes are fields that the config does not have, but that users may write.
var changes = []providerconfig.Change{
	{Field: "machineImages.versions.id", Became: "an image has an ID for each region; write regions: [{name: REGION, id: ID}]"},
	{Field: "machineImages.versions.regions.architecture", Became: "regions beside a version are for amd64 only; write capabilityFlavors"},
	{
		Field:  "machineImages.versions.capabilityFlavors.regions.architecture",
		Became: "the architecture of a flavor is a capability; write capabilities: {architecture: [arm64]}, say",
	},
}

func parts(image *v1alpha1.MachineImages) (string, []v1alpha1.MachineImageVersion) {
	return image.Name, image.Versions
}

// convert converts a version. A legacy version becomes one flavor, for amd64 (semantics S6).
func convert(written *v1alpha1.MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Image] {
	version := imageselector.Version[Image]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	switch {
	case version.Legacy:
		version.Flavors = providerconfig.LegacyFlavors(written.Regions, at.Child("regions"), region)
	case len(written.Regions) > 0:
		report.Errors = append(report.Errors, providerconfig.FormatMixed(at.Child("regions"), "regions"))
	}
	for i := range written.CapabilityFlavors {
		flavor, path := &written.CapabilityFlavors[i], at.Child("capabilityFlavors").Index(i)
		version.Flavors = append(version.Flavors, imageselector.Flavor[Image]{
			Capabilities: flavor.Capabilities, Path: path,
			Regional: providerconfig.Regions(flavor.Regions, path.Child("regions"), region, report),
		})
	}
	return version
}

func region(written *v1alpha1.RegionIDMapping) providerconfig.Region[Image] {
	return providerconfig.Region[Image]{Name: written.Name, Ref: Image{ID: written.ID}}
}

// Encode writes a version. The legacy format has one flavor, for amd64.
func (Provider) Encode(version imageselector.Version[Image], format provider.Format) ([]any, error) {
	written := v1alpha1.MachineImageVersion{Version: version.Version}
	for i := range version.Flavors {
		flavor := &version.Flavors[i]
		if flavor.Global != nil {
			return nil, errors.New("an image has an ID in each region, and none for all of them")
		}
		var regions []v1alpha1.RegionIDMapping
		for _, r := range flavor.Regional {
			regions = append(regions, v1alpha1.RegionIDMapping{Name: r.Region, ID: r.Ref.ID})
		}
		if format == provider.FormatFlavors {
			written.CapabilityFlavors = append(written.CapabilityFlavors,
				v1alpha1.MachineImageFlavor{Capabilities: flavor.Capabilities, Regions: regions})
			continue
		}
		architecture, err := providerconfig.LegacyArchitecture(flavor.Capabilities)
		switch {
		case err != nil:
			return nil, err
		case architecture != constants.ArchitectureAMD64:
			return nil, errors.New("the legacy format is for amd64 only")
		case i > 0 || len(regions) == 0:
			return nil, errors.New("the legacy format has one flavor, with an image in some region")
		}
		written.Regions = regions
	}
	return []any{written}, nil
}

const (
	lower   = "abcdefghijklmnopqrstuvwxyz0123456789"
	letters = lower + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// isID reports whether a text can be an image's ID. A custom image's is m- followed by letters and digits; a public image's is a file name
// with an extension.
func isID(id string) bool {
	if custom, found := strings.CutPrefix(id, "m-"); found && custom != "" && strings.Trim(custom, lower) == "" {
		return true
	}
	dot := strings.LastIndexByte(id, '.')
	return dot > 0 && dot < len(id)-1 && strings.Trim(id[dot+1:], lower) == "" &&
		strings.IndexByte(letters, id[0]) >= 0 && strings.Trim(id[:dot], letters+"_.-") == ""
}

// ReferenceForm returns the form of the list of regions.
func (Provider) ReferenceForm() string { return "regions, as in regions: [{name: REGION, id: ID}]" }

// ValidateReference requires a well-formed image ID.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	switch {
	case isID(ref.ID): // the common case; there may be thousands
		return nil
	case ref.ID == "":
		return field.ErrorList{providerconfig.ReferenceMissing(at.Child("id"), "the image ID")}
	}
	return field.ErrorList{field.Invalid(at.Child("id"), ref.ID, words.Quoted(ref.ID)+" is not the ID of an image; write one such as "+
		"m-gw8iwwd6iqhi4cvkyjmg for a custom image, or aliyun_3_x64_20G_alibase_20240528.vhd for a public one").
		WithOrigin(ruleImageID.Name)}
}

var ruleImageID = finding.Denies("alicloud-image-id",
	"The value is not an image ID of AliCloud.",
	"Write the ID that `aliyun ecs DescribeImages` shows, in the region that the entry is for.")

// Rules returns this provider's own rules.
func (Provider) Rules() []finding.Rule { return finding.On(finding.ObjectCloudProfile, ruleImageID) }

// Workers returns an empty Workers, because worker pools have no WorkerConfig.
func (Provider) Workers() provider.Workers { return provider.Workers{} }
