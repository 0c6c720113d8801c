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

// source is one input while it is read, with what was found in it.
type source struct {
	name string
	Input
	// group is that of Read if the input is of a folder.
	group  string
	unread Unread
	memory *Memory

	// part is what is being parsed, and list what the List says of itself that an item is of.
	part cut.Part
	list Identity
	// noList is set if something was read item by item that is no List.
	noList bool

	expanded int // what is left of maxExpanded
	searched int // what is left of maxSearched
}

func newSource(name string, m *Memory) *source {
	if m != nil { // it is read anew
		m.known, m.before = map[itemText]parsedItem{}, m.known
	}
	return &source{name: name, memory: m, expanded: maxExpanded, searched: maxSearched}
}

// Parse reads the manifests in a text as [Load] does with a file of that name. The memory is that of the file; it may be nil.
func Parse(name, text string, m *Memory) Input {
	s := newSource(name, m)
	cut.Documents(text, s.takePart)
	return s.Input
}

// takePart takes over a part of the input.
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

// listOf returns what the beginning of a List says about it.
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

// judge sorts the problems of a document, and drops what it has brought if it is of a folder and no manifest: the objects and
// problems from the given indices on.
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

// take takes over the objects of a document, and the faults found when it was read. Only repeated keys leave a document
// usable. The items of Lists are limited in number if the document is one with aliases.
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

// spend takes bytes from the budget for aliases, and reports whether it has as many.
func (s *source) spend(bytes int) bool {
	s.expanded -= bytes
	return s.expanded >= 0
}

// parts estimates from above how many values a document holds, text in block scalars aside.
func parts(text string) (n int) {
	for _, before := range []string{",", "[", "{", "\n", "\r", ": ", "- ", "? "} {
		n += strings.Count(text, before)
	}
	return n
}

// Mark is what a comment of the command's own begins with.
const Mark = "capkit:"

// marks matches a [Mark], and what is written instead of it.
var marks = regexp.MustCompile(Mark + `|(?i:capkit[ \t:_-]*ignore)`)

// hasMark reports whether a text has a [Mark], or what is written instead. It is quick where there is none.
func hasMark(text string) bool {
	return (strings.Contains(text, "apkit") || strings.Contains(text, "APKIT")) && marks.MatchString(text)
}

// Text is a document as it is written: what is between two of its markers, the first one included.
type Text struct {
	File string
	// Line is how many lines of the file come before it.
	Line int
	Text string
}

// mark adds a document, or a part of it, if it is marked.
func (s *source) mark(c cut.Chunk) {
	if hasMark(c.Text) {
		s.Marked = append(s.Marked, Text{s.name, int(c.Line) - 1, c.Text})
	}
}
