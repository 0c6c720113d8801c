// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

var _ provider.RuleDescriber = Provider{}

// The names of the rules about images that only this cloud has.
const (
	RuleImageAmbiguous = "azure-image-ambiguous"
	RuleImageForm      = "azure-image-form"
	RuleFieldIgnored   = "azure-field-ignored"
)

// These rules exist for every cloud, and are described elsewhere.
var (
	ruleNameMissing   = finding.Denies("name-missing", "", "")
	ruleRegionUnknown = finding.Warns("region-unknown", "", "")
)

// The rules about the parts of a CloudProfileConfig other than images.
var (
	ruleDomainCount = finding.Denies("azure-domain-count",
		"A CloudProfile on Azure lacks the numbers of update domains or fault domains, or has a negative one. The extension refuses "+
			"it.",
		"Write the number for each region.")
	ruleDuplicate = finding.Denies("azure-entry-duplicate",
		"A region, or a machine type, is listed twice in the provider config. The extension uses the first entry.",
		"Remove one of the two.")
	ruleRegionWithoutDomains = finding.Warns("azure-region-without-domains",
		"A region has no number of fault domains. Machines of a Shoot without zones could not be created there.",
		"Add the region to `countFaultDomains`.")
	ruleMachineTypeUnknown = finding.Warns("azure-machine-type-unknown",
		"The provider config has an entry for a machine type that the profile does not have.",
		"Correct the name, or remove the entry.")
	ruleMachineTypeNetworking = finding.Warns("azure-machine-type-networking",
		"The provider config and the capabilities of the profile disagree about accelerated networking of a machine type. The "+
			"capabilities count.",
		"Register `azure-networking`, write it into the capabilities of the machine type, and remove `acceleratedNetworking`.")
	ruleNetworkingValue = finding.Warns("azure-networking-value",
		"`azure-networking` is registered with a value that the extension does not know. A machine gets accelerated networking if its "+
			"machine type and its image have exactly the value `accelerated`.",
		"Register `azure-networking` with the values `accelerated` and `basic`.")
	ruleCloud = finding.Denies("azure-cloud-unknown",
		"The `cloudConfiguration` is not a known Azure cloud (names are case-sensitive). The parts of the extension would use "+
			"different clouds, or fail.",
		"Write one of the names in the message, or leave `cloudConfiguration` out: then the region decides.")
)

// Rules returns the rules that only this cloud has.
func (Provider) Rules() []finding.Rule {
	return finding.On(finding.ObjectCloudProfile,
		finding.Denies(RuleImageAmbiguous,
			"An image on Azure is named in several ways: by two of `urn`, `id`, `communityGalleryImageID` and `sharedGalleryImageID`.",
			"Keep the one that names the image, and remove the others."),
		finding.Denies(RuleImageForm,
			"The reference of an image on Azure does not have the form of its field, or belongs in another one of the four fields. No "+
				"machine could be created.",
			"Write it as the message says."),
		finding.Warns(RuleFieldIgnored,
			"This Azure image field has no effect here: `skipMarketplaceAgreement` of an image that is not from the Marketplace, or a legacy field of a version that has `capabilityFlavors`.",
			"Remove it. If it was meant for a flavor, write it there: `acceleratedNetworking` as the capability `azure-networking`."),
		ruleDomainCount, ruleDuplicate, ruleRegionWithoutDomains, ruleMachineTypeUnknown, ruleMachineTypeNetworking,
		ruleNetworkingValue, ruleCloud,
	)
}
