// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
)

// Rules returns the catalogue of the rules that one CloudProfile can break, those of package capability included. The caller owns it.
func Rules() []finding.Rule {
	return finding.On(finding.ObjectCloudProfile,
		ruleNameMissing, ruleImageMissing, ruleVersionMissing, ruleImageDuplicate, ruleFlavorMissing, ruleFlavorUnexpected,
		ruleFlavorDuplicate, ruleCoreFlavorDuplicate, ruleLegacyAmbiguous, ruleCapabilitiesOff, ruleRegionDuplicate,
		ruleMachineArchitecture, ruleUnregistered, ruleValueUnregistered, ruleValueMissing, ruleValueDuplicate, ruleReservedUnknown,
		ruleReservedValue, ruleReservedMixed, ruleReservedIncomplete, ruleWorkerValueUnknown)
}

// RuleReservedMixed is the stable name of the rule that a profile has one name for each of Gardener's capabilities.
const RuleReservedMixed = "reserved-capability-mixed"

var (
	ruleNameMissing = finding.Denies("name-missing",
		"Entries of a provider config are found by their name: images, versions, regions, floating pools and others. So each needs "+
			"one.",
		"Write the name, or remove the entry.")
	ruleImageMissing = finding.Denies("provider-image-missing",
		"Core lists a machine image that the provider config does not have. Worker pools with it would be admitted and never boot.",
		"Add the image with its versions under `spec.providerConfig.machineImages`, or remove it from `spec.machineImages`.")
	ruleVersionMissing = finding.Denies("provider-version-missing",
		"Core lists a version of a machine image for which the provider config has no entry.",
		"Add the version to the image in the provider config, or remove it from `spec.machineImages`.")
	ruleImageDuplicate = finding.Denies("provider-image-duplicate",
		"The provider config lists one image name twice.",
		"Put the versions of the second entry into the first.")
	ruleFlavorMissing = finding.Denies("provider-flavor-missing",
		"Core lists a flavor of an image version, and the provider config has no image for it. Flavors correspond one to one, comparing what they support with omissions filled in: a capability that a flavor leaves out stands for all its registered values.",
		"Add a flavor with the same capabilities to the version in the provider config, or remove the flavor from core.")
	ruleFlavorUnexpected = finding.Denies("provider-flavor-unexpected",
		"The provider config has a flavor that core does not list for the version, so core would never admit a worker pool on it.",
		"Add the flavor to core, or remove it from the provider config, or make the capabilities of the two the same. Mind "+
			"capabilities that one side leaves out.")
	ruleFlavorDuplicate = finding.Denies("provider-flavor-duplicate",
		"Two provider flavors of a version support exactly the same, so the choice between them would be arbitrary.",
		"Remove one of the two, or distinguish them with a capability.")
	ruleCoreFlavorDuplicate = finding.Denies("core-flavor-duplicate",
		"Two core flavors of a version support exactly the same once omissions are filled in.",
		"Remove one of the two, or distinguish them with a capability.")
	ruleLegacyAmbiguous = finding.Denies("legacy-flavor-ambiguous",
		"A version in the legacy format has architectures only, and core lists several flavors of one architecture for it. The image "+
			"cannot be assigned to one of them.",
		"Write the version with `capabilityFlavors`, one for each core flavor. Other versions may stay in the legacy format.")
	ruleCapabilitiesOff = finding.Denies("capabilities-not-registered",
		"The provider config uses `capabilityFlavors` in a profile that registers no capabilities.",
		"Register capabilities in `spec.machineCapabilities` first, or write the version in the legacy format.")
	ruleRegionDuplicate = finding.Denies("region-duplicate",
		"A flavor has two references for one region, or a version in the legacy format has two for one region and architecture.",
		"Remove one of the two.")
	ruleMachineArchitecture = finding.Denies("machine-type-architecture-missing",
		"Several architectures are registered, so a machine type must name its own. An omission would stand for all of them.",
		"Add `capabilities.architecture` with one value to the machine type.")
	ruleUnregistered = finding.Denies(capability.RuleUnregistered,
		"A flavor of the provider config uses a capability that `spec.machineCapabilities` does not register. If several places use the same unregistered name, and none the similar one that is registered, `lint` reports the registration instead, once.",
		"Register it, or correct the name, in the flavor or in `spec.machineCapabilities`.")
	ruleValueUnregistered = finding.Denies(capability.RuleValueUnregistered,
		"A flavor of the provider config uses a value that is not registered for its capability; or a version in the legacy format uses an unknown architecture. If several places use the same unregistered value, and none the similar one that is registered, `lint` reports the registration instead, once.",
		"Register the value, or correct it.")
	ruleValueMissing = finding.Denies(capability.RuleValueMissing,
		"A flavor, or a machine type, declares a capability with an empty list, which can never match.",
		"List the values that the image or the machine type supports, or leave the capability out if it supports all of "+
			"them.")
	ruleValueDuplicate = finding.Denies(capability.RuleValueDuplicate,
		"`spec.machineCapabilities` registers a value twice for one capability, so that its rank is ambiguous.",
		"Remove one of the two.")
	ruleReservedUnknown = finding.Denies(capability.RuleReservedUnknown,
		"A flavor of the provider config declares a capability that begins with `gardener-`, but is not one of Gardener's own, for "+
			"which the prefix is reserved.",
		"Correct the name, or use one without the prefix and register it. `capkit capabilities` lists the reserved ones.")
	ruleReservedValue = finding.Denies(capability.RuleReservedValue,
		"A reserved capability is declared, or registered, with a value that it does not have.",
		"Use one of the values that the message lists.")
	ruleReservedMixed = finding.Denies(RuleReservedMixed,
		"GEP-0054 has two texts, and each has its own names for Gardener's capabilities: `gardener-updateType` and `gardener-bootType` were renamed to `gardener-update-type` and `gardener-boot-type`. A profile, with its NamespacedCloudProfiles, uses one of the two names of a capability.",
		"Write the new name everywhere, with its values: `inPlace` is `in-place` now. `capkit lint --fix` does it.")
	ruleReservedIncomplete = finding.Denies("reserved-capability-incomplete",
		"`spec.machineCapabilities` registers `gardener-update-type` without `rolling`, or `gardener-boot-type` without `standard`. Every ordinary worker pool asks for that value, and would be refused.",
		"Register all values that the capability has. `capkit lint --fix` does it.")
	ruleWorkerValueUnknown = finding.Denies("worker-capability-value-unknown",
		"`spec.machineCapabilities` registers a worker capability of the provider with a value that its extension does not know. No worker setting ever asks for it.",
		"Use the values that the message lists. `capkit capabilities` explains each of them.")
)
