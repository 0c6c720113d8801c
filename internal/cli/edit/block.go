// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// part is a value with the lines that belong to it: comments above it that are indented as it is, itself, and what follows up to
// the next part. A value in the line of its key, or of its dash, has that line as well.
type part struct {
	node     *yaml.Node
	from, to int
}

// member is a member of a mapping in block style.
type member struct {
	part
	key   *yaml.Node
	value *yaml.Node
	name  string
	// line is that of the key.
	line int
}

// valueFrom is the line in which the value begins that does not stand in the line of its key, or that line.
func (m *member) valueFrom() int {
	if m.value.Line-1 > m.line {
		return m.line + 1
	}
	return m.line
}

// members returns the members of a mapping in block style, in their order. Each line of the part belongs to one of them.
func (e *editor) members(p part) []member {
	var members []member
	for pair := range slices.Chunk(p.node.Content, 2) {
		key, value := pair[0], pair[1]
		line := key.Line - 1
		m := member{part: part{key, line, p.to}, key: key, value: value, name: key.Value, line: line}
		if before := len(members) - 1; before < 0 {
			m.from = p.from
		} else {
			m.from = e.head(line, members[before].line+1, key.Column-1)
			members[before].to = m.from
		}
		members = append(members, m)
	}
	return members
}

// head returns the line in which the comments begin that stand directly above a line and are indented as it is.
func (e *editor) head(line, from, indent int) int {
	for line > from && e.onlyComment(line-1) && e.indent(line-1) == indent {
		line--
	}
	return line
}

// items returns the entries of a list in block style, in their order, each with the line of its dash.
func (e *editor) items(p part) []part {
	var items []part
	dash := p.node.Column - 1
	line := p.node.Line - 1
	for i, n := range p.node.Content {
		if i > 0 {
			line = e.dashAbove(n, dash)
		}
		item := part{n, e.head(line, p.from, dash), p.to}
		if i == 0 {
			item.from = p.from
		} else {
			item.from = max(item.from, items[i-1].from+1)
			items[i-1].to = item.from
		}
		items = append(items, item)
	}
	return items
}

// dashAbove returns the line of the dash of an entry, which may be above its content.
func (e *editor) dashAbove(n *yaml.Node, column int) int {
	for line := n.Line - 1; line > 0; line-- {
		if !e.opaque[line] && e.indent(line) == column && strings.HasPrefix(e.lines[line][column:], "-") {
			return line
		}
	}
	return n.Line - 1
}

// value returns the lines of a part whose value was old and is to be new.
func (e *editor) value(p part, old, want any) []string {
	was, isMapping := old.(map[string]any)
	is, staysMapping := want.(map[string]any)
	list, isList := old.([]any)
	items, staysList := want.([]any)
	n := p.node
	switch {
	case same(old, want):
		return slices.Clone(e.lines[p.from:p.to])
	case n.Kind == yaml.AliasNode:
		refuse(n, "an alias (*"+n.Value+") stands for what has to change; write the value here instead")
	case n.Anchor != "" && e.aliased[n]:
		e.refuseUsed(n)
	case n.Kind == yaml.ScalarNode || n.Style&yaml.FlowStyle != 0 || n.Kind == yaml.MappingNode != staysMapping:
		return e.inLine(p, old, want)
	case isMapping && staysMapping:
		return e.mapping(p, was, is)
	case isList && staysList && len(items) > 0:
		return e.sequence(p, list, items)
	}
	return e.inLine(p, old, want)
}

// inLine returns the lines of a part whose value, a scalar or one in brackets, is replaced where it stands.
func (e *editor) inLine(p part, old, want any) []string {
	n := p.node
	if n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0 || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		refuse(n, "a value of several lines would have to become another one; write it anew")
	}
	first, at := n.Line-1, e.offset(n.Line-1, n.Column)
	last, stop := e.end(n)
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		line := e.content(first)
		last, stop = first, len(strings.TrimRight(strings.TrimSuffix(line, e.comment(first)), " \t"))
	}
	for i := first; n.Kind != yaml.ScalarNode && i <= last; i++ {
		if c := e.comment(i); c != "" && (i < last || strings.Index(e.lines[i], c) < stop) {
			panic(&Fault{Line: i + 1, Column: 1 + strings.Index(e.lines[i], c),
				Message: "the brackets around this comment have to change; move the comment out of them"})
		}
	}
	text := e.lines[first][:at] + e.flow(n, old, want) + e.lines[last][stop:]
	lines := slices.Clone(e.lines[p.from:first])
	for len(text) > 0 {
		end := breakAfter(text)
		lines = append(lines, text[:end])
		text = text[end:]
	}
	return append(lines, e.lines[last+1:p.to]...)
}

