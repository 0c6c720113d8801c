// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// block is a member of a mapping or an item of a list in block style, or what is in a document, with the lines that belong to it:
// comments above it that are indented as it is, itself, and what follows up to the next one.
type block struct {
	// key is that of a member; nil for an item.
	key, value *yaml.Node
	// column is where the key or the dash stands, in a line; from and to are the lines that belong to it.
	column, line, from, to int
	// inner are the members or items of its value, once they are known.
	inner []*block
}

// inner returns the members or items of a value in block style.
func (e *editor) inner(b *block) []*block {
	n := b.value
	if b.inner != nil || !inBlocks(n) {
		return b.inner
	}
	line, column := e.begin(n)
	for i, entry := range entriesOf(n) {
		child := &block{value: entry[len(entry)-1], column: column, line: line}
		if n.Kind == yaml.MappingNode {
			child.key, child.line = entry[0], entry[0].Line-1
		} else if i > 0 {
			child.line = e.dashOf(child.value, column)
		}
		if i == 0 {
			child.from = min(line, b.line+1)
		} else {
			before := b.inner[i-1]
			for child.from = child.line; child.from > before.line+1 && e.onlyComment(child.from-1) && e.indent(child.from-1) == column; child.from-- {
				continue
			}
			before.to = child.from
		}
		b.inner = append(b.inner, child)
	}
	b.inner[len(b.inner)-1].to = e.endOf(b, column)
	return b.inner
}

// dashOf returns the line of the dash of an item, which may stand above its content.
func (e *editor) dashOf(n *yaml.Node, column int) int {
	line := n.Line - 1
	for line > 0 && (e.opaque[line] || e.indent(line) != column || !strings.HasPrefix(e.line(line)[column:], "-")) {
		line--
	}
	return line
}

// endOf returns where a block ends, without what belongs to what is around it: blank lines, and comments that are indented less than
// as given.
func (e *editor) endOf(b *block, indent int) int {
	end := b.to
	for end > b.line+1 && (e.blank(end-1) || e.onlyComment(end-1) && e.indent(end-1) < indent) {
		end--
	}
	return end
}

// endOfMoving returns where a block ends that moves: with the blank lines below it.
func (e *editor) endOfMoving(b *block) int {
	indent := b.column
	if b.key == nil {
		_, indent = e.begin(b.value)
	}
	end := e.endOf(b, indent)
	for end < b.to && e.blank(end) {
		end++
	}
	return end
}

// commentsOf returns the comments of lines that do not move, each in a line of its own in a column.
func (e *editor) commentsOf(from, to, column int) string {
	var text strings.Builder
	for i := from; i < to; i++ {
		if _, comment := e.cut(i); comment != "" && e.owners[i] == e.moving {
			text.WriteString(spaces(column) + comment + e.eol)
		}
	}
	return text.String()
}

// left returns what stays of a block that is deleted: its comments, and the blank lines below it, with those in it if something of it
// moves.
func (e *editor) left(b *block) string {
	end, moves := e.endOf(b, 0), false
	for i := b.from; i < b.to; i++ {
		moves = moves || e.owners[i] != e.moving
	}
	var text strings.Builder
	for i := b.from; i < b.to; i++ {
		if e.blank(i) && e.owners[i] == e.moving && (moves || i >= end) {
			text.WriteString(e.line(i))
		} else {
			text.WriteString(e.commentsOf(i, i+1, b.column))
		}
	}
	return text.String()
}

// written returns the text of a block as it is to be, where it is.
func (e *editor) written(b *block) string {
	c, n, inner := e.edits[b.value], b.value, e.inner(b)
	above, indent := e.between(b.from, b.line), spaces(b.column)
	if c == nil {
		return above + indent + e.text[e.offset(b.line, b.column):e.begins[b.to]]
	}
	c.done = true
	if inner == nil && !(c.replaced && isMissing(n)) {
		rest := e.text[e.end(n):e.begins[b.to]]
		if c.unwrapped {
			return above + indent + e.withoutBrackets(n, b.column) + rest
		}
		return above + indent + e.upTo(b, e.start(n)) + e.inline(n) + rest
	}
	e.refuseExplicit(b)
	switch {
	case c.replaced:
		return above + e.replaced(b, c.value)
	case c.unwrapped:
		return above + e.commentsOf(b.line, inner[0].from, b.column) + shift(e.entries(b), b.column-inner[0].column)
	case inner[0].line == b.line:
		return above + dashed(e.entries(b), b.column)
	}
	return above + indent + e.upTo(b, e.begins[b.line+1]) + e.entries(b)
}

