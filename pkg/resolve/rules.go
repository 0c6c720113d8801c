// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"github.com/capkit/capkit/pkg/finding"
)

// Rules returns the rules that a worker pool can break. The caller owns the slice.
func Rules() []finding.Rule {
	return finding.On(finding.ObjectShoot,
		ruleUnknownImage, ruleUnknownVersion, ruleNoImage, ruleUnknownRegion, RuleArchitecture, ruleUnknownMachineType,
		RuleRequestUnregistered, ruleRequestUnmet, RuleMachineUnmet)
}

// The exported rules are those that other packages refer to.
var (
	ruleUnknownImage = finding.Denies("unknown-image",
		"A worker pool asks for an image that the profile does not have.",
		"Use one of the images that the message suggests.")
	ruleUnknownVersion = finding.Denies("unknown-version",
		"A worker pool asks for a version that the profile does not have for this image.",
		"Use one of the versions that the message suggests.")
	ruleNoImage = finding.Denies("no-image-fits",
		"No flavor of the worker pool's image version fits its machine type and has an image in its region.",
		"Use one of the versions, images or machine types that the message suggests. The message says for each flavor why "+
			"it is out.")
	ruleUnknownRegion = finding.Denies("unknown-region",
		"A Shoot is for a region that its profile does not have. Gardener's admission refuses such a Shoot.",
		"Use one of the regions that the message lists.")
	RuleArchitecture = finding.Denies("pool-architecture-mismatch",
		"A worker pool asks for an architecture that its machine type does not have. Gardener's admission refuses such a Shoot.",
		"Use one of the machine types that the message suggests, or leave `machine.architecture` out.")
	ruleUnknownMachineType = finding.Denies("unknown-machine-type",
		"A worker pool asks for a machine type that the profile does not have.",
		"Use one of the machine types that the message suggests.")
	RuleRequestUnregistered = finding.Denies("worker-capability-not-registered",
		"A worker pool asks, by a setting of its `providerConfig`, for a capability that the profile does not register. So no image "+
			"can have declared it, and the pool would get one without the requested feature.",
		"The operator registers the capability in `spec.machineCapabilities` and declares it on the flavors of images that "+
			"support it, in core and in the provider config: see docs/concepts/worker-capabilities.md. Until then, remove the setting "+
			"from the worker pool.")
	ruleRequestUnmet = finding.Denies("worker-request-unmet",
		"A worker pool asks for a feature, and no flavor of its image version that fits its machine type supports it; or the machine "+
			"type does not. Unlike with a hardware capability, an image lacks each feature that it does not declare.",
		"Use one of the versions, images or machine types that the message suggests, or remove the setting. If the image "+
			"does support the feature, the operator has to declare it on its flavor.")
	RuleMachineUnmet = finding.Denies("machine-type-request-unmet",
		"A worker pool asks for something that its machine type does not support, according to the profile: a root disk on a volume, "+
			"for example, on a machine type without volumes. Its machines would fail.",
		"Use one of the machine types that the message suggests, or remove the setting from the worker pool. If the machine type does "+
			"support it, the operator has to declare that in `spec.machineTypes`.")
)
