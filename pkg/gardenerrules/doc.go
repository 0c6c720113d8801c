// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gardenerrules reimplements the rules of Gardener that its code does not export, or exports only for its internal API types: those
// of its admission plugins and of its maintenance. It also has the merge of NamespacedCloudProfiles, which Gardener exports from a
// controller that only programs of its size can link. All other exported decisions of Gardener come from a [Library].
//
// The functions are pure, take the API types of core v1beta1, and return facts without words. Each names Gardener's source. The file
// testdata/copies.yaml of package gardenerlib lists all copied rules, including the few in other packages, with a hash of the source that
// each was written after. A test compares the hashes with the Gardener module in use, so a new version shows which source to read again.
package gardenerrules