// slot is a place in a mapping or list that is written: by what was in the file there, or by what is new.
type slot struct {
	lines []string
	// later writes them, once everything else is written.
	later func() []string
}

func joined(slots []slot) []string {
	var lines []string
	for _, s := range slots {
		if s.later != nil {
			s.lines = s.later()
		}
		lines = append(lines, s.lines...)
	}
	return lines
}

// mapping returns the lines of a mapping in block style.
func (e *editor) mapping(p part, old, want map[string]any) []string {
	if len(want) == 0 {
		refuse(p.node, "nothing would be left of this mapping; remove it")
	}
	p, tail := e.withoutTail(p, p.node.Column-1)
	members, direct := e.members(p), map[string]bool{}
	removed := &scope{}
	for i := range members {
		m := &members[i]
		direct[m.name] = true
		if _, stays := want[m.name]; m.name != "<<" && !stays {
			e.collect(removed, *m, old[m.name])
		}
	}
	for name := range old {
		if value, stays := want[name]; !direct[name] && (!stays || !same(value, old[name])) {
			e.refuseMerged(p.node, name)
		}
	}
	e.pool = append(e.pool, removed)
	defer func() { e.pool = e.pool[:len(e.pool)-1] }()
	added := make([][]slot, len(members)+1) // before each of the members, and at the end
	for _, name := range order(want) {
		if _, there := old[name]; there {
			continue
		}
		at := slices.IndexFunc(members, func(m member) bool { return slices.Contains(e.before[name], m.name) })
		if at <= 0 {
			at = len(members)
		}
		added[at] = append(added[at], slot{lines: e.newMember(name, want[name], p.node.Column-1)})
	}
	var slots []slot
	for i := range members {
		slots = append(slots, added[i]...)
		slots = append(slots, e.memberSlot(members[i], old, want))
		if len(added[i+1]) > 0 && i+1 < len(members) && !e.opaque[members[i].to-1] {
			e.passBlanks(&slots[len(slots)-1], &added[i+1][len(added[i+1])-1])
		}
	}
	return slices.Concat(joined(append(slots, added[len(members)]...)), tail)
}

// refuseExplicit refuses to change a member whose key is marked by a question mark.
func (e *editor) refuseExplicit(m member) {
	before := strings.TrimRight(e.lines[m.line][:e.offset(m.line, m.key.Column)], " \t")
	if strings.HasSuffix(before, "?") {
		refuse(m.key, "a key behind a question mark has to change; write it as "+m.name+": with its value")
	}
}

// memberSlot writes a member that is there: changed, as it is, or nothing but the comments of one that is removed.
func (e *editor) memberSlot(m member, old, want map[string]any) slot {
	value, stays := want[m.name]
	was, there := old[m.name]
	if there && (!stays || !same(was, value)) {
		e.refuseExplicit(m)
	}
	switch {
	case !there && m.name != "<<", there && !stays:
		return slot{later: func() []string { return e.orphans(m.part, m.value, m.key.Column-1) }}
	case !there || same(was, value):
		return slot{lines: slices.Clone(e.lines[m.from:m.to])}
	case m.value.Kind == yaml.ScalarNode && m.value.Style == 0 && m.value.Value == "" && m.value.Anchor == "":
		return slot{lines: e.completed(m, value)}
	}
	from := m.valueFrom()
	p := part{node: m.value, from: from, to: m.to}
	if list, _ := value.([]any); m.value.Kind == yaml.SequenceNode && m.value.Style&yaml.FlowStyle == 0 && len(list) == 0 {
		lines := e.newMember(m.name, value, m.key.Column-1)
		return slot{later: func() []string { return append(lines, e.orphans(m.part, m.value, m.key.Column-1)...) }}
	}
	return slot{lines: slices.Concat(e.lines[m.from:from], e.value(p, was, value))}
}

