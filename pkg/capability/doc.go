// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package capability decides what fits together: it compiles the capability vocabulary of a CloudProfile, and sets of
// capabilities in that vocabulary, into values that can be compared, matched and ranked without looking at a manifest
// again.
//
// Start reading at [Compile], which turns spec.machineCapabilities into a [Vocabulary]. Three methods of it make a [Set]:
// [Vocabulary.Set] of what a machine type declares, [Vocabulary.Flavor] of what a flavor of an image does, and
// [Vocabulary.Request] of what a worker pool asks for. [Set.Fits] matches the three and [Compare] ranks flavors. What asks for
// what is in [Worker], for Gardener's own capabilities, and in [Rules], for those of a provider.
//
// The package knows capabilities only. It decodes nothing, logs nothing, needs no context and no client, and has never
// heard of an image, a region or a provider: those live in imageselector and consistency. The rules it implements are
// S1 to S5 of docs/semantics.md.
package capability
