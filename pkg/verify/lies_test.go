// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/verify"
)

// now is before all future dates in the test data.
var now = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)

// lie is one false statement in the profile, or one change of the cloud.
type lie struct {
	what string
	// of is the text that by replaces: in the inventory if cloud is set, otherwise in the profile. It occurs once, or once in the region if
	// that is set.
	cloud     bool
	region    string
	of, by    string
	wants     []string // severity, rule and path
	more      []lie    // further changes
	unrelated string   // why nothing is reported
}

const (
	flavors = "spec.providerConfig.machineImages[0].versions[0].capabilityFlavors"
	first   = flavors + "[0].regions[0].id"
	firstA  = flavors + "[0].regions[1].id"
	bare    = flavors + "[1].regions[0].id"
	arm     = flavors + "[2].regions[0].id"
	secure  = flavors + "[3].regions[0].id"
	byName  = "spec.providerConfig.machineImages[0].versions[1].capabilityFlavors[0].image"
	types   = "spec.machineTypes"
	limits  = "spec.providerConfig.constraints"
)

const (
	id1 = "11111111-0000-4000-8000-000000000001"
	id2 = "11111111-0000-4000-8000-000000000002"
)

func image(of string) string { return "{id: 11111111-0000-4000-8000-0000000000" + of }

