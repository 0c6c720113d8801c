// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/pkg/fieldpath"
)

// Fault is a reason why a file cannot be changed as it should be.
type Fault struct {
	// Line and Column of what is in the way, counted from 1.
	Line, Column int
	// Message says what that is, and what would help.
	Message string
}

// Error returns the message with its line.
func (f *Fault) Error() string { return fmt.Sprintf("line %d: %s", f.Line, f.Message) }

const byteOrderMark = "\ufeff"

// Change is what is to change in an object.
type Change struct {
	// Line and Column, counted from 1, are where its content begins: that of an entry of a List behind the dash.
	Line, Column int
	Ops          []Op
}

// Apply returns the text of a file with changes of its objects. Each of them begins a document, or is an entry of a List. Lines that
// are not concerned stay as they are, and comments stay with their lines. The error is a [Fault] if there is something in the way
// that can be told: an alias or a merge key by which a changed value is used elsewhere as well, or comes from elsewhere; a comment
// within brackets that change. Any other error is about a text that cannot be read, or changes that exclude each other.
//
// The result is written to say what [Result] says, but it is not read again: the caller has to do that, and to use nothing that
// says anything else.
func Apply(text string, changes []Change) (changed string, err error) {
	defer func() {
		if r := recover(); r != nil {
			fault, is := r.(*Fault)
			if !is {
				panic(r)
			}
			changed, err = text, fault
		}
	}()
	body, marked := strings.CutPrefix(text, byteOrderMark)
	ended := strings.HasSuffix(body, "\n") || strings.HasSuffix(body, "\r")
	if !ended {
		body += "\n"
	}
	if body, err = apply(body, changes); err != nil {
		return text, err
	}
	if !ended {
		body = strings.TrimSuffix(strings.TrimSuffix(body, "\n"), "\r")
	}
	if marked {
		body = byteOrderMark + body
	}
	return body, nil
}

// apply does so for a text that ends with a line break.
func apply(text string, changes []Change) (string, error) {
	e := &editor{file: newFile(text), edits: map[*yaml.Node]*edits{}, owners: map[int]*block{}, kept: map[*yaml.Node]bool{}}
	documents := map[int]*block{} // by the line in which they begin
	for _, c := range changes {
		from, to := e.document(c.Line - 1)
		if documents[from] == nil {
			document, err := e.read(from, to)
			if err != nil {
				return "", err
			}
			documents[from] = document
		}
		object, found := pathTo(documents[from].value, c.Line, c.Column)
		if !found {
			return "", fmt.Errorf("there is no object in line %d, column %d", c.Line, c.Column)
		}
		for _, op := range c.Ops {
			e.prepare(documents[from], object, op)
		}
	}
	e.settle()
	return e.changed(documents)
}

// changed returns the text as it is to be.
func (e *editor) changed(documents map[int]*block) (string, error) {
	var b strings.Builder
	at := 0
	for _, from := range slices.Sorted(maps.Keys(documents)) {
		document := documents[from]
		value := document.value
		e.dash, e.step = 0, 0
		if e.learn(value); e.step <= 0 || e.step > 8 {
			e.step = 2
		}
		if inBlocks(value) {
			b.WriteString(e.text[at:e.begins[document.from]] + e.entries(document))
		} else {
			b.WriteString(e.text[at:e.start(value)] + e.inline(value) + e.text[e.end(value):e.begins[document.to]])
		}
		at = e.begins[document.to]
	}
	for _, n := range e.order {
		if c := e.edits[n]; !c.done && !c.empty() {
			e.clash = cmp.Or(e.clash, n)
		}
	}
	if e.clash != nil {
		return "", fmt.Errorf("line %d: two changes at one place", e.clash.Line)
	}
	return b.String() + e.text[at:], nil
}

// parse returns the documents of a stream that have content. The parser reports some errors by panicking.
func parse(text string) (documents []*yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the text confuses the parser")
		}
	}()
	for decoder := yaml.NewDecoder(strings.NewReader(text)); ; {
		document := &yaml.Node{}
		switch err := decoder.Decode(document); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err
		}
		if len(document.Content) > 0 {
			documents = append(documents, document)
		}
	}
}

