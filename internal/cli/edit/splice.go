// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// splice is text that takes the place of what is from an offset up to another one.
type splice struct {
	from, to int
	text     string
	// depth is how far what is added is in others, which ends before what these get.
	depth int
}

// spliced returns the text with all splices. What is said twice is done once.
func (e *editor) spliced() (string, error) {
	slices.SortStableFunc(e.splices, func(a, b splice) int { return cmp.Or(a.from-b.from, a.to-b.to, b.depth-a.depth) })
	var b strings.Builder
	at := 0
	for i, s := range e.splices {
		if i > 0 && s == e.splices[i-1] && s.from < s.to {
			continue
		}
		if s.from < at {
			return "", fmt.Errorf("line %d: two changes at one place", 1+strings.Count(e.text[:s.from], "\n"))
		}
		b.WriteString(e.text[at:s.from] + s.text)
		at = s.to
	}
	return b.String() + e.text[at:], nil
}

func (e *editor) splice(from, to int, text string) {
	e.splices = append(e.splices, splice{from, to, text, e.depth})
}

// begin is the offset of a line in the text; that behind the last one is the end of the text.
func (e *editor) begin(line int) int {
	if line == len(e.lines) {
		return len(e.text)
	}
	return e.begins[line]
}

// place is the offset of where a node begins.
func (e *editor) place(n *yaml.Node) int { return e.begin(n.Line-1) + e.offset(n.Line-1, n.Column) }

// spot is a value, and where it is.
type spot struct {
	part
	// key is that of a member; nil for an item.
	key *yaml.Node
	// in is the mapping or list that it is in, and index which of the members or items; in has no node for an object.
	in    part
	index int
	// outer is the outermost value in brackets that it is, or is in; nil if there is none.
	outer *yaml.Node
}

func inBrackets(n *yaml.Node) bool { return n != nil && n.Style&yaml.FlowStyle != 0 }

func inBlocks(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && !inBrackets(n)
}

// locate returns the value at a path of an object.
func (e *editor) locate(object part, path fieldpath.Path) spot {
	s := spot{part: object}
	if inBrackets(object.node) {
		s.outer = object.node
	}
	for _, step := range path {
		e.refuseShared(s.node)
		in := s.part
		s = spot{in: in, index: step.Index, outer: s.outer}
		if in.node.Kind == yaml.MappingNode {
			s.index = indexOf(in.node, step.Name)
			if s.index < 0 {
				e.refuseMerged(in.node, step.Name)
			}
			s.key = in.node.Content[2*s.index]
		}
		if s.key == nil && (step.Index < 0 || in.node.Kind != yaml.SequenceNode || step.Index >= len(in.node.Content)) {
			refuse(in.node, "what has to change is not here")
		}
		if s.part = e.child(in, s.index); s.outer == nil && inBrackets(s.node) {
			s.outer = s.node
		}
	}
	return s
}

// indexOf returns which member of a mapping has a key; -1 if none has.
func indexOf(n *yaml.Node, key string) int {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return i / 2
		}
	}
	return -1
}

// child returns a member or an item with its lines, which are those of all around it if that is in brackets.
func (e *editor) child(in part, index int) part {
	switch {
	case inBrackets(in.node) && in.node.Kind == yaml.MappingNode:
		return part{in.node.Content[2*index+1], in.from, in.to}
	case inBrackets(in.node):
		return part{in.node.Content[index], in.from, in.to}
	}
	child := e.entries(in)[index]
	return part{child.value, child.valueFrom(), child.to}
}

// entries returns the members or items of a mapping or list in block style: those of a list have the place of their dash.
func (e *editor) entries(p part) []member {
	if entries, known := e.known[p.node]; known {
		return entries
	}
	var entries []member
	if p, _ = e.withoutTail(p, p.node.Column-1); p.node.Kind == yaml.MappingNode {
		entries = e.members(p)
	} else {
		for i, item := range e.items(p) {
			line := p.node.Line - 1
			if i > 0 {
				line = e.dashAbove(item.node, p.node.Column-1)
			}
			dash := &yaml.Node{Line: line + 1, Column: p.node.Column}
			entries = append(entries, member{part: item, key: dash, value: item.node, line: line})
		}
	}
	e.known[p.node] = entries
	return entries
}

