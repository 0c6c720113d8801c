// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"strings"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/resolve"
)

// RuleProfileMissing is the name of the rule that a referenced profile must exist. Packages that look it up define its text.
const RuleProfileMissing = "profile-missing"

// Rules returns the rules that hold for all providers, sorted by name: those of this package, and of packages capability, providerconfig,
// profile and resolve. The caller owns the slice.
func Rules() []finding.Rule {
	rules := slices.Concat(providerconfig.Rules(), profile.Rules(), resolve.Rules(), finding.On(finding.ObjectCloudProfile,
		RuleSize, ruleImageUnused, ruleVersionUnused, ruleOrderDiffers, ruleRegionUncovered, ruleRegionUnknown, ruleFallback,
		RuleMachineWithoutImage, RuleTypeUndeclared,
		ruleReferenceCopied, ruleForeignPrefix, ruleWorkerValueUnasked, ruleWorkerMisspelt, ruleOnlyOnRequest,
		RuleFlavorOfMachineTypes, ruleFirstText, ruleReservedSilent,
	), finding.On(finding.ObjectShoot, ruleProviderType, RuleRequestIgnored), finding.On(finding.ObjectNamespacedCloudProfile,
		RuleVersionInherited, RuleMappingInherited, ruleNamespacedConfig, RuleEntryDuplicate, ruleNamespacedFormat,
	), finding.Online(slices.Concat(finding.On(finding.ObjectCloudProfile,
		ruleTypeInUse, ruleChoiceChanged, ruleMachineTypeInUse, ruleMappingInUse, ruleVolumeSizeInUse, ruleMaintenanceBlocked, ruleReservedRegistered,
	), finding.On(finding.ObjectSecret, RuleCredentialsMissing, RuleCredentialsKind))))
	slices.SortFunc(rules, func(a, b finding.Rule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}

// These rules need only a manifest. The exported ones are those that other packages refer to.
var (
	// Provider configs.
	RuleSize = finding.Escalates(finding.Warns("cloudprofile-size",
		"The CloudProfile has reached three quarters of the 1.5 MiB that etcd stores. Above the limit, no update of it is accepted; "+
			"lint reports that as an error.",
		"Remove expired image versions, flavors that no machine type fits and mappings that nobody uses."))

	// Images.
	ruleImageUnused = finding.Warns("provider-image-unused",
		"The provider config has an image that core does not list. It cannot be used, which is fine while you keep an old mapping for "+
			"a time.",
		"Remove it, or list it in `spec.machineImages`. Look for a misspelt name.")
	ruleVersionUnused = finding.Warns("provider-version-unused",
		"The provider config has a version that core does not list for this image. Nobody can use it.",
		"Remove it, or list it in `spec.machineImages`. Versions are compared as text: `1877.5` is not `1877.5.0`.")

	// Flavors.
	ruleOrderDiffers = finding.Warns("preference-order-differs",
		"For some machine type the preference order of GEP-0033 and that of the gardener library pick different flavors; the message says which of the two is used. New machines of existing worker pools get the other image when the extension changes its order.",
		"None, if the choice of the current order is intended. Otherwise narrow the flavors or machine types so that the "+
			"choice no longer depends on the order; `capkit explain` shows both.")

	// Regions.
	ruleReferenceCopied = finding.Warns("reference-copied",
		"One reference stands for images of two architectures, or for two versions of an image. An artifact has one architecture and "+
			"one version, so the entry was probably copied without changing the reference: machines boot the wrong image, or none.",
		"Write the reference of the right artifact. If two versions are intentionally one artifact, list it once.")
	ruleRegionUncovered = finding.Warns("region-uncovered",
		"A flavor has no image in a region of the profile. A Shoot there whose worker pool needs this flavor is refused.",
		"Add a reference for the region. If the region is spelt differently in `spec.regions`, make the two the same.")
	ruleRegionUnknown = finding.Warns("region-unknown",
		"The provider config has images, or other entries, for a region that `spec.regions` does not have. No Shoot can be there, so "+
			"they are useless.",
		"Correct the name of the region, add it to `spec.regions`, or remove the entries.")
	ruleProviderType = finding.Denies("provider-type-mismatch",
		"A Shoot is for another provider type than its profile. Gardener's admission refuses such a Shoot.",
		"Write the type that the message names at `spec.provider.type`, or refer to a profile of the Shoot's type.")
	ruleFallback = finding.Warns("image-name-fallback",
		"In some region of the profile an image is referenced by name only. Names need not be unique in a cloud, and anyone who can "+
			"upload an image may shadow it.",
		"Add the image ID for the region.")

	// Machine types.
	RuleMachineWithoutImage = finding.Warns("machine-type-without-image",
		"No active image version fits the machine type in some region, so no worker pool can use it there.",
		"Add a flavor or a reference for it, or correct the capabilities of the machine type.")

	RuleTypeUndeclared = finding.Warns("machine-type-undeclared",
		"One machine type does not declare a capability, or its architecture, while all others do. It then supports all values of the "+
			"capability, and without `architecture` it counts as amd64. Usually it was forgotten, and the machine type boots the wrong "+
			"image. Capabilities that settings of worker pools ask for do not count: a machine type leaves them out if it supports both "+
			"values.",
		"Declare the values that the machine type supports, even if it supports all of them.")

	// Capabilities.
	ruleForeignPrefix = finding.Warns("capability-foreign-prefix",
		"A registered capability carries the prefix of another provider. Prefixed names belong to the extension of that provider, which is not the one of this profile.",
		"Use a name without prefix, or one with this provider's prefix if its extension defines it.")

	// Worker capabilities.
	ruleWorkerValueUnasked = finding.Warns("worker-capability-value-unasked",
		"`spec.machineCapabilities` registers a worker capability of the provider without any value that a worker setting asks for. Every worker pool that uses the setting is refused.",
		"Register the value that the message names as well, or do not register the capability.")
	ruleWorkerMisspelt = finding.Warns("worker-capability-misspelt",
		"`spec.machineCapabilities` registers a name that is almost that of a worker capability of the provider. So it is "+
			"an ordinary capability, and no setting of a worker pool asks for it.",
		"Write the name that the message suggests, wherever the capability is used. `capkit capabilities` lists the names.")
	RuleFlavorOfMachineTypes = finding.Warns("flavor-excludes-machine-types",
		"A flavor of an image declares a capability that worker pools ask of machine types only, such as a root disk on a volume. It "+
			"then fits no machine type with other values, whatever a pool asks for. That is rarely intended: an image that leaves the "+
			"capability out fits all.",
		"Leave the capability out of the flavor, in core and in the provider config. Keep it if the image really fails on such machine types.")
	ruleFirstText = finding.Warns("reserved-capability-first-text",
		"The profile uses a name of the first text of GEP-0054 for a capability of Gardener. capkit knows both names, with the same "+
			"meaning. A Gardener that implements the proposal will not know the old one.",
		"Write the new name, with its values: `inPlace` is `in-place` now. `capkit lint --fix` does it, and so does `capkit migrate --reserved`.")
	ruleReservedSilent = finding.Warns("reserved-capability-silent",
		"A flavor leaves out a capability of Gardener that `spec.machineCapabilities` registers. It then has all registered values: an "+
			"image without `gardener-boot-type` claims to be signed, and worker pools with secure boot use it. Before the registration it "+
			"had `standard` alone, or `rolling`.",
		"Declare what the image supports, in core and in the provider config. `capkit lint --fix` writes the values that the flavor "+
			"had before the registration.")
	ruleOnlyOnRequest = finding.Warns("image-version-only-on-request",
		"On some machine type no flavor of the image version boots in worker pools that ask for nothing special, only in those that "+
			"ask for the features of the flavors. Gardener ignores that when it chooses a version, for Shoots that name none or in "+
			"maintenance: these are then refused.",
		"Add a flavor without the feature, or declare the ordinary value as well; or give the version the classification `preview`, so "+
			"that it has to be named explicitly.")
	RuleRequestIgnored = finding.Warns("worker-request-ignored",
		"A worker pool asks for a capability that counts only where a profile registers it, and its profile does not. The pool boots "+
			"any image that fits otherwise. A capability reserved for Gardener also counts if a flavor of the provider config declares it.",
		"None, if any image is acceptable. Otherwise the operator registers the capability in `spec.machineCapabilities` and "+
			"declares it on the flavors of images that support it.")

	// NamespacedCloudProfiles.
	RuleVersionInherited = finding.Denies("namespaced-version-inherited",
		"A NamespacedCloudProfile gives flavors or architectures to an image version that its parent has. What such a version supports is the parent's; only its `expirationDate` can be changed.",
		"Remove `capabilityFlavors` and `architectures` from the version. For your own image, use a version that the parent does not "+
			"have.")
	RuleMappingInherited = finding.Denies("namespaced-mapping-inherited",
		"The provider config of a NamespacedCloudProfile maps an image version that its parent already has and maps.",
		"Remove the entry from the provider config.")
	ruleNamespacedConfig = finding.Denies("namespaced-config-field",
		"The provider config of a NamespacedCloudProfile has fields other than `machineImages`, or an image that the parent has, too, has "+
			"other fields than `versions`. All others are the parent's.",
		"Remove the field, or have it changed in the parent.")
	RuleEntryDuplicate = finding.Denies("namespaced-entry-duplicate",
		"A list in the provider config of a NamespacedCloudProfile, whose entries are merged with those of the parent, has two entries of one name.",
		"Remove one of the two.")
	ruleNamespacedFormat = finding.Denies("namespaced-format",
		"A NamespacedCloudProfile has a version with `capabilityFlavors`, but its parent registers no capabilities. Such a version is "+
			"converted to the legacy format when Gardener renders the profile, which is not possible for this one: it has one image name "+
			"for several architectures, for example.",
		"Write the version in the legacy format, without `capabilityFlavors`.")
)

// These rules are about updates and credentials.
var (
	RuleCredentialsMissing = finding.Denies("credentials-missing",
		"The credentials of a Shoot, or those that a binding refers to, do not exist.",
		"Create the Secret first, or correct the name or namespace of the reference. An existing Shoot can be changed and deleted "+
			"without it.")
	RuleCredentialsKind = finding.Denies("credentials-kind",
		"A binding refers to credentials of a kind that the provider cannot use, such as a WorkloadIdentity.",
		"Let the binding refer to a Secret. References cannot be changed: create another binding, and use that.")
	ruleTypeInUse = finding.Denies("provider-type-in-use",
		"An update gives a CloudProfile another provider type while Shoots or NamespacedCloudProfiles of the old type use it. From "+
			"then on, Gardener would refuse every update of the Shoots, and the NamespacedCloudProfiles would no longer be checked.",
		"Leave the type as it is, and create another CloudProfile for the other type. To change the CloudProfile nevertheless, delete "+
			"its users first.")
	ruleChoiceChanged = finding.Warns("image-choice-changed",
		"An update of a profile makes worker pools of some machine type boot another flavor of their image version, although the "+
			"previous one still fits. Existing machines keep their image; new ones silently get the other.",
		"None, if the change is intended. Otherwise restore the order of capabilities and values, or narrow the new "+
			"flavor.")
	ruleMachineTypeInUse = finding.Warns("machine-type-in-use",
		"An update of a profile removes a machine type that worker pools still use. They keep their machine classes, but no new pool "+
			"can have the type. If the profile registers capabilities, Gardener v1.150 also rejects every later update of such a Shoot, "+
			"even the one that confirms its deletion.",
		"Put the machine type back, with `usable: false`, until no worker pool uses it.")
	ruleVolumeSizeInUse = finding.Warns("volume-size-in-use",
		"An update of a profile raises the minimum size of a volume type, or of a machine type's volumes, above the size that worker pools "+
			"have. Gardener compares the sizes whenever a Shoot is written. So it refuses every later update of such a Shoot that leaves the "+
			"volume as it is, even the one that confirms its deletion, and its maintenance fails.",
		"Lower the minimum again, and raise it once all volumes are large enough.")
	ruleMappingInUse = finding.Warns("mapping-in-use",
		"An update of a profile removes the flavor, or the reference, that worker pools boot. Their machines keep running. If another "+
			"flavor fits, new machines boot that one; otherwise they keep booting the removed image, as long as the cloud has it, and new "+
			"worker pools are refused. If no flavor in core fits the machine type any more, Gardener v1.150 also refuses every later "+
			"update of such a Shoot, even the one that confirms its deletion.",
		"Put the flavor or the reference back until no worker pool uses it.")
	ruleReservedRegistered = finding.Warns("reserved-capability-registered",
		"After an update of a profile, flavors that leave out a capability of Gardener serve worker pools that ask for its feature: "+
			"the update registers the capability, or a further value of it. But nobody has declared that these images are signed, or can "+
			"be updated in place.",
		"Declare on these flavors, in core and in the provider config, what the images support. `capkit plan` names the flavors, and "+
			"the worker pools that would boot another image.")
	ruleMaintenanceBlocked = finding.Warns("maintenance-blocked",
		"After an update of a profile, Gardener's maintenance chooses an image version for worker pools that cannot boot it; or it has "+
			"none for them once a version expires. With the webhook `mutate-shoot` they are updated to the newest version that they can "+
			"boot, or keep theirs; without it the whole maintenance of their Shoots fails.",
		"Add the flavor or the reference that these worker pools need. Until then, classify the version as `preview`, which "+
			"maintenance does not choose. If a version expires, give it a later date or add one that they can boot.")
)
