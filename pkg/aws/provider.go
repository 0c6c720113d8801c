// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package aws is the Provider for AWS: an Amazon Machine Image (AMI) for each region. It converts the wire format of pkg/apis/aws, and
// reports the errors that only this format can have. Other checks belong to package check. It is the small example of a real provider.
// worker.go has the requests of worker pools.
package aws

import (
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/aws/v1alpha1"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// Image refers to an AMI in one region.
type Image struct {
	AMI string `json:"ami"`
}

// Provider implements [provider.Provider] for the provider type aws. The zero value is ready for use.
type Provider struct{}

var _ provider.Provider[Image] = Provider{}

// Type returns "aws".
func (Provider) Type() string { return "aws" }

// Decode reads a CloudProfileConfig of group aws.provider.extensions.gardener.cloud.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Image], finding.Report) {
	config := &v1alpha1.CloudProfileConfig{}
	kind := schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")
	report := finding.Report{Errors: providerconfig.Decode(raw, kind, config, at)}
	images := providerconfig.Images(config.MachineImages, at.Child("machineImages"), parts, convert, &report)
	amisInTwoRegions(images, &report)
	return provider.Config[Image]{Images: images}, report
}

func parts(image *v1alpha1.MachineImages) (string, []v1alpha1.MachineImageVersion) {
	return image.Name, image.Versions
}

func convert(written *v1alpha1.MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Image] {
	version := imageselector.Version[Image]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	if version.Legacy {
		version.Flavors = providerconfig.LegacyFlavors(written.Regions, at.Child("regions"), region)
		return version
	}
	if len(written.Regions) > 0 {
		report.Errors = append(report.Errors, providerconfig.FormatMixed(at.Child("regions"), "regions"))
	}
	version.Flavors = make([]imageselector.Flavor[Image], 0, len(written.CapabilityFlavors))
	for i := range written.CapabilityFlavors {
		flavor, path := &written.CapabilityFlavors[i], at.Child("capabilityFlavors").Index(i)
		version.Flavors = append(version.Flavors, imageselector.Flavor[Image]{
			Capabilities: flavor.Capabilities, Path: path,
			Regional: providerconfig.Regions(flavor.Regions, path.Child("regions"), region, report),
		})
	}
	return version
}

func region(written *v1alpha1.RegionAMIMapping) providerconfig.Region[Image] {
	return providerconfig.Region[Image]{Name: written.Name, Ref: Image{AMI: written.AMI}, Architecture: written.Architecture}
}

// Encode writes a version. In the legacy format, each region has an entry for each architecture.
func (Provider) Encode(version imageselector.Version[Image], format provider.Format) ([]any, error) {
	written := v1alpha1.MachineImageVersion{Version: version.Version}
	known := map[string]bool{}
	for i := range version.Flavors {
		flavor := &version.Flavors[i]
		var regions []v1alpha1.RegionAMIMapping
		for _, r := range flavor.Regional {
			regions = append(regions, v1alpha1.RegionAMIMapping{Name: r.Region, AMI: r.Ref.AMI})
		}
		if flavor.Global != nil {
			return nil, errors.New("an AMI belongs to one region, and there is no image for all of them")
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
		case known[architecture] || len(regions) == 0:
			return nil, errors.New("the legacy format has one flavor with AMIs for each architecture")
		}
		known[architecture] = true
		for k := range regions {
			regions[k].Architecture = &architecture
		}
		written.Regions = append(written.Regions, regions...)
	}
	return []any{written}, nil
}

// isAMI reports whether a text is an AMI's ID: ami- and 17 hexadecimal digits, or 8 for one from before 2016.
func isAMI(id string) bool {
	digits, found := strings.CutPrefix(id, "ami-")
	return found && (len(digits) == 17 || len(digits) == 8) && strings.Trim(digits, "0123456789abcdef") == ""
}

// ReferenceForm returns the form of the list of regions.
func (Provider) ReferenceForm() string { return "regions, as in regions: [{name: REGION, ami: AMI}]" }

// ValidateReference requires the ID of an AMI.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	switch {
	case isAMI(ref.AMI): // the common case; there may be thousands
		return nil
	case ref.AMI == "":
		return field.ErrorList{providerconfig.ReferenceMissing(at.Child("ami"), "the AMI")}
	}
	return field.ErrorList{field.Invalid(at.Child("ami"), ref.AMI, words.Quoted(ref.AMI)+" is not the ID of an AMI, which is "+
		"ami- and 17 hexadecimal digits, or 8 if it is old, as in ami-034fd8c3f4026eb39").WithOrigin(ruleAMI.Name)}
}

var ruleAMI = finding.Denies("aws-ami",
	"The value is not an AMI ID.",
	"Write the ID that `aws ec2 describe-images` shows, in the region that the entry is for.")

// Rules returns this provider's own rules.
func (Provider) Rules() []finding.Rule {
	return finding.On(finding.ObjectCloudProfile, ruleAMI, ruleAMIRegion)
}
