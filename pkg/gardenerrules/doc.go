// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gardenerrules holds the rules of Gardener that its code does not export, or exports for its internal API types alone,
// written once more: those of its admission plugins and of its maintenance; and the merge of NamespacedCloudProfiles, which it
// exports from a controller that only programs of its size can link. What Gardener exports otherwise is asked through a [Library].
//
// The functions are pure, take the API types of core v1beta1, and return facts without words. Each names what it copies.
// testdata/copies.yaml of package gardenerlib lists all copies, also the few that are elsewhere, with a hash of the source that they were
// written after. A test compares it with the Gardener that is built with, so that a new one shows what to read again.
package gardenerrules
