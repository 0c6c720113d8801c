// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scope is what is removed from a mapping or list, in the order of the text: what is new there may be made of it.
type scope struct{ pieces []*piece }

// piece is a member of a mapping, or an entry of a list, that is removed.
type piece struct {
	part
	// key is that of a member; empty for an entry of a list.
	key   string
	value any
	// node is the value, and column where the member or the content of the entry begins, counted from 0.
	content *yaml.Node
	column  int
	// line is that of the key or the dash.
	line int
	// dash is the line of the dash of an entry whose content begins in a later line; -1 for others.
	dash int
	// within is set for one that stands in brackets with others.
	within bool
	used   bool
}

// collect adds a member to a scope, and everything in it.
func (e *editor) collect(s *scope, m member, value any) {
	e.refuseExplicit(m)
	own, _ := e.withoutTail(part{m.key, m.from, m.to}, m.key.Column-1)
	s.pieces = append(s.pieces, &piece{
		part: e.withBlanks(own, m.to), key: m.name, value: value, content: m.value, column: m.key.Column - 1, line: m.line, dash: -1,
	})
	e.collectIn(s, part{m.value, m.valueFrom(), own.to}, value)
}

// collectItem adds an entry of a list, whose dash stands in a column, to a scope, and everything in it.
func (e *editor) collectItem(s *scope, item part, value any, column int) {
	own, _ := e.withoutTail(item, item.node.Column-1)
	line, dash := item.node.Line-1, e.dashAbove(item.node, column)
	if dash == line {
		dash = -1
	}
	if item.node.Kind == yaml.MappingNode && (item.node.Style&yaml.FlowStyle == 0 || e.inOneLine(item.node)) {
		s.pieces = append(s.pieces, &piece{
			part: e.withBlanks(own, item.to), value: value, content: item.node, column: item.node.Column - 1, line: line, dash: dash,
		})
	}
	if item.node.Kind == yaml.MappingNode {
		own.from = line
	}
	e.collectIn(s, own, value)
}

// withBlanks returns a part with the blank lines that follow, up to a line.
func (e *editor) withBlanks(p part, to int) part {
	for p.to < to && e.blank(p.to) {
		p.to++
	}
	return p
}

// inOneLine reports whether a value in brackets ends in the line in which it begins.
func (e *editor) inOneLine(n *yaml.Node) bool {
	last, _ := e.end(n)
	return last == n.Line-1
}

func (e *editor) collectIn(s *scope, p part, value any) {
	items, isList := value.([]any)
	if p.node.Style&yaml.FlowStyle != 0 {
		for i := range items {
			if n := p.node.Content[i]; p.node.Kind == yaml.SequenceNode && n.Kind == yaml.MappingNode && e.inOneLine(n) {
				s.pieces = append(s.pieces, &piece{
					part: part{n, n.Line - 1, n.Line}, value: items[i], content: n, column: n.Column - 1, line: n.Line - 1, dash: -1, within: true,
				})
			}
		}
		return
	}
	members, isMapping := value.(map[string]any)
	if isMapping && p.node.Kind == yaml.MappingNode {
		for _, m := range e.members(p) {
			if member, there := members[m.name]; there {
				e.collect(s, m, member)
			}
		}
	}
	if isList && p.node.Kind == yaml.SequenceNode {
		for i, item := range e.items(p) {
			e.collectItem(s, item, items[i], p.node.Column-1)
		}
	}
}

// take returns the first piece for which fits is true, those of the innermost scope first, and those that are not used yet
// before others; nil if there is none.
func (e *editor) take(fits func(*piece) bool) *piece {
	for _, used := range []bool{false, true} {
		for _, s := range slices.Backward(e.pool) {
			for _, p := range s.pieces {
				if p.used == used && fits(p) {
					return p
				}
			}
		}
	}
	return nil
}

// carry notes that lines stand elsewhere by now, and with them the pieces that they have.
func (e *editor) carry(from, to int) {
	for i := from; i < to; i++ {
		e.carried[i] = true
	}
	for _, s := range e.pool {
		for _, p := range s.pieces {
			p.used = p.used || p.line >= from && p.line < to
		}
	}
}