// lies holds typical mistakes of landscapes.
var lies = []lie{
	// Images.
	{what: "the image was deleted", cloud: true, region: "europe", of: image("01"), by: image("99"), wants: []string{"error cloud-image-missing " + first}},
	{what: "the image was replaced by one of the same name", cloud: true, region: "asia", of: image("a1"), by: image("99"),
		wants: []string{"error cloud-image-missing " + firstA}},
	{what: "an ID is that of the other region", of: "asia, id: 11111111-0000-4000-8000-0000000000a1", by: "asia, id: " + id1,
		wants: []string{"error cloud-image-missing " + firstA}},
	{what: "an ID is misspelt", of: "europe, id: " + id1, by: "europe, id: 1111111-0000-4000-8000-000000000001",
		wants: []string{"error cloud-image-missing " + first}},
	{what: "a name stands where an ID belongs", of: "europe, id: " + id1, by: "europe, id: gl-1877.5", wants: []string{"error cloud-image-missing " + first}},
	{what: "the region has no images at all", cloud: true, region: "asia", of: "  images:", by: "  images: []\n  old:",
		wants: []string{
			"error cloud-image-missing " + firstA, "error cloud-image-missing " + flavors + "[2].regions[1].id", "error cloud-image-missing " + byName,
		}},
	{what: "the named image was deleted", cloud: true, region: "asia",
		of:    "name: gl-1592.9",
		by:    "name: gl-0",
		wants: []string{"error cloud-image-missing " + byName}},
	{what: "the named image was renamed everywhere", of: "image: gl-1592.9", by: "image: gl-1529.9", wants: []string{"error cloud-image-missing " + byName}},
	{what: "an ID stands where a name belongs", of: "image: gl-1592.9", by: "image: 11111111-0000-4000-8000-000000000005",
		wants: []string{"error cloud-image-missing " + byName}},
	{what: "the image was deactivated", cloud: true, region: "europe", of: "name: gl-1877.5, status: active", by: "name: gl-1877.5, status: deactivated",
		wants: []string{"error cloud-image-inactive " + first}},
	{what: "another image of its name took its place", cloud: true, region: "europe", of: "name: gl-1877.5, status: active",
		by: "name: gl-1877.5, status: deactivated", more: []lie{{cloud: true, region: "europe", of: "name: gl-1877.5-bare", by: "name: gl-1877.5"}},
		wants: []string{"error cloud-image-inactive " + first}},
	{what: "the upload hangs", cloud: true, region: "asia", of: "name: gl-1877.5-arm, status: active", by: "name: gl-1877.5-arm, status: queued",
		wants: []string{"error cloud-image-inactive " + flavors + "[2].regions[1].id"}},
	{what: "the named image was deactivated", cloud: true, region: "europe",
		of:    "name: gl-1592.9, status: active",
		by:    "name: gl-1592.9, status: deactivated",
		wants: []string{"error cloud-image-inactive " + byName}},
	{what: "the image was made private", cloud: true, region: "europe", of: "name: gl-1877.5, status: active, visibility: public",
		by: "name: gl-1877.5, status: active, visibility: private", wants: []string{"warning cloud-image-hidden " + first}},
	{what: "the image is shared with some", cloud: true, region: "asia", of: "name: gl-1877.5, status: active, visibility: public",
		by: "name: gl-1877.5, status: active, visibility: shared", wants: []string{"warning cloud-image-hidden " + firstA}},
	{what: "the image is of another architecture", cloud: true, region: "europe",
		of:    "name: gl-1877.5, status: active, visibility: public, architecture: amd64",
		by:    "name: gl-1877.5, status: active, visibility: public, architecture: arm64",
		wants: []string{"error cloud-image-architecture " + first}},
	{what: "flavors of two architectures are swapped", of: "{name: europe, id: " + id1 + "}", by: "{name: europe, id: 11111111-0000-4000-8000-000000000003}",
		wants: []string{"error cloud-image-architecture " + first, "warning cloud-image-differs " + firstA}},
	{what: "the named image is of another architecture", cloud: true, region: "europe",
		of: "name: gl-1592.9, status: active, visibility: public, architecture: amd64",
		by: "name: gl-1592.9, status: active, visibility: public, architecture: arm64", wants: []string{"error cloud-image-architecture " + byName}},
	{what: "the property alone names another architecture", cloud: true, region: "europe", of: "hw_architecture: x86_64", by: "hw_architecture: aarch64",
		wants: []string{"error cloud-image-property " + first}},
	{what: "both name another architecture", cloud: true, region: "europe",
		of:    "architecture: amd64, minDiskGiB: 10, checksum: \"sha512:aaaa\", properties: {hw_architecture: x86_64",
		wants: []string{"error cloud-image-architecture " + first},
		by:    "architecture: arm64, minDiskGiB: 10, checksum: \"sha512:aaaa\", properties: {hw_architecture: aarch64"},
	{what: "the virtual image is the one for bare metal", of: "europe, id: " + id1, by: "europe, id: " + id2,
		wants: []string{"error cloud-image-property " + first, "warning cloud-image-differs " + firstA}},
	{what: "the image for bare metal is for virtual machines", cloud: true, region: "europe",
		of:    "hypervisor_type: baremetal",
		by:    "hypervisor_type: virtualized",
		wants: []string{"error cloud-image-property " + bare}},
	{what: "so it says by the other name of the property", cloud: true, region: "europe", of: "{hypervisor_type: baremetal}",
		by: "{'capabilities:hypervisor_type': virtualized}", wants: []string{"error cloud-image-property " + bare}},
	{what: "the flavor promises bare metal, and virtual machines", of: "        - capabilities: {architecture: [amd64], hypervisor: [baremetal]}",
		by:    "        - capabilities: {architecture: [amd64], hypervisor: [virtualized, baremetal]}",
		wants: []string{"error cloud-image-property " + bare},
		more:  []lie{{of: "      - {architecture: [amd64], hypervisor: [baremetal]}", by: "      - {architecture: [amd64], hypervisor: [virtualized, baremetal]}"}}},
	{what: "the secure image has secure boot turned off", cloud: true, region: "europe", of: "os_secure_boot: required", by: "os_secure_boot: disabled",
		wants: []string{"error cloud-image-property " + secure}},
	{what: "the secure image has a BIOS", cloud: true, region: "europe", of: "{hw_firmware_type: uefi, os", by: "{hw_firmware_type: bios, os",
		wants: []string{"error cloud-image-property " + secure}},
	{what: "the secure image has both", cloud: true, region: "europe", of: "{hw_firmware_type: uefi, os_secure_boot: required",
		by:    "{hw_firmware_type: bios, os_secure_boot: disabled",
		wants: []string{"error cloud-image-property " + secure, "error cloud-image-property " + secure}},
	{what: "it does so, and the flavor promises trusted launch alone", cloud: true, region: "europe",
		of: "{hw_firmware_type: uefi, os", by: "{hw_firmware_type: bios, os",
		wants: []string{"error cloud-image-property " + secure},
		more:  []lie{{of: "openstack-trustedLaunch: [enabled], gardener-boot-type: [secure]}", by: "openstack-trustedLaunch: [enabled]}"}}},
	{what: "the named image is broken in two ways", cloud: true, region: "europe",
		of: "name: gl-1592.9, status: active", by: "name: gl-1592.9, status: deactivated",
		more:  []lie{{cloud: true, region: "asia", of: "name: gl-1592.9, status: active", by: "name: gl-1592.9, status: queued"}},
		wants: []string{"error cloud-image-inactive " + byName, "error cloud-image-inactive " + byName}},
	{what: "the secure image is declared without trusted launch", of: "openstack-trustedLaunch: [enabled], gardener-boot-type: [secure]}",
		by: "openstack-trustedLaunch: [disabled], gardener-boot-type: [standard]}", more: []lie{{of: "openstack-trustedLaunch: [enabled]}",
			by: "openstack-trustedLaunch: [disabled]}"}},
		wants: []string{"error cloud-image-property " + secure}},
	{what: "the content differs in a second region", cloud: true, region: "asia", of: "sha512:aaaa", by: "sha512:0123456789abcdef",
		wants: []string{"warning cloud-image-differs " + firstA}},
	{what: "the content of the named image differs", cloud: true, region: "asia",
		of:    "sha512:eeee",
		by:    "sha512:ffff",
		wants: []string{"warning cloud-image-differs " + byName}},
	{what: "two images have the name", cloud: true, region: "europe",
		of:    "name: gl-1877.5-secure",
		by:    "name: gl-1592.9",
		wants: []string{"error cloud-image-ambiguous " + byName}},
	{what: "the image needs a larger disk", cloud: true, region: "europe",
		of: "name: gl-1877.5, status: active, visibility: public, architecture: amd64, minDiskGiB: 10",
		by: "name: gl-1877.5, status: active, visibility: public, architecture: amd64, minDiskGiB: 30", wants: []string{"warning cloud-image-disk " + first}},
	{what: "the flavor got a smaller disk", cloud: true, region: "europe", of: "name: arm_4_8, cpu: 4, memoryMiB: 8192, gpu: 0, diskGiB: 20",
		by: "name: arm_4_8, cpu: 4, memoryMiB: 8192, gpu: 0, diskGiB: 5", wants: []string{"warning cloud-image-disk " + arm}},

	// Machine types.
	{what: "the flavor was deleted in one region", cloud: true, region: "asia",
		of:    "{name: arm_4_8",
		by:    "{name: arm",
		wants: []string{"warning cloud-machine-type-missing " + types + "[2].name"}},
	{what: "the flavor was deleted everywhere", cloud: true, region: "asia", of: "{name: medium_4_8", by: "{name: m",
		more:  []lie{{cloud: true, region: "europe", of: "{name: medium_4_8", by: "{name: m"}},
		wants: []string{"error cloud-machine-type-missing " + types + "[0].name"}},
	{what: "the machine type is misspelt", of: "{name: gpu_8_32,", by: "{name: gpu-8-32,", more: []lie{{of: "[gpu_8_32]", by: "[gpu-8-32]"}},
		wants: []string{"error cloud-machine-type-missing " + types + "[1].name"}},
	{what: "the flavor of the only region that has it was deleted", cloud: true, region: "europe", of: "{name: bare_8_16", by: "{name: b",
		wants: []string{"error cloud-machine-type-missing " + types + "[3].name"}},
	{what: "the profile does not say that a region lacks it", of: "unavailableMachineTypes: [bare_8_16]", by: "unavailableMachineTypes: []",
		wants: []string{"warning cloud-machine-type-missing " + types + "[3].name"}},
	{what: "the flavor was resized", cloud: true, region: "europe", of: "name: medium_4_8, cpu: 4", by: "name: medium_4_8, cpu: 2",
		wants: []string{"error cloud-machine-type-size " + types + "[0].cpu"}},
	{what: "the flavor was resized everywhere",
		of:    `name: medium_4_8, cpu: "4"`,
		by:    `name: medium_4_8, cpu: "5"`,
		wants: []string{"error cloud-machine-type-size " + types + "[0].cpu"}},
	{what: "the memory is not in mebibytes", of: "memory: 32Gi", by: "memory: 32G", wants: []string{"error cloud-machine-type-size " + types + "[1].memory"}},
	{what: "the memory was cut", cloud: true, region: "asia", of: "name: arm_4_8, cpu: 4, memoryMiB: 8192", by: "name: arm_4_8, cpu: 4, memoryMiB: 4096",
		wants: []string{"error cloud-machine-type-size " + types + "[2].memory"}},
	{what: "the GPU is gone", cloud: true, region: "europe",
		of:    "gpu: 1",
		by:    "gpu: 0",
		wants: []string{"error cloud-machine-type-size " + types + "[1].gpu"}},
	{what: "all of the flavor was resized", cloud: true, region: "europe",
		of: "name: bare_8_16, cpu: 8, memoryMiB: 16384, gpu: 0",
		by: "name: bare_8_16, cpu: 16, memoryMiB: 8, gpu: 2",
		wants: []string{
			"error cloud-machine-type-size " + types + "[3].cpu", "error cloud-machine-type-size " + types + "[3].gpu",
			"error cloud-machine-type-size " + types + "[3].memory",
		}},
	{what: "the flavor is for another architecture", cloud: true, region: "europe",
		of:    "name: bare_8_16, cpu: 8, memoryMiB: 16384, gpu: 0, diskGiB: 400, architecture: amd64",
		by:    "name: bare_8_16, cpu: 8, memoryMiB: 16384, gpu: 0, diskGiB: 400, architecture: arm64",
		wants: []string{"error cloud-machine-type-architecture " + types + "[3].capabilities.architecture"}},
	{what: "the flavor is for another architecture in one of two regions", cloud: true, region: "europe",
		of:    "name: medium_4_8, cpu: 4, memoryMiB: 8192, gpu: 0, diskGiB: 20, architecture: amd64",
		by:    "name: medium_4_8, cpu: 4, memoryMiB: 8192, gpu: 0, diskGiB: 20, architecture: arm64",
		wants: []string{"error cloud-machine-type-architecture " + types + "[0].capabilities.architecture"}},
	{what: "the flavor lost its disk", cloud: true, region: "europe",
		of:    "name: medium_4_8, cpu: 4, memoryMiB: 8192, gpu: 0, diskGiB: 20",
		by:    "name: medium_4_8, cpu: 4, memoryMiB: 8192, gpu: 0, diskGiB: 0",
		wants: []string{"warning cloud-machine-type-disk " + types + "[0].storage"}},
	{what: "the profile forgets that the flavor has no disk",
		of:    ", storage: {class: premium, type: premium, size: 50Gi}",
		by:    "",
		wants: []string{"warning cloud-machine-type-disk " + types + "[4].storage"}},

	// Zones.
	{what: "the zone was removed", cloud: true, region: "europe",
		of:    "{name: europe-1b}",
		by:    "{name: europe-1z}",
		wants: []string{"error cloud-zone-missing spec.regions[0].zones[1].name"}},
	{what: "the zone was disabled", cloud: true, region: "europe",
		of:    "{name: europe-1b}",
		by:    "{name: europe-1b, available: false}",
		wants: []string{"error cloud-zone-missing spec.regions[0].zones[1].name"}},
	{what: "the only zone was disabled", cloud: true, region: "asia",
		of:    "available: true",
		by:    "available: false",
		wants: []string{"error cloud-zone-missing spec.regions[1].zones[0].name"}},
	{what: "the zone is misspelt", of: "{name: asia-1a,", by: "{name: asai-1a,", wants: []string{"error cloud-zone-missing spec.regions[1].zones[0].name"}},
	{what: "the zone that a type is not in was disabled", cloud: true, region: "europe", of: "{name: europe-1a, available: true}",
		by:    "{name: europe-1a, available: false}",
		more:  []lie{{cloud: true, region: "europe", of: "[europe-1a, europe-1b]", by: "[europe-1b]"}},
		wants: []string{"error cloud-zone-missing spec.regions[0].zones[0].name"}},
	{what: "the type was withdrawn from a zone", cloud: true, region: "europe", of: "[europe-1a, europe-1b]", by: "[europe-1b]",
		wants: []string{"warning cloud-zone-machine-type spec.regions[0].zones[0].unavailableMachineTypes"}},
	{what: "the profile forgets that a zone lacks the type", of: ", unavailableMachineTypes: [gpu_8_32]", by: "",
		wants: []string{"warning cloud-zone-machine-type spec.regions[0].zones[1].unavailableMachineTypes"}},

	// Others.
	{what: "the volume type was removed", cloud: true, region: "europe",
		of:    "{name: default}",
		by:    "{name: standard}",
		wants: []string{"error cloud-volume-type-missing spec.volumeTypes[0].name"}},
	{what: "the volume type is misspelt",
		of:    "{name: premium, class",
		by:    "{name: premum, class",
		wants: []string{"error cloud-volume-type-missing spec.volumeTypes[1].name"}},
	{what: "the storage is of a type that is not there",
		of:    "type: premium",
		by:    "type: gold",
		wants: []string{"error cloud-volume-type-missing " + types + "[4].storage.type"}},
	{what: "the storage of a machine type that nobody can use is of a type that is not there",
		of:        "usable: false, capabilities",
		by:        "usable: false, storage: {class: premium, type: gold, size: 50Gi}, capabilities",
		unrelated: "no pool can have the machine type"},
	{what: "the storage is of a type that a region without the machine type does not have", cloud: true, region: "asia",
		of: "  volumeTypes: [{name: default}, {name: premium}]", by: "  volumeTypes: [{name: default}]",
		more:      []lie{{of: "unavailableMachineTypes: [bare_8_16]", by: "unavailableMachineTypes: [bare_8_16, volume_4_8], unavailableVolumeTypes: [premium]"}},
		unrelated: "no pool of that region can have the machine type"},
	{what: "the network was removed", cloud: true, region: "asia",
		of:    "{name: fp-pool-1",
		by:    "{name: fp-pool-9",
		wants: []string{"error cloud-network-missing " + limits + ".floatingPools[1].name"}},
	{what: "the network is no longer external", cloud: true, region: "asia",
		of:    "external: true",
		by:    "external: false",
		wants: []string{"error cloud-network-missing " + limits + ".floatingPools[1].name"}},
	{what: "no network matches the pattern", cloud: true, region: "europe",
		of:    "{name: fp-public-1",
		by:    "{name: public-1",
		wants: []string{"error cloud-network-missing " + limits + ".floatingPools[0].name"}},
	{what: "the network that matches is internal", cloud: true, region: "europe",
		of:    "external: true",
		by:    "external: false",
		wants: []string{"error cloud-network-missing " + limits + ".floatingPools[0].name"}},
	{what: "the provider of load balancers was removed", cloud: true, region: "europe",
		of:    "{name: amphora}",
		by:    "{name: ovn}",
		wants: []string{"error cloud-load-balancer-provider-missing " + limits + ".loadBalancerProviders[0].name"}},
	{what: "that of the region is not there", cloud: true, region: "asia",
		of:    "loadBalancerProviders: [{name: f5}]",
		by:    "loadBalancerProviders: []",
		wants: []string{"error cloud-load-balancer-provider-missing " + limits + ".loadBalancerProviders[1].name"}},
	{what: "the policy is not there", cloud: true, region: "asia", of: "[affinity, anti-affinity, soft-anti-affinity]", by: "[affinity, anti-affinity]",
		wants: []string{"error cloud-policy-missing spec.providerConfig.serverGroupPolicies[0]"}},
	{what: "the policy is misspelt",
		of:    "affinity, affinity]",
		by:    "affinity, afinity]",
		wants: []string{"error cloud-policy-missing spec.providerConfig.serverGroupPolicies[1]"}},

	// Parts that are not checked, or not known.
	{what: "the image is only for an expired version",
		of:        `expirationDate: "2026-01-01T00:00:00Z"`,
		by:        `expirationDate: "2026-11-01T00:00:00Z"`,
		unrelated: "nothing boots it"},
	{what: "core does not list the version",
		of:        "    - version: 934.1.0\n      expirationDate: \"2026-01-01T00:00:00Z\"\n      capabilityFlavors:\n      - {architecture: [amd64]}\n",
		unrelated: "nothing boots it"},
	{what: "the version has not expired", of: `expirationDate: "2026-01-01T00:00:00Z"`, by: `expirationDate: "2027-01-01T00:00:00Z"`,
		wants: []string{"error cloud-image-missing spec.providerConfig.machineImages[0].versions[2].capabilityFlavors[0].regions[0].id"}},
	{what: "images could not be read", cloud: true, region: "asia", of: "  images:", by: "  unread: [images]\n  old:", unrelated: "nothing is known of them"},
	{what: "machine types could not be read", cloud: true, region: "europe",
		of:        "  machineTypes:",
		by:        "  unread: [machineTypes]\n  old:",
		unrelated: "nothing is known of them"},
	{what: "zones could not be read", cloud: true, region: "europe",
		of:        "  zones: [{name: europe-1a, available: true}, {name: europe-1b}]\n",
		unrelated: "nothing is known of them"},
	{what: "there are no zones", cloud: true, region: "asia",
		of:    "zones: [{name: asia-1a, available: true}]",
		by:    "zones: []",
		wants: []string{"error cloud-zone-missing spec.regions[1].zones[0].name"}},
	{what: "volume types could not be read", cloud: true, region: "asia",
		of:        "  volumeTypes: [{name: default}, {name: premium}]\n",
		by:        "  unread: [volumeTypes]\n",
		unrelated: "nothing is known of them"},
	{what: "networks could not be read", cloud: true, region: "asia",
		of:        "  networks: [{name: fp-pool-1, external: true}]\n",
		unrelated: "nothing is known of them"},
	{what: "nobody knows whether it is external", cloud: true, region: "asia",
		of:        "{name: fp-pool-1, external: true}",
		by:        "{name: fp-pool-1}",
		unrelated: "it is not known"},
	{what: "the status is not known", cloud: true, region: "europe",
		of:        "name: gl-1877.5, status: active, visibility: public, architecture: amd64, minDiskGiB: 10",
		by:        "name: gl-1877.5",
		unrelated: "it is not known"},
	{what: "the sizes are not known", cloud: true, region: "europe",
		of:        "name: medium_4_8, cpu: 4, memoryMiB: 8192, gpu: 0, diskGiB: 20, architecture: amd64",
		by:        "name: medium_4_8",
		unrelated: "they are not known"},
	{what: "a region has fewer policies than another, and neither has the one", cloud: true, region: "asia",
		of:    "serverGroupPolicies: [affinity, anti-affinity, soft-anti-affinity]",
		by:    "serverGroupPolicies: [affinity]",
		more:  []lie{{of: "serverGroupPolicies: [soft-anti-affinity, affinity]", by: "serverGroupPolicies: [soft-affinity, affinity]"}},
		wants: []string{"error cloud-policy-missing spec.providerConfig.serverGroupPolicies[0]"}},
	{what: "regions have no policy in common", cloud: true, region: "asia",
		of: "serverGroupPolicies: [affinity, anti-affinity, soft-anti-affinity]",
		by: "serverGroupPolicies: [affinity]",
		more: []lie{
			{cloud: true, region: "europe", of: "serverGroupPolicies: [affinity, anti-affinity, soft-anti-affinity]", by: "serverGroupPolicies: [anti-affinity]"},
			{of: "serverGroupPolicies: [soft-anti-affinity, affinity]", by: "serverGroupPolicies: [soft-affinity]"},
		},
		wants: []string{"error cloud-policy-missing spec.providerConfig.serverGroupPolicies[0]"}},
	{what: "there is no inventory of the region", cloud: true, of: "- name: asia", by: "- name: africa", unrelated: "nothing is known of it"},
	{what: "a flavor that nobody may use is gone", of: `{name: old_1_1, cpu: "1"`, by: `{name: old_1_1, cpu: "7"`, unrelated: "it is not usable"},
}

