// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package files presents files that commands change: as diffs, or written all together or not at all. Start reading at [Changed].
package files