// verbatim returns the lines of a piece for a column, as if it began in a line of its own.
func (e *editor) verbatim(p *piece, column int) []string {
	first := strings.Repeat(" ", p.column) + e.lines[p.line][e.offset(p.line, p.column+1):] // without the dash
	lines := slices.Concat(e.above(p), []string{first}, e.lines[p.line+1:p.to])
	e.carry(p.from, p.to)
	e.keep(p.content)
	return shift(lines, column-p.column)
}

// above returns the lines of a piece that stand above its key or its content, without a dash that stands there.
func (e *editor) above(p *piece) []string {
	lines := slices.Clone(e.lines[p.from:p.line])
	if p.dash < 0 {
		return lines
	}
	at := p.dash - p.from
	if comment := e.comment(p.dash); comment != "" {
		lines[at] = strings.Repeat(" ", p.column) + comment + e.eol
		return lines
	}
	return slices.Delete(lines, at, at+1)
}

// first are the members that come first in what is new, in this order.
var first = []string{"name", "version", "capabilities", "architecture"}

// Order returns the names of the members of a mapping in the order in which they are written if they are new.
func Order(members map[string]any) []string {
	rank := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	return slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}

// newMember returns the lines of a member that the mapping did not have, in a column.
func (e *editor) newMember(name string, value any, column int) []string {
	says := func(p *piece) bool { return p.key == name && same(p.value, value) }
	moved := e.take(says)
	if moved != nil && !moved.used {
		return e.verbatim(moved, column)
	}
	switch value := value.(type) {
	case map[string]any:
		return append([]string{strings.Repeat(" ", column) + plain(name) + ":" + e.eol}, e.below(value, column)...)
	case []any:
		if len(value) > 0 && isMapping(value[0]) {
			return append(e.newKey(name, column), e.below(value, column)...)
		}
	}
	text := fresh(value, style{})
	if moved != nil {
		text = e.source(moved.content, text)
	}
	return []string{strings.Repeat(" ", column) + plain(name) + ": " + text + e.eol}
}

// below returns the lines of a new value below its key, which stands in a column; nil if it is one that stands beside the key.
func (e *editor) below(value any, column int) (lines []string) {
	switch value := value.(type) {
	case map[string]any:
		return e.newMapping(value, column+e.step)
	case []any:
		if len(value) > 0 && isMapping(value[0]) {
			for _, item := range value {
				lines = append(lines, e.newItem(item, column+e.dash)...)
			}
		}
	}
	return lines
}

// newKey returns the line of the key of a list in block style, with the comments of such a key that is removed.
func (e *editor) newKey(name string, column int) []string {
	former := e.take(func(p *piece) bool { return p.key == name && !p.used && !e.carried[p.line] && e.keyAlone(p) })
	if former == nil {
		return []string{strings.Repeat(" ", column) + plain(name) + ":" + e.eol}
	}
	for i := former.from; i <= former.line; i++ {
		e.carried[i] = true
	}
	key := strings.Repeat(" ", former.column) + e.lines[former.line][e.offset(former.line, former.column+1):]
	return shift(slices.Concat(e.lines[former.from:former.line], []string{key}), column-former.column)
}

// keyAlone reports whether nothing but a comment follows the key of a piece in its line: a value in block style.
func (e *editor) keyAlone(p *piece) bool {
	return p.content.Line-1 > p.line && p.content.Kind == yaml.SequenceNode && p.content.Anchor == ""
}

func isMapping(value any) bool {
	_, is := value.(map[string]any)
	return is
}

// source returns a scalar as the file has it, or other text if it is none that stands in one line.
func (e *editor) source(n *yaml.Node, other string) string {
	from, to := e.extent(n)
	if n.Kind != yaml.ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || n.Anchor != "" || !e.inOneLine(n) {
		return other
	}
	return e.text[from:to]
}

func (e *editor) newMapping(members map[string]any, column int) []string {
	var lines []string
	for _, name := range Order(members) {
		lines = append(lines, e.newMember(name, members[name], column)...)
	}
	return lines
}

