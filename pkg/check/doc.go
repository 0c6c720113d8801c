// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package check reports on whole objects: CloudProfiles, NamespacedCloudProfiles, Shoots, and updates of them. A report has all errors, and
// the warnings of semantics S9, in words for the user.
//
// Start reading at [CloudProfile]. Other entry points:
//
//   - [NamespacedCloudProfile] checks a NamespacedCloudProfile's own definitions, and [Shoot] the worker pools of a Shoot.
//   - [CloudProfileUpdate] and [NamespacedCloudProfileUpdate] compare an object with the stored one. Package ratchet decides which errors
//     it may keep. [Effects] words the results of package update about the users of a profile.
//   - [Rules] returns the rules with their stable names. S3 and S6 to S13 of docs/semantics.md define them.
//
// Package profile compiles, and package resolve answers for worker pools. This package has no clients, no logs, and no clock except that of
// Gardener's library, which decides whether a version has expired. It does not modify its arguments. Cloud-specific behavior comes from
// [provider.Provider]. The only exception is a table of the capability prefixes of other providers, for a warning.
package check