// completed returns the lines of a member without a value, with one.
func (e *editor) completed(m member, value any) []string {
	key := e.lines[m.line]
	below := e.below(value, m.key.Column-1)
	if below == nil {
		_, at := e.end(m.key)
		at += strings.Index(key[at:], ":") + 1
		key = key[:at] + " " + fresh(value, style{}) + key[at:]
	}
	return slices.Concat(e.lines[m.from:m.line], []string{key}, below, e.lines[m.line+1:m.to])
}

// passBlanks moves the blank lines that end one slot to the end of another one.
func (e *editor) passBlanks(from, to *slot) {
	end := len(from.lines)
	for end > 0 && strings.TrimSpace(from.lines[end-1]) == "" {
		end--
	}
	to.lines = append(to.lines, from.lines[end:]...)
	from.lines = from.lines[:end]
}

// refuseMerged refuses to change a member that a mapping has from elsewhere.
func (e *editor) refuseMerged(n *yaml.Node, name string) {
	for pair := range slices.Chunk(n.Content, 2) {
		if pair[0].ShortTag() == "!!merge" {
			refuse(pair[0], "the member "+name+", which has to change, comes from a merge key (<<); write it here instead")
		}
	}
	refuse(n, "the member "+name+", which has to change, is not here")
}

// withoutTail returns a part without what ends it and belongs to what is around it: blank lines, and comments that are indented
// less.
func (e *editor) withoutTail(p part, indent int) (rest part, tail []string) {
	end := p.to
	for end > p.node.Line && !e.opaque[end-1] && (e.blank(end-1) || e.onlyComment(end-1) && e.indent(end-1) < indent) {
		end--
	}
	return part{p.node, p.from, end}, e.lines[end:p.to]
}

// sequence returns the lines of a list in block style.
func (e *editor) sequence(p part, old, want []any) []string {
	p, tail := e.withoutTail(p, p.node.Column-1)
	items, dash := e.items(p), p.node.Column-1
	pairs, taken := pair(old, want), map[int]bool{}
	for _, i := range pairs {
		taken[i] = true
	}
	removed := &scope{}
	for i, item := range items {
		if !taken[i] {
			e.collectItem(removed, item, old[i], dash)
		}
	}
	e.pool = append(e.pool, removed)
	defer func() { e.pool = e.pool[:len(e.pool)-1] }()
	var slots []slot
	next := 0 // of the items
	pass := func(to int) {
		for ; next < to; next++ {
			if item := items[next]; !taken[next] {
				slots = append(slots, slot{later: func() []string { return e.orphans(item, item.node, dash) }})
			}
		}
	}
	for k, value := range want {
		i, found := pairs[k]
		if !found {
			slots = append(slots, slot{lines: e.newItem(value, dash)})
			continue
		}
		pass(i)
		slots = append(slots, slot{lines: e.item(items[i], old[i], value, dash)})
		next = max(next, i+1)
	}
	pass(len(items))
	return append(joined(slots), tail...)
}

// item returns the lines of an entry of a list, whose dash stays where it is.
func (e *editor) item(p part, old, want any, dash int) []string {
	if same(old, want) {
		return slices.Clone(e.lines[p.from:p.to])
	}
	line := e.dashAbove(p.node, dash)
	switch {
	case p.node.Kind != yaml.MappingNode || p.node.Style&yaml.FlowStyle != 0:
		return e.value(p, old, want)
	case p.node.Line-1 != line:
		return slices.Concat(e.lines[p.from:line+1], e.value(part{p.node, line + 1, p.to}, old, want))
	}
	head := e.lines[p.from:line]
	content := e.value(part{p.node, line, p.to}, old, want)
	return slices.Concat(head, e.dashed(content, dash, p.node.Column-1))
}

// dashed puts the dash of an entry before the first of its lines that is no comment, unless it is there.
func (e *editor) dashed(lines []string, dash, indent int) []string {
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		if strings.HasPrefix(text, "#") { // above the dash
			lines[i] = strings.Repeat(" ", min(dash, indentOf(line))) + text
		}
		if strings.HasPrefix(text, "#") || strings.TrimSpace(text) == "" {
			continue
		}
		if indentOf(line) >= indent {
			lines[i] = line[:dash] + "-" + line[dash+1:]
		}
		break
	}
	return lines
}
