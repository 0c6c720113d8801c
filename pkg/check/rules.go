// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/resolve"
)

// RuleProfileMissing is the name of the rule that a profile to which something refers is there. Its text is for those
// who look for the profile.
const RuleProfileMissing = "profile-missing"

// Rules returns the catalogue of the rules that hold for all providers: this package's, and those of packages
// capability, provider, profile and resolve. It is sorted by name, and the caller owns it.
func Rules() []finding.Rule {
	rules := slices.Concat(providerconfig.Rules(), profile.Rules(), resolve.Rules(), finding.On(finding.ObjectCloudProfile,
		RuleSize, ruleImageUnused, ruleVersionUnused, ruleOrderDiffers, ruleRegionUncovered, ruleRegionUnknown, ruleFallback,
		RuleMachineWithoutImage, RuleTypeUndeclared,
		ruleReferenceCopied, ruleForeignPrefix, ruleWorkerValueUnasked, ruleWorkerMisspelt, ruleOnlyOnRequest,
		RuleFlavorOfMachineTypes, ruleFirstText, ruleReservedSilent,
	), finding.On(finding.ObjectShoot, ruleProviderType, RuleRequestIgnored), finding.On(finding.ObjectNamespacedCloudProfile,
		RuleVersionInherited, RuleMappingInherited, ruleNamespacedConfig, RuleEntryDuplicate, ruleNamespacedFormat,
	), finding.Online(slices.Concat(finding.On(finding.ObjectCloudProfile,
		ruleTypeInUse, ruleChoiceChanged, ruleMachineTypeInUse, ruleMappingInUse, ruleMaintenanceBlocked, ruleReservedRegistered,
	), finding.On(finding.ObjectSecret, RuleCredentialsMissing, RuleCredentialsKind))))
	slices.SortFunc(rules, func(a, b finding.Rule) int { return strings.Compare(a.Name, b.Name) })
	return rules
}

// fault returns the finding of a rule, as [finding.Report.Found] does.
func fault(
	rule finding.Rule, kind field.ErrorType, at *field.Path, value any, format string, args ...any,
) finding.Finding {
	return finding.New(rule.Name, kind, at, value, fmt.Sprintf(format, args...))
}

