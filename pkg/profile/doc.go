// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package profile compiles CloudProfiles: it checks that a provider config agrees one to one with the CloudProfile around it (semantics S6
// to S8), and makes an immutable [Profile] of the two, with vocabulary, machine types and image catalog.
//
// Start reading at [Compile]. [Read] and [ReadNamespaced] also return a [Reading], which further checks use. [Profile.Ask] returns the
// requirements of a worker pool. [FillCloudProfile] and [FillNamespacedCloudProfile] derive core flavors from a provider config, and
// [ConvertNamespaced] converts the versions of a NamespacedCloudProfile to its parent's format.
//
// A NamespacedCloudProfile is compiled as the result of merging it into its parent (see package namespaced). If it only adds to its parent,
// [Extend] starts from the compiled parent instead. A test compares the two ways.
//
// The package is pure: no client, no context, no logs, and no clock except that of Gardener's library. It does not modify its arguments.
package profile
