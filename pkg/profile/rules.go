// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile/internal/onetoone"
)

// Rules returns the rules that a single CloudProfile can break, including those of package capability. The caller owns the slice.
func Rules() []finding.Rule {
	return finding.On(finding.ObjectCloudProfile, append(onetoone.Rules(),
		ruleNameMissing, ruleImageMissing, ruleVersionMissing, ruleImageDuplicate, ruleRegionDuplicate, ruleMachineArchitecture, ruleUnregistered,
		ruleValueDuplicate, ruleReservedUnknown, ruleReservedValue, ruleReservedMixed, ruleReservedIncomplete, ruleWorkerValueUnknown)...)
}

// RuleReservedMixed is the name of the rule that a profile uses one name for each of Gardener's capabilities.
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
		"Put the versions that the first entry lacks into that, and remove the second one.")
	ruleRegionDuplicate = finding.Denies("region-duplicate",
		"A flavor has two references for one region, or a version in the legacy format has two for one region and architecture.",
		"Remove one of the two.")
	ruleMachineArchitecture = finding.Denies("machine-type-architecture-missing",
		"Several architectures are registered, so a machine type must name its own. An omission would stand for all of them.",
		"Add `capabilities.architecture` with one value to the machine type.")
	ruleUnregistered = finding.Denies(capability.RuleUnregistered,
		"A flavor of the provider config uses a capability that `spec.machineCapabilities` does not register. If several places use the same unregistered name, and none the similar one that is registered, `lint` reports the registration instead, once.",
		"Register it, or correct the name, in the flavor or in `spec.machineCapabilities`.")
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
