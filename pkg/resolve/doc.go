// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package resolve answers questions about worker pools: which image a pool boots, or why none, and which changes would work (semantics S3
// to S6, S13).
//
// Start reading at [Pool]. [Explain] also records the choice. [Boots] is for questions about many versions, and [Resolver] for many pools.
// [Matrix] answers for all possible worker pools of a profile.
//
// The package is pure: no client, no context, no logs, and no clock except that of Gardener's library. It does not modify its arguments.
package resolve
