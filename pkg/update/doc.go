// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package update computes the effects of a profile update on the profile's users: the images that they boot afterwards (semantics S14),
// whether they are locked (S16), and the choices of Gardener's maintenance (S15).
//
// Start reading at [Of], which compares two compiled profiles and returns facts. [Differences] adds the remaining differences, and
// [Redirected] serves a warning about possible worker pools. The callers turn facts into words: the warnings of admission (S9), capkit
// plan, and the proof that a migration changes nothing. Because they share the facts, they cannot contradict each other.
//
// The package has no client, no context and no logs. Its only input besides the arguments is the current time, which decides which versions
// have expired.
package update
