// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"strings"
)

// commentsOf returns the comments of lines that do not move, each in its own line at a column.
func (e *editor) commentsOf(from, to, column int) string {
	var text strings.Builder
	for i := from; i < to; i++ {
		if _, comment := e.cut(i); comment != "" && e.owners[i] == e.moving {
			text.WriteString(spaces(column) + comment + e.eol)
		}
	}
	return text.String()
}

// left returns the remains of a deleted item: its comments and the blank lines below it. If a part of it moves, blank
// lines in it remain, too.
func (e *editor) left(it *item) string {
	end, moves := e.endOf(it, 0), false
	for i := it.from; i < it.to; i++ {
		moves = moves || e.owners[i] != e.moving
	}
	var text strings.Builder
	for i := it.from; i < it.to; i++ {
		if e.blank(i) && e.owners[i] == e.moving && (moves || i >= end) {
			text.WriteString(e.line(i))
		} else {
			text.WriteString(e.commentsOf(i, i+1, it.column))
		}
	}
	return text.String()
}

// content returns the new text of a document, from the line in which its value begins.
func (e *editor) content(document *item) string {
	n := document.value
	e.dash, e.step = 0, 0
	if e.learn(n); e.step <= 0 || e.step > 8 {
		e.step = 2
	}
	if inBlocks(n) {
		return e.entries(document)
	}
	return e.span(e.begins[document.from], e.start(n)) + e.inline(document) + e.span(e.end(n), e.begins[document.to])
}

// written returns the new text of an item in block style.
func (e *editor) written(it *item) string {
	n, above, indent := it.value, e.between(it.from, it.line), spaces(it.column)
	switch {
	case !it.touched:
		return above + indent + e.span(e.offset(it.line, it.column), e.begins[it.to])
	case it.replaced && (inBlocks(n) || isMissing(n)):
		return above + e.replaced(it)
	case inBlocks(n):
		return above + e.withInner(it)
	case it.replaced && e.isEmptyBeside(it):
		if text := e.unfolded(it); text != "" {
			return above + text
		}
	}
	rest := e.span(e.end(n), e.begins[it.to])
	if it.unwrapped {
		return above + indent + e.withoutBrackets(it) + rest
	}
	return above + indent + e.upTo(it, e.start(n)) + e.inline(it) + rest
}

// withInner returns the new text of an item that has members or items in block style.
func (e *editor) withInner(it *item) string {
	inner, head := e.innerOf(it), e.head(it)
	switch {
	case e.isExplicit(it) && inner[0].line <= head:
		e.refuseExplicit(it)
	case it.unwrapped:
		return e.commentsOf(it.line, inner[0].from, it.column) + shift(e.entries(it), it.column-inner[0].column)
	case e.isBeside(it):
		return dashed(e.entries(it), it.column)
	}
	return spaces(it.column) + e.upTo(it, e.begins[head+1]) + e.entries(it)
}

// upTo returns the text of an item from its key or dash up to an offset, with its new key.
func (e *editor) upTo(it *item, end int) string {
	from := e.offset(it.line, it.column)
	if it.name != "" {
		return e.span(from, e.start(it.key)) + e.keyOf(it) + e.span(e.end(it.key), end)
	}
	return e.span(from, end)
}

// replaced returns an item with a new value instead of a value in block style, or of none. Comments in the old value move above the item.
func (e *editor) replaced(it *item) string {
	e.refuseExplicit(it)
	end := it.line + 1
	if inBlocks(it.value) {
		end = e.endOf(it, it.column+1)
	}
	rest := e.between(end, it.to)
	if e.isBeside(it) {
		return e.commentsOf(it.line, end, it.column) + spaces(it.column) + "- " + fresh(it.becomes, style{order: it.order}) + e.eol + rest
	}
	above := e.commentsOf(it.line+1, end, it.column) + spaces(it.column)
	w := writer{editor: e, order: it.order}
	if below := w.below(it.becomes, it.column, ""); below != "" && it.key != nil {
		return above + e.upTo(it, e.begins[it.line+1]) + below + rest
	}
	says, _ := e.cut(it.line)
	at := e.begins[it.line] + len(strings.TrimRight(says, " \t"))
	return above + e.upTo(it, at) + " " + fresh(it.becomes, style{order: it.order}) + e.span(at, e.begins[it.line+1]) + rest
}