// read returns what is in the lines of a document.
func (f *file) read(from, to int) (*block, error) {
	documents, err := parse(strings.Repeat("\n", from) + f.between(from, to)) // the lines before the document count, and no more
	if err != nil {
		return nil, err
	}
	if len(documents) != 1 {
		return nil, fmt.Errorf("line %d: there is no document", from+1)
	}
	f.seen = f.begins[from]
	f.look(documents[0], -1)
	f.lookUpTo(f.begins[to])
	value := documents[0].Content[0]
	line, _ := f.begin(value)
	return &block{value: value, from: line, line: line, to: to}, nil
}

// pathTo returns the path of the mapping that begins in a place.
func pathTo(n *yaml.Node, line, column int) (path fieldpath.Path, found bool) {
	if n.Kind == yaml.MappingNode && n.Line == line && n.Column == column {
		return nil, true
	}
	for i, child := range slices.Backward(n.Content) {
		if child.Line > line || child.Line == line && child.Column > column {
			continue
		}
		step := fieldpath.Segment{Index: i}
		if n.Kind == yaml.MappingNode {
			step = fieldpath.Segment{Name: n.Content[max(i-1, 0)].Value, Index: -1}
		}
		path, found = pathTo(child, line, column)
		return append(fieldpath.Path{step}, path...), found
	}
	return nil, false
}

// editor changes objects: it notes what is to become of their nodes, and writes them then.
type editor struct {
	*file
	edits map[*yaml.Node]*edits
	order []*yaml.Node // of the first operation on each
	clash *yaml.Node   // what should become two things
	// owners are the blocks that move, by line, and moving is the one that is written; kept are their values.
	owners map[int]*block
	moving *block
	kept   map[*yaml.Node]bool
	// dash is how much further to the right than its key a list stands, and step a mapping, by what a document has.
	dash, step int
}

// edits are what is to become of a value; the zero value: nothing, but something in it changes.
type edits struct {
	*spot
	// replaced is set for another value, and unwrapped for one that takes the place of what it is in. key is another key.
	replaced, unwrapped bool
	value               any
	key                 string
	// gone are the members or items that are deleted, and added those that are not there yet.
	gone  map[int]bool
	added []*addition
	// object is set if the value is an object as a whole.
	object bool
	// done is set once that is written.
	done bool
}

func (c *edits) empty() bool { return !c.replaced && !c.unwrapped && c.key == "" && len(c.gone)+len(c.added) == 0 }

// addition is a new member or item, before the one that has an index now.
type addition struct {
	index int
	Op
	takes map[string]taken
}

// taken is what a new value takes along.
type taken struct {
	*spot
	of Part
}

// spot is a value, and where it is.
type spot struct {
	node *yaml.Node
	// in is the mapping or list that it is in, and index which of the members or items; in is nil for a document.
	in    *yaml.Node
	index int
	// via are all values that it is in, and itself.
	via []*yaml.Node
	// block is what it is in block style, or what the brackets are that it is in.
	block *block
}

// brackets returns the outermost brackets that a value is, or is in, where it moves to; nil if there are none.
func (e *editor) brackets(s *spot) (outer *yaml.Node) {
	for _, n := range s.via {
		if inBrackets(n) && (outer == nil || e.kept[n]) {
			outer = n
		}
	}
	return outer
}

func inBrackets(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && n.Style&yaml.FlowStyle != 0
}

