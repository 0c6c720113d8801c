// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Recording the effects of operations on items, before anything is written.

// touch marks that an item changes, and everything that contains it.
func (it *item) touch() {
	for at := it; at != nil; at = at.parent {
		if at.touched = true; at.replaced {
			refuse(it.value, twice)
		}
	}
}

const twice = "there are two changes at one place"

// prepare records an operation on an object.
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
		e.prepareReplace(it, op.value, op.order)
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
		e.refuseExplicit(it)
		refuseTagged(in.value)
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

func (e *editor) prepareReplace(it *item, value any, order []string) {
	n := it.value
	e.refuseShared(n)
	e.refuseAnchors(it)
	refuseTagged(n)
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
	it.replaced, it.becomes, it.order = true, value, order
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
		e.prepareReplace(it, value, op.order)
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
		e.take(a.takes, to, taken{e.locate(object, from.At), from.Part})
	}
	it.touch()
	it.added = append(it.added, a)
}

// take records the content that a new value reuses, if it can, and the lines that move.
func (e *editor) take(takes map[string]taken, to string, t taken) {
	switch n, from, end := t.value, t.from, t.line+1; {
	case t.of == Source:
		text := e.span(e.start(n), e.end(n))
		if n.Kind != yaml.ScalarNode || n.Anchor != "" || text == "" || strings.ContainsAny(text, "\r\n") {
			return
		}
	case t.of == Key && e.isKeyAlone(t.item):
		e.own(&item{from: from, to: end}, end)
	case t.of == Whole && (t.key == nil || !t.isInBrackets()):
		if t.kept = t.key != nil || n.Anchor == ""; !t.isInBrackets() {
			e.own(t.item, e.endOfMoving(t.item))
		}
	default:
		return
	}
	takes[to] = t
}

// own records that an item's lines up to end move with it, except lines that move with an item inside it.
func (e *editor) own(it *item, end int) {
	for i := it.from; i < end; i++ {
		if owner := e.owners[i]; owner == nil || owner.from <= it.from && end <= owner.to {
			e.owners[i] = it
		}
	}
}

// isKeyAlone reports whether only a comment follows a member's key in its line, and its value is a list below it.
func (e *editor) isKeyAlone(it *item) bool {
	n := it.value
	return it.key != nil && !it.isInBrackets() && n.Kind == yaml.SequenceNode && inBlocks(n) && n.Anchor == "" && !e.isBeside(it) && !e.isExplicit(it)
}

// settle replaces values of which all content is deleted by empty ones, and refuses to delete content that is used elsewhere.
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
	if outer := it.brackets(); outer != nil && gone+len(it.added) > 0 && !e.bare[outer] {
		e.refuseComment(e.start(outer), e.end(outer))
		e.bare[outer] = true
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