// texts returns the changed texts of profile and inventory.
func (l *lie) texts(t *testing.T, profile, cloud string) (string, string) {
	t.Helper()
	text := &profile
	before, after := "", ""
	if l.cloud {
		text = &cloud
	}
	if l.region != "" {
		begin := strings.Index(*text, "\n- name: "+l.region+"\n")
		end := len(*text)
		if next := strings.Index((*text)[begin+1:], "\n- name: "); next >= 0 {
			end = begin + 1 + next
		}
		before, *text, after = (*text)[:begin], (*text)[begin:end], (*text)[end:]
	}
	if strings.Count(*text, l.of) != 1 {
		t.Fatalf("%s: %q is there %d times", l.what, l.of, strings.Count(*text, l.of))
	}
	changed := strings.Replace(*text, l.of, l.by, 1)
	if i := strings.Index(changed, "\n  old:\n"); i >= 0 { // remove the list
		rest := changed[i+len("\n  old:\n"):]
		for strings.HasPrefix(rest, "  - ") {
			_, rest, _ = strings.Cut(rest, "\n")
		}
		changed = changed[:i+1] + rest
	}
	*text = before + changed + after
	for i := range l.more {
		profile, cloud = l.more[i].texts(t, profile, cloud)
	}
	return profile, cloud
}

