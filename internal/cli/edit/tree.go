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

// item is a member of a mapping, an item of a list, or what is in a document, and what is to become of it.
type item struct {
	// key is that of a member; nil for others.
	key, value *yaml.Node
	// parent is that whose value has it, and inner are those that its value has, once they are known.
	parent *item
	inner  []*item
	// In block style, column is where the key or the dash stands, in a line. The lines that belong to it are comments above it that
	// are indented as it is, itself, and what follows up to the next one.
	column, line, from, to int

	// object is set for an object, and touched if anything changes of it or in it.
	object, touched bool
	// gone is set if it is deleted, and kept if its text is taken along then.
	gone, kept bool
	// replaced is set if becomes is its value then, and unwrapped if it takes the place of its parent; name is another key.
	replaced, unwrapped bool
	becomes             any
	name                string
	// added is what its value gets.
	added []*addition
}

// addition is a new member or item, before the one that has an index now.
type addition struct {
	Op
	index int
	takes map[string]taken
}

// taken is what a new value takes along.
type taken struct {
	*item
	of Part
}

// editor changes objects: it notes what is to become of their items, and writes them then.
type editor struct {
	*file
	// owners are the items that move, by line, and moving is the one that is written.
	owners map[int]*item
	moving *item
	// dash is how much further to the right than its key a list stands, and step a mapping, by what a document has.
	dash, step int
}

func isCollection(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode
}

func inBrackets(n *yaml.Node) bool { return isCollection(n) && n.Style&yaml.FlowStyle != 0 }

func inBlocks(n *yaml.Node) bool { return isCollection(n) && n.Style&yaml.FlowStyle == 0 }

// isMissing reports whether a member or item has no value.
func isMissing(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "" }

