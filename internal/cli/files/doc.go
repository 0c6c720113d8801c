// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package files is what commands make of files that they change: diffs, or files that are all written or none.
package files
