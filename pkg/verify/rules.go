// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify

import "github.com/capkit/capkit/pkg/finding"

// Command is the name of the command that reports these rules.
const Command = "verify"

// These rules are about images.
var (
	ruleImageMissing = finding.Denies("cloud-image-missing",
		"A profile refers to an image that the cloud does not have in a region, by its ID or by its name. No machine of the region boots it.",
		"Write the reference of the image that is there, which the message names if it knows one, or upload the image to the region.")
	ruleImageInactive = finding.Denies("cloud-image-inactive",
		"A profile refers to an image that exists, but cannot be booted: it is deactivated, still being uploaded, or deprecated. Only "+
			"the status active is accepted.",
		"Activate the image, or refer to another one.")
	ruleImageHidden = finding.Warns("cloud-image-hidden",
		"A profile refers to an image that is private, or shared. A Shoot has its own project, which cannot boot the image unless the "+
			"owner has shared it with that project.",
		"Make the image public, or a community image. If it is shared with each project that has Shoots, silence the warning.")
	ruleImageArchitecture = finding.Denies("cloud-image-architecture",
		"The image has another architecture than the flavor that refers to it.",
		"Write the reference of an image for that architecture, or correct the architecture of the flavor.")
	ruleImageProperty = finding.Denies("cloud-image-property",
		"A property of the image contradicts what the flavor declares, by the table of the provider. "+
			"The cloud does not boot the image on such machines, or boots it differently from what worker pools ask for.",
		"Write the reference of the right image, or correct the capabilities of the flavor. If the cloud uses the property "+
			"differently, pass your own table with `--properties`.")
	ruleImageDiffers = finding.Warns("cloud-image-differs",
		"Images of one flavor differ between regions, by their checksums. Nodes of one version would not be the same everywhere.",
		"Upload the same image everywhere. If a region needs its own image, silence the warning.")
	ruleImageAmbiguous = finding.Denies("cloud-image-ambiguous",
		"A profile refers to an image by its name, and several images of a region have it. Creating a machine fails.",
		"Refer to the image by its ID, or rename the others.")
	ruleImageDisk = finding.Warns("cloud-image-disk",
		"The image needs a larger disk than that of a machine type that boots it. Machines of worker pools without their own volume "+
			"are not created.",
		"Use a machine type with a larger disk, lower the minimum disk of the image, or give the machine type a `storage` in the profile.")
)

// These rules are about machine types.
var (
	ruleTypeMissing = finding.Escalates(finding.Warns("cloud-machine-type-missing",
		"A profile offers a machine type that the cloud does not have in some region; if no inventoried region has it, this is an "+
			"error. Machines with it are not created there.",
		"Correct the name, or remove the machine type. If other regions have it, list it in `unavailableMachineTypes` of each zone of the region."))
	ruleTypeSize = finding.Denies("cloud-machine-type-size",
		"A machine type has other numbers of CPUs or GPUs, or another memory, in the cloud than in the profile. The cluster autoscaler "+
			"and reserved resources rely on the profile.",
		"Write the values of the cloud.")
	ruleTypeArchitecture = finding.Denies("cloud-machine-type-architecture",
		"A machine type has another architecture in the cloud than in the profile. Its machines do not boot the images that are chosen for them.",
		"Write the architecture that the cloud has.")
	ruleTypeDisk = finding.Warns("cloud-machine-type-disk",
		"A machine type has no disk of its own in the cloud, but the profile does not declare a `storage` for it. Worker pools without "+
			"a volume get a root disk as small as the image, or no machines.",
		"Give the machine type a `storage`, whose type and size its volumes have, or tell users to write a volume.")
)

// These rules are about everything else.
var (
	ruleZoneMissing = finding.Denies("cloud-zone-missing",
		"A profile has a zone that the cloud does not have in the region, or in which it creates no servers.",
		"Correct the name, or remove the zone.")
	ruleZoneType = finding.Warns("cloud-zone-machine-type",
		"The cloud does not offer a machine type in a zone, and the profile does not list it as unavailable there. Machines in the "+
			"zone are not created.",
		"Add the machine type to `unavailableMachineTypes` of the zone.")
	ruleVolumeType = finding.Denies("cloud-volume-type-missing",
		"A profile offers a volume type, or has one in the storage of a machine type, that the cloud does not have in a region.",
		"Correct the name, remove the volume type, or list it in `unavailableVolumeTypes` of each zone of the region.")
	ruleNetwork = finding.Denies("cloud-network-missing",
		"A profile offers a floating pool that is not an external network of the cloud in a region. Shoots with it get no addresses.",
		"Correct the name or the pattern, give the entry a `region`, or remove it. Networks that the credentials of the inventory "+
			"cannot see are missing in it.")
	ruleLoadBalancer = finding.Denies("cloud-load-balancer-provider-missing",
		"A profile offers a load balancer provider that the cloud does not have in a region. No load balancer of such a Shoot is created.",
		"Correct the name, give the entry a `region`, or remove it.")
	rulePolicy = finding.Denies("cloud-policy-missing",
		"A profile offers a server group policy that the cloud does not have in a region.",
		"Correct the name, or remove the policy.")
	ruleUnread = finding.Denies("cloud-unread",
		"With `--strict`: a region of the profile has no inventory, or a part of it could not be read. That part was not checked.",
		"Take an inventory of the region with credentials that may read all of it. Without `--strict`, it is a note.")
)

// Rules returns the rules of this package. Rules about images, and about names that only some provider configs have, are included only if
// described is true: some provider is an [inventory.Describer]. The caller owns the slice.
func Rules(described bool) []finding.Rule {
	rules := []finding.Rule{
		ruleTypeMissing, ruleTypeSize, ruleTypeArchitecture, ruleTypeDisk, ruleZoneMissing, ruleZoneType, ruleVolumeType, ruleUnread,
	}
	if described {
		rules = append(rules, ruleImageMissing, ruleImageInactive, ruleImageHidden, ruleImageArchitecture, ruleImageProperty, ruleImageDiffers,
			ruleImageAmbiguous, ruleImageDisk, ruleNetwork, ruleLoadBalancer, rulePolicy)
	}
	for i := range rules {
		rules[i].Command = Command
	}
	return finding.On(finding.ObjectCloudProfile, rules...)
}
