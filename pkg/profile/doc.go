// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package profile compiles CloudProfiles: it checks that a provider config agrees with the CloudProfile around it, one to one
// (semantics S6 to S8), and makes an immutable [Profile] of the two, with vocabulary, machine types and image catalog.
//
// Start reading at [Compile]. [Read] and [ReadNamespaced] are for checks, which go on with what was read. [Profile.Ask] finds out what
// a worker pool asks for. [FillCloudProfile] and [FillNamespacedCloudProfile] return the core flavors that follow from a provider
// config, and [ConvertNamespaced] the versions of a NamespacedCloudProfile in the format of its parent.
//
// A NamespacedCloudProfile is compiled as what it and its parent result in, see package namespaced; from the compiled parent, if it only
// adds to it ([Extend]). A test holds the two against each other.
//
// The package is pure: no client, no context, no logs, and no clock but the one of Gardener's library. It changes none of its
// arguments.
package profile
