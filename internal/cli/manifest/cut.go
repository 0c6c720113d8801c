// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// part is what a text is.
type part int

const (
	document part = iota
	head          // of a List, up to its items
	item          // of a List
	tail          // of a List, behind its items
	frame         // a List without its items
)

// cutter cuts a text at the markers of its documents, so that an error in one document does not reach the next. It need not
// parse for that, because a line that begins with "---" or "..." cannot be part of any YAML or JSON value. Marker lines stay,
// "---" as the first line of a document and "..." as the last; byte order marks before them go. With byItem it also cuts the
// items out of Lists, where they are as kubectl writes them.
type cutter struct {
	do     func(part, chunk)
	byItem bool
	line   int // of what is read next
	// text is what was read of a part, which begins in the line from.
	text strings.Builder
	from int
	// begun is set behind the first line of a document with content, and directive behind a directive, which needs its "---".
	begun, directive bool
	// items is set behind the line that begins the items, inItems in an item, and rest behind the last one.
	items, inItems, rest bool
	indent               string // before the dash of an item
	// frame has an empty line for each line of an item, and begins in the line frameFrom.
	frame     strings.Builder
	frameFrom int
}

// cut hands over the documents of a text.
func cut(text string, do func(part, chunk)) {
	c := cutter{do: do, line: 1}
	c.add(text)
	c.end()
}

// add takes whole lines.
func (c *cutter) add(text string) {
	for line := range lines(text) {
		c.take(line)
		c.line += breaks(line)
	}
}

// take takes a line.
func (c *cutter) take(line string) {
	text := strings.TrimPrefix(line, byteOrderMark)
	switch content := strings.TrimSpace(text); {
	case isMarker(text, "---"):
		if c.text.Len() > 0 && (c.begun || !c.directive) {
			c.end()
		}
		c.begun, c.directive = true, false
	case isMarker(text, "..."):
		c.write(line)
		c.end()
		return
	case content == "", content[0] == '#':
	case text[0] == '%' && !c.begun:
		c.directive = true
	default:
		c.begun = true
		if c.text.Len() == 0 {
			line = text // a byte order mark is ignored only where a document begins
		}
		if c.byItem && !c.rest {
			line = c.content(line)
		}
	}
	c.write(line)
}

func (c *cutter) write(line string) {
	if c.text.Len() == 0 {
		c.from, line = c.line, strings.TrimPrefix(line, byteOrderMark)
	}
	c.text.WriteString(line)
}

// chunk returns what was read of a part.
func (c *cutter) chunk() chunk { return chunk{c.text.String(), place{int32(c.from), 1}} }

// content takes a line with content. It returns what the line is in the document, or in the item.
func (c *cutter) content(line string) string {
	content := strings.TrimSpace(line)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	dash := content == "-" || strings.HasPrefix(content, "- ")
	switch {
	case dash && (c.inItems && indent == c.indent || c.items && !c.inItems):
		c.flush()
		c.inItems, c.indent = true, indent
		return indent + " " + line[len(indent)+1:]
	case c.inItems && len(indent) <= len(c.indent): // the List goes on behind its items
		c.flush()
		c.inItems, c.rest = false, true
	case !c.inItems:
		c.items = strings.TrimRight(line, " \t\r\n") == "items:"
	}
	return line
}

// flush hands over an item, or what comes before or behind the items.
func (c *cutter) flush() {
	read := c.chunk()
	c.text.Reset()
	switch {
	case c.inItems:
		c.frame.WriteString(strings.Repeat("\n", c.line-c.from))
		if contentIn(read.text) < 0 {
			read.text = c.indent + "  ~\n"
		}
		c.do(item, read)
		return
	case c.rest:
		c.do(tail, read)
	default:
		c.frameFrom = c.from
		c.do(head, read)
	}
	c.frame.WriteString(read.text)
}

// end ends a document.
func (c *cutter) end() {
	if c.inItems || c.rest {
		c.flush()
		c.do(frame, chunk{c.frame.String(), place{int32(c.frameFrom), 1}})
	} else if c.text.Len() > 0 {
		c.do(document, c.chunk())
	}
	*c = cutter{do: c.do, byItem: c.byItem, line: c.line}
}

// chunk is a part of the input, and where it begins.
type chunk struct {
	text string
	place
}

// at returns the place in the file of one in the chunk.
func (c chunk) at(line, column int) place {
	if line == 1 {
		column += int(c.column) - 1
	}
	return place{c.line + int32(line) - 1, int32(column)}
}

// place is a position in a file, counted from 1.
type place struct{ line, column int32 }

// advance moves the place over text.
func (p *place) advance(text string) {
	last := '\x00'
	for _, r := range text {
		switch r {
		case '\n', '\r', '\u0085', '\u2028', '\u2029':
			if r != '\n' || last != '\r' { // else the line has ended already
				p.line, p.column = p.line+1, 1
			}
		default:
			p.column++
		}
		last = r
	}
}

const byteOrderMark = "\ufeff"

func isMarker(line, marker string) bool {
	rest, found := strings.CutPrefix(line, marker)
	return found && (rest == "" || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// lines yields the lines of a text, each with the LF, CRLF or CR that ends it.
func lines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			for rest := line; rest != ""; rest = rest[len(line):] {
				line = rest
				if i := strings.IndexByte(rest, '\r'); i >= 0 && rest[i:] != "\r\n" {
					line = rest[:i+1]
				}
				if !yield(line) {
					return
				}
			}
		}
	}
}

// contentIn returns where the first line with more than a comment, a directive or "---" begins; -1 if there is none.
func contentIn(text string) int {
	pos := 0
	for line := range lines(text) {
		content := strings.TrimSpace(line)
		if content != "" && content[0] != '#' && content[0] != '%' && content != "---" {
			return pos
		}
		pos += len(line)
	}
	return -1
}

// breaks counts the line breaks of YAML 1.1.
func breaks(text string) int {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf || text[i] == '\r' {
			var at place
			at.advance(text)
			return int(at.line)
		}
	}
	return strings.Count(text, "\n")
}