func inBlocks(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && n.Style&yaml.FlowStyle == 0
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

// entriesOf returns the members or items of a value: the nodes of each.
func entriesOf(n *yaml.Node) [][]*yaml.Node {
	if n.Kind == yaml.MappingNode {
		return slices.Collect(slices.Chunk(n.Content, 2))
	}
	return slices.Collect(slices.Chunk(n.Content, 1))
}

// locate returns the value at a path of a document.
func (e *editor) locate(document *block, path fieldpath.Path) *spot {
	s := &spot{node: document.value, block: document, via: []*yaml.Node{document.value}}
	for _, step := range path {
		e.refuseShared(s.node)
		in := s.node
		s.in, s.index = in, step.Index
		if in.Kind == yaml.MappingNode {
			if s.index = indexOf(in, step.Name); s.index < 0 {
				refuseMerged(in, step.Name)
			}
			s.node = in.Content[2*s.index+1]
		} else {
			if s.index < 0 || in.Kind != yaml.SequenceNode || s.index >= len(in.Content) {
				refuse(in, "what has to change is not here")
			}
			s.node = in.Content[s.index]
		}
		s.via = append(s.via, s.node)
		if !inBrackets(in) {
			s.block = e.inner(s.block)[s.index]
		}
	}
	return s
}

// edit returns the edits of a value, and marks what it is in.
func (e *editor) edit(s *spot) *edits {
	for _, n := range s.via {
		if e.edits[n] == nil {
			e.edits[n] = &edits{gone: map[int]bool{}}
			e.order = append(e.order, n)
		}
	}
	e.edits[s.node].spot = s
	return e.edits[s.node]
}

// prepare notes an operation on the object at a path of a document.
func (e *editor) prepare(document *block, object fieldpath.Path, op Op) {
	at := slices.Concat(object, op.at)
	if len(op.at) == 0 {
		refuse(e.locate(document, at).node, "an object cannot be replaced as a whole")
	}
	in := e.locate(document, at[:len(at)-1])
	if op.kind == inserting {
		e.prepareInsert(document, object, in, op)
		return
	}
	s := e.locate(document, at)
	switch op.kind {
	case replacing:
		e.prepareReplace(s, op.value)
	case renaming:
		e.refuseShared(s.in.Content[2*s.index])
		e.edit(s).key = op.key
	case unwrapping:
		e.refuseShared(s.in)
		e.refuseShared(s.node)
		if len(s.in.Content) != 2 {
			refuse(s.in, "there is more in this mapping than what is to take its place")
		}
		if inBrackets(s.in) {
			e.refuseComment(e.start(s.in), e.start(s.node))
			e.refuseComment(e.end(s.node), e.end(s.in))
		}
		e.edit(s).unwrapped = true
	case deleting:
		if s.block.value == s.node {
			e.refuseExplicit(s.block)
		}
		c := e.edit(in)
		c.gone[s.index], c.object = true, len(op.at) == 1
	}
}

func (e *editor) prepareReplace(s *spot, value any) {
	n := s.node
	e.refuseShared(n)
	e.refuseAnchors(n)
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		refuse(n, "a value of several lines would have to become another one; write it anew")
	case isMissing(n) && inBrackets(s.in):
		refuse(n, "a value is missing that has to change; write it")
	case !inBlocks(n):
		e.refuseComment(e.start(n), e.end(n))
	}
	c := e.edit(s)
	if c.replaced {
		e.clash = n
	}
	c.replaced, c.value = true, value
}

// isMissing reports whether a member or item has no value.
func isMissing(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == "" }

func (e *editor) prepareInsert(document *block, object fieldpath.Path, in *spot, op Op) {
	n, last := in.node, op.at[len(op.at)-1]
	e.refuseShared(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null", inBrackets(n) && len(n.Content) == 0:
		var value any = []any{op.value}
		if !last.IsIndex() {
			value = map[string]any{last.Name: op.value}
		}
		e.prepareReplace(in, value)
		return
	case n.Kind == yaml.ScalarNode, n.Kind == yaml.MappingNode == last.IsIndex():
		refuse(n, "something has to be added to this value, which has no place for it")
	}
	count := len(entriesOf(n))
	a := &addition{Op: op, index: min(last.Index, count), takes: map[string]taken{}}
	if n.Kind == yaml.MappingNode {
		first := slices.IndexFunc(entriesOf(n), func(entry []*yaml.Node) bool { return slices.Contains(op.before, entry[0].Value) })
		if a.index = first; first <= 0 {
			a.index = count
		}
	}
	for to, from := range op.takes {
		a.takes[to] = taken{e.locate(document, slices.Concat(object, from.At)), from.Part}
	}
	c := e.edit(in)
	c.added = append(c.added, a)
}

