// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package release computes how the images of a release change profiles (semantics S21). It does not write files or
// prove the result; its callers do.
//
// Start reading at [Import], which computes the change of one profile.
package release

import (
	"github.com/capkit/capkit/internal/cli/release/source"
	"github.com/capkit/capkit/pkg/finding"
)

// Command is the name of the command that these rules belong to.
const Command = "import"

// The rules of import's findings.
const (
	// RuleProfile is about a profile that cannot get the images.
	RuleProfile = "import-profile"
	// RuleAmbiguous is about two images that are the same flavor in a profile.
	RuleAmbiguous = "import-ambiguous"
	// RuleRegionMissing is about a region of a profile without an image.
	RuleRegionMissing = "import-region-missing"
	// RuleConflict is about a version that a profile has with other references.
	RuleConflict = "import-conflict"
)

// Rules returns the catalogue. The caller owns the slice.
func Rules() []finding.Rule {
	rules := []finding.Rule{
		finding.Denies(source.RuleSource,
			"A source of images, or a map from metadata to capabilities, cannot be used: a file is truncated or of another format, two releases are mixed, "+
				"an image occurs twice, a version is not a semantic version, a reference does not have the cloud's form. Nothing is written.",
			"Do what the message says, at its line: usually, fetch the metadata of one release again. `--version` sets a version."),
		finding.Denies(RuleProfile,
			"A profile cannot get the images: the source has none for its cloud, or none for its regions and registered values; the format of the profile "+
				"has no place for them; or the notation of the file would require further changes. Nothing is written.",
			"Do what the message says: give the files of a release for that cloud, or register what the images are for."),
		finding.Denies(RuleAmbiguous,
			"Two images of the source are the same flavor in a profile, since it does not register the capability in which they differ. "+
				"Which one boots would be a matter of chance.",
			"Register the capability that the message names in `spec.machineCapabilities`, "+
				"or choose one of the images with `--match`, or leave one out with `skip` of a map."),
		finding.Warns(RuleRegionMissing,
			"The source has no image for a region of the profile and some flavor. Worker pools that need that flavor cannot use the version there. "+
				"What the profile already has in the region stays.",
			"Publish the image in that region, and import again: what is there is kept. If the region will never have the image, tell its users."),
		finding.Denies(RuleConflict,
			"A profile already has a version, with another reference than the source, or with the same reference and other capabilities. "+
				"One of the two is wrong: an image never changes.",
			"Find out which one is right. `--replace` replaces references by those of the source; capabilities have to be corrected by hand."),
	}
	for i := range rules {
		rules[i].Command = Command
	}
	return finding.On(finding.ObjectCloudProfile, rules...)
}
