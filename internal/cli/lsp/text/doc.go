// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package text knows places in the text of a manifest: positions as editors and as package manifest count them, and, by its indentation
// alone, what stands where in YAML or JSON that nobody has finished writing. Start reading at [New] for positions, and at [Read] and
// [Outline.At] for the rest. Nothing here knows what the fields of an object mean. The package is pure and safe for concurrent use.
package text
