// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"iter"
	"regexp"
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
	name string
	Input
	// group is that of Read if the input is of a folder.
	group  string
	unread Unread

	// part is what is being parsed, and list what the List says of itself that an item is of.
	part part
	list Identity
	// noList is set if something was read item by item that is no List.
	noList bool

	expanded int // what is left of maxExpanded
	searched int // what is left of maxSearched
}

// part is what a text is.
type part int

const (
	documents part = iota
	item           // of a List
	frame          // a List without its items
)

func newSource(name string) *source {
	return &source{name: name, expanded: maxExpanded, searched: maxSearched}
}

// Parse reads the manifests in a text as [Load] does with a file of that name.
func Parse(name, text string) (objects []*Object, problems []Problem) {
	s := newSource(name)
	s.parse(chunk{text, place{1, 1}})
	return s.Objects, s.Problems
}

// parse reads a part of the input.
func (s *source) parse(all chunk) {
	if s.part != frame {
		s.Marked = append(s.Marked, all.marked(s.name)...)
	}
	for _, c := range all.split() {
		objects, first := len(s.Objects), len(s.Problems)
		if s.part != frame && parts(c.text) > maxParts {
			s.fault(&fault{place{c.line, 1}, RuleTooLarge, "the document has too many keys, values and items to be read"}, Identity{})
		} else if !s.parseJSON(c) {
			s.parseYAML(c)
		}
		s.judge(c, objects, first)
	}
}

// judge sorts the problems of a document, and drops what it has brought if it is of a folder and no manifest: the objects and
// problems from the given indices on.
func (s *source) judge(c chunk, objects, problems int) {
	found := s.Problems[problems:]
	slices.SortStableFunc(found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if s.group != "" {
		s.leaveOut(c, objects, problems)
	} else if len(found) > 0 && found[0].Rule == RuleSyntax && strings.Contains(c.text, "{{") {
		found[0].Message += "; {{ }} looks like a template: render it, and check the result"
	}
}

// take takes over the objects of a document, and the faults found when it was read. Only repeated keys leave a document
// usable. The items of Lists are limited in number if the document is one with aliases.
func (s *source) take(n *node, faults []*fault, limited bool) {
	who, usable := n.identify(), true
	for _, f := range faults {
		s.fault(f, who)
		usable = usable && f.rule == RuleDuplicateKey
	}
	switch {
	case !usable || n.json == "null" && s.part != item:
	case s.part == frame:
		s.list = who
		items, isList := n.items(who)
		s.noList = s.noList || !isList || who.APIVersion == "" || n.member("items") == nil || len(items) > 0
	default:
		if f := s.object(n, s.list, limited); f != nil {
			s.fault(f, who)
		}
	}
}

// object takes over one object, or the items of a List. In one with a type, as an API server answers it, an item without
// apiVersion and kind has those that follow from the list. A fault that it returns ends the document.
func (s *source) object(n *node, list Identity, limited bool) *fault {
	who := n.identify()
	untyped := n.json == "{" && n.member("apiVersion") == nil && n.member("kind") == nil
	if kind := strings.TrimSuffix(list.Kind, "List"); kind != "" && untyped {
		who.APIVersion, who.Kind = list.APIVersion, kind
	} else if f := n.misshapen(); f != nil {
		s.fault(f, who)
		return nil
	}
	items, isList := n.items(who)
	if !isList {
		if s.unread != nil {
			for _, path := range s.unread(who) {
				n.drop(path)
			}
		}
		s.Objects = append(s.Objects, newObject(s.name, who, n))
		return nil
	}
	for _, item := range items {
		if limited && !s.spend(itemCost) {
			return &fault{item.at, RuleTooLarge, expandsTooFar}
		}
		if f := s.object(item, who, limited); f != nil {
			return f
		}
	}
	return nil
}

func (s *source) fault(f *fault, who Identity) {
	s.Problems = append(s.Problems, Problem{Identity: who, File: s.name,
		Line: int(f.at.line), Column: int(f.at.column), Rule: f.rule, Message: f.message})
}

// spend takes bytes from the budget for aliases, and reports whether it has as many.
func (s *source) spend(bytes int) bool {
	s.expanded -= bytes
	return s.expanded >= 0
}

// chunk is a part of the input, and where it begins: one document, once it is split.
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

// split cuts a stream at its document markers, so that an error in one document does not reach the next. It may do so
// without parsing, because a line that begins with "---" or "..." cannot be part of any YAML or JSON value. Marker
// lines stay, "---" as the first line of a chunk and "..." as the last; byte order marks before them go.
func (c chunk) split() (chunks []chunk) {
	start, at := 0, c.place
	cut := func(end int) {
		text := c.text[start:end]
		chunks = append(chunks, chunk{strings.TrimPrefix(text, byteOrderMark), at})
		start, at = end, place{at.line + breaks(text), 1}
	}
	prologue, directive := true, false // of the current chunk: no content yet; a directive, which needs its "---"
	for pos, line := range lines(c.text) {
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
	return append(chunks, chunk{strings.TrimPrefix(c.text[start:], byteOrderMark), at})
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

// contentIn returns where the first line with more than a comment, a directive or "---" begins; -1 if there is none.
func contentIn(text string) int {
	for pos, line := range lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' && line[0] != '%' && line != "---" {
			return pos
		}
	}
	return -1
}

// breaks counts the line breaks of YAML 1.1.
func breaks(text string) int32 {
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

// Mark is what a comment of the command's own begins with.
const Mark = "capkit:"

// nearlyMark matches what is written instead of it.
var nearlyMark = regexp.MustCompile(`(?i)capkit[ \t:_-]*ignore`)

// hasMark reports whether a text has a [Mark], or what is written instead.
func hasMark(text string) bool {
	return strings.Contains(text, Mark) ||
		(strings.Contains(text, "apkit") || strings.Contains(text, "APKIT")) && nearlyMark.MatchString(text)
}

// Text is a document as it is written: what is between two of its markers, the first one included.
type Text struct {
	File string
	// Line is how many lines of the file come before it.
	Line int
	Text string
}

// Marked returns the documents of a text with a [Mark], or with what is written instead, as [Read] does with a file of that name.
func Marked(name, text string) []Text { return chunk{text, place{1, 1}}.marked(name) }

func (c chunk) marked(name string) (texts []Text) {
	if !hasMark(c.text) {
		return nil
	}
	for _, c := range c.split() {
		if hasMark(c.text) {
			texts = append(texts, Text{name, int(c.line) - 1, c.text})
		}
	}
	return texts
}
