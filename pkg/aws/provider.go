// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package aws is the Provider for AWS: an Amazon Machine Image (AMI) for each region. It converts the wire format of
// pkg/apis/aws and says what only that format can get wrong; everything else is for package check. It is the small example of a
// real provider. worker.go has what worker pools can ask for.
package aws

import (
	"errors"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/aws/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
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
	report := finding.Report{Errors: provider.Decode(raw, kind, config, at)}
	images := make([]imageselector.Image[Image], 0, len(config.MachineImages))
	for i := range config.MachineImages {
		written, path := &config.MachineImages[i], at.Child("machineImages").Index(i)
		image := imageselector.Image[Image]{Name: written.Name, Path: path}
		for k := range written.Versions {
			image.Versions = append(image.Versions, convert(&written.Versions[k], path.Child("versions").Index(k), &report))
		}
		images = append(images, image)
	}
	return provider.Config[Image]{Images: images}, report
}

func convert(written *v1alpha1.MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Image] {
	version := imageselector.Version[Image]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	if version.Legacy {
		version.Flavors = legacy(written.Regions, at.Child("regions"))
		return version
	}
	if len(written.Regions) > 0 {
		report.Errors = append(report.Errors, provider.FormatMixed(at.Child("regions"), "regions"))
	}
	flavors := at.Child("capabilityFlavors")
	version.Flavors = make([]imageselector.Flavor[Image], 0, len(written.CapabilityFlavors))
	for i := range written.CapabilityFlavors {
		f, path := &written.CapabilityFlavors[i], flavors.Index(i)
		flavor := imageselector.Flavor[Image]{
			Capabilities: f.Capabilities, Path: path, Regional: make([]imageselector.Regional[Image], 0, len(f.Regions)),
		}
		for k := range f.Regions {
			region := path.Child("regions").Index(k)
			flavor.Regional = append(flavor.Regional, regional(&f.Regions[k], region))
			if architecture := f.Regions[k].Architecture; architecture != nil {
				report.Errors = append(report.Errors, provider.FlavorArchitecture(region.Child("architecture"), *architecture))
			}
		}
		version.Flavors = append(version.Flavors, flavor)
	}
	return version
}

// legacy makes one flavor for each architecture, in order of first appearance (semantics S6).
func legacy(regions []v1alpha1.RegionAMIMapping, at *field.Path) []imageselector.Flavor[Image] {
	var flavors []imageselector.Flavor[Image]
	index := map[string]int{}
	for i := range regions {
		path, architecture := at.Index(i), ptr.Deref(regions[i].Architecture, constants.ArchitectureAMD64)
		f, found := index[architecture]
		if !found {
			f = len(flavors)
			index[architecture] = f
			capabilities := v1beta1.Capabilities{capability.Architecture: {architecture}}
			flavors = append(flavors, imageselector.Flavor[Image]{Capabilities: capabilities, Path: path})
		}
		flavors[f].Regional = append(flavors[f].Regional, regional(&regions[i], path))
	}
	return flavors
}

func regional(written *v1alpha1.RegionAMIMapping, at *field.Path) imageselector.Regional[Image] {
	return imageselector.Regional[Image]{Region: written.Name, Ref: Image{AMI: written.AMI}, Path: at}
}

// Encode writes a version. In the legacy format each region stands there once for each architecture.
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
		architecture, err := provider.LegacyArchitecture(flavor.Capabilities)
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

// isAMI reports whether a text is the ID of an image: ami- and 17 hexadecimal digits, or 8 if it is from before 2016.
func isAMI(id string) bool {
	digits, found := strings.CutPrefix(id, "ami-")
	return found && (len(digits) == 17 || len(digits) == 8) && strings.Trim(digits, "0123456789abcdef") == ""
}

// ReferenceForm names the list of regions.
func (Provider) ReferenceForm() string { return "regions, as in regions: [{name: REGION, ami: AMI}]" }

// ValidateReference demands that a region has an AMI, and that it is the ID of one.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	switch {
	case isAMI(ref.AMI): // there may be thousands
		return nil
	case ref.AMI == "":
		return field.ErrorList{provider.ReferenceMissing(at.Child("ami"), "the AMI of the region")}
	}
	return field.ErrorList{field.Invalid(at.Child("ami"), ref.AMI, words.Quoted(ref.AMI)+" is not the ID of an AMI, which is "+
		"ami- and 17 hexadecimal digits, or 8 if it is old, as in ami-034fd8c3f4026eb39").WithOrigin(ruleAMI.Name)}
}

var ruleAMI = finding.Denies("aws-ami",
	"A text stands where the ID of an Amazon Machine Image belongs, and is none.",
	"Write the ID that `aws ec2 describe-images` shows, in the region that the entry is for.")

// Rules returns the catalogue of this provider's own rules.
func (Provider) Rules() []finding.Rule { return finding.On(finding.ObjectCloudProfile, ruleAMI) }
