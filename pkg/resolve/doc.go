// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package resolve answers for worker pools: which image one boots, or why none, and what would work (semantics S3 to S6, S13).
//
// Start reading at [Pool]. [Explain] keeps the record of the choice, [Boots] is for questions about many versions, and a [Resolver] for
// many pools. A [Matrix] answers for all that a pool could be.
//
// The package is pure: no client, no context, no logs, and no clock but the one of Gardener's library. It changes none of its
// arguments.
package resolve
