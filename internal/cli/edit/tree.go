// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// item is a member of a mapping, an item of a list, or the content of a document, together with its pending changes.
type item struct {
	// key is a member's key; nil for others.
	key, value *yaml.Node
	// parent is the item whose value contains it, and inner are the items in its own value, once they are known.
	parent *item
	inner  []*item
	// In block style, column is the column of the key or dash in line. The item's lines, from from to to, are the
	// comments above it with the same indentation, the item, and the lines up to the next item.
	column, line, from, to int

	// object is set for an object, and touched if the item or anything in it changes.
	object, touched bool
	// gone is set if it is deleted, and kept if its text is then reused.
	gone, kept bool
	// replaced is set if becomes is its new value, and unwrapped if it replaces its parent; name is its new key.
	replaced, unwrapped bool
	becomes             any
	name                string
	// order are the names of members that come first in becomes.
	order []string
	// added are the additions to its value.
	added []*addition
}

// addition is a new member or item, inserted before the one with an index in the original.
type addition struct {
	Op
	index int
	takes map[string]taken
}

// taken is deleted content that a new value reuses.
type taken struct {
	*item
	of Part
}

// editor changes objects: it first records the changes of their items, and then writes them.
type editor struct {
	*file
	// owners are the items that move, by line, and moving is the one being written.
	owners map[int]*item
	moving *item
	// bare are brackets known to contain no comments.
	bare map[*yaml.Node]bool
	// dash and step are the indentation of lists and mappings below their key, as used in a document.
	dash, step int
}

func isCollection(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode
}

func inBrackets(n *yaml.Node) bool { return isCollection(n) && n.Style&yaml.FlowStyle != 0 }

func inBlocks(n *yaml.Node) bool { return isCollection(n) && n.Style&yaml.FlowStyle == 0 }

// isMissing reports whether a member or item has no value.
func isMissing(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "" }

// innerOf returns the members or items of a value.
func (e *editor) innerOf(it *item) []*item {
	n := it.value
	if it.inner != nil || !isCollection(n) {
		return it.inner
	}
	nodes := 1 // for each member or item
	if n.Kind == yaml.MappingNode {
		nodes = 2
	}
	for entry := range slices.Chunk(n.Content, nodes) {
		child := &item{value: entry[nodes-1], parent: it}
		if nodes == 2 {
			child.key = entry[0]
		}
		it.inner = append(it.inner, child)
	}
	if inBlocks(n) {
		e.place(it)
	}
	return it.inner
}

// place finds the lines of the members or items of a value in block style.
func (e *editor) place(it *item) {
	line, column := e.begin(it.value)
	for i, child := range it.inner {
		child.column, child.line, child.from = column, line, min(line, e.head(it)+1)
		if i == 0 {
			continue
		}
		if child.line = child.value.Line - 1; child.key != nil {
			child.line = child.key.Line - 1
		}
		for child.key == nil && child.line > 0 && !e.hasDash(child.line, column) { // the dash may be in a line above
			child.line--
		}
		before := it.inner[i-1]
		for child.from = child.line; child.from > before.line+1 && e.onlyComment(child.from-1) && e.indent(child.from-1) == column; {
			child.from--
		}
		before.to = child.from
	}
	it.inner[len(it.inner)-1].to = e.endOf(it, column)
}

// isExplicit reports whether an item is a member in block style whose key is marked by a question mark.
func (e *editor) isExplicit(it *item) bool {
	return it.key != nil && !it.isInBrackets() && strings.HasPrefix(e.text[e.offset(it.line, it.column):], "? ")
}

// head returns the line above the members or items of a value in block style: that of its key or dash or, for a key behind a question mark,
// that of the colon.
func (e *editor) head(it *item) int {
	if e.isExplicit(it) {
		for line, _ := e.begin(it.value); line > it.line; line-- {
			if !e.opaque[line] && e.indent(line) == it.column && strings.HasPrefix(e.line(line)[it.column:], ":") {
				return line
			}
		}
	}
	return it.line
}

// endOf returns the end of an item, without lines that belong to its surroundings: blank lines, and comments with
// less than the given indentation.
func (e *editor) endOf(it *item, indent int) int {
	end := it.to
	for end > it.line+1 && (e.blank(end-1) || e.onlyComment(end-1) && e.indent(end-1) < indent) {
		end--
	}
	return end
}

// endOfMoving returns the end of an item that moves, including the blank lines below it.
func (e *editor) endOfMoving(it *item) int {
	indent := it.column
	if it.key == nil {
		_, indent = e.begin(it.value)
	}
	end := e.endOf(it, indent)
	for end < it.to && e.blank(end) {
		end++
	}
	return end
}

// isBeside reports whether the members or items of a value begin in the line of its dash.
func (e *editor) isBeside(it *item) bool {
	return inBlocks(it.value) && e.innerOf(it)[0].line == it.line
}

// objectAt returns the mapping that begins at a position, counted from 1; nil if there is none.
func (e *editor) objectAt(it *item, line, column int) *item {
	if n := it.value; n.Kind == yaml.MappingNode && n.Line == line && n.Column == column {
		it.object = true
		return it
	}
	for _, child := range slices.Backward(e.innerOf(it)) {
		if n := child.value; n.Line < line || n.Line == line && n.Column <= column {
			return e.objectAt(child, line, column)
		}
	}
	return nil
}

// locate returns the item at a path.
func (e *editor) locate(it *item, path fieldpath.Path) *item {
	for _, step := range path {
		e.refuseShared(it.value)
		inner, index := e.innerOf(it), step.Index
		if it.value.Kind == yaml.MappingNode {
			index = slices.IndexFunc(inner, func(m *item) bool { return m.key.Value == step.Name })
		}
		if index < 0 || index >= len(inner) {
			refuseAbsent(it, step)
		}
		it = inner[index]
	}
	return it
}

// isInBrackets reports whether an item is in brackets.
func (it *item) isInBrackets() bool { return it.parent != nil && inBrackets(it.parent.value) }

// brackets returns the outermost brackets of an item's value or around it, but none that it moves out of; nil if there are none.
func (it *item) brackets() (outer *yaml.Node) {
	for ; it != nil && (inBrackets(it.value) || outer == nil); it = it.parent {
		if inBrackets(it.value) {
			if outer = it.value; it.kept {
				break
			}
		}
	}
	return outer
}
