// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package openstack is the provider for OpenStack: image IDs per region, with an image name as fallback. It converts the wire format of
// pkg/apis/openstack and reports errors that only this format can have. Everything else belongs to package check. Start reading at
// [Provider].
package openstack

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/openstack/rules"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// Image refers to an image by its ID in one region or, as a fallback, by its name. A valid one has exactly one of the two.
type Image struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"image,omitempty"`
}

// InInventory identifies the image in inventories by its ID, or else by its name.
func (i Image) InInventory() inventory.Ref { return inventory.Ref{ID: i.ID, Name: i.Name, Field: "id"} }

// Provider implements [provider.Provider] for the provider type openstack, with rules of its own about Shoots, their updates and
// credentials. The zero value is ready for use.
type Provider struct{ rules.Extension }

// With returns a Provider that also checks feature gates.
func With(gates validation.FeatureGates) Provider {
	return Provider{rules.Extension{FeatureGates: gates}}
}

var _ provider.Provider[Image] = Provider{}

// Type returns "openstack".
func (Provider) Type() string { return "openstack" }

// octavia is a field of former versions of the config.
var octavia = providerconfig.Change{Field: "useOctavia", Became: "removed in October 2025, since all load balancers are Octavia's; leave it out"}

// Decode reads a CloudProfileConfig of group openstack.provider.extensions.gardener.cloud.
func (p Provider) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[Image], finding.Report) {
	config := &v1alpha1.CloudProfileConfig{}
	kind := schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")
	report := finding.Report{Errors: providerconfig.Decode(raw, kind, config, at, octavia)}
	images := providerconfig.Images(config.MachineImages, at.Child("machineImages"), parts, convert, &report)
	return provider.Config[Image]{Images: images, Validator: p.Of(config)}, report
}

func parts(image *v1alpha1.MachineImages) (string, []v1alpha1.MachineImageVersion) {
	return image.Name, image.Versions
}

func convert(written *v1alpha1.MachineImageVersion, at *field.Path, report *finding.Report) imageselector.Version[Image] {
	version := imageselector.Version[Image]{Version: written.Version, Path: at, Legacy: len(written.CapabilityFlavors) == 0}
	report.Warnings = append(report.Warnings, validation.ImageIDFormats(written.Regions, at.Child("regions"))...)
	if version.Legacy {
		version.Flavors = legacy(written, at)
		return version
	}
	if len(written.Regions) > 0 {
		report.Errors = append(report.Errors, providerconfig.FormatMixed(at.Child("regions"), "regions"))
	}
	if image := byName(written.Image, at); image != nil {
		report.Warnings = append(report.Warnings, providerconfig.ImageIgnored(image.Path, image.Ref.Name))
	}
	version.Flavors = make([]imageselector.Flavor[Image], 0, len(written.CapabilityFlavors))
	paths := fieldpath.Elements(at.Child("capabilityFlavors"), len(written.CapabilityFlavors))
	for i := range written.CapabilityFlavors {
		flavor, path := &written.CapabilityFlavors[i], &paths[i]
		regions := path.Child("regions")
		report.Warnings = append(report.Warnings, validation.ImageIDFormats(flavor.Regions, regions)...)
		version.Flavors = append(version.Flavors, imageselector.Flavor[Image]{
			Capabilities: flavor.Capabilities, Global: byName(flavor.Image, path), Path: path,
			Regional: providerconfig.Regions(flavor.Regions, regions, region, report),
		})
	}
	return version
}

// legacy returns one flavor for each architecture. The image name is for amd64 only, and becomes a flavor of its own if no region is for
// amd64 (semantics S6).
func legacy(written *v1alpha1.MachineImageVersion, at *field.Path) []imageselector.Flavor[Image] {
	flavors := providerconfig.LegacyFlavors(written.Regions, at.Child("regions"), region)
	image := byName(written.Image, at)
	if image == nil {
		return flavors
	}
	i := slices.IndexFunc(flavors, func(f imageselector.Flavor[Image]) bool {
		return f.Capabilities[capability.Architecture][0] == constants.ArchitectureAMD64
	})
	if i < 0 {
		i = len(flavors)
		flavors = append(flavors, imageselector.Flavor[Image]{Capabilities: providerconfig.OfArchitecture(nil), Path: image.Path})
	}
	flavors[i].Global = image
	return flavors
}

func region(written *v1alpha1.RegionIDMapping) providerconfig.Region[Image] {
	return providerconfig.Region[Image]{Name: written.Name, Ref: Image{ID: written.ID}, Architecture: written.Architecture}
}

// byName returns the reference for an image name, which need not be unique. It returns nil if the name is absent or empty.
func byName(name *string, at *field.Path) *imageselector.Global[Image] {
	if ptr.Deref(name, "") == "" {
		return nil
	}
	return &imageselector.Global[Image]{Ref: Image{Name: *name}, Fallback: true, Path: at.Child("image")}
}

// Encode writes a version. The legacy format lists each region once for each architecture, and its image name is for amd64 only.
func (Provider) Encode(version imageselector.Version[Image], format provider.Format) ([]any, error) {
	written := v1alpha1.MachineImageVersion{Version: version.Version}
	known := map[string]bool{}
	for i := range version.Flavors {
		flavor, err := write(&version.Flavors[i])
		if err == nil && format == provider.FormatLegacy {
			err = addLegacy(&written, flavor, known)
		} else {
			written.CapabilityFlavors = append(written.CapabilityFlavors, flavor)
		}
		if err != nil {
			return nil, err
		}
	}
	return []any{written}, nil
}

// addLegacy adds a flavor to a version. known contains the architectures that the version already has.
func addLegacy(version *v1alpha1.MachineImageVersion, flavor v1alpha1.MachineImageFlavor, known map[string]bool) error {
	architecture, err := providerconfig.LegacyArchitecture(flavor.Capabilities)
	switch {
	case err != nil:
		return err
	case len(flavor.Regions) == 0 && flavor.Image == nil:
		return fmt.Errorf("the legacy format has no place for %s without an image", architecture)
	case flavor.Image != nil && architecture != constants.ArchitectureAMD64:
		return fmt.Errorf("the legacy format has no image name for %s", architecture)
	case known[architecture]:
		return fmt.Errorf("the legacy format has one flavor for %s", architecture)
	}
	known[architecture] = true
	for k := range flavor.Regions {
		flavor.Regions[k].Architecture = &architecture
	}
	version.Regions = append(version.Regions, flavor.Regions...)
	version.Image = cmp.Or(version.Image, flavor.Image)
	return nil
}

// write returns a flavor in the wire format, with IDs in regions and a name for all regions. Other flavors are errors.
func write(flavor *imageselector.Flavor[Image]) (written v1alpha1.MachineImageFlavor, err error) {
	written.Capabilities = flavor.Capabilities
	for _, r := range flavor.Regional {
		if r.Ref.Name != "" {
			return written, fmt.Errorf("region %s has no place for an image name", r.Region)
		}
		written.Regions = append(written.Regions, v1alpha1.RegionIDMapping{Name: r.Region, ID: r.Ref.ID})
	}
	if flavor.Global != nil {
		if ref := flavor.Global.Ref; ref.ID != "" || ref.Name == "" {
			return written, errors.New("an image for all regions needs a name, and has no ID")
		}
		written.Image = ptr.To(flavor.Global.Ref.Name)
	}
	return written, nil
}

// Offers returns the settings that shoot owners choose from, with the field of a Shoot. Storage classes are chosen in the Shoot's cluster.
func (Provider) Offers() map[string]string {
	return map[string]string{"serverGroupPolicies": "workers.providerConfig.serverGroup.policy", "storageClasses": "",
		"constraints.floatingPools": "infrastructureConfig.floatingPoolName", "constraints.loadBalancerProviders": "controlPlaneConfig.loadBalancerProvider"}
}

// ReferenceForm describes the list of regions.
func (Provider) ReferenceForm() string { return "regions, as in regions: [{name: REGION, id: ID}]" }

// ValidateReference requires a well-formed image ID in a region. An image name is never empty.
func (Provider) ValidateReference(ref Image, at *field.Path) field.ErrorList {
	if ref == (Image{}) {
		return field.ErrorList{providerconfig.ReferenceMissing(at.Child("id"), "the image ID")}
	}
	return validation.ImageID(ref.ID, at)
}

const (
	// TrustedLaunch is the worker capability of images that can boot with trusted launch.
	TrustedLaunch = "openstack-trustedLaunch"
	// RootVolume is the worker capability of machine types that says whether their root disk can be a Cinder volume (semantics S22). It
	// cannot on bare metal, for example, if Ironic has no access to Cinder.
	RootVolume = "openstack-rootVolume"
)

// workers defines the requests of worker pools. An image that does not declare trusted launch does not support it.
var workers = provider.WorkersOf(provider.WorkerConfig[v1alpha1.WorkerConfig]{
	Kind: schema.GroupVersion(v1alpha1.GroupVersion).WithKind("WorkerConfig"),
	Capabilities: []capability.Definition{
		{Name: TrustedLaunch, Values: []string{"enabled", "disabled"}, Undeclared: "disabled"},
		{Name: RootVolume, Values: []string{"supported", "unsupported"}, Undeclared: "supported", MachineTypesOnly: true},
	},
	Requests: []provider.Request[v1alpha1.WorkerConfig]{{
		Setting: "trustedLaunch.enabled: true", Field: "trustedLaunch", Capability: TrustedLaunch, Values: []string{"enabled"},
		Asks: func(_ *provider.Pool, config *v1alpha1.WorkerConfig) bool {
			return config.TrustedLaunch != nil && config.TrustedLaunch.Enabled
		},
	}, {
		Setting: "volume", PoolField: "volume", Capability: RootVolume, Values: []string{"supported"},
		Asks: func(pool *provider.Pool, _ *v1alpha1.WorkerConfig) bool { return rootVolume(pool.Volume) },
	}},
	Validate:      rules.CheckWorker,
	RollingUpdate: rules.Triggers,
})

// rootVolume reports whether a worker pool's volume makes its root disks Cinder volumes. The extension (provider-openstack v1.58) writes
// the volume's size into the MachineClass as rootDiskSize, whatever its type is. With a rootDiskSize above 0, the machine controller
// (deployServer in machine-controller-manager-provider-openstack) boots from a volume created from the image. Without one, Nova creates
// the disk of the machine type. The exception is a machine type whose storage has a type other than default: then the extension writes
// the size of that, and all pools on it get a volume. This machine type cannot be one without support for volumes. Gardener refuses a
// size that is not a number.
func rootVolume(volume *v1beta1.Volume) bool {
	if volume == nil {
		return false
	}
	size, err := resource.ParseQuantity(volume.VolumeSize)
	return err != nil || !size.IsZero()
}

// Workers returns the requests of worker pools, from a WorkerConfig of group openstack.provider.extensions.gardener.cloud and from the
// volume.
func (Provider) Workers() provider.Workers { return workers }
