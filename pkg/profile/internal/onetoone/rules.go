// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package onetoone

import (
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
)

// Rules returns the rules that an image version can break. [EmptyLists] also applies the last one to machine types.
func Rules() []finding.Rule {
	return []finding.Rule{
		ruleFlavorMissing, ruleFlavorUnexpected, ruleFlavorDuplicate, ruleCoreFlavorDuplicate, ruleLegacyAmbiguous, ruleCapabilitiesOff,
		ruleValueUnregistered, ruleValueMissing,
	}
}

var (
	ruleCapabilitiesOff = finding.Denies("capabilities-not-registered",
		"The provider config uses `capabilityFlavors` in a profile that registers no capabilities.",
		"Register capabilities in `spec.machineCapabilities` first, or write the version in the legacy format.")
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
	ruleValueUnregistered = finding.Denies(capability.RuleValueUnregistered,
		"A flavor of the provider config uses a value that is not registered for its capability; or a version in the legacy format uses an unknown architecture. If several places use the same unregistered value, and none the similar one that is registered, `lint` reports the registration instead, once.",
		"Register the value, or correct it.")
	ruleValueMissing = finding.Denies(capability.RuleValueMissing,
		"A flavor, or a machine type, declares a capability with an empty list, which can never match.",
		"List the values that the image or the machine type supports, or leave the capability out if it supports all of "+
			"them.")
)
