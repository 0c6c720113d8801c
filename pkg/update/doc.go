// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package update finds out what an update of a profile does to those who use it: what they boot afterwards (semantics S14), whether
// they are locked (S16), what Gardener's maintenance chooses for them (S15).
//
// Start reading at [Of]. It compares two compiled profiles, and returns facts; [Differences] adds what differs besides. Words are for
// those who show them: the warnings of admission (S9), capkit plan, and the proof that a migration changes nothing. So none of these
// can say what another one does not. [Redirected] is for a warning about pools that there could be.
//
// The package has no client, no context and no logs. The time, by which versions expire, is the only thing that it asks for.
package update
