// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package maintenance says which machine image Gardener gives to a worker pool where nobody names one: [Default] when a
// Shoot leaves it out, [Next] when its maintenance is due; and what that makes of a whole Shoot, Kubernetes included:
// [Maintainer]. They answer as Gardener does, or as it would if it had only the versions that boot for the pool. [Filled]
// and [Replace] are what the webhook mutate-shoot makes of Gardener's choice.
//
// Where Gardener exports its decision, that is asked; what is private in its API server and its controller manager is
// in package gardenerrules. Tests compare the answers with Gardener's.
package maintenance
