// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package shoots holds the rules of package gardenerrules that call Gardener's own code through a [gardenerrules.Library]: the defaults of
// a Shoot, the updates by maintenance, and the locks.
package shoots
