// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strconv"
	"strings"
)

// Node is a member of a mapping, an item of a list, or a document. It may be incomplete.
type Node struct {
	// Key of a member; empty for an item, and for an unfinished key without a colon.
	Key string
	// Item is set for an item of a list, and Colon for a member, whose key may be empty.
	Item, Colon bool
	// Value is the value of a scalar, without quotes; empty for other values.
	Value string
	// Start and End are the offsets of the node. It begins with its key or dash, and ends where another node begins or, in brackets, at
	// its end.
	Start, End int
	// KeyEnd is the end of the key. ValueStart and ValueEnd enclose the scalar as written. Absent ones are empty ranges.
	KeyEnd, ValueStart, ValueEnd int
	Parent                       *Node
	Nodes                        []*Node
	// Bracket is the bracket with which the value begins; 0 for none.
	Bracket byte

	// column of the key or the dash.
	column int
}

// Child returns the node at a path of keys below a node, or nil. The first of a repeated key wins.
func (n *Node) Child(keys ...string) *Node {
	for _, key := range keys {
		if n == nil {
			return nil
		}
		var next *Node
		for _, child := range n.Nodes {
			if child.Key == key && !child.Item {
				next = child
				break
			}
		}
		n = next
	}
	return n
}

// Text returns the scalar at a path of keys, or "".
func (n *Node) Text(keys ...string) string {
	if child := n.Child(keys...); child != nil {
		return child.Value
	}
	return ""
}

// Items returns the items of the list at a path of keys.
func (n *Node) Items(keys ...string) (items []*Node) {
	if list := n.Child(keys...); list != nil {
		for _, child := range list.Nodes {
			if child.Item {
				items = append(items, child)
			}
		}
	}
	return items
}

// Texts returns the scalars of the list at a path of keys.
func (n *Node) Texts(keys ...string) (texts []string) {
	for _, item := range n.Items(keys...) {
		texts = append(texts, item.Value)
	}
	return texts
}

// Up returns the ancestor a number of steps above, or nil beyond the document.
func (n *Node) Up(steps int) *Node {
	for ; n != nil && steps > 0; steps-- {
		n = n.Parent
	}
	return n
}

// Pattern returns the path with [] for each index: spec.regions[].name.
func (n *Node) Pattern() string {
	pattern := ""
	for ; n != nil && n.Parent != nil; n = n.Parent {
		switch {
		case n.Item:
			pattern = "[]" + pattern
		case n.Parent.Parent == nil:
			pattern = n.Key + pattern
		default:
			pattern = "." + n.Key + pattern
		}
	}
	return pattern
}

// Outline is the structure of a text as far as its lines reveal it. Reading it never fails.
type Outline struct {
	*Text
	// Documents are in the order of the text. There is at least one.
	Documents []*Node
	// all are the nodes, sorted by Start.
	all []*Node
	// hashes maps the beginnings of lines to the offsets of their comments.
	hashes map[int]int
}

// mostDepth bounds the depth of brackets.
const mostDepth = 100

// Read returns the outline of a text.
func Read(t *Text) *Outline {
	o := &Outline{Text: t, hashes: map[int]int{}}
	r := &reader{Outline: o}
	r.begin(0)
	for line := range t.Lines() {
		start, end := t.span(line)
		if start < r.skipTo {
			if r.skipTo >= end {
				continue
			}
			start = r.skipTo // after the bracket that ends in this line
			r.comment(start, end)
			continue
		}
		r.line(start, end)
	}
	r.close(0, len(t.string))
	return o
}

// reader builds an outline.
type reader struct {
	*Outline
	// open are the nodes to which the next line may belong, from the document down.
	open []*Node
	// skipTo is the offset up to which the text has been read.
	skipTo int
	// scalar is the column of the key of a block scalar, whose lines are deeper; -1 outside of one.
	scalar int
}

// begin starts a document.
func (r *reader) begin(at int) {
	r.close(0, at)
	document := &Node{Start: at, column: -1}
	r.Documents = append(r.Documents, document)
	r.open, r.scalar = []*Node{document}, -1
}

// close ends the open nodes from an index on.
func (r *reader) close(from, at int) {
	for _, n := range r.open[min(from, len(r.open)):] {
		n.End = at
	}
	r.open = r.open[:min(from, len(r.open))]
}

// add adds a node to the innermost open node, and opens it.
func (r *reader) add(n *Node) *Node {
	n.Parent = r.open[len(r.open)-1]
	n.Parent.Nodes = append(n.Parent.Nodes, n)
	r.all = append(r.all, n)
	r.open = append(r.open, n)
	return n
}

// comment records where a comment begins between two offsets of a line. It returns that offset, or end.
func (r *reader) comment(start, end int) int {
	quote := byte(0)
	for i := start; i < end; i++ {
		switch c := r.string[i]; {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && (i == start || strings.IndexByte(" \t[{,:-", r.string[i-1]) >= 0):
			quote = c
		case c == '#' && (i == start || r.string[i-1] == ' ' || r.string[i-1] == '\t' || r.string[i-1] == '\n'):
			lineStart, _ := r.Line(i)
			r.hashes[lineStart] = i
			return i
		}
	}
	return end
}

