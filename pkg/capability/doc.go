// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package capability decides what fits together. It compiles the capability vocabulary of a CloudProfile, and sets of
// capabilities in that vocabulary, into values that can be compared, matched and ranked without the manifest.
//
// Start reading at [Compile], which turns spec.machineCapabilities into a [Vocabulary]. Three methods of it make a
// [Set]: [Vocabulary.Set] of what a machine type declares, [Vocabulary.Flavor] of what a flavor of an image declares,
// and [Vocabulary.Request] of what a worker pool asks for. [Set.Fits] matches the three and [Compare] ranks flavors.
// [Worker] says what settings of a pool ask for of Gardener's own capabilities.
//
// The package sees of images, machine types and providers the capabilities that they declare or define, and nothing
// else: no name, no version, no region, no reference. It decodes nothing, logs nothing, and needs no context and no
// client. Images and regions are in imageselector, manifests and providers in consistency. The rules it implements
// are S1 to S5 of docs/semantics.md.
package capability