func readInventory(t testing.TB, text string) *inventory.Inventory {
	t.Helper()
	read, errs := inventory.Read([]byte(text))
	if len(errs) > 0 {
		t.Fatal(given.Explained(errs))
	}
	return read
}

func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// judged returns the findings about a profile of OpenStack.
func judged(t testing.TB, profileText, cloud string, options verify.Options) (finding.Report, []verify.Unread) {
	t.Helper()
	object := given.Decoded[v1beta1.CloudProfile](t, profileText)
	p, found := profile.Compile(openstack.Provider{}, &object.Spec, field.NewPath("spec"))
	if len(found.Errors) > 0 {
		t.Fatal(given.Explained(found.Errors))
	}
	return verify.CloudProfile(p, verify.NewCloud(openstack.Provider{}, nil, readInventory(t, cloud)), options)
}

// lines returns the severity, rule, path and optionally message of each finding.
func lines(report finding.Report, messages bool) (lines []string) {
	add := func(severity finding.Severity, list finding.List) {
		for _, f := range list {
			line := fmt.Sprintf("%s %s %s", severity, f.Origin, f.Field)
			if messages {
				line += "\n    " + f.Detail
			}
			lines = append(lines, line)
		}
	}
	add(finding.SeverityError, report.Errors)
	add(finding.SeverityWarning, report.Warnings)
	return lines
}

