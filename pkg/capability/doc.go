// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package capability decides what fits together: it compiles the capability vocabulary of a CloudProfile, and sets of
// capabilities in that vocabulary, into values that can be compared, matched and ranked without looking at a manifest
// again.
//
// Start reading at [Compile], which turns spec.machineCapabilities into a [Vocabulary]; [Vocabulary.Set] turns what a
// machine type or an image flavor declares into a [Set]; [Set.Compatible] matches two sets and [Compare] ranks them.
//
// The package knows capabilities only. It decodes nothing, logs nothing, needs no context and no client, and has never
// heard of an image, a region or a provider: those live in imageselector and consistency. The rules it implements are
// S1, S2, S4 and S5 of docs/semantics.md.
package capability