// The rules that a manifest alone can break. The exported ones are those that other packages name.
var (
	// Provider configs.
	RuleSize = finding.Escalates(finding.Warns("cloudprofile-size",
		"The CloudProfile has reached three quarters of the 1.5 MiB that etcd stores. Once over the limit, no update of it is accepted; lint takes that for an error.",
		"Remove expired image versions, flavors that no machine type fits and mappings that nobody uses."))

	// Images.
	ruleImageUnused = finding.Warns("provider-image-unused",
		"The provider config has an image that core does not list. That is fine while a mapping is kept for a time, but nobody can use it.",
		"Remove it, or list it in `spec.machineImages`. Look for a misspelt name.")
	ruleVersionUnused = finding.Warns("provider-version-unused",
		"The provider config has a version that core does not list for this image. Nobody can use it.",
		"Remove it, or list it in `spec.machineImages`. Versions are compared as text: `1877.5` is not `1877.5.0`.")

	// Flavors.
	ruleOrderDiffers = finding.Warns("preference-order-differs",
		"For some machine type the preference order of GEP-0033 and that of the gardener library pick different flavors; the message says which of the two is used. New machines of existing worker pools get the other image when the extension changes its order.",
		"Nothing, if the choice of the order that is used is what you want. Otherwise narrow the flavors or machine types so that the "+
			"choice no longer depends on the order; `capkit explain` shows both.")

	// Regions.
	ruleReferenceCopied = finding.Warns("reference-copied",
		"One reference stands for images of two architectures, or for two versions of an image. An artifact has one architecture and one version, so the entry was probably copied, and the reference in it left as it was: machines boot the wrong image, or none.",
		"Write the reference of the right artifact. If two versions are one artifact on purpose, list it once.")
	ruleRegionUncovered = finding.Warns("region-uncovered",
		"A flavor has no image in a region of the profile. A Shoot there whose worker pool needs this flavor is refused.",
		"Add a reference for the region. If the region is spelt differently in `spec.regions`, make the two the same.")
	ruleRegionUnknown = finding.Warns("region-unknown",
		"The provider config has images, or other entries, for a region that `spec.regions` does not have. No Shoot can be there, so they are of no use.",
		"Correct the name of the region, add it to `spec.regions`, or remove the entries.")
	ruleProviderType = finding.Denies("provider-type-mismatch",
		"A Shoot is for another provider type than its profile. Gardener's admission refuses such a Shoot.",
		"Write the type that the message names at `spec.provider.type`, or refer to a profile of the Shoot's type.")
	ruleFallback = finding.Warns("image-name-fallback",
		"In some region of the profile an image is found by its name only. Names need not be unique in a cloud, and anyone who can upload an image may shadow it.",
		"Add the image ID for the region.")

	// Machine types.
	RuleMachineWithoutImage = finding.Warns("machine-type-without-image",
		"No active image version fits the machine type in some region, so no worker pool can use it there.",
		"Add a flavor or a reference for it, or correct the capabilities of the machine type.")

	RuleTypeUndeclared = finding.Warns("machine-type-undeclared",
		"One machine type does not declare a capability, or its architecture, while all others do. It supports all values of the capability then, and without `architecture` it is taken for amd64. Mostly it was forgotten, and the machine type boots an image that is not for it. Capabilities that settings of worker pools ask for do not count: a machine type leaves them out if it has both.",
		"Declare what the machine type supports; if it is all values, list them.")

	// Capabilities.
	ruleForeignPrefix = finding.Warns("capability-foreign-prefix",
		"A registered capability carries the prefix of another provider. Prefixed names belong to the extension of that provider, which is not the one of this profile.",
		"Use a name without prefix, or one with this provider's prefix if its extension defines it.")

	// Worker capabilities.
	ruleWorkerValueUnasked = finding.Warns("worker-capability-value-unasked",
		"`spec.machineCapabilities` registers a worker capability of the provider without any value that a worker setting asks for. Every worker pool that uses the setting is refused.",
		"Register the value that the message names as well, or do not register the capability.")
	ruleWorkerMisspelt = finding.Warns("worker-capability-misspelt",
		"`spec.machineCapabilities` registers a name that is almost that of a worker capability which the provider defines. It is a capability like others then, and no setting of a worker pool asks for it.",
		"Write the name that the message suggests, wherever the capability is used. `capkit capabilities` lists the names.")
	RuleFlavorOfMachineTypes = finding.Warns("flavor-excludes-machine-types",
		"A flavor of an image declares a capability that worker pools ask of machine types only, such as a root disk on a volume. It then fits no machine type with other values, whatever a pool asks for. That is seldom meant: an image that leaves the capability out fits all.",
		"Leave the capability out of the flavor, in core and in the provider config. Keep it if the image really fails on such machine types.")
	ruleFirstText = finding.Warns("reserved-capability-first-text",
		"The profile calls a capability of Gardener by the name that GEP-0054 had for it at first. It means the same as the new one, and capkit knows both. A Gardener that implements the proposal will not know the old one.",
		"Write the new name, with its values: `inPlace` is `in-place` now. `capkit lint --fix` does it, and so does `capkit migrate --reserved`.")
	ruleReservedSilent = finding.Warns("reserved-capability-silent",
		"A flavor says nothing about a capability of Gardener that `spec.machineCapabilities` registers. It then has all registered values: an image that says nothing about `gardener-boot-type` claims to be signed, and worker pools with secure boot boot it. Before the registration it had `standard` alone, or `rolling`.",
		"Write what the image supports, in core and in the provider config. `capkit lint --fix` writes what the flavor had before the registration.")
	ruleOnlyOnRequest = finding.Warns("image-version-only-on-request",
		"On some machine type no flavor of the image version boots in worker pools that ask for nothing special, only in those that ask for what the flavors declare. Gardener does not look at that when it chooses a version, for Shoots that name none or in maintenance: these are then refused.",
		"Add a flavor that declares nothing of it, or the ordinary value as well; or give the version the classification "+
			"`preview`, so that nobody gets it without naming it.")
	RuleRequestIgnored = finding.Warns("worker-request-ignored",
		"A worker pool asks for a capability that counts only where a profile registers it, and its profile does not. The pool boots any image that fits otherwise. One that is reserved for Gardener counts also where a flavor of the provider config declares it.",
		"Nothing, if any image will do. Otherwise the operator registers the capability in `spec.machineCapabilities` and "+
			"declares it on the flavors of images that support it.")

	// NamespacedCloudProfiles.
	RuleVersionInherited = finding.Denies("namespaced-version-inherited",
		"A NamespacedCloudProfile gives flavors or architectures to an image version that its parent has. What such a version supports is the parent's; only its `expirationDate` can be changed.",
		"Remove `capabilityFlavors` and `architectures` from the version. For an image of your own, use a version that the "+
			"parent does not have.")
	RuleMappingInherited = finding.Denies("namespaced-mapping-inherited",
		"The provider config of a NamespacedCloudProfile maps an image version that its parent has, and maps already.",
		"Remove the entry from the provider config.")
	ruleNamespacedConfig = finding.Denies("namespaced-config-field",
		"The provider config of a NamespacedCloudProfile holds something else than `machineImages`. Everything else is the parent's.",
		"Remove the field, or have it changed in the parent.")
	RuleEntryDuplicate = finding.Denies("namespaced-entry-duplicate",
		"A list in the provider config of a NamespacedCloudProfile, whose entries are merged with those of the parent, has two entries of one name.",
		"Remove one of the two.")
	ruleNamespacedFormat = finding.Denies("namespaced-format",
		"A NamespacedCloudProfile writes a version with `capabilityFlavors`, and its parent registers no capabilities. Such a version is converted to the legacy format when Gardener renders the profile, and for this one that is not possible: one image name for several architectures, say.",
		"Write the version in the legacy format, without `capabilityFlavors`.")
)

