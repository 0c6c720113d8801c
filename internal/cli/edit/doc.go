// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package edit changes what the objects in a YAML or JSON file say, and leaves the rest of the file as it is: comments, order,
// quoting, indentation, line ends, anchors. Only lines that must change change. What moves to another place in an object
// takes its text and its comments along.
//
// Start reading at [Apply]. text.go knows lines, columns and comments; block.go edits mappings and lists in block style,
// pieces.go finds again what has moved, and flow.go edits what is in brackets, which JSON is as a whole.
//
// Nothing here knows which kinds of objects exist, but for two things: which fields tell the entries of a list apart, name and
// version, and which fields come first in an entry that is new. The package is pure and safe for concurrent use.
package edit