// inItems returns the members or items of a value.
func (e *editor) innerOf(it *item) []*item {
	n := it.value
	if it.inner != nil || !isCollection(n) {
		return it.inner
	}
	if n.Kind == yaml.MappingNode {
		for pair := range slices.Chunk(n.Content, 2) {
			it.inner = append(it.inner, &item{key: pair[0], value: pair[1], parent: it})
		}
	} else {
		for _, value := range n.Content {
			it.inner = append(it.inner, &item{value: value, parent: it})
		}
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
		child.column, child.line, child.from = column, line, min(line, it.line+1)
		if i == 0 {
			continue
		}
		if child.line = child.value.Line - 1; child.key != nil {
			child.line = child.key.Line - 1
		}
		for child.key == nil && child.line > 0 && !e.hasDash(child.line, column) { // the dash may stand above
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

// endOf returns where an item ends, without what belongs to what is around it: blank lines, and comments that are indented less
// than as given.
func (e *editor) endOf(it *item, indent int) int {
	end := it.to
	for end > it.line+1 && (e.blank(end-1) || e.onlyComment(end-1) && e.indent(end-1) < indent) {
		end--
	}
	return end
}

// endOfMoving returns where an item ends that moves: with the blank lines below it.
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

// objectAt returns the mapping that begins in a place, counted from 1; nil if there is none.
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

// locate returns what is at a path.
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

// isInBrackets reports whether an item is in brackets, and brackets returns the outermost ones that it has or is in, where it moves
// to; nil if there are none.
func (it *item) isInBrackets() bool { return it.parent != nil && inBrackets(it.parent.value) }

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

// touch marks that something changes of an item, in what it is in as well.
func (it *item) touch() {
	for at := it; at != nil; at = at.parent {
		if at.touched = true; at.replaced {
			refuse(it.value, twice)
		}
	}
}

const twice = "there are two changes at one place"

// prepare notes an operation on an object.
func (e *editor) prepare(object *item, op Op) {
	if len(op.at) == 0 {
		refuse(object.value, "an object cannot be replaced as a whole")
	}
	if op.kind == inserting {
		e.prepareInsert(object, op)
		return
	}
	it := e.locate(object, op.at)
	switch op.kind {
	case replacing:
		e.prepareReplace(it, op.value)
	case renaming:
		e.refuseShared(it.key)
		it.touch()
		it.name = op.key
	case deleting:
		e.refuseExplicit(it)
		it.touch()
		it.gone = true
	case unwrapping:
		in := it.parent
		e.refuseShared(in.value)
		e.refuseShared(it.value)
		if len(in.inner) > 1 {
			refuse(in.value, "there is more in this mapping than what is to take its place")
		}
		if it.isInBrackets() {
			e.refuseComment(e.start(in.value), e.start(it.value))
			e.refuseComment(e.end(it.value), e.end(in.value))
		}
		it.touch()
		it.unwrapped = true
	}
}

func (e *editor) prepareReplace(it *item, value any) {
	n := it.value
	e.refuseShared(n)
	e.refuseAnchors(it)
	switch {
	case slices.ContainsFunc(it.inner, func(child *item) bool { return child.touched }):
		refuse(n, twice)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		refuse(n, "a value of several lines would have to become another one; write it anew")
	case isMissing(n) && it.isInBrackets():
		refuse(n, "a value is missing that has to change; write it")
	case !inBlocks(n):
		e.refuseComment(e.start(n), e.end(n))
	}
	it.touch()
	it.replaced, it.becomes = true, value
}

func (e *editor) prepareInsert(object *item, op Op) {
	it, last := e.locate(object, op.at[:len(op.at)-1]), op.at[len(op.at)-1]
	n := it.value
	e.refuseShared(n)
	inner := e.innerOf(it)
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null", inBrackets(n) && len(inner) == 0:
		var value any = []any{op.value}
		if !last.IsIndex() {
			value = map[string]any{last.Name: op.value}
		}
		e.prepareReplace(it, value)
		return
	case n.Kind == yaml.ScalarNode, n.Kind == yaml.MappingNode == last.IsIndex():
		refuse(n, "something has to be added to this value, which has no place for it")
	}
	a := &addition{Op: op, index: min(last.Index, len(inner)), takes: map[string]taken{}}
	if !last.IsIndex() {
		a.index = slices.IndexFunc(inner, func(m *item) bool { return slices.Contains(op.before, m.key.Value) })
		if a.index <= 0 {
			a.index = len(inner)
		}
	}
	for to, from := range op.takes {
		a.takes[to] = taken{e.locate(object, from.At), from.Part}
	}
	it.touch()
	it.added = append(it.added, a)
}

// settleMoves notes the lines that move, in an item.
func (e *editor) settleMoves(it *item) {
	for _, a := range it.added {
		for _, t := range a.takes {
			e.settleMove(t)
		}
	}
	for _, child := range it.inner {
		e.settleMoves(child)
	}
}

func (e *editor) settleMove(t taken) {
	moving, to := t.item, e.endOfMoving(t.item)
	switch {
	case t.of == Whole:
		if t.kept = t.key != nil || t.value.Anchor == ""; t.isInBrackets() {
			return
		}
	case t.of == Key && e.isKeyAlone(t.item):
		moving = &item{from: t.from, to: t.line + 1}
		to = moving.to
	default:
		return
	}
	for i := moving.from; i < to; i++ {
		if owner := e.owners[i]; owner == nil || owner.from <= moving.from && to <= owner.to {
			e.owners[i] = moving
		}
	}
}

// isKeyAlone reports whether nothing but a comment follows the key of a member in its line, since its value is a list below it.
func (e *editor) isKeyAlone(it *item) bool {
	n := it.value
	return it.key != nil && !it.isInBrackets() && n.Kind == yaml.SequenceNode && inBlocks(n) && n.Anchor == "" && !e.isBeside(it)
}

// settle empties values of which everything goes, and refuses to remove what is used elsewhere, in an item.
func (e *editor) settle(it *item) {
	gone := 0
	for _, child := range it.inner {
		if child.gone {
			e.refuseAnchors(child)
			gone++
		}
		if child.touched {
			e.settle(child)
		}
	}
	if outer := it.brackets(); outer != nil && gone+len(it.added) > 0 {
		e.refuseComment(e.start(outer), e.end(outer))
	}
	if gone == 0 || gone < len(it.inner) || len(it.added) > 0 {
		return
	}
	if it.object {
		refuse(it.value, "nothing would be left of this object; remove it")
	}
	if it.replaced, it.becomes = true, []any{}; it.value.Kind == yaml.MappingNode {
		it.becomes = map[string]any{}
	}
}

// refuse ends the work with a fault at a node.
func refuse(n *yaml.Node, message string) {
	panic(&Fault{Line: n.Line, Column: n.Column, Message: message})
}

// refuseShared refuses to change something in a value that is used elsewhere as well.
func (e *editor) refuseShared(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		refuse(n, "an alias (*"+n.Value+") stands for what has to change; write the value here instead")
	case e.aliased[n]:
		refuse(n, "what has to change is used by an alias (*"+n.Anchor+") as well; write the value there instead of the alias")
	}
}

// refuseAnchors refuses to remove aliases, and what they stand for, in a value, but for what moves.
func (e *editor) refuseAnchors(it *item) {
	if it.kept {
		return
	}
	e.refuseShared(it.value)
	for _, child := range e.innerOf(it) {
		e.refuseAnchors(child)
	}
}

// refuseAbsent refuses to change what is not there, or what a mapping has from elsewhere.
func refuseAbsent(it *item, step fieldpath.Segment) {
	if it.value.Kind != yaml.MappingNode {
		refuse(it.value, "what has to change is not here")
	}
	for _, m := range it.inner {
		if m.key.ShortTag() == "!!merge" {
			refuse(m.key, "the member "+step.Name+", which has to change, comes from a merge key (<<); write it here instead")
		}
	}
	refuse(it.value, "the member "+step.Name+", which has to change, is not here")
}

// refuseExplicit refuses to change a member whose key is marked by a question mark.
func (e *editor) refuseExplicit(it *item) {
	if it.key != nil && !it.isInBrackets() && strings.HasPrefix(e.text[e.offset(it.line, it.column):], "? ") {
		refuse(it.key, "a key behind a question mark has to change; write it as "+it.key.Value+": with its value")
	}
}

// refuseComment refuses to write anew what has a comment in it.
func (e *editor) refuseComment(from, to int) {
	for line := e.lineOf(from); e.begins[line] < to; line++ {
		column, there := e.comments[line]
		if at := e.begins[line] + column; there && at >= from && at < to {
			panic(&Fault{Line: line + 1, Column: 1 + column, Message: "the brackets around this comment have to change; move the comment out of them"})
		}
	}
}
