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

// refuseExplicit refuses to change a member whose key is marked by a question mark.
func (e *editor) refuseExplicit(m member) {
	before := strings.TrimRight(e.lines[m.line][:e.offset(m.line, m.key.Column)], " \t")
	if strings.HasSuffix(before, "?") {
		refuse(m.key, "a key behind a question mark has to change; write it as "+m.name+": with its value")
	}
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
