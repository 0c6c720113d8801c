// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package edit changes what the objects in a YAML or JSON file say, and leaves the rest of the file as it is: comments, order,
// quoting, indentation, line ends, anchors. Only lines that must change change. What moves to another place in an object
// takes its text and its comments along.
//
// Start reading at [Op] and [Apply]. splice.go makes pieces of text of operations, and members.go those for what is added and what
// goes; pieces.go makes what is added of what is deleted. text.go knows lines, columns and comments, block.go mappings and lists in
// block style, and flow.go what is in brackets, which JSON is as a whole.
//
// Nothing here knows which kinds of objects exist, but for one thing: which fields come first in an entry that is new. The package is
// pure and safe for concurrent use.
package edit
