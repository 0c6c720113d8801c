// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package maintenance predicts the effects of Gardener's maintenance on a Shoot's image and Kubernetes versions, and the corrections of
// mutate-shoot. Start reading at [Maintainer] and its method [Maintainer.Look]. [Filled] returns the image of a new worker pool that names
// none. All answer as Gardener does, or as Gardener would if the profile had only the versions that boot for the pool.
//
// Decisions that Gardener exports come from a [gardenerrules.Library]. Private rules of its API server and its controller manager are in
// package gardenerrules. Tests in module test compare the answers with Gardener's.
package maintenance
