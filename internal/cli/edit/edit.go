// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
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
	// Says is what it says, as JSON without aliases and merge keys.
	Says any
	Ops  []Op
}

// Apply returns the text of a file with changes of its objects. Each of them begins a document, or is an entry of a List. Lines that
// are not concerned stay as they are, and comments stay with their lines. The error is a [Fault] if there is something in the way
// that can be told: an alias or a merge key by which a changed value is used elsewhere as well, or comes from elsewhere; a comment
// within brackets that change. Any other error is about a text that cannot be read, or changes that exclude each other.
//
// The result is written to say what [Result] says, but it is not read again: the caller has to do that, and to use nothing that
// says anything else.
func Apply(text string, changes []Change) (string, error) { //nolint:gocognit // one step after the other
	return guarded(text, func(body string) (string, error) {
		e := &editor{
			file: newFile(body), carried: map[int]bool{}, whole: map[*yaml.Node]bool{}, known: map[*yaml.Node][]member{},
			gone: map[*yaml.Node]map[int]bool{},
		}
		read := map[int][]*yaml.Node{} // by the line in which a document begins
		for _, c := range changes {
			from, to := e.document(c.Line - 1)
			if read[from] == nil {
				documents, err := e.read(from, to)
				if err != nil {
					return "", err
				}
				read[from] = documents
				e.learn(documents)
			}
			object, err := e.objectAt(read[from], c.Line, c.Column)
			if err != nil {
				return "", err
			}
			for _, op := range c.Ops {
				e.apply(object, c.Says, op)
			}
		}
		for i := range e.shrinking {
			e.collectGone(&e.shrinking[i])
		}
		for _, a := range e.added {
			e.add(a)
		}
		for i := range e.shrinking {
			e.shrink(&e.shrinking[i])
		}
		return e.spliced()
	})
}

// guarded changes a text without its byte order mark, and with a line break at its end. A fault is an error.
func guarded(text string, change func(string) (string, error)) (changed string, err error) {
	body, mark := strings.CutPrefix(text, byteOrderMark)
	ended := body == "" || breakAfter(body[len(body)-1:]) == 1 && strings.ContainsAny(body[len(body)-1:], "\r\n")
	if !ended {
		body += "\n"
	}
	defer func() {
		var fault *Fault
		if r := recover(); r != nil {
			if fault, _ = r.(*Fault); fault == nil {
				panic(r)
			}
			changed, err = text, fault
		}
	}()
	if body, err = change(body); err != nil {
		return text, err
	}
	if !ended {
		body = strings.TrimSuffix(strings.TrimSuffix(body, "\n"), "\r")
	}
	if mark {
		body = byteOrderMark + body
	}
	return body, nil
}

// read returns the documents in some lines.
func (f *file) read(from, to int) ([]*yaml.Node, error) {
	// The lines before the document count, and no more.
	documents, err := parse(strings.Repeat("\n", from) + strings.Join(f.lines[from:to], ""))
	for _, document := range documents {
		f.settle(document)
		f.look(document, 0)
	}
	return documents, err
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

// editor writes objects anew.
type editor struct {
	*file
	// dash is how much further to the right than its key a list stands, and step a mapping, by what the file has.
	dash, step int
	// pool are the scopes in which what has moved is looked for, the innermost last.
	pool []*scope
	// carried are the lines whose text stands elsewhere by now, and whole the nodes that do so just as they are written.
	carried map[int]bool
	whole   map[*yaml.Node]bool

	splices []splice
	depth   int // of what is added
	known   map[*yaml.Node][]member
	added   []addition
	// gone are the indices of what is deleted from a mapping or list, and shrinking are these.
	gone      map[*yaml.Node]map[int]bool
	shrinking []shrinking
}

// learn looks how lists and mappings are indented.
func (e *editor) learn(documents []*yaml.Node) {
	e.dash, e.step = -1, -1
	for _, document := range documents {
		e.learnFrom(document)
	}
	if e.step <= 0 || e.step > 8 {
		e.step = 2
	}
	e.dash = max(e.dash, 0)
}

func (e *editor) learnFrom(n *yaml.Node) {
	for _, child := range n.Content {
		e.learnFrom(child)
	}
	if n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 {
		return
	}
	for pair := range slices.Chunk(n.Content, 2) {
		key, value := pair[0], pair[1]
		switch {
		case value.Line <= key.Line || value.Style&yaml.FlowStyle != 0:
		case value.Kind == yaml.MappingNode:
			e.step = max(e.step, value.Column-key.Column)
		case value.Kind == yaml.SequenceNode:
			e.dash = value.Column - key.Column
		}
	}
}

// objectAt returns the object that begins in a place.
func (e *editor) objectAt(documents []*yaml.Node, line, column int) (part, error) {
	for _, document := range documents {
		root := document.Content[0]
		_, end := e.document(root.Line - 1)
		p := part{node: root, from: root.Line - 1, to: end}
		if found, ok := e.find(p, line, column); ok {
			return found, nil
		}
	}
	return part{}, fmt.Errorf("there is no object in line %d, column %d", line, column)
}

// find finds the mapping that begins in a place.
func (e *editor) find(p part, line, column int) (part, bool) {
	n := p.node
	if n.Kind == yaml.MappingNode && (n.Line == line && n.Column == column || e.began[n] == [2]int{line, column}) {
		return p, true
	}
	var children []part
	switch {
	case n.Style&yaml.FlowStyle != 0:
		for _, child := range n.Content {
			last, _ := e.end(n)
			children = append(children, part{node: child, from: child.Line - 1, to: last + 1})
		}
	case n.Kind == yaml.MappingNode:
		for _, m := range e.members(p) {
			children = append(children, part{node: m.value, from: m.valueFrom(), to: m.to})
		}
	case n.Kind == yaml.SequenceNode:
		children = e.items(p)
	}
	for _, child := range children {
		if child.from > line-1 || child.to < line {
			continue
		}
		if found, ok := e.find(child, line, column); ok {
			return found, true
		}
	}
	return part{}, false
}

// refuse ends the work with a fault at a node.
func refuse(n *yaml.Node, message string) {
	panic(&Fault{Line: n.Line, Column: n.Column, Message: message})
}

// refuseUsed refuses to change what an alias refers to, at its anchor.
func (e *editor) refuseUsed(n *yaml.Node) {
	at := *n
	if began, above := e.began[n]; above {
		at.Line, at.Column = began[0], began[1]
	}
	refuse(&at, "what has to change is used by an alias (*"+n.Anchor+") as well; write the value there instead of the alias")
}
