// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gcp is the Provider for Google Cloud: one image of Compute Engine for each flavor, the same in every region. It converts the wire
// format of pkg/apis/gcp, and reports the errors that only this format can have. Other checks belong to package check.
package gcp

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/gcp/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// Image refers to an image of Compute Engine.
type Image struct {
	// Image is the path of the image: projects/my-project/global/images/my-image.
	Image string `json:"image"`
}

// Provider implements [provider.Provider] for the provider type gcp. The zero value is ready for use.
type Provider struct{}

var (
	_ provider.Provider[Image] = Provider{}
	_ provider.RuleDescriber   = Provider{}
)

// Type returns "gcp".
func (Provider) Type() string { return "gcp" }

// Decode reads a CloudProfileConfig of group gcp.provider.extensions.gardener.cloud. A legacy entry is one image of one architecture;
// several entries of one version are combined.
func (Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Image], finding.Report) {
	config := &v1alpha1.CloudProfileConfig{}
	kind := schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")
	report := finding.Report{Errors: providerconfig.Decode(raw, kind, config, at)}
	images := providerconfig.Images(config.MachineImages, at.Child("machineImages"), parts, convert, &report)
	return provider.Config[Image]{Images: images}, report
}

func parts(image *v1alpha1.MachineImages) (string, []v1alpha1.MachineImageVersion) {
	return image.Name, image.Versions
}

func convert(written *v1alpha1.MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Image] {
	version := imageselector.Version[Image]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	image := ptr.Deref(written.Image, "")
	if version.Legacy {
		version.Flavors = []imageselector.Flavor[Image]{flavor(providerconfig.OfArchitecture(written.Architecture), image, at)}
		return version
	}
	if image != "" {
		report.Warnings = append(report.Warnings, providerconfig.ImageIgnored(at.Child("image"), image))
	}
	if written.Architecture != nil {
		report.Errors = append(report.Errors, providerconfig.VersionArchitecture(at.Child("architecture"), *written.Architecture))
	}
	for i, f := range written.CapabilityFlavors {
		version.Flavors = append(version.Flavors, flavor(f.Capabilities, f.Image, at.Child("capabilityFlavors").Index(i)))
	}
	return version
}

// flavor returns a flavor written at a path. An empty image is a reference as well, which ValidateReference refuses.
func flavor(capabilities v1beta1.Capabilities, image string, at *field.Path) imageselector.Flavor[Image] {
	return imageselector.Flavor[Image]{
		Capabilities: capabilities, Path: at, Global: &imageselector.Global[Image]{Ref: Image{image}, Path: at.Child("image")},
	}
}

// Encode writes a version, in the legacy format with an entry for each flavor.
func (Provider) Encode(version imageselector.Version[Image], format provider.Format) ([]any, error) {
	written := v1alpha1.MachineImageVersion{Version: version.Version}
	var entries []any
	for _, flavor := range version.Flavors {
		if flavor.Global == nil || len(flavor.Regional) > 0 {
			return nil, errors.New("an image has one path, which is the same in every region")
		}
		image := flavor.Global.Ref.Image
		if format == provider.FormatFlavors {
			written.CapabilityFlavors = append(written.CapabilityFlavors, v1alpha1.MachineImageFlavor{
				Capabilities: flavor.Capabilities, Image: image,
			})
			continue
		}
		architecture, err := providerconfig.LegacyArchitecture(flavor.Capabilities)
		if err != nil {
			return nil, err
		}
		entries = append(entries, v1alpha1.MachineImageVersion{Version: version.Version, Image: &image, Architecture: &architecture})
	}
	switch {
	case len(version.Flavors) == 0:
		return nil, errors.New("a version has an image")
	case format == provider.FormatFlavors:
		return []any{written}, nil
	}
	return entries, nil
}

// RuleImagePath is the name of the rule about images that are not named by a path.
const RuleImagePath = "gcp-image-path"

// imageForm is the form of a path.
const imageForm = "projects/<project>/global/images/<image>"

// imagePath matches a path that Compute Engine accepts: of an image, or of the newest image of a family, also as the URL of its API. Images
// of the Shoot's own project need no project. A project may belong to a domain, as in example.com:my-project.
var imagePath = regexp.MustCompile(
	`^(https://(www|compute)\.googleapis\.com/compute/[a-z0-9]+/)?(projects/([a-z0-9.-]+:)?[a-z0-9-]+/)?global/images/(family/)?[a-z]([a-z0-9-]*[a-z0-9])?$`)

// ReferenceForm returns the field and the form of the path.
func (Provider) ReferenceForm() string { return "image, " + imageForm }

// ValidateReference requires the path of an image.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	switch {
	case ref.Image == "":
		return field.ErrorList{providerconfig.ReferenceMissing(at, "the path of the image, "+imageForm+",")}
	case !imagePath.MatchString(ref.Image):
		return field.ErrorList{field.Invalid(at, ref.Image, fmt.Sprintf(
			"%s is not the path of an image; write %s", words.Quoted(ref.Image), imageForm)).WithOrigin(RuleImagePath)}
	}
	return nil
}

// Rules returns the rules that only this cloud has.
func (Provider) Rules() []finding.Rule {
	return finding.On(finding.ObjectCloudProfile, finding.Denies(RuleImagePath,
		"The image of a version or flavor on Google Cloud is not a path, but for example only a name. No machine could be created.",
		"Write the path that `gcloud compute images describe` shows as `selfLink`, from `projects/` on."))
}

// workers defines the requests of a WorkerConfig: a GPU requests an image with its driver, in profiles that offer one.
var workers = provider.WorkersOf(provider.WorkerConfig[v1alpha1.WorkerConfig]{
	Kind:      schema.GroupVersion(v1alpha1.GroupVersion).WithKind("WorkerConfig"),
	KnownUpTo: "provider-gcp v1.55",
	Requests: []provider.Request[v1alpha1.WorkerConfig]{{
		Setting: "gpu.acceleratorType: nvidia-*", Field: "gpu", Capability: capability.GPUSupport, Values: []string{"nvidia"},
		OnlyIfOffered: true,
		Asks: func(_ *provider.Pool, config *v1alpha1.WorkerConfig) bool {
			return config.GPU != nil && config.GPU.Count > 0 && strings.HasPrefix(config.GPU.AcceleratorType, "nvidia-")
		},
	}},
})

// Workers returns the requests of a WorkerConfig of group gcp.provider.extensions.gardener.cloud.
func (Provider) Workers() provider.Workers { return workers }
