// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

const (
	maxParts    = 4_000_000 // keys, values and items of one document, estimated before parsing
	maxExpanded = 16 << 20  // bytes of JSON that the aliases of one input expand to
	maxSearched = 512 << 10 // bytes of one input's documents whose syntax errors are located exactly
	maxDepth    = 200       // of lists and mappings in each other; the outermost is at depth 1
	aliasCost   = 64        // bytes that each alias takes from maxExpanded
	itemCost    = 64        // bytes that each item of a List takes from it, in a document with aliases
)

// source is one input while it is read, with what was found in it.
type source struct {
	name     string
	objects  []*Object
	problems []Problem

	// group is that of Read if the input is of a folder, and skipped and foreign are what was left out of it.
	group   string
	skipped []Skipped
	foreign int
	// unread is that of Read.
	unread Unread
	// noList is set if something was read item by item that does not say that it is a List.
	noList bool
	texts  []Text
	// empty is set if there is no text.
	empty bool
	// list is what a List says of itself whose items are read one by one; empty for documents.
	list Identity

	expanded int // what is left of maxExpanded
	searched int // what is left of maxSearched
}

// chunk is a part of the input that holds one document, as a rule.
type chunk struct {
	text string
	line int // lines before it
	// column is how many characters come before it in its first line.
	column int
}

// place returns the place in the file of one in the chunk.
func (c chunk) place(line, column int) place {
	if line == 1 {
		column += c.column
	}
	return place{c.line + line, column}
}

// begin returns where the chunk begins.
func (c chunk) begin() place { return c.place(1, 1) }

func (s *source) parse(data string) {
	s.expanded, s.searched = maxExpanded, maxSearched
	s.parseFrom(data, place{1, 1})
}

// parseFrom reads a part of the input that begins at a place.
func (s *source) parseFrom(data string, at place) {
	s.texts = append(s.texts, marked(s.name, data, at.line-1)...)
	for i, c := range split(data) {
		c.line += at.line - 1
		if i == 0 {
			c.column = at.column - 1
		}
		objects, first := len(s.objects), len(s.problems)
		switch {
		case parts(c.text) > maxParts:
			s.tooLarge(place{c.line + 1, 1}, "the document has too many keys, values and items to be read")
		case !s.parseJSON(c):
			s.parseYAML(c)
		}
		slices.SortStableFunc(s.problems[first:], func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		if s.group != "" {
			s.leaveOut(c, objects, first)
		} else if len(s.problems) > first && s.problems[first].Rule == RuleSyntax && strings.Contains(c.text, "{{") {
			s.problems[first].Message += "; {{ }} looks like a template: render it, and check the result"
		}
	}
}

// spend takes bytes from the budget for aliases, and reports whether it has as many.
func (s *source) spend(bytes int) bool {
	s.expanded -= bytes
	return s.expanded >= 0
}

func (s *source) tooLarge(at place, message string) {
	s.fault(&fault{at, RuleTooLarge, message}, Identity{})
}

// split cuts a stream at its document markers, so that an error in one document does not reach the next. It may do so
// without parsing, because a line that begins with "---" or "..." cannot be part of any YAML or JSON value. Marker
// lines stay, "---" as the first line of a chunk and "..." as the last; byte order marks before them go.
func split(data string) []chunk {
	chunks, start := []chunk{{}}, 0
	cut := func(at int) {
		last := &chunks[len(chunks)-1]
		last.text = strings.TrimPrefix(data[start:at], byteOrderMark)
		chunks = append(chunks, chunk{line: last.line + breaks(data[start:at])})
		start = at
	}
	prologue, directive := true, false // of the current chunk: no content yet; a directive, which needs its "---"
	for pos, line := range lines(data) {
		text := strings.TrimPrefix(line, byteOrderMark)
		switch {
		case isMarker(text, "---"):
			if pos > start && (!prologue || !directive) {
				cut(pos)
			}
			prologue, directive = false, false
		case isMarker(text, "..."):
			cut(pos + len(line))
			prologue, directive = true, false
		case prologue && strings.HasPrefix(text, "%"):
			directive = true
		case strings.TrimSpace(text) != "" && text[0] != '#':
			prologue = false
		}
	}
	chunks[len(chunks)-1].text = strings.TrimPrefix(data[start:], byteOrderMark)
	return chunks
}

const byteOrderMark = "\ufeff"

func isMarker(line, marker string) bool {
	rest, found := strings.CutPrefix(line, marker)
	return found && (rest == "" || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// lines yields the lines of a text, each with the LF, CRLF or CR that ends it, and where they begin.
func lines(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for pos := 0; pos < len(text); {
			end := len(text)
			if i := strings.IndexAny(text[pos:], "\r\n"); i >= 0 {
				end = pos + i + 1
				if text[end-1] == '\r' && end < len(text) && text[end] == '\n' {
					end++
				}
			}
			if !yield(pos, text[pos:end]) {
				return
			}
			pos = end
		}
	}
}

// breaks counts the line breaks of YAML 1.1.
func breaks(text string) int {
	var at place
	at.advance(text)
	return at.line
}

// parts estimates from above how many values a document holds, text in block scalars aside.
func parts(text string) int {
	n := 0
	for i, r := range text {
		switch r {
		case ',', '[', '{', '\n', '\r':
			n++
		case ':', '-', '?':
			if i+1 < len(text) && text[i+1] == ' ' {
				n++
			}
		}
	}
	return n
}

// place is a position in a file, counted from 1.
type place struct{ line, column int }

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
