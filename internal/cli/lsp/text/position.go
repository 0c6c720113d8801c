// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package text

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Encoding is what an editor counts within a line: its names are those of the Language Server Protocol.
type Encoding string

// The encodings. UTF16 is what editors count unless they offer another one.
const (
	UTF8  Encoding = "utf-8"
	UTF16 Encoding = "utf-16"
	// characters are what package manifest counts.
	characters Encoding = "utf-32"
)

// Position is a place in a text as editors count: lines and, within one, units of an [Encoding], both from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// Text is a text with its lines. Offsets into it are in bytes.
type Text struct {
	string
	// lines are where the lines of editors begin, and breaks where those of YAML do, which also has other ends of lines.
	lines, breaks []int
	// plain says that every character is one byte, as mostly: then nothing has to be counted, which takes long in a line of a megabyte.
	plain bool
}

// New returns a text. A byte order mark at its beginning takes no place in a line.
func New(s string) *Text {
	most := strings.Count(s, "\n") + 1 // as a rule
	t := &Text{string: s, lines: append(make([]int, 0, most), 0), breaks: append(make([]int, 0, most), 0), plain: true}
	for i := 0; i < len(s); i++ {
		t.plain = t.plain && s[i] < utf8.RuneSelf
		if c := s[i]; c != '\n' && c != '\r' && c != "\u0085"[0] && c != "\u2028"[0] {
			continue
		}
		var length int
		editors := false
		switch {
		case s[i] == '\n' || s[i] == '\r' && !strings.HasPrefix(s[i+1:], "\n"):
			length, editors = 1, true
		case strings.HasPrefix(s[i:], "\u0085"):
			length = 2
		case strings.HasPrefix(s[i:], "\u2028"), strings.HasPrefix(s[i:], "\u2029"):
			length = 3
		default:
			continue
		}
		i += length - 1
		t.breaks = append(t.breaks, i+1)
		if editors {
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// String returns the text.
func (t *Text) String() string { return t.string }

// Lines is how many lines the text has for editors; at least one.
func (t *Text) Lines() int { return len(t.lines) }

// mark is the length of the byte order mark that the text begins with.
func (t *Text) mark() int {
	if strings.HasPrefix(t.string, "\ufeff") {
		return len("\ufeff")
	}
	return 0
}

// span returns the offsets of a line among some lines, without its end.
func (t *Text) span(lines []int, line int) (start, end int) {
	switch {
	case line < 0:
		return 0, 0
	case line >= len(lines):
		return len(t.string), len(t.string)
	}
	start, end = lines[line], len(t.string)
	if line+1 < len(lines) {
		end = lines[line+1]
		end = start + len(strings.TrimRight(t.string[start:end], "\r\n"))
	}
	if start == 0 {
		start = min(t.mark(), end)
	}
	return start, end
}

// Offset returns the offset of a position. One that the text does not have is at the end of its line, or of the text; one within a
// character is at its beginning.
func (t *Text) Offset(p Position, encoding Encoding) int { return t.offset(t.lines, p, encoding) }

// offset is [Text.Offset] among some lines.
func (t *Text) offset(lines []int, p Position, encoding Encoding) int {
	start, end := t.span(lines, p.Line)
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

// Position returns the position of an offset. One within a character or within the end of a line is at its beginning, and one outside of
// the text at the nearest end.
func (t *Text) Position(offset int, encoding Encoding) Position {
	line, before := t.before(t.lines, offset)
	if t.plain {
		return Position{line, len(before)}
	}
	units := 0
	for i, r := range before {
		units += width(r, before[i:], encoding)
	}
	return Position{line, units}
}

// before returns the line of an offset among some lines, from 0, and the whole characters of the line that are before the offset.
func (t *Text) before(lines []int, offset int) (line int, characters string) {
	line = max(0, sort.SearchInts(lines, offset+1)-1)
	start, end := t.span(lines, line)
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

// width is how many units a character takes, which a text begins with. Bytes that are no UTF-8 are one each.
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

// Placed returns the offset of a place as package manifest counts: a line of YAML and a character of it, both from 1. What is not there
// is at the end of the line, or of the text.
func (t *Text) Placed(line, column int) int {
	return t.offset(t.breaks, Position{line - 1, column - 1}, characters)
}

// Place returns the line and the character of an offset as package manifest counts them, both from 1. Offsets are taken as by
// [Text.Position].
func (t *Text) Place(offset int) (line, column int) {
	line, before := t.before(t.breaks, offset)
	return line + 1, utf8.RuneCountInString(before) + 1
}

// Line returns where the line of an offset begins and ends for editors, its end not included.
func (t *Text) Line(offset int) (start, end int) {
	return t.span(t.lines, sort.SearchInts(t.lines, max(0, offset)+1)-1)
}

// Edited returns a text in which another one stands in the place of what is between two positions. If the second one is before the first,
// it stands at the first.
func (t *Text) Edited(from, to Position, encoding Encoding, with string) *Text {
	start, end := t.Offset(from, encoding), t.Offset(to, encoding)
	return New(t.string[:start] + with + t.string[max(start, end):])
}