// upTo returns the text of a block from its key or its dash on, with the key that it is to have.
func (e *editor) upTo(b *block, end int) string {
	from := e.offset(b.line, b.column)
	if c := e.edits[b.value]; c.key != "" {
		return e.text[from:e.start(b.key)] + e.keyOf(b.key, b.value) + e.text[e.end(b.key):end]
	}
	return e.text[from:end]
}

// replaced returns a block with another value in the place of one in block style, or of none. Comments in that move above it.
func (e *editor) replaced(b *block, value any) string {
	end, inner := b.line+1, e.inner(b)
	if inner != nil {
		end = e.endOf(b, b.column+1)
	}
	rest := e.between(end, b.to)
	if inner != nil && inner[0].line == b.line {
		return e.commentsOf(b.line, end, b.column) + spaces(b.column) + "- " + fresh(value, style{}) + e.eol + rest
	}
	above := e.commentsOf(b.line+1, end, b.column) + spaces(b.column)
	if below := (&writer{editor: e}).below(value, b.column, ""); below != "" && b.key != nil {
		return above + e.upTo(b, e.begins[b.line+1]) + below + rest
	}
	says, _ := e.cut(b.line)
	at := e.begins[b.line] + len(strings.TrimRight(says, " \t"))
	return above + e.upTo(b, at) + " " + fresh(value, style{}) + e.text[at:e.begins[b.line+1]] + rest
}

// entries returns the members or items of a value in block style as they are to be, and what follows them.
func (e *editor) entries(b *block) string {
	c, inner := cmp.Or(e.edits[b.value], &edits{}), e.inner(b)
	c.done = true
	var text strings.Builder
	previous := ""
	for i := range len(inner) + 1 {
		added, blank := e.added(c, i, inner[0].column), ""
		if added != "" && i > 0 && i < len(inner) && b.value.Kind == yaml.MappingNode {
			previous, blank = e.cutBlank(inner[i-1], previous)
		}
		text.WriteString(previous + added + blank)
		switch {
		case i == len(inner):
			previous = e.between(inner[i-1].to, b.to)
		case c.gone[i]:
			previous = e.left(inner[i])
		default:
			previous = e.written(inner[i])
		}
	}
	return text.String() + previous
}

// added returns what is new before a member or item that has an index, in a column.
func (e *editor) added(c *edits, index, column int) (text string) {
	for _, a := range c.added {
		w := writer{editor: e, takes: a.takes}
		switch last := a.at[len(a.at)-1]; {
		case a.index != index:
		case last.IsIndex():
			text += w.item(a.value, column, "")
		default:
			text += w.member(last.Name, a.value, column, "")
		}
	}
	return text
}

// cutBlank cuts off the blank lines at the end of the text of a block.
func (e *editor) cutBlank(b *block, text string) (rest, blank string) {
	for i := b.to - 1; i > b.line && e.blank(i) && strings.HasSuffix(text, e.line(i)); i-- {
		text, blank = strings.TrimSuffix(text, e.line(i)), e.line(i)+blank
	}
	return text, blank
}

// moved returns the text of a block that is taken along, for another column.
func (e *editor) moved(b *block, column int) string {
	outer := e.moving
	e.moving = b
	defer func() { e.moving = outer }()
	inner, by := e.inner(b), column-b.column
	moving := *b
	moving.to = e.endOfMoving(b)
	if b.key != nil || inner == nil {
		return shift(e.written(&moving), by)
	}
	comment := ""
	if inner[0].line > b.line { // below a dash
		comment = e.commentsOf(b.line, b.line+1, inner[0].column)
	}
	return shift(e.between(b.from, b.line), by) + dashed(shift(comment+e.entries(&moving), column+2-inner[0].column), column)
}

// dashed puts a dash before the first line that says something. Comments above it do not stand further to the right.
func dashed(text string, column int) string {
	lines := splitLines(text)
	for i, line := range lines {
		rest := strings.TrimLeft(line, " ")
		switch {
		case strings.HasPrefix(rest, "#"):
			lines[i] = spaces(min(column, indentOf(line))) + rest
		case strings.TrimSpace(rest) != "":
			lines[i] = line[:column] + "-" + line[column+1:]
			return strings.Join(lines, "")
		}
	}
	return text
}
