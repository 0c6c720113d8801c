// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// What is added to mappings and lists, and what goes of them.

// addition is a member or an item that is added to a mapping or list.
type addition struct {
	in     spot
	object *yaml.Node
	op     Op
}

// shrinking is a mapping or list of which something is deleted: what it is made of.
type shrinking struct {
	spot
	scope
	object *yaml.Node
	at     fieldpath.Path
	says   any
}

// collectGone finds what is deleted, of which what is added can be made.
func (e *editor) collectGone(s *shrinking) {
	if inBrackets(s.node) {
		return
	}
	members, _ := s.says.(map[string]any)
	items, _ := s.says.([]any)
	for i, entry := range e.entries(s.part) {
		switch {
		case !e.gone[s.node][i]:
		case s.node.Kind == yaml.MappingNode:
			e.collect(&s.scope, entry, members[entry.name])
		case i < len(items):
			e.collectItem(&s.scope, part{entry.value, entry.from, entry.to}, items[i], s.node.Column-1)
		}
	}
}

// poolOf returns what is deleted from where something is added, and from around that, which comes first.
func (e *editor) poolOf(a addition) (pool []*scope) {
	in := a.op.at[:len(a.op.at)-1]
	for n := range len(in) + 1 {
		for i := range e.shrinking {
			if s := &e.shrinking[i]; s.object == a.object && slices.Equal(s.at, in[:n]) {
				pool = append(pool, &s.scope)
			}
		}
	}
	return pool
}

// add adds a member or an item.
func (e *editor) add(a addition) {
	e.pool, e.depth = e.poolOf(a), len(a.op.at)
	n, last := a.in.node, a.op.at[len(a.op.at)-1]
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null", inBrackets(n) && len(n.Content) == 0:
		var value any = []any{a.op.value}
		if last.Name != "" {
			value = map[string]any{last.Name: a.op.value}
		}
		e.replace(a.in, value)
		return
	case n.Kind == yaml.ScalarNode, n.Kind == yaml.MappingNode != (last.Name != ""):
		refuse(n, "something has to be added to this value, which has no place for it")
	}
	index := last.Index
	if n.Kind == yaml.MappingNode {
		index = len(n.Content) / 2
		for i := range index {
			if slices.Contains(a.op.before, n.Content[2*i].Value) {
				index = cmp.Or(i, index)
				break
			}
		}
	}
	if inBrackets(n) {
		e.refuseComment(e.extent(a.in.outer))
		e.addInBrackets(n, index, last.Name, a.op.value)
		return
	}
	e.addLines(a.in.part, index, last.Name, a.op.value)
}

// addLines does so in block style.
func (e *editor) addLines(p part, index int, name string, value any) {
	entries := e.entries(p)
	at := entries[len(entries)-1].to
	if index < len(entries) {
		at = entries[index].from
		for name != "" && index > 0 && at > entries[index-1].line+1 && e.blank(at-1) && !e.opaque[at-1] {
			at--
		}
	}
	column := p.node.Column - 1
	if name == "" {
		e.splice(e.begin(at), e.begin(at), strings.Join(e.newItem(value, column), ""))
		return
	}
	e.splice(e.begin(at), e.begin(at), strings.Join(e.newMember(name, value, column), ""))
}

// extentsOf returns where the members or items of a mapping or list in brackets begin and end.
func (e *editor) extentsOf(n *yaml.Node) (begins, ends []int) {
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	for entry := range slices.Chunk(n.Content, step) {
		from, _ := e.extent(entry[0])
		_, to := e.extent(entry[step-1])
		begins, ends = append(begins, from), append(ends, to)
	}
	return begins, ends
}

// addInBrackets adds a member or an item as the other ones are written.
func (e *editor) addInBrackets(n *yaml.Node, index int, name string, value any) {
	begins, ends := e.extentsOf(n)
	s, separator := e.styleIn(n)
	text := fresh(value, s)
	if name != "" {
		text = s.key(name) + ": " + text
	}
	if index == 0 {
		e.splice(begins[0], begins[0], text+separator)
		return
	}
	last := ends[min(index, len(ends))-1]
	e.splice(last, last, separator+text)
}

// shrink removes what goes of a mapping or list. If that is all, empty brackets are left.
func (e *editor) shrink(s *shrinking) {
	gone, count := e.gone[s.node], len(s.node.Content)
	var empty any = []any{}
	if s.node.Kind == yaml.MappingNode {
		count, empty = count/2, map[string]any{}
	}
	switch {
	case len(gone) == count && s.in.node == nil:
		refuse(s.node, "nothing would be left of this object; remove it")
	case len(gone) == count:
		e.replace(s.spot, empty)
	case inBrackets(s.node):
		e.refuseComment(e.extent(s.outer))
		e.shrinkInBrackets(s.node, gone, count)
	default:
		e.shrinkLines(s.part, gone)
	}
}

func (e *editor) shrinkInBrackets(n *yaml.Node, gone map[int]bool, count int) {
	begins, ends := e.extentsOf(n)
	kept := false
	for i := range count {
		from, to := begins[i], ends[i]
		switch {
		case !gone[i]:
			kept = true
			continue
		case kept:
			from = ends[i-1]
		default:
			to = begins[i+1]
		}
		e.refuseAnchors(n.Content[(i+1)*len(n.Content)/count-1])
		e.splice(from, to, "")
	}
}

// shrinkLines removes what goes with its lines, and leaves its comments in lines of their own.
func (e *editor) shrinkLines(in part, gone map[int]bool) {
	entries := e.entries(in)
	column := in.node.Column - 1
	first := 0
	for i, entry := range entries {
		if gone[i] {
			e.refuseAnchors(entry.value)
		}
	}
	if gone[0] && e.indent(entries[0].line) < column { // beside a dash
		for first = 1; gone[first]; first++ {
			continue
		}
		line, next := entries[0].line, entries[first]
		above := e.orphans(part{entries[0].key, line, next.line}, e.indent(line))
		e.splice(e.begin(line), e.begin(line), strings.Join(above, ""))
		e.splice(e.place(entries[0].key), e.place(next.key), "")
	}
	for i := first; i < len(entries); i++ {
		if gone[i] {
			own, _ := e.withoutTail(part{entries[i].key, entries[i].from, entries[i].to}, 0)
			for own.to < entries[i].to && e.carried[own.to] {
				own.to++
			}
			e.splice(e.begin(own.from), e.begin(own.to), strings.Join(e.orphans(own, column), ""))
		}
	}
}
