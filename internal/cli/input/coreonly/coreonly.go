// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package coreonly provides the provider of profiles for an unknown cloud. It answers from core alone. Start reading at [Of].
package coreonly

import (
	"errors"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// byCore is the reference of every image in answers about an unknown cloud.
const byCore = "by core alone"

// coreOnly is the provider of one profile for an unknown cloud. Each image version in core has a reference in every region. Worker pools
// have no requests of their own.
type coreOnly struct{ spec *v1beta1.CloudProfileSpec }

var _ command.Provider = coreOnly{}

// Of returns the provider of a profile with this spec.
func Of(spec *v1beta1.CloudProfileSpec) command.Provider { return coreOnly{spec} }

// Is reports whether a provider comes from [Of].
func Is(p command.Provider) bool {
	_, is := p.(coreOnly)
	return is
}

// Type implements [provider.Provider].
func (c coreOnly) Type() string { return c.spec.Type }

// Decode implements [provider.Provider]. It reads core, whatever the provider config and its path are.
func (c coreOnly) Decode(*runtime.RawExtension, *field.Path) (provider.Config[any], finding.Report) {
	var config provider.Config[any]
	list := field.NewPath("spec", "machineImages")
	for i := range c.spec.MachineImages {
		image := &c.spec.MachineImages[i]
		read := imageselector.Image[any]{Name: image.Name, Path: list.Index(i)}
		for k := range image.Versions {
			at := read.Path.Child("versions").Index(k)
			version := imageselector.Version[any]{Version: image.Versions[k].Version, Path: at, Legacy: len(c.spec.MachineCapabilities) == 0}
			for _, capabilities := range c.flavorsOf(&image.Versions[k]) {
				version.Flavors = append(version.Flavors, imageselector.Flavor[any]{
					Capabilities: capabilities, Global: &imageselector.Global[any]{Ref: byCore, Path: at}, Path: at,
				})
			}
			read.Versions = append(read.Versions, version)
		}
		config.Images = append(config.Images, read)
	}
	return config, finding.Report{}
}

// flavorsOf returns the capabilities of an image version's flavors.
func (c coreOnly) flavorsOf(v *v1beta1.MachineImageVersion) (flavors []v1beta1.Capabilities) {
	for i := range v.CapabilityFlavors {
		flavors = append(flavors, v.CapabilityFlavors[i].Capabilities)
	}
	switch {
	case len(flavors) > 0:
		return flavors
	case len(c.spec.MachineCapabilities) > 0:
		return []v1beta1.Capabilities{{}}
	case len(v.Architectures) == 0:
		return []v1beta1.Capabilities{{capability.Architecture: {v1beta1constants.ArchitectureAMD64}}}
	}
	for _, architecture := range v.Architectures {
		flavors = append(flavors, v1beta1.Capabilities{capability.Architecture: {architecture}})
	}
	return flavors
}

// Encode implements [provider.Provider]. It fails, because the format of an unknown cloud is unknown.
func (c coreOnly) Encode(imageselector.Version[any], provider.Format) ([]any, error) {
	return nil, errors.New("this command does not know how provider " + strings.TrimSpace(c.spec.Type) + " writes images")
}

// ValidateReference implements [provider.Provider].
func (coreOnly) ValidateReference(any, *field.Path) field.ErrorList { return nil }

// Workers implements [provider.Provider].
func (coreOnly) Workers() provider.Workers { return provider.Workers{} }
