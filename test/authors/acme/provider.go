// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"errors"
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
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Provider has no fields: it is stateless, and so safe for concurrent use.
type Provider struct{}

var _ provider.Provider[Template] = Provider{}

// Type is the provider type, as in spec.type of a CloudProfile.
func (Provider) Type() string { return "acme" }

// Decode turns the provider config into images, versions and flavors, each with the path where it is written.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Template], finding.Report) {
	config := &CloudProfileConfig{}
	report := finding.Report{Errors: providerconfig.Decode(raw, configKind, config, at)}
	images := providerconfig.Images(config.MachineImages, at.Child("machineImages"),
		func(image *MachineImage) (string, []MachineImageVersion) { return image.Name, image.Versions }, decodeVersion, &report)
	return provider.Config[Template]{Images: images, Validator: limits{config.MachineTypes, config.MaxMachines}}, report
}

func decodeVersion(written *MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Template] {
	version := imageselector.Version[Template]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	if version.Legacy {
		version.Flavors = decodeLegacy(written.Regions, at.Child("regions"))
		return version
	}
	if len(written.Regions) > 0 {
		report.Errors = append(report.Errors, providerconfig.FormatMixed(at.Child("regions"), "regions"))
	}
	for i, f := range written.CapabilityFlavors {
		path := at.Child("capabilityFlavors").Index(i)
		regional := providerconfig.Regions(f.Regions, path.Child("regions"), decodeRegion, report)
		version.Flavors = append(version.Flavors, imageselector.Flavor[Template]{Capabilities: f.Capabilities, Path: path, Regional: regional})
		for k, region := range f.Regions {
			if region.FastNetwork {
				report.Warnings = append(report.Warnings, providerconfig.FieldIgnored(RuleFastNetwork,
					path.Child("regions").Index(k).Child("fastNetwork"), "a flavor says what it supports with the capability network"))
			}
		}
	}
	return version
}

func decodeRegion(written *RegionTemplate) providerconfig.Region[Template] {
	return providerconfig.Region[Template]{Name: written.Name, Ref: reference(written), Architecture: written.Architecture}
}

// reference returns the zero Template for an entry without an ID: with the rest of it alone, no machine boots.
func reference(written *RegionTemplate) Template {
	if written.ID == "" {
		return Template{}
	}
	return written.Template
}

// legacyFlavor is all that the legacy format says of a flavor. The network counts in profiles that register it.
type legacyFlavor struct {
	architecture string
	fastNetwork  bool
}

// decodeLegacy makes one flavor for each architecture with each kind of network, in order of first appearance.
func decodeLegacy(regions []RegionTemplate, at *field.Path) []imageselector.Flavor[Template] {
	var flavors []imageselector.Flavor[Template]
	index := map[legacyFlavor]int{}
	for i, region := range regions {
		says := legacyFlavor{ptr.Deref(region.Architecture, constants.ArchitectureAMD64), region.FastNetwork}
		f, found := index[says]
		if !found {
			f = len(flavors)
			index[says] = f
			flavors = append(flavors, imageselector.Flavor[Template]{
				Capabilities: v1beta1.Capabilities{capability.Architecture: {says.architecture}},
				Implied:      v1beta1.Capabilities{"network": {"basic"}},
				Path:         at.Index(i),
			})
			if says.fastNetwork {
				flavors[f].Implied = v1beta1.Capabilities{"network": {"accelerated", "basic"}}
			}
		}
		flavors[f].Regional = append(flavors[f].Regional,
			imageselector.Regional[Template]{Region: region.Name, Ref: reference(&region), Path: at.Index(i)})
	}
	return flavors
}

// Encode writes a version, so that Decode reads it as it was.
func (Provider) Encode(version imageselector.Version[Template], format provider.Format) ([]any, error) {
	written := MachineImageVersion{Version: version.Version}
	index := map[legacyFlavor]bool{}
	for _, flavor := range version.Flavors {
		var regions []RegionTemplate
		for _, r := range flavor.Regional {
			regions = append(regions, RegionTemplate{Name: r.Region, Template: r.Ref})
		}
		if format == provider.FormatFlavors {
			written.CapabilityFlavors = append(written.CapabilityFlavors, MachineImageFlavor{flavor.Capabilities, regions})
			continue
		}
		says, all := encodeLegacy(&flavor)
		if !all || index[says] || len(regions) == 0 {
			return nil, errors.New("the legacy format knows the architecture and fastNetwork of an image, and nothing else")
		}
		index[says] = true
		for i := range regions {
			regions[i].Architecture, regions[i].FastNetwork = &says.architecture, says.fastNetwork
		}
		written.Regions = append(written.Regions, regions...)
	}
	return []any{written}, nil
}

// encodeLegacy returns what the legacy format can say of a flavor, and whether that is all.
func encodeLegacy(flavor *imageselector.Flavor[Template]) (says legacyFlavor, all bool) {
	says = legacyFlavor{constants.ArchitectureAMD64, slices.Contains(flavor.Implied["network"], "accelerated")}
	architectures := flavor.Capabilities[capability.Architecture]
	if len(architectures) > 0 {
		says.architecture = architectures[0]
	}
	return says, len(flavor.Capabilities) <= 1 && len(architectures) == len(flavor.Capabilities)
}

var templateID = regexp.MustCompile(`^tpl-[0-9a-f]{8}$`)

// ValidateReference checks the syntax of a template ID. It never asks the cloud.
func (Provider) ValidateReference(ref Template, at *field.Path) field.ErrorList {
	at = at.Child("template")
	switch {
	case ref.ID == "":
		return field.ErrorList{providerconfig.ReferenceMissing(at, "the template ID")}
	case !templateID.MatchString(ref.ID):
		return field.ErrorList{field.Invalid(at, ref.ID, fmt.Sprintf(
			"%s is not a template ID, which is tpl- and eight hexadecimal digits", ref.ID)).WithOrigin(RuleTemplate)}
	}
	return nil
}

// NamespacedLists are what a NamespacedCloudProfile may have beside machine images.
func (Provider) NamespacedLists() []provider.List {
	return []provider.List{{Field: "machineTypes", Key: "name"}}
}
