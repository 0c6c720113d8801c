// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package text finds places in the text of a manifest. It converts positions between editors and package manifest. It also outlines YAML
// and JSON that is being written, using only its indentation. Start reading at [New] for positions, and at [Read] and [Outline.At] for
// outlines. The package knows nothing about the fields of an object. It is pure and safe for concurrent use.
package text
