// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package shoots holds those rules of package gardenerrules that need code which Gardener exports from its own module: what it fills into a
// Shoot, what maintenance updates, and what locks one. The packages that need no more than Gardener's API types do not import it.
package shoots
