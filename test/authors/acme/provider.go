// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// Template refers to an image in one region. As JSON it is what capkit select prints.
type Template struct {
	ID string `json:"template"`
}

// Provider has no fields: it is stateless, and so safe for concurrent use.
type Provider struct{}

var _ provider.Provider[Template] = Provider{}

// Type is the provider type, as in spec.type of a CloudProfile.
func (Provider) Type() string { return "acme" }

// CloudProfileConfig turns the provider config into images, versions and flavors, each with the path where it is written.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Template], finding.Report) {
	config := &CloudProfileConfig{}
	report := finding.Report{Errors: provider.Decode(raw, configKind, config, at)}
	var images []imageselector.Image[Template]
	for i, written := range config.MachineImages {
		path := at.Child("machineImages").Index(i)
		image := imageselector.Image[Template]{Name: written.Name, Path: path}
		for k := range written.Versions {
			image.Versions = append(image.Versions, convert(&written.Versions[k], path.Child("versions").Index(k), &report))
		}
		images = append(images, image)
	}
	return provider.Config[Template]{Images: images, Constraints: limits{config.MaxMachines}}, report
}

func convert(written *MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Template] {
	version := imageselector.Version[Template]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	if version.Legacy {
		version.Flavors = legacy(written.Regions, at.Child("regions"))
		return version
	}
	if len(written.Regions) > 0 {
		report.Errors = append(report.Errors, provider.FormatMixed(at.Child("regions"), "regions"))
	}
	for i, f := range written.CapabilityFlavors {
		path := at.Child("capabilityFlavors").Index(i)
		flavor := imageselector.Flavor[Template]{Capabilities: f.Capabilities, Path: path}
		for k, region := range f.Regions {
			place := path.Child("regions").Index(k)
			flavor.Regional = append(flavor.Regional, regional(region, place))
			if region.Architecture != nil {
				report.Errors = append(report.Errors, provider.FlavorArchitecture(place.Child("architecture"), *region.Architecture))
			}
		}
		version.Flavors = append(version.Flavors, flavor)
	}
	return version
}

// legacy makes one flavor for each architecture, in order of first appearance.
func legacy(regions []RegionTemplate, at *field.Path) []imageselector.Flavor[Template] {
	var flavors []imageselector.Flavor[Template]
	var architectures []string
	for i, region := range regions {
		architecture := ptr.Deref(region.Architecture, constants.ArchitectureAMD64)
		f := slices.Index(architectures, architecture)
		if f < 0 {
			f = len(flavors)
			architectures = append(architectures, architecture)
			flavors = append(flavors, imageselector.Flavor[Template]{
				Capabilities: v1beta1.Capabilities{capability.Architecture: {architecture}}, Path: at.Index(i),
			})
		}
		flavors[f].Regional = append(flavors[f].Regional, regional(region, at.Index(i)))
	}
	return flavors
}

func regional(written RegionTemplate, at *field.Path) imageselector.Regional[Template] {
	return imageselector.Regional[Template]{Region: written.Name, Ref: Template{written.Template}, Path: at}
}

// RuleTemplate is the name of a rule that only this cloud has.
const RuleTemplate = "acme-template-malformed"

var templateID = regexp.MustCompile(`^tpl-[0-9a-f]{8}$`)

// ValidateRef checks the syntax of a template ID. It never asks the cloud.
func (Provider) ValidateReference(ref Template, at *field.Path) field.ErrorList {
	at = at.Child("template")
	switch {
	case ref.ID == "":
		return field.ErrorList{provider.ReferenceMissing(at, "the template ID of the region")}
	case !templateID.MatchString(ref.ID):
		return field.ErrorList{field.Invalid(at, ref.ID, fmt.Sprintf(
			"%s is not a template ID, which is tpl- and eight hexadecimal digits", ref.ID)).WithOrigin(RuleTemplate)}
	}
	return nil
}