// The rules about updates and credentials.
var (
	RuleCredentialsMissing = finding.Denies("credentials-missing",
		"The credentials of a Shoot, or those that a binding refers to, do not exist.",
		"Create the Secret first, or correct the name or namespace of the reference. A Shoot that exists already can be "+
			"changed and deleted without.")
	RuleCredentialsKind = finding.Denies("credentials-kind",
		"A binding refers to credentials of a kind that the provider cannot use, such as a WorkloadIdentity.",
		"Let the binding refer to a Secret. References cannot be changed: create another binding, and use that.")
	ruleTypeInUse = finding.Denies("provider-type-in-use",
		"An update gives a CloudProfile another provider type while Shoots or NamespacedCloudProfiles of the type so far use it. Gardener would refuse every update of the Shoots from then on, and nobody would check the NamespacedCloudProfiles any more.",
		"Leave the type as it is, and create another CloudProfile for the other type. If the CloudProfile is to change "+
			"nevertheless, delete those who use it first.")
	ruleChoiceChanged = finding.Warns("image-choice-changed",
		"An update of a profile makes worker pools of some machine type boot another flavor of their image version, although the one so far still fits. Existing machines keep their image; new ones get the other, without a word.",
		"Nothing, if that is what you want. Otherwise restore the order of capabilities and values, or narrow the new "+
			"flavor.")
	ruleMachineTypeInUse = finding.Warns("machine-type-in-use",
		"An update of a profile removes a machine type that worker pools still use. They go on with the machine classes that they have, and no new pool can have the type. If the profile registers capabilities, Gardener v1.150 moreover fails at every later update of such a Shoot, even at the one that confirms its deletion.",
		"Put the machine type back, with `usable: false`, until no worker pool uses it.")
	ruleMappingInUse = finding.Warns("mapping-in-use",
		"An update of a profile takes away the flavor, or the reference, that worker pools boot. Their machines go on running. If another flavor fits, new machines boot that one; otherwise they go on with what is taken away, as long as the cloud has it, and new worker pools are refused. If no flavor in core fits the machine type any more, Gardener v1.150 moreover refuses every later update of such a Shoot, even the one that confirms its deletion.",
		"Put the flavor or the reference back until no worker pool uses it.")
	ruleReservedRegistered = finding.Warns("reserved-capability-registered",
		"By an update of a profile, flavors that say nothing about a capability of Gardener come to serve worker pools that ask for its feature: the update registers the capability, or a further value of it. Nobody has said that these images are signed, or can be updated in place.",
		"Write on these flavors, in core and in the provider config, what the images support. `capkit plan` names the flavors, and the worker pools that would boot another image.")
	ruleMaintenanceBlocked = finding.Warns("maintenance-blocked",
		"By an update of a profile, Gardener's maintenance chooses an image version for worker pools that do not boot it; or it has none for them once a version expires. With the webhook `mutate-shoot` they are updated to the newest version that they boot, or stay on theirs; without it the whole maintenance of their Shoots fails.",
		"Add the flavor or the reference that these worker pools need. Until then, classify the version as `preview`, which "+
			"maintenance does not choose. Where a version expires, give it a later date or add one that they boot.")
)