// isEmptyBeside reports whether the value of a member is an empty mapping or list, in brackets beside its key.
func (e *editor) isEmptyBeside(it *item) bool {
	n := it.value
	return it.key != nil && inBrackets(n) && len(n.Content) == 0 && n.Anchor == "" && n.Line-1 == it.line && e.end(n) <= e.begins[it.line+1]
}

// unfolded returns an item with a value in block style instead of empty brackets; empty if the value is not written in block style.
func (e *editor) unfolded(it *item) string {
	w := writer{editor: e, order: it.order}
	below := w.below(it.becomes, it.column, "")
	if below == "" {
		return ""
	}
	key := strings.TrimRight(e.upTo(it, e.start(it.value)), " \t")
	return spaces(it.column) + key + e.span(e.end(it.value), e.begins[it.line+1]) + below + e.between(it.line+1, it.to)
}

// entries returns the new text of the members or items of a value in block style, and of the lines after them.
func (e *editor) entries(it *item) string {
	inner := e.innerOf(it)
	var text strings.Builder
	previous := ""
	for i, child := range inner {
		added, blank := e.added(it, i), ""
		if added != "" && i > 0 && child.key != nil {
			previous, blank = e.cutBlank(inner[i-1], previous)
		}
		if child.gone {
			text.WriteString(previous + added + blank)
			previous = e.left(child)
			continue
		}
		written, lead := e.written(child), ""
		if added != "" && i == 0 {
			lead, written = e.cutLead(child, written)
		}
		text.WriteString(previous + lead + added + blank)
		previous = written
	}
	return text.String() + previous + e.added(it, len(inner)) + e.between(inner[len(inner)-1].to, it.to)
}

// added returns the new content before the member or item with an index.
func (e *editor) added(it *item, index int) string {
	var text strings.Builder
	for _, a := range it.added {
		w, column := writer{editor: e, takes: a.takes, order: a.order}, it.inner[0].column
		switch last := a.at[len(a.at)-1]; {
		case a.index != index:
		case last.IsIndex():
			text.WriteString(w.item(a.value, column, ""))
		default:
			text.WriteString(w.member(last.Name, a.value, column, ""))
		}
	}
	return text.String()
}

// cutBlank cuts off the blank lines at the end of an item's text.
func (e *editor) cutBlank(it *item, text string) (rest, blank string) {
	for i := it.to - 1; i > it.line && e.blank(i) && strings.HasSuffix(text, e.line(i)); i-- {
		text, blank = strings.TrimSuffix(text, e.line(i)), e.line(i)+blank
	}
	return text, blank
}

// cutLead cuts off the blank lines at the beginning of the first item's text, which stay below the key.
func (e *editor) cutLead(it *item, text string) (lead, rest string) {
	for i := it.from; i < it.line && e.blank(i) && strings.HasPrefix(text, e.line(i)); i++ {
		lead, text = lead+e.line(i), strings.TrimPrefix(text, e.line(i))
	}
	return lead, text
}

// moved returns the text of an item that is reused, for another column.
func (e *editor) moved(it *item, column int) string {
	outer := e.moving
	e.moving = it
	defer func() { e.moving = outer }()
	inner, by := e.innerOf(it), column-it.column
	moving := *it
	moving.to = e.endOfMoving(it)
	if it.key != nil || !inBlocks(it.value) {
		return shift(e.written(&moving), by)
	}
	comment := ""
	if !e.isBeside(it) { // below a dash
		comment = e.commentsOf(it.line, it.line+1, inner[0].column)
	}
	return shift(e.between(it.from, it.line), by) + dashed(shift(comment+e.entries(&moving), column+2-inner[0].column), column)
}

// dashed puts a dash before the first line with content. Comments above it are indented no further than the dash.
func dashed(text string, column int) string {
	lines := linesOf(text)
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
