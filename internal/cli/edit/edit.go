// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/capkit/capkit/internal/strictyaml"
)

const byteOrderMark = "\ufeff"

// Change is a change of one object.
type Change struct {
	// Line and Column, counted from 1, are the position of the object's content in an editor; of an entry of a List, after the dash.
	Line, Column int
	Ops          []Op
}

// Apply returns the text of a file after changes to its objects. Each object begins a document or is an entry of a
// List. Lines without changes stay as they are, and comments stay with their lines. The error is a [Fault] if the
// text prevents a change: an alias or a merge key shares a changed value with other places, a comment is within
// brackets that change, or two changes concern one value. Other errors mean that the text cannot be parsed.
//
// The result should have the content of [Result], but Apply does not parse it again: the caller must do so, and
// discard a result with other content.
func Apply(text string, changes []Change) (changed string, err error) {
	lines := strictyaml.LinesOf(text)
	defer func() {
		if r := recover(); r != nil {
			fault, is := r.(*Fault)
			if !is {
				panic(r)
			}
			fault.Line, fault.Column = lines.Editor(fault.Line, fault.Column)
			changed, err = text, fault
		}
	}()
	body, marked := strings.CutPrefix(text, byteOrderMark)
	ended := strings.HasSuffix(body, "\n") || strings.HasSuffix(body, "\r")
	if !ended {
		body += lineBreakOf(body)
	}
	if body, err = apply(body, lines, changes); err != nil {
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

// apply applies changes to a text that ends with a line break, see [Apply].
func apply(text string, lines strictyaml.Lines, changes []Change) (string, error) {
	e := &editor{file: newFile(text), owners: map[int]*item{}, bare: map[*yaml.Node]bool{}}
	documents := map[int]*item{} // by their first line
	for _, c := range changes {
		line, column := lines.Parser(c.Line, c.Column)
		from, to := e.document(line - 1)
		if documents[from] == nil {
			document, err := e.read(from, to)
			if err != nil {
				return "", err
			}
			documents[from] = document
		}
		object := e.objectAt(documents[from], line, column)
		if object == nil {
			return "", fmt.Errorf("there is no object in line %d, column %d", c.Line, c.Column)
		}
		for _, op := range c.Ops {
			e.prepare(object, op)
		}
	}
	var b strings.Builder
	at := 0
	for _, from := range slices.Sorted(maps.Keys(documents)) {
		document := documents[from]
		e.settle(document)
		b.WriteString(e.span(at, e.begins[document.from]) + e.content(document))
		at = e.begins[document.to]
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

// read parses the document in a range of lines.
func (f *file) read(from, to int) (*item, error) {
	documents, err := parse(strings.Repeat("\n", from) + f.between(from, to)) // only the number of the preceding lines matters
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
	return &item{value: value, from: line, line: line, to: to}, nil
}
