// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package check reports on whole objects: on CloudProfiles, NamespacedCloudProfiles and Shoots, and on updates of them. A report has
// all errors, with the warnings of semantics S9, in words for the user.
//
// Start reading at [CloudProfile]. What else there is:
//
//   - [NamespacedCloudProfile] checks what a NamespacedCloudProfile defines itself, and [Shoot] the worker pools of a Shoot.
//   - [CloudProfileUpdate] and [NamespacedCloudProfileUpdate] compare an object with what is stored: package ratchet says which errors
//     it may keep. [Effects] puts into words what package update finds out about those who use a profile.
//   - [Rules] is the catalogue of the rules, with their stable names. S3 and S6 to S13 of docs/semantics.md say what they mean.
//
// Package profile compiles, package resolve answers for worker pools. This package has no clients and no logs, and no clock but the
// one of Gardener's library, which says whether a version has expired. It changes none of its arguments. What is particular to a
// cloud comes through [provider.Provider], but for one table: the prefixes that providers give to their capabilities, for a warning
// about those of another provider.
package check
