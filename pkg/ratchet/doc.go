// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package ratchet decides what an update may keep (semantics S10): an error that the stored object has already is not
// the fault of an update that leaves the offending part alone. Start reading at [Excuse].
//
// The package knows no rule and no provider. What makes two findings the same is data on them, see [finding.Finding];
// what the elements of Gardener's lists are known by is here.
package ratchet
