// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"sort"
	"strings"
)

// Role is the role of a place.
type Role int

// The roles.
const (
	// Key is a member's key, or a place for one.
	Key Role = iota
	// Value is the scalar of a member or of an item, or a place for one.
	Value
	// Comment is one.
	Comment
)

// Spot is the result of [Outline.At].
type Spot struct {
	Role Role
	// Node is the member or item at the place; nil if there is none yet.
	Node *Node
	// Parent is the node that contains the place, at least the document.
	Parent *Node
	// Start and End enclose the word at the place, which may be empty, or the comment.
	Start, End int
}

// At returns the node and the role of the place at an offset.
func (o *Outline) At(offset int) Spot {
	offset = max(0, min(offset, len(o.string)))
	start, end := o.Line(offset)
	if hash, found := o.hashes[start]; found && offset > hash {
		return Spot{Role: Comment, Parent: o.Document(offset), Start: hash, End: end}
	}
	i := sort.Search(len(o.all), func(i int) bool { return o.all[i].Start > offset }) - 1
	if i >= 0 {
		if bracket := o.bracket(o.all[i], offset); bracket != nil {
			return inBrackets(bracket, offset)
		}
	}
	if document := o.Document(offset); document.Bracket != 0 && offset > document.ValueStart && offset < document.ValueEnd {
		return inBrackets(document, offset)
	}
	for i >= 0 && o.all[i].Parent.Bracket != 0 { // after the brackets
		i--
	}
	if i >= 0 && o.all[i].Start >= start {
		return inLine(o.all[i], offset)
	}
	column := offset - start
	parent := o.Document(offset)
	if i >= 0 && o.all[i].Start >= parent.Start {
		parent = o.all[i]
		for parent.Parent != nil && parent.column >= column {
			parent = parent.Parent
		}
	}
	return Spot{Role: Key, Parent: parent, Start: offset, End: offset}
}

// Document returns the document that contains an offset.
func (o *Outline) Document(offset int) *Node {
	i := sort.Search(len(o.Documents), func(i int) bool { return o.Documents[i].Start > offset })
	return o.Documents[max(i-1, 0)]
}

// bracket returns the innermost node whose brackets contain an offset, or nil.
func (o *Outline) bracket(n *Node, offset int) *Node {
	for ; n != nil; n = n.Parent {
		if n.Bracket != 0 && offset > n.ValueStart && (offset < n.ValueEnd || offset == n.ValueEnd && !o.closed(n)) {
			return n
		}
	}
	return nil
}

// closed reports whether the brackets of a node are closed.
func (o *Outline) closed(n *Node) bool {
	return n.ValueEnd > n.ValueStart+1 && strings.IndexByte("}]", o.string[n.ValueEnd-1]) >= 0
}

func inBrackets(n *Node, offset int) Spot {
	role := Key
	if n.Bracket == '[' {
		role = Value
	}
	for _, child := range n.Nodes {
		if child.Start <= offset && offset <= max(child.End, child.ValueEnd) {
			return inLine(child, offset)
		}
	}
	for i, child := range n.Nodes { // after the colon of a member without a value
		next := n.ValueEnd
		if i+1 < len(n.Nodes) {
			next = n.Nodes[i+1].Start
		}
		if child.Colon && child.ValueStart == child.ValueEnd && child.ValueStart <= offset && offset <= next {
			return Spot{Role: Value, Node: child, Parent: n, Start: offset, End: offset}
		}
	}
	return Spot{Role: role, Parent: n, Start: offset, End: offset}
}

// inLine returns the place at an offset in the line of a node. The offset is not before the node.
func inLine(n *Node, offset int) Spot {
	switch {
	case n.Colon && offset <= n.KeyEnd:
		return Spot{Role: Key, Node: n, Parent: n.Parent, Start: n.Start, End: n.KeyEnd}
	case !n.Colon && !n.Item: // an unfinished key
		return Spot{Role: Key, Node: n, Parent: n.Parent, Start: n.ValueStart, End: max(n.ValueEnd, n.ValueStart)}
	case n.Item && n.ValueStart == n.ValueEnd:
		if offset <= n.KeyEnd && n.KeyEnd > n.Start {
			return Spot{Role: Value, Node: n, Parent: n.Parent, Start: n.KeyEnd, End: n.KeyEnd}
		}
		return Spot{Role: Value, Node: n, Parent: n.Parent, Start: offset, End: offset}
	case n.ValueStart == n.ValueEnd || offset < n.ValueStart || offset > n.ValueEnd:
		return Spot{Role: Value, Node: n, Parent: n.Parent, Start: offset, End: offset}
	}
	return Spot{Role: Value, Node: n, Parent: n.Parent, Start: n.ValueStart, End: n.ValueEnd}
}
