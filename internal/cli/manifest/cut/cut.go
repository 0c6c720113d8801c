// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package cut cuts a text at the markers of its YAML documents, and large Lists at their items, and reports where each part begins. It
// does not parse, so an error in one document does not affect the next. Start reading at [Cutter].
package cut

import (
	"iter"
	"strings"
)

// Part is the role of a piece of text.
type Part int

// The parts. A text consists of Documents. If it is cut by items, a recognized List is a Head, its Items, a Tail if there is one, and
// then a Frame.
const (
	Document Part = iota
	Head          // of a List, up to its items
	Item          // of a List
	Tail          // of a List, after its items
	Frame         // a List without its items
)

// Cutter cuts a text at the markers of its documents, so that an error in one document does not affect the next. It need not parse for
// that, because a line that begins with "---" or "..." cannot be part of a YAML or JSON value. It keeps marker lines, "---" as the first
// line of a document and "..." as the last, and removes byte order marks before them. With byItem it also cuts Lists in kubectl's format
// into items.
type Cutter struct {
	do     func(Part, Chunk)
	byItem bool
	line   int // the next line
	// text is the part read so far, which begins in line from.
	text strings.Builder
	from int
	// begun is set after the first line of a document with content, and directive after a directive, which requires a "---".
	begun, directive bool
	// items is set after the line "items:", inItems within an item, and rest after the last one.
	items, inItems, rest bool
	indent               string // before the dash of an item
	// frame has an empty line for each line of an item. It begins in line frameFrom.
	frame     strings.Builder
	frameFrom int
}

// New returns a cutter that calls do for each part. With byItem it also cuts Lists into items.
func New(do func(Part, Chunk), byItem bool) *Cutter { return &Cutter{do: do, byItem: byItem, line: 1} }

// Documents calls do for the documents of a text.
func Documents(text string, do func(Part, Chunk)) {
	c := New(do, false)
	c.Add(text)
	c.End()
}

// Add adds whole lines.
func (c *Cutter) Add(text string) {
	for line := range Lines(text) {
		c.take(line)
		c.line += Breaks(line)
	}
}

// take adds a line.
func (c *Cutter) take(line string) {
	text := strings.TrimPrefix(line, ByteOrderMark)
	switch content := strings.TrimSpace(text); {
	case isMarker(text, "---"):
		if c.text.Len() > 0 && (c.begun || !c.directive) {
			c.End()
		}
		c.begun, c.directive = true, false
	case isMarker(text, "..."):
		c.write(line)
		c.End()
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

func (c *Cutter) write(line string) {
	if c.text.Len() == 0 {
		c.from, line = c.line, strings.TrimPrefix(line, ByteOrderMark)
	}
	c.text.WriteString(line)
}

// Len returns the size of the unfinished part, in bytes.
func (c *Cutter) Len() int { return c.text.Len() }

// Chunk returns the unfinished part.
func (c *Cutter) Chunk() Chunk { return Chunk{c.text.String(), Place{int32(c.from), 1}} }

// content adds a line with content. It returns the line as it appears in the document or item.
func (c *Cutter) content(line string) string {
	content := strings.TrimSpace(line)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	dash := content == "-" || strings.HasPrefix(content, "- ")
	switch {
	case dash && (c.inItems && indent == c.indent || c.items && !c.inItems):
		c.flush()
		c.inItems, c.indent = true, indent
		return indent + " " + line[len(indent)+1:]
	case c.inItems && len(indent) <= len(c.indent): // the List continues after its items
		c.flush()
		c.inItems, c.rest = false, true
	case !c.inItems:
		c.items = strings.TrimRight(line, " \t\r\n") == "items:"
	}
	return line
}

// flush ends an item, or the text before or after the items.
func (c *Cutter) flush() {
	read := c.Chunk()
	c.text.Reset()
	switch {
	case c.inItems:
		c.frame.WriteString(strings.Repeat("\n", c.line-c.from))
		if ContentIn(read.Text) < 0 {
			read.Text = c.indent + "  ~\n"
		}
		c.do(Item, read)
		return
	case c.rest:
		c.do(Tail, read)
	default:
		c.frameFrom = c.from
		c.do(Head, read)
	}
	c.frame.WriteString(read.Text)
}

// End ends a document.
func (c *Cutter) End() {
	if c.inItems || c.rest {
		c.flush()
		c.do(Frame, Chunk{c.frame.String(), Place{int32(c.frameFrom), 1}})
	} else if c.text.Len() > 0 {
		c.do(Document, c.Chunk())
	}
	*c = Cutter{do: c.do, byItem: c.byItem, line: c.line}
}

// Chunk is a part of a text with its position.
type Chunk struct {
	Text string
	Place
}

// At returns the position in the text for a position in the chunk. Both count from 1.
func (c Chunk) At(line, column int) Place {
	if line == 1 {
		column += int(c.Column) - 1
	}
	return Place{c.Line + int32(line) - 1, int32(column)}
}

// Place is a position in a text: a line as in editors and a character of it, both counting from 1.
type Place struct{ Line, Column int32 }

// Advance moves the place to the end of a text that begins there.
func (p *Place) Advance(text string) {
	last := '\x00'
	for _, r := range text {
		switch r {
		case '\n', '\r':
			if r != '\n' || last != '\r' { // otherwise the line has ended already
				p.Line, p.Column = p.Line+1, 1
			}
		default:
			p.Column++
		}
		last = r
	}
}

// ByteOrderMark may precede a document, and is not part of it.
const ByteOrderMark = "\ufeff"

func isMarker(line, marker string) bool {
	rest, found := strings.CutPrefix(line, marker)
	return found && (rest == "" || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// Lines yields the lines of a text, each with the LF, CRLF or CR that ends it.
func Lines(text string) iter.Seq[string] {
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

// ContentIn returns the offset of the first line other than a comment, a directive or "---", or -1 if there is none.
func ContentIn(text string) int {
	pos := 0
	for line := range Lines(text) {
		content := strings.TrimSpace(line)
		if content != "" && content[0] != '#' && content[0] != '%' && content != "---" {
			return pos
		}
		pos += len(line)
	}
	return -1
}

// Breaks counts the line breaks of a text.
func Breaks(text string) int {
	return strings.Count(text, "\n") + strings.Count(text, "\r") - strings.Count(text, "\r\n")
}
