// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
)

const (
	maxParts    = 4_000_000 // keys, values and items of one document, estimated before parsing
	maxExpanded = 16 << 20  // bytes of JSON that the aliases of one input expand to
	maxSearched = 512 << 10 // bytes of one input's documents whose syntax errors are located exactly
	maxDepth    = 200       // of lists and mappings in each other; the outermost is at depth 1
	aliasCost   = 64        // bytes that each alias, and each member that a merge key brings in, takes from maxExpanded
	itemCost    = 64        // bytes that each item of a List takes from it, in a document with aliases
)

// source is an input that is being read, with its results so far.
type source struct {
	name string
	Input
	// group is the group of Read if the input is in a folder.
	group  string
	unread Unread
	memory *Memory

	// part is the part being parsed, and list identifies the List that an item belongs to.
	part cut.Part
	list Identity
	// noList is set if an input was read item by item but is not a List.
	noList bool

	expanded int // what is left of maxExpanded
	searched int // what is left of maxSearched
}

func newSource(name string, m *Memory) *source {
	if m != nil { // another pass
		m.known, m.before = map[itemText]parsedItem{}, m.known
	}
	return &source{name: name, memory: m, expanded: maxExpanded, searched: maxSearched}
}

// Parse reads the manifests in a text as [Load] reads a file with this name. m is the memory of this file, or nil.
func Parse(name, text string, m *Memory) Input {
	s := newSource(name, m)
	cut.Documents(text, s.takePart)
	return s.Input
}

// takePart parses a part of the input.
func (s *source) takePart(p cut.Part, c cut.Chunk) {
	if p != cut.Frame {
		s.mark(c)
	}
	switch p {
	case cut.Head:
		s.list = listOf(c)
	case cut.Tail:
	default:
		s.part = p
		s.parse(c)
	}
	if p == cut.Frame {
		s.list = Identity{}
	}
}

// listOf returns the identity at the beginning of a List.
func listOf(c cut.Chunk) Identity {
	s := newSource("", nil)
	s.part = cut.Frame
	s.parse(c)
	return s.list
}

// parse reads a document, an item of a List, or a List without its items.
func (s *source) parse(c cut.Chunk) {
	objects, first := len(s.Objects), len(s.Problems)
	if s.part != cut.Frame && parts(c.Text) > maxParts {
		s.fault(&fault{at: cut.Place{Line: c.Line, Column: 1}, rule: RuleTooLarge, message: "the document has too many keys, values and items to be read"}, Identity{})
	} else if !s.parseJSON(c) {
		s.parseYAML(c)
	}
	s.judge(c, objects, first)
}

// judge sorts the problems of a document. If the document is in a folder and no manifest, judge drops its objects and problems, from the
// given indices on.
func (s *source) judge(c cut.Chunk, objects, problems int) {
	found := s.Problems[problems:]
	slices.SortStableFunc(found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if s.group != "" {
		s.leaveOut(c, objects, problems)
	} else if len(found) > 0 && found[0].Rule == RuleSyntax && strings.Contains(c.Text, "{{") {
		found[0].Message += "; {{ }} looks like a template: render it, and check the result"
	}
}

// take adds the objects of a document, and the faults from reading it. A document with faults other than repeated keys is not usable.
// limited bounds the items of Lists, for a document with aliases.
func (s *source) take(n *node, faults []*fault, limited bool) {
	who, usable := n.identify(), true
	for _, f := range faults {
		s.fault(f, who)
		usable = usable && f.rule == RuleDuplicateKey
	}
	switch {
	case !usable || n.json == "null" && s.part != cut.Item:
	case s.part == cut.Frame:
		s.list = who
		items, isList := n.items(who)
		s.noList = s.noList || !isList || who.APIVersion == "" || n.member("items") == nil || len(items) > 0
	default:
		if f := s.object(n, s.list, limited); f != nil {
			s.fault(f, who)
		}
	}
}

// object adds one object, or the items of a List. In a typed List, as API servers send it, an item without apiVersion and kind has those
// of the list. A returned fault ends the document.
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
			return &fault{at: item.at, rule: RuleTooLarge, message: expandsTooFar}
		}
		if f := s.object(item, who, limited); f != nil {
			return f
		}
	}
	return nil
}

func (s *source) fault(f *fault, who Identity) {
	s.Problems = append(s.Problems, Problem{Identity: who, File: s.name,
		Line: int(f.at.Line), Column: int(f.at.Column), Rule: f.rule, Message: f.message, Hidden: f.hidden})
}

// spend takes bytes from the budget for aliases, and reports whether it sufficed.
func (s *source) spend(bytes int) bool {
	s.expanded -= bytes
	return s.expanded >= 0
}

// parts returns an upper bound of the values in a document. It may count delimiters in text.
func parts(text string) (n int) {
	for _, before := range []string{",", "[", "{", "\n", "\r", ": ", "- ", "? "} {
		n += strings.Count(text, before)
	}
	return n
}

// Mark is the beginning of comments for the command.
const Mark = "capkit:"

// marks matches a [Mark], and misspellings of it.
var marks = regexp.MustCompile(Mark + `|(?i:capkit[ \t:_-]*ignore)`)

// hasMark reports whether a text has a [Mark] or a misspelling. It is fast for texts without one.
func hasMark(text string) bool {
	return (strings.Contains(text, "apkit") || strings.Contains(text, "APKIT")) && marks.MatchString(text)
}

// Text is the text of a document, from its first marker to the next.
type Text struct {
	File string
	// Line is the number of lines before it in the file.
	Line int
	Text string
}

// mark adds a document, or a part of it, to Marked if it has a mark.
func (s *source) mark(c cut.Chunk) {
	if hasMark(c.Text) {
		s.Marked = append(s.Marked, Text{s.name, int(c.Line) - 1, c.Text})
	}
}