// settle notes what moves, empties what everything goes of, and refuses to remove what is used elsewhere.
func (e *editor) settle() {
	for _, n := range e.order {
		for _, a := range e.edits[n].added {
			for _, t := range a.takes {
				e.settleTaken(t)
			}
		}
	}
	for _, n := range e.order {
		c, entries := e.edits[n], entriesOf(n)
		if len(c.gone)+len(c.added) == 0 {
			continue
		}
		if outer := e.brackets(c.spot); outer != nil {
			e.refuseComment(e.start(outer), e.end(outer))
		}
		for _, i := range slices.Sorted(maps.Keys(c.gone)) {
			e.refuseAnchors(entries[i][len(entries[i])-1])
		}
		switch {
		case len(c.gone) < len(entries) || len(c.added) > 0:
			continue
		case c.object:
			refuse(n, "nothing would be left of this object; remove it")
		case n.Kind == yaml.MappingNode:
			c.value = map[string]any{}
		default:
			c.value = []any{}
		}
		c.gone, c.replaced = nil, true
	}
}

// settleTaken notes the lines that move.
func (e *editor) settleTaken(t taken) {
	b := t.block
	to := e.endOfMoving(b)
	switch {
	case t.of == Key && e.keyAlone(t):
		to = b.line + 1
		b = &block{from: b.from, to: to}
	case t.of != Whole:
		return
	default:
		e.kept[t.node] = b.key != nil || t.node.Anchor == ""
		if inBrackets(t.in) {
			return
		}
	}
	for i := b.from; i < to; i++ {
		if owner := e.owners[i]; owner == nil || owner.from <= b.from && to <= owner.to {
			e.owners[i] = b
		}
	}
}

// refuse ends the work with a fault at a node.
func refuse(n *yaml.Node, message string) {
	panic(&Fault{Line: n.Line, Column: n.Column, Message: message})
}

// refuseShared refuses to change something in a value that is used elsewhere as well.
func (e *editor) refuseShared(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		refuse(n, "an alias (*"+n.Value+") stands for what has to change; write the value here instead")
	case e.aliased[n]:
		refuse(n, "what has to change is used by an alias (*"+n.Anchor+") as well; write the value there instead of the alias")
	}
}

// refuseAnchors refuses to remove aliases, and what they stand for, in a value, but for what moves.
func (e *editor) refuseAnchors(n *yaml.Node) {
	if e.kept[n] {
		return
	}
	e.refuseShared(n)
	for _, child := range n.Content {
		e.refuseAnchors(child)
	}
}

// refuseMerged refuses to change a member that a mapping has from elsewhere.
func refuseMerged(n *yaml.Node, name string) {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() == "!!merge" {
			refuse(n.Content[i], "the member "+name+", which has to change, comes from a merge key (<<); write it here instead")
		}
	}
	refuse(n, "the member "+name+", which has to change, is not here")
}

// refuseExplicit refuses to change a member whose key is marked by a question mark.
func (e *editor) refuseExplicit(b *block) {
	if b.key != nil && strings.HasPrefix(e.text[e.offset(b.line, b.column):], "? ") {
		refuse(b.key, "a key behind a question mark has to change; write it as "+b.key.Value+": with its value")
	}
}

// refuseComment refuses to write anew what has a comment in it.
func (e *editor) refuseComment(from, to int) {
	line, begins := slices.BinarySearch(e.begins, from)
	if !begins {
		line--
	}
	for ; e.begins[line] < to; line++ {
		column, there := e.comments[line]
		if at := e.begins[line] + column; there && at >= from && at < to {
			panic(&Fault{Line: line + 1, Column: 1 + column, Message: "the brackets around this comment have to change; move the comment out of them"})
		}
	}
}