// newItem returns the lines of an entry that the list did not have, with its dash in a column. It is made of an entry that is
// removed, if members are removed of that or added to it, and not both.
func (e *editor) newItem(value any, dash int) []string {
	members, isMapping := value.(map[string]any)
	if !isMapping || len(members) == 0 {
		return []string{strings.Repeat(" ", dash) + "- " + fresh(value, style{}) + e.eol}
	}
	indent := dash + 2
	former := e.take(func(p *piece) bool {
		old, _ := p.value.(map[string]any)
		return p.key == "" && !p.used && p.content.Kind == yaml.MappingNode && p.content.Anchor == "" &&
			(within(members, old) || within(old, members))
	})
	if former == nil {
		return e.dashed(e.newMapping(members, indent), dash, indent)
	}
	if former.content.Style&yaml.FlowStyle != 0 {
		return e.movedInBrackets(former, members, dash)
	}
	head := shift(e.above(former), dash-e.indent(former.line))
	content := e.reshapedLines(part{former.content, former.line, former.to}, members)
	e.carry(former.from, former.to)
	at := slices.IndexFunc(content, func(line string) bool {
		return indentOf(line) < former.column && strings.HasPrefix(strings.TrimLeft(line, " "), "-")
	})
	if at >= 0 { // the dash that it had
		content[at] = strings.Replace(content[at], "-", " ", 1)
	}
	return slices.Concat(head, e.dashed(shift(content, indent-former.column), dash, indent))
}

// reshapedLines returns the lines of a mapping in block style with some members, of which some may be new; the others go.
func (e *editor) reshapedLines(p part, members map[string]any) (lines []string) {
	column := p.node.Column - 1
	p, tail := e.withoutTail(p, column)
	for _, m := range e.members(p) {
		if _, stays := members[m.name]; stays || m.name == "<<" {
			lines = append(lines, e.lines[m.from:m.to]...)
			continue
		}
		e.refuseExplicit(m)
		e.refuseAnchors(m.value)
		lines = append(lines, e.orphans(m.part, column)...)
	}
	for _, name := range Order(members) {
		if indexOf(p.node, name) < 0 {
			lines = append(lines, e.newMember(name, members[name], column)...)
		}
	}
	return append(lines, tail...)
}

// movedInBrackets returns the lines of an entry that was in brackets, with its dash in a column.
func (e *editor) movedInBrackets(p *piece, members map[string]any, dash int) []string {
	line := strings.Repeat(" ", dash) + "- " + e.reshaped(p.content, members)
	if p.used = true; p.within {
		return []string{line + e.eol}
	}
	by := dash - e.indent(p.line)
	_, end := e.end(p.content)
	head, rest := shift(e.above(p), by), shift(e.lines[p.line+1:p.to], by)
	e.carry(p.from, p.to)
	return slices.Concat(head, []string{line + e.lines[p.line][end:]}, rest)
}

// within reports whether a mapping has all members of another one, which is not empty.
func within(members, of map[string]any) bool {
	if len(members) == 0 {
		return false
	}
	for name, value := range members {
		if other, there := of[name]; !there || !same(value, other) {
			return false
		}
	}
	return true
}

// orphans returns what stays where a part is removed, but for what stands elsewhere by now: its comments, each in a line of its own
// that is indented as given; and the blank lines below it, with those in it if something of it has moved.
func (e *editor) orphans(p part, indent int) []string {
	rest, _ := e.withoutTail(p, 0)
	moved := false
	for i := p.from; i < p.to; i++ {
		moved = moved || e.carried[i]
	}
	var lines []string
	for i := p.from; i < p.to; i++ {
		comment := e.comment(i)
		switch {
		case e.carried[i]:
		case comment != "":
			e.carried[i] = true
			lines = append(lines, strings.Repeat(" ", indent)+comment+e.eol)
		case e.blank(i) && !e.opaque[i] && (moved || i >= rest.to):
			lines = append(lines, e.lines[i])
		}
	}
	return lines
}

// keep notes that a node stands elsewhere as it is written.
func (e *editor) keep(n *yaml.Node) {
	e.whole[n] = true
	for _, child := range n.Content {
		e.keep(child)
	}
}

// refuseAnchors refuses to remove an alias, and what an alias elsewhere stands for, unless it stands elsewhere by now.
func (e *editor) refuseAnchors(n *yaml.Node) {
	moved := e.whole[n] || n.Kind == yaml.ScalarNode && e.carried[n.Line-1]
	switch {
	case n.Kind == yaml.AliasNode && !moved && !e.carried[n.Line-1]:
		refuse(n, "an alias (*"+n.Value+") stands for what has to change; write the value here instead")
	case n.Kind == yaml.AliasNode:
		return
	case e.aliased[n] && !moved:
		e.refuseUsed(n)
	}
	for _, child := range n.Content {
		e.refuseAnchors(child)
	}
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }
