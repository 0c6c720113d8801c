// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package edit changes what the objects in a YAML or JSON file say, and leaves the rest of the file as it is: comments, order,
// quoting, indentation, line ends, anchors. Only lines that must change change. What moves to another place in an object
// takes its text and its comments along.
//
// Start reading at [Op] and [Apply]. tree.go makes items of members and list items, prepare.go notes what operations make of them, and
// fault.go says why they cannot. block.go writes what is in block style, flow.go what is in brackets, which JSON is as a whole, and
// new.go what was not there. text.go knows lines, columns and comments.
//
// Nothing here knows which kinds of objects exist, but for one thing: which fields come first in an entry that is new. The package is
// pure and safe for concurrent use.
package edit
