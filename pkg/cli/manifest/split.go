// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

const (
	maxParts    = 4_000_000 // keys, values and items of one document, estimated before parsing
	maxExpanded = 16 << 20  // bytes of JSON, beyond the size of the input, made of the documents that use aliases
	maxMerged   = 1_000_000 // keys that merge keys (<<) bring into the mappings of one input
	maxSearched = 512 << 10 // bytes of one input's documents whose syntax errors are located exactly
)

// source is one input while it is read, with what was found in it.
type source struct {
	name     string
	objects  []*Object
	problems []Problem
	encoder  *encoder

	expanded int // what is left of maxExpanded
	merged   int // what is left of maxMerged
	searched int // what is left of maxSearched
}

// chunk is a part of the input that holds one document, as a rule.
type chunk struct {
	text []byte
	line int // lines before it
}

// parse reads all documents of the input.
func (s *source) parse(data []byte) {
	s.expanded, s.merged, s.searched = maxExpanded+len(data), maxMerged, maxSearched
	for _, c := range split(data) {
		first := len(s.problems)
		switch {
		case parts(c.text) > maxParts:
			s.problem(place{c.line + 1, 1}, RuleTooLarge, "the document has too many keys, values and items to be read")
		case !s.parseJSON(c):
			s.parseYAML(c)
		}
		slices.SortStableFunc(s.problems[first:], func(a, b Problem) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
	}
}

func (s *source) problem(at place, rule, message string) {
	s.problems = append(s.problems, Problem{File: s.name, Line: at.line, Column: at.column, Rule: rule, Message: message})
}

// split cuts a stream at its document markers, so that an error in one document does not reach the next. It may do so
// without parsing, because a line that begins with "---" or "..." cannot be part of any YAML or JSON value. Marker
// lines stay, "---" as the first line of a chunk and "..." as the last; byte order marks before them go.
func split(data []byte) []chunk {
	var chunks []chunk
	start, line := 0, 0
	cut := func(end int) {
		text := bytes.TrimPrefix(data[start:end], byteOrderMark)
		chunks = append(chunks, chunk{text, line})
		if end < len(data) {
			line += breaks(data[start:end])
		}
		start = end
	}
	prologue, directive := true, false // of the current chunk: no content yet; a directive, which needs its "---"
	for pos := 0; pos < len(data); {
		end := lineEnd(data, pos)
		text := bytes.TrimPrefix(data[pos:end], byteOrderMark)
		switch {
		case isMarker(text, "---"):
			if pos > start && (!prologue || !directive) {
				cut(pos)
			}
			prologue, directive = false, false
		case isMarker(text, "..."):
			cut(end)
			prologue, directive = true, false
		case prologue && bytes.HasPrefix(text, []byte("%")):
			directive = true
		case len(bytes.TrimSpace(text)) > 0 && text[0] != '#':
			prologue = false
		}
		pos = end
	}
	cut(len(data))
	return chunks
}

var byteOrderMark = []byte("\ufeff")

func isMarker(line []byte, marker string) bool {
	if !bytes.HasPrefix(line, []byte(marker)) {
		return false
	}
	return len(line) == len(marker) || bytes.IndexByte([]byte(" \t\r\n"), line[len(marker)]) >= 0
}

// lineEnd returns where the line that begins at pos ends, its LF, CRLF or CR included.
func lineEnd(data []byte, pos int) int {
	i := bytes.IndexAny(data[pos:], "\r\n")
	switch {
	case i < 0:
		return len(data)
	case data[pos+i] == '\r' && pos+i+1 < len(data) && data[pos+i+1] == '\n':
		return pos + i + 2
	}
	return pos + i + 1
}

// breaks counts the line breaks of YAML 1.1.
func breaks(text []byte) int {
	at := place{line: 0}
	at.advance(string(text))
	return at.line
}

// parts estimates from above how many values a document holds, text in block scalars aside.
func parts(text []byte) int {
	n := 0
	for i, b := range text {
		switch b {
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
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if r == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			size = 2
		}
		switch r {
		case '\n', '\r', '\u0085', '\u2028', '\u2029':
			p.line, p.column = p.line+1, 1
		default:
			p.column++
		}
		i += size
	}
}
