// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package consistency checks that a provider config agrees with the CloudProfile around it, and finds the image of a
// worker pool. The author of an extension implements [provider.Provider]; every check and every decision follows from
// that.
//
// Start reading at [Compile], which checks the spec of a CloudProfile and turns it into a [Profile]. What else there
// is:
//
//   - [ValidateCloudProfile] and [ValidateNamespacedCloudProfile] check one object and add the warnings. For an update,
//     [ValidateCloudProfileUpdate] and [ValidateNamespacedCloudProfileUpdate] compare it with what is stored: package
//     ratchet says which errors it may keep, and [Profile.Compare] what it does to the Shoots with the profile.
//   - [Profile.ResolvePool] finds the image of one worker pool, [Profile.ExplainPool] does so with the record of the
//     choice, and [Profile.ValidateShoot] asks for all pools of a Shoot. [Matrix] asks for all that a pool could be.
//   - [FillCloudProfile] and [FillNamespacedCloudProfile] return the core flavors that follow from a provider config.
//   - [ConvertNamespaced] returns the versions of a NamespacedCloudProfile in the format of its parent. Package render, which
//     merges the two provider configs, starts from that.
//   - [Rules] is the catalogue of the rules, with their stable names. S3 and S6 to S13 of docs/semantics.md say what they mean.
//
// The package is pure: no client, no context, no logs, and no clock but the one of Gardener's library, which says
// whether a version has expired. It changes none of its arguments. What is particular to a cloud comes through
// [provider.Provider], but for one table: the prefixes that providers give to their capabilities, for a warning about
// those of another provider.
package consistency
