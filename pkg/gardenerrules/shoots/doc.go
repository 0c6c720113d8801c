// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package shoots holds those rules of package gardenerrules that ask Gardener's own code, a [gardenerrules.Library]: what it fills into a
// Shoot, what maintenance updates, and what locks one.
package shoots