func TestTheTruth(t *testing.T) {
	report, unread := judged(t, file(t, "profile.yaml"), file(t, "inventory.yaml"), verify.Options{At: now, Strict: true})
	if found := lines(report, true); len(found)+len(unread) > 0 {
		t.Error(strings.Join(found, "\n"), unread)
	}
}

// Each lie is reported by its rule at its path, without other findings. The messages are in a golden file.
func TestLies(t *testing.T) {
	var messages strings.Builder
	rules, told := map[string]bool{}, 0
	for _, l := range lies {
		t.Run(l.what, func(t *testing.T) {
			profileText, cloud := l.texts(t, file(t, "profile.yaml"), file(t, "inventory.yaml"))
			report, _ := judged(t, profileText, cloud, verify.Options{At: now})
			if diff := cmp.Diff(l.wants, lines(report, false)); diff != "" {
				t.Errorf("%s\n%s", diff, strings.Join(lines(report, true), "\n"))
			}
			again, _ := judged(t, profileText, cloud, verify.Options{At: now})
			if diff := cmp.Diff(lines(report, true), lines(again, true)); diff != "" {
				t.Error("another time, something else: " + diff)
			}
			if (l.unrelated == "") != (len(l.wants) > 0) {
				t.Error("the row says neither what is found nor why nothing is")
			}
			if len(l.wants) > 0 {
				told++
			}
			fmt.Fprintf(&messages, "%s\n", l.what)
			for _, line := range lines(report, true) {
				rules[strings.Fields(line)[1]] = true
				fmt.Fprintf(&messages, "  %s\n", line)
			}
			if l.unrelated != "" {
				fmt.Fprintf(&messages, "  nothing: %s\n", l.unrelated)
			}
		})
	}
	if told < 50 {
		t.Errorf("only %d lies", told)
	}
	for _, rule := range verify.Rules(true) {
		if rule.Name != "cloud-unread" && !rules[rule.Name] {
			t.Errorf("no lie breaks %s", rule.Name)
		}
	}
	golden(t, "lies.txt", messages.String())
}

