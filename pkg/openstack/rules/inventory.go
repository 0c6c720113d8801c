// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/lookup"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/profile/entries"
)

var _ inventory.Describer = Extension{}

// DescribeInventories describes inventories of OpenStack (semantics S20).
func (Extension) DescribeInventories() inventory.Description {
	return inventory.Description{
		Properties: imageProperties,
		Key:        func(id string) (key, form string) { return strings.ToLower(id), "" }, // Glance prints UUIDs in lower case
		OwnDisk:    ownDisk,
		Uses:       usesOf,
	}
}

const (
	trustedLaunch         = "openstack-trustedLaunch"
	launchEnabled         = "enabled"
	launchDisabled        = "disabled"
	bootStandard          = "standard"
	bootSecure            = "secure"
	propertySecureBoot    = "os_secure_boot"
	propertyFirmware      = "hw_firmware_type"
	propertyArchitecture  = "hw_architecture"
	propertyArchitecture2 = "architecture"
)

// imageProperties is the table of Glance's image properties, which docs/commands/verify.md documents.
var imageProperties = []inventory.Property{
	{Names: []string{"hypervisor_type", "capabilities:hypervisor_type"}},
	{Names: []string{propertyFirmware}, Value: "bios", Capability: capability.BootType, Only: []string{bootStandard}},
	{Names: []string{propertyFirmware}, Value: "bios", Capability: trustedLaunch, Only: []string{launchDisabled}},
	{Names: []string{propertySecureBoot}, Value: "disabled", Capability: capability.BootType, Only: []string{bootStandard}},
	{Names: []string{propertySecureBoot}, Value: "disabled", Capability: trustedLaunch, Only: []string{launchDisabled}},
	{Names: []string{propertySecureBoot}, Value: "required", Capability: capability.BootType, Some: []string{bootSecure}},
	{Names: []string{propertySecureBoot}, Value: "required", Capability: trustedLaunch, Some: []string{launchEnabled}},
	architecture("x86_64", v1beta1constants.ArchitectureAMD64),
	architecture("amd64", v1beta1constants.ArchitectureAMD64),
	architecture("aarch64", v1beta1constants.ArchitectureARM64),
	architecture("arm64", v1beta1constants.ArchitectureARM64),
}

func architecture(value, is string) inventory.Property {
	return inventory.Property{
		Names: []string{propertyArchitecture, propertyArchitecture2}, Value: value, Capability: capability.Architecture, Only: []string{is},
	}
}

// ownDisk reports whether pools without a volume get the root disk of the Nova flavor. If the machine type has a storage, its pools get a
// Cinder volume, or set the size themselves.
func ownDisk(machineType *v1beta1.MachineType) bool { return machineType.Storage == nil }

// usesOf returns the networks, load balancer providers, server group policies and volume types that a CloudProfile names.
func usesOf(spec *v1beta1.CloudProfileSpec, at *field.Path) (uses []inventory.Use) {
	regions := entries.RegionsOf(spec)
	for i := range spec.MachineTypes {
		t := &spec.MachineTypes[i]
		if !ptr.Deref(t.Usable, true) || t.Storage == nil || t.Storage.Type == "" || t.Storage.Type == "default" {
			continue
		}
		use := inventory.Use{List: inventory.ListVolumeTypes, Name: t.Storage.Type, At: at.Child("machineTypes").Index(i).Child("storage", "type")}
		for _, region := range spec.Regions {
			offered := func(zone v1beta1.AvailabilityZone) bool {
				return !slices.Contains(zone.UnavailableMachineTypes, t.Name)
			}
			if len(region.Zones) == 0 || slices.ContainsFunc(region.Zones, offered) {
				use.Regions = append(use.Regions, region.Name)
			}
		}
		uses = append(uses, use)
	}
	at = at.Child("providerConfig")
	config, _ := decode[v1alpha1.CloudProfileConfig](spec.ProviderConfig, "CloudProfileConfig", at)
	if config == nil {
		return uses
	}
	uses = append(uses, floatingPools(config.Constraints.FloatingPools, regions, at.Child("constraints", "floatingPools"))...)
	for i, p := range config.Constraints.LoadBalancerProviders {
		uses = append(uses, inventory.Use{
			List: inventory.ListLoadBalancerProviders, Name: p.Name, At: at.Child("constraints", "loadBalancerProviders").Index(i).Child("name"),
			Regions: slices.DeleteFunc(slices.Clone(regions), func(region string) bool {
				return ptr.Deref(p.Region, region) != region ||
					!slices.Contains(lookup.LoadBalancerProviders(config.Constraints.LoadBalancerProviders, region), p.Name)
			}),
		})
	}
	for i, policy := range config.ServerGroupPolicies {
		uses = append(uses, inventory.Use{
			List: inventory.ListServerGroupPolicies, Name: policy, Regions: regions, At: at.Child("serverGroupPolicies").Index(i),
		})
	}
	return uses
}

// floatingPools returns the networks named by floating pools, with the regions in which the entries apply. A constraining entry for all
// regions and domains does not apply in a region that has constraining entries of its own.
func floatingPools(pools []v1alpha1.FloatingPool, regions []string, at *field.Path) (uses []inventory.Use) {
	constrained := map[string]bool{}
	for _, pool := range pools {
		if pool.Region != nil && pool.Domain == nil && !ptr.Deref(pool.NonConstraining, false) {
			constrained[*pool.Region] = true
		}
	}
	for i, pool := range pools {
		use := inventory.Use{List: inventory.ListNetworks, Name: pool.Name, At: at.Index(i).Child("name")}
		if strings.Contains(pool.Name, "*") {
			use.Matches = func(name string) bool { return lookup.Matches(pool.Name, name) }
		}
		everywhere := pool.Region == nil && pool.Domain == nil && !ptr.Deref(pool.NonConstraining, false)
		for _, region := range regions {
			if ptr.Deref(pool.Region, region) == region && (!everywhere || !constrained[region]) {
				use.Regions = append(use.Regions, region)
			}
		}
		uses = append(uses, use)
	}
	return uses
}
