// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Encoding is the unit in which an editor counts within a line. Its values are names of the Language Server Protocol.
type Encoding string

// The encodings. Editors use UTF16 unless they offer another one.
const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16"
	// characters is the unit of package manifest.
	characters Encoding = "utf-32"
)

// Position is a place in a text as in editors: a line, and units of an [Encoding] within it, both from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Text is a text with its lines. Offsets into it are in bytes.
type Text struct {
	string
	// lines are the beginnings of its lines.
	lines []int
	// plain reports whether every character is one byte, as in most texts. Then nothing has to be counted, which is slow in a line of a
	// megabyte.
	plain bool
}

// New returns a text. A byte order mark at its beginning has no width.
func New(s string) *Text {
	most := strings.Count(s, "\n") + 1 // usually sufficient
	t := &Text{string: s, lines: append(make([]int, 0, most), 0), plain: true}
	for i := range len(s) {
		t.plain = t.plain && s[i] < utf8.RuneSelf
		if s[i] == '\n' || s[i] == '\r' && !strings.HasPrefix(s[i+1:], "\n") {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// String returns the text.
func (t *Text) String() string { return t.string }

// Lines returns the number of lines in editors, at least one.
func (t *Text) Lines() int { return len(t.lines) }

// mark returns the length of the byte order mark at the beginning, or 0.
func (t *Text) mark() int {
	if strings.HasPrefix(t.string, "\ufeff") {
		return len("\ufeff")
	}
	return 0
}

// span returns the offsets of a line, without its line break.
func (t *Text) span(line int) (start, end int) {
	switch {
	case line < 0:
		return 0, 0
	case line >= len(t.lines):
		return len(t.string), len(t.string)
	}
	start, end = t.lines[line], len(t.string)
	if line+1 < len(t.lines) {
		end = t.lines[line+1]
		end = start + len(strings.TrimRight(t.string[start:end], "\r\n"))
	}
	if start == 0 {
		start = min(t.mark(), end)
	}
	return start, end
}

// Offset returns the offset of a position. A position beyond the line or the text is at its end. A position within a character is at the
// character's beginning.
func (t *Text) Offset(p Position, encoding Encoding) int {
	start, end := t.span(p.Line)
	if t.plain {
		return start + min(max(p.Character, 0), end-start)
	}
	units := 0
	for i, r := range t.string[start:end] {
		if units += width(r, t.string[start+i:], encoding); units > p.Character {
			return start + i
		}
	}
	return end
}

// Position returns the position of an offset. An offset within a character or a line break is at its beginning. An offset outside of the
// text is at the nearest end.
func (t *Text) Position(offset int, encoding Encoding) Position {
	line, before := t.before(offset)
	if t.plain {
		return Position{line, len(before)}
	}
	units := 0
	for i, r := range before {
		units += width(r, before[i:], encoding)
	}
	return Position{line, units}
}

// before returns the line of an offset, counted from 0, and the whole characters before it in this line.
func (t *Text) before(offset int) (line int, characters string) {
	line = max(0, sort.SearchInts(t.lines, offset+1)-1)
	start, end := t.span(line)
	characters = t.string[start:end]
	if t.plain {
		return line, characters[:min(max(offset-start, 0), len(characters))]
	}
	for i := range characters {
		_, size := utf8.DecodeRuneInString(characters[i:])
		if start+i+size > offset {
			return line, characters[:i]
		}
	}
	return line, characters
}

// width returns the units of a character r at the beginning of s. Bytes that are not UTF-8 are one each.
func width(r rune, s string, encoding Encoding) int {
	_, size := utf8.DecodeRuneInString(s)
	switch {
	case encoding == UTF8:
		return size
	case encoding == UTF16 && r > 0xffff:
		return 2
	}
	return 1
}

// Placed returns the offset of a place in package manifest: a line and a character in it, both counted from 1. A place that does not
// exist is at the end of the line or the text.
func (t *Text) Placed(line, column int) int {
	return t.Offset(Position{line - 1, column - 1}, characters)
}

// Place returns the line and character of an offset in package manifest, both counted from 1. It treats other offsets like
// [Text.Position].
func (t *Text) Place(offset int) (line, column int) {
	line, before := t.before(offset)
	return line + 1, utf8.RuneCountInString(before) + 1
}

// Line returns the beginning and the end of an offset's line in editors, without the line break.
func (t *Text) Line(offset int) (start, end int) {
	return t.span(sort.SearchInts(t.lines, max(0, offset)+1) - 1)
}

// Edited returns a text in which the part between two positions is replaced. If to is before from, the new part is inserted at from.
func (t *Text) Edited(from, to Position, encoding Encoding, with string) *Text {
	start, end := t.Offset(from, encoding), t.Offset(to, encoding)
	return New(t.string[:start] + with + t.string[max(start, end):])
}