// pastBlanks returns the offset after the blanks at an offset, at most end.
func (r *reader) pastBlanks(at, end int) int {
	return end - len(strings.TrimLeft(r.string[at:end], " \t"))
}

// line reads a line, or the rest of it.
func (r *reader) line(start, end int) {
	full := r.string[start:end]
	if strings.HasPrefix(full, "---") && strings.Trim(full[3:], " \t") == "" || strings.HasPrefix(full, "--- ") || full == "..." {
		if len(r.Documents) == 1 && len(r.open) == 1 && len(r.open[0].Nodes) == 0 {
			return // before the first document
		}
		r.begin(end)
		return
	}
	at := r.pastBlanks(start, end)
	if at == end {
		return
	}
	column := at - start
	if r.scalar >= 0 {
		if column > r.scalar {
			return
		}
		r.scalar = -1
	}
	end = at + len(strings.TrimRight(r.string[at:r.comment(at, end)], " \t"))
	for at < end {
		if r.string[at] == '-' && (at+1 == end || r.string[at+1] == ' ' || r.string[at+1] == '\t') {
			r.fold(column, true, at)
			r.add(&Node{Item: true, Start: at, KeyEnd: at + 1, ValueStart: at + 1, ValueEnd: at + 1, column: column})
			next := r.pastBlanks(at+1, end)
			column += next - at
			at = next
			continue
		}
		r.content(at, end, column)
		return
	}
}

// fold closes the nodes that cannot contain a node at a column.
func (r *reader) fold(column int, item bool, at int) {
	i := len(r.open)
	for i > 1 && (r.open[i-1].column > column || r.open[i-1].column == column && (!item || r.open[i-1].Item)) {
		i--
	}
	r.close(i, at)
}

// content reads a member or a scalar at a column.
func (r *reader) content(at, end, column int) {
	r.fold(column, false, at)
	colon := colonIn(r.string[at:end])
	if r.string[at] == '{' || r.string[at] == '[' {
		r.value(r.open[len(r.open)-1], at, end)
		return
	}
	if colon < 0 {
		top := r.open[len(r.open)-1]
		if top.Item && top.ValueStart == top.KeyEnd && len(top.Nodes) == 0 {
			r.value(top, at, end)
			return
		}
		word := &Node{Start: at, KeyEnd: at, column: column}
		r.add(word)
		r.value(word, at, end)
		return
	}
	key := strings.TrimRight(r.string[at:at+colon], " \t")
	behind := at + colon + 1
	member := r.add(&Node{Key: unquoted(key), Colon: true, Start: at, KeyEnd: at + len(key), ValueStart: behind, ValueEnd: behind, column: column})
	if next := r.pastBlanks(behind, end); next < end {
		r.value(member, next, end)
	}
}

// value reads the value of a node, which begins in this line.
func (r *reader) value(n *Node, at, end int) {
	for at < end && (r.string[at] == '&' || r.string[at] == '!') { // an anchor, a tag
		word := strings.IndexAny(r.string[at:end], " \t")
		if word < 0 {
			return
		}
		at = r.pastBlanks(at+word, end)
	}
	if at >= end {
		return
	}
	n.ValueStart, n.ValueEnd = at, end
	switch c := r.string[at]; c {
	case '{', '[':
		f := &flow{reader: r, base: max(n.column, 0)}
		if n.Parent == nil {
			f.base = -1 // JSON
		}
		r.skipTo = f.read(n, at, 0)
		n.ValueEnd, n.End = r.skipTo, r.skipTo
	case '|', '>':
		r.scalar = max(n.column, 0)
	default:
		n.Value = unquoted(r.string[at:end])
	}
}

// colonIn returns the offset of the colon after the key at the beginning of a text, or -1.
func colonIn(s string) int {
	if s[0] == '"' || s[0] == '\'' {
		closing := strings.IndexByte(s[1:], s[0])
		if closing < 0 {
			return -1
		}
		rest := strings.TrimLeft(s[closing+2:], " \t")
		if !strings.HasPrefix(rest, ":") {
			return -1
		}
		return len(s) - len(rest)
	}
	for i := range len(s) {
		if s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\t') {
			return i
		}
	}
	return -1
}

// unquoted returns a scalar without its quotes. The closing one may be missing.
func unquoted(s string) string {
	switch {
	case strings.HasPrefix(s, `"`):
		if value, err := strconv.Unquote(s); err == nil {
			return value
		}
		return strings.TrimSuffix(s[1:], `"`)
	case strings.HasPrefix(s, "'"):
		return strings.ReplaceAll(strings.TrimSuffix(s[1:], "'"), "''", "'")
	}
	return s
}
