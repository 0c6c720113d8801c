// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// first are the members that come first in new content, in this order.
var first = []string{"name", "version", "capabilities", "architecture"}

// Order returns the names of a new mapping's members in the order in which they are written.
func Order(members map[string]any) []string {
	return orderBy(members, nil)
}

// orderBy returns the names as Order does, preceded by the given names in their order.
func orderBy(members map[string]any, names []string) []string {
	return slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		return cmp.Or(rankIn(names, a)-rankIn(names, b), rankIn(first, a)-rankIn(first, b), strings.Compare(a, b))
	})
}

// rankIn returns a name's index in names, or their number if it is absent.
func rankIn(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return len(names)
}

// writer writes new content in block style. Its paths are relative to the inserted value.
type writer struct {
	*editor
	takes map[string]taken
	// order are the names of members that come first.
	order []string
}

// member returns the text of a new member.
func (w *writer) member(name string, value any, column int, path string) string {
	t, takes := w.takes[path]
	if takes && t.of == Whole {
		return w.moved(t.item, column)
	}
	key := spaces(column) + plain(name) + ":"
	below := w.below(value, column, path)
	switch {
	case below != "" && takes && t.of == Key:
		line := spaces(t.column) + w.span(w.offset(t.line, t.column), w.begins[t.line+1])
		return shift(w.between(t.from, t.line)+line, column-t.column) + below
	case below != "":
		return key + w.eol + below
	case takes && t.of == Source:
		return key + " " + w.span(w.start(t.value), w.end(t.value)) + w.eol
	}
	return key + " " + fresh(value, style{order: w.order}) + w.eol
}

// below returns the text of a new value below its key, which is in a column; empty if the value is written beside its key.
func (w *writer) below(value any, column int, path string) (text string) {
	switch value := value.(type) {
	case map[string]any:
		return w.members(value, column+w.step, path)
	case []any:
		if len(value) > 0 && Members(value[0]) != nil {
			for i, item := range value {
				text += w.item(item, column+w.dash, fmt.Sprintf("%s[%d]", path, i))
			}
		}
	}
	return text
}

func (w *writer) members(members map[string]any, column int, path string) (text string) {
	for _, name := range orderBy(members, w.order) {
		text += w.member(name, members[name], column, path+"."+name)
	}
	return text
}

// item returns the text of a new item, with its dash in a column.
func (w *writer) item(value any, column int, path string) string {
	members := Members(value)
	t, takes := w.takes[path]
	switch {
	case takes && t.isInBrackets():
		indent := w.indent(t.value.Line - 1)
		return shift(spaces(indent)+"- "+w.inline(t.item)+w.eol, column-indent)
	case takes:
		return w.moved(t.item, column)
	case len(members) > 0:
		return dashed(w.members(members, column+2, path), column)
	}
	return spaces(column) + "- " + fresh(value, style{order: w.order}) + w.eol
}

// learn determines how far lists and mappings are indented.
func (e *editor) learn(n *yaml.Node) {
	for _, child := range n.Content {
		e.learn(child)
	}
	if n.Kind != yaml.MappingNode || inBrackets(n) {
		return
	}
	for pair := range slices.Chunk(n.Content, 2) {
		key, value := pair[0], pair[1]
		line, column := e.begin(value)
		switch by := column + 1 - key.Column; {
		case line < key.Line || !inBlocks(value): // beside its key, or in brackets
		case value.Kind == yaml.MappingNode:
			e.step = max(e.step, by)
		default:
			e.dash = by
		}
	}
}
