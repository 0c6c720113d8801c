// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package maintenance says what Gardener's maintenance makes of a Shoot, Kubernetes included, and what mutate-shoot makes of that:
// see [Maintainer]; [Maintainer.Look] says what becomes of each worker pool. [Filled] is the image of a new worker pool that names none. They answer as Gardener does, or as it would if it
// had only the versions that boot for the pool.
//
// Where Gardener exports its decision, that is asked, by a [gardenerrules.Library]; what is private in its API server and its controller
// manager is in package gardenerrules. Tests in module test compare the answers with Gardener's.
package maintenance
