// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package edit changes the content of objects in a YAML or JSON file, and leaves the rest of the file as it is:
// comments, order, quoting, indentation, line breaks, anchors. It changes only lines that must change. Content that
// moves within an object keeps its text and its comments.
//
// Start reading at [Op] and [Apply]. tree.go represents members and list items as items, prepare.go records the
// effects of operations on them, and fault.go refuses impossible ones. block.go writes block style, flow.go writes
// brackets, which include all of JSON, and new.go writes new content. text.go locates lines, columns and comments.
//
// Nothing here knows the kinds of objects, except which fields come first in a new entry. The package is pure and
// safe for concurrent use.
package edit
