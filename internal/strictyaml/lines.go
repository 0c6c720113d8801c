// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictyaml

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Lines has the place in an editor of each line of YAML 1.1, where U+0085, U+2028 and U+2029 end a line, too. It is nil for a text without
// these characters, in which both count the same lines.
type Lines []begin

// begin is a line of an editor, counted from 1, and the number of its characters before a line of YAML.
type begin struct{ line, before int }

// HasOtherBreaks reports whether a text has characters that end a line in YAML, but not in editors.
func HasOtherBreaks(text string) bool {
	return strings.Contains(text, "\u0085") || strings.Contains(text, "\u2028") || strings.Contains(text, "\u2029")
}

// LinesOf returns the lines of a text.
func LinesOf(text string) Lines {
	if !HasOtherBreaks(text) {
		return nil
	}
	lines, at := Lines{{1, 0}}, begin{1, 0}
	last := ' '
	for _, r := range strings.TrimPrefix(text, "\ufeff") {
		switch at.before++; {
		case r == '\n' && last == '\r': // the line has ended already
			at.before = 0
		case r == '\n', r == '\r':
			at = begin{at.line + 1, 0}
			lines = append(lines, at)
		case r == '\u0085', r == '\u2028', r == '\u2029':
			lines = append(lines, at)
		}
		last = r
	}
	return lines
}

// Editor returns the place in an editor for one of the parser.
func (l Lines) Editor(line, column int) (int, int) {
	if l == nil {
		return line, column
	}
	at := l[min(max(line, 1), len(l))-1]
	return at.line, at.before + column
}

// Parser returns the place of the parser for one in an editor.
func (l Lines) Parser(line, column int) (int, int) {
	for i, at := range slices.Backward(l) {
		if at.line == line && at.before < column {
			return i + 1, column - at.before
		}
	}
	return line, column
}

// move gives nodes their places in an editor.
func (l Lines) move(n *yaml.Node) {
	if l == nil {
		return
	}
	n.Line, n.Column = l.Editor(n.Line, n.Column)
	for _, child := range n.Content {
		l.move(child)
	}
}