// refuseShared refuses to change something in a value that is used elsewhere as well.
func (e *editor) refuseShared(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		refuse(n, "an alias (*"+n.Value+") stands for what has to change; write the value here instead")
	case n.Anchor != "" && e.aliased[n]:
		e.refuseUsed(n)
	}
}

// apply makes the splices of an operation, but for what is added and what goes, which is noted.
func (e *editor) apply(object part, says any, op Op) {
	if op.kind == inserting {
		in := e.locate(object, op.at[:len(op.at)-1])
		e.refuseShared(in.node)
		e.added = append(e.added, addition{in, object.node, op})
		return
	}
	s := e.locate(object, op.at)
	if s.in.node == nil {
		refuse(s.node, "an object cannot be replaced as a whole")
	}
	switch op.kind {
	case replacing:
		e.replace(s, op.value)
	case renaming:
		e.rename(s.key, op.key)
	case unwrapping:
		e.unwrap(s)
	case deleting:
		if e.gone[s.in.node] == nil {
			in := op.at[:len(op.at)-1]
			e.gone[s.in.node] = map[int]bool{}
			e.shrinking = append(e.shrinking, shrinking{spot: e.locate(object, in), object: object.node, at: in, says: Value(says, in)})
		}
		e.gone[s.in.node][s.index] = true
	}
}

// extent returns where a scalar or a value in brackets begins and ends.
func (e *editor) extent(n *yaml.Node) (from, to int) {
	last, stop := e.end(n)
	return e.place(n), e.begin(last) + stop
}

// bare is where a line ends without its comment, and the space before it.
func (e *editor) bare(line int) int {
	return len(strings.TrimRight(strings.TrimSuffix(e.content(line), e.comment(line)), " \t"))
}

// replace writes another value. What is in block style, and is no scalar, goes with its lines, except for comments.
func (e *editor) replace(s spot, value any) {
	n := s.node
	e.refuseShared(n)
	e.refuseAnchors(n)
	if inBlocks(n) {
		e.replaceLines(s, value)
		return
	}
	from, to := e.extent(n)
	text := e.text[from:to]
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		refuse(n, "a value of several lines would have to become another one; write it anew")
	case n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "":
		e.complete(s, value)
		return
	case n.Anchor != "":
		from += len(text) - len(strings.TrimLeft(text[strings.IndexAny(text+" ", " \t"):], " \t"))
	}
	e.refuseComment(from, to)
	e.splice(from, to, fresh(value, style{quoted: n.Style&yaml.DoubleQuotedStyle != 0 || e.quotes(n)}))
}

// refuseComment refuses to write anew what has a comment in it.
func (e *editor) refuseComment(from, to int) {
	if !strings.Contains(e.text[from:to], "#") {
		return
	}
	for i, begin := range e.begins {
		if c := e.comment(i); c != "" && begin < to && begin+len(e.lines[i]) > from {
			if at := strings.Index(e.lines[i], c); begin+at >= from && begin+at < to {
				panic(&Fault{Line: i + 1, Column: 1 + at, Message: "the brackets around this comment have to change; move the comment out of them"})
			}
		}
	}
}

// quotes reports whether a value is written as JSON is: by the first key of a mapping in brackets, and by any text of a list.
func (e *editor) quotes(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.MappingNode && len(n.Content) > 0:
		return e.quotes(n.Content[0])
	case n.Kind == yaml.SequenceNode:
		return slices.ContainsFunc(n.Content, e.quotedIn)
	}
	return n.Style&yaml.DoubleQuotedStyle != 0 && n.Kind == yaml.ScalarNode
}

func (e *editor) quotedIn(n *yaml.Node) bool {
	return e.quotes(n) || slices.ContainsFunc(n.Content, e.quotedIn)
}