func golden(t *testing.T, name, text string) {
	t.Helper()
	if cases.Update() {
		if err := os.WriteFile("testdata/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(file(t, name), text); diff != "" {
		t.Error(diff)
	}
}

// A finding that two regions share is reported once, regardless of the order of regions and their lists.
func TestOrderOfRegions(t *testing.T) {
	cloud := readInventory(t, strings.ReplaceAll(file(t, "inventory.yaml"), "cpu: 4", "cpu: 3"))
	for i := range cloud.Regions {
		images := &cloud.Regions[i].Images
		k := slices.IndexFunc(*images, func(image inventory.Image) bool { return image.Name == "gl-1877.5" })
		upper := inventory.Image{ID: strings.ToUpper((*images)[k].ID), Name: "another"} // Glance ignores case
		if (*images)[k].Status = "queued"; upper.ID != (*images)[k].ID {
			*images = append(*images, upper)
		}
		*images = append(*images, inventory.Image{ID: "b", Name: "gl-1877.5"}, inventory.Image{ID: "a", Name: "gl-1877.5"})
	}
	object := given.Decoded[v1beta1.CloudProfile](t, file(t, "profile.yaml"))
	p, _ := profile.Compile(openstack.Provider{}, &object.Spec, field.NewPath("spec"))
	first, _ := verify.CloudProfile(p, verify.NewCloud(openstack.Provider{}, nil, cloud), verify.Options{At: now})
	slices.Reverse(cloud.Regions)
	for i := range cloud.Regions {
		slices.Reverse(cloud.Regions[i].Images)
		slices.Reverse(cloud.Regions[i].MachineTypes)
	}
	second, _ := verify.CloudProfile(p, verify.NewCloud(openstack.Provider{}, nil, cloud), verify.Options{At: now})
	if diff := cmp.Diff(lines(first, true), lines(second, true)); diff != "" {
		t.Error(diff)
	}
	if len(first.Errors) != 4 || !strings.Contains(first.Errors[0].Detail, "in regions europe, asia") {
		t.Error(lines(first, true))
	}
}