// complete gives a member or an item in block style that has no value one.
func (e *editor) complete(s spot, value any) {
	if inBrackets(s.in.node) {
		refuse(s.node, "a value is missing that has to change; write it")
	}
	entry := e.entries(s.in)[s.index]
	if below := e.below(value, entry.key.Column-1); below != nil && s.key != nil {
		e.splice(e.begin(entry.line+1), e.begin(entry.line+1), strings.Join(below, ""))
		return
	}
	at := e.offset(entry.line, entry.key.Column) + 1
	if s.key != nil {
		_, at = e.end(s.key)
		at += strings.Index(e.lines[entry.line][at:], ":") + 1
	}
	e.splice(e.begin(entry.line)+at, e.begin(entry.line)+at, " "+fresh(value, style{}))
}

// replaceLines replaces a value in block style.
func (e *editor) replaceLines(s spot, value any) {
	entry := e.entries(s.in)[s.index]
	own, _ := e.withoutTail(s.part, entry.key.Column)
	from := entry.line
	if entry.valueFrom() > from {
		from++
	}
	above := e.begin(entry.line)
	e.splice(above, above, e.orphansOf(from, own.to, entry.key.Column-1))
	switch below := e.below(value, entry.key.Column-1); {
	case from == entry.line: // beside a dash
		e.splice(e.place(s.node), e.begin(own.to), fresh(value, style{})+e.eol)
	case below != nil && s.key != nil:
		e.splice(e.begin(from), e.begin(own.to), strings.Join(below, ""))
	default:
		at := e.begin(entry.line) + e.bare(entry.line)
		e.splice(at, at, " "+fresh(value, style{}))
		e.splice(e.begin(from), e.begin(own.to), "")
	}
}

// orphansOf returns the comments in lines, each in a line of its own, except for those that stand elsewhere by now.
func (e *editor) orphansOf(from, to, indent int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		if c := e.comment(i); c != "" && !e.carried[i] {
			b.WriteString(strings.Repeat(" ", indent) + c + e.eol)
		}
	}
	return b.String()
}

// rename writes another key, in quotes if this one is.
func (e *editor) rename(key *yaml.Node, name string) {
	e.refuseShared(key)
	from, to := e.extent(key)
	e.splice(from, to, style{quoted: key.Style&yaml.DoubleQuotedStyle != 0}.key(name))
}

// unwrap puts a value in the place of the mapping that it is in.
func (e *editor) unwrap(s spot) {
	e.refuseShared(s.in.node)
	e.refuseShared(s.node)
	switch {
	case len(s.in.node.Content) != 2:
		refuse(s.in.node, "there is more in this mapping than what is to take its place")
	case inBrackets(s.in.node):
		from, to := e.extent(s.in.node)
		begin, end := e.extent(s.node)
		e.refuseComment(from, begin)
		e.refuseComment(end, to)
		e.splice(from, begin, "")
		e.splice(end, to, "")
	case inBlocks(s.node):
		e.unwrapLines(s)
	default:
		from, to := e.extent(s.node)
		text := e.text[from:to]
		if inBrackets(s.node) && s.node.Kind == yaml.MappingNode && len(s.node.Content) > 0 {
			text = e.withoutBrackets(s.node, s.in.node.Column-1)
		}
		e.splice(e.place(s.key), to, text)
	}
}

// withoutBrackets returns the members of a mapping in brackets as they stand in block style in a column, the first without indentation.
func (e *editor) withoutBrackets(n *yaml.Node, column int) string {
	var members []string
	for pair := range slices.Chunk(n.Content, 2) {
		from, _ := e.extent(pair[0])
		_, to := e.extent(pair[1])
		members = append(members, e.text[from:to])
	}
	return strings.Join(members, e.eol+strings.Repeat(" ", column))
}

// unwrapLines does so for a value in block style: its lines move to the left, and comments above its first line to above its mapping.
func (e *editor) unwrapLines(s spot) {
	entry := e.entries(s.in)[0]
	first := e.entries(s.part)[0]
	by := first.key.Column - entry.key.Column
	e.splice(e.begin(entry.line), e.begin(entry.line), e.orphansOf(entry.line, first.line, e.indent(entry.line)))
	e.splice(e.place(entry.key), e.place(first.key), "")
	for i := first.line + 1; i < s.to; i++ {
		if strip := min(by, e.indent(i)); strip > 0 && !e.blank(i) {
			e.splice(e.begin(i), e.begin(i)+strip, "")
		}
	}
}
