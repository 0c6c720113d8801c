// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
)

// parseJSON reads a chunk of one or several JSON documents. If the chunk contains anything else, it may be YAML, and parseJSON returns
// false without effect. In a .json file, a chunk that begins like JSON is always JSON.
func (s *source) parseJSON(c cut.Chunk) bool {
	body := strings.TrimLeft(c.Text, " \t\r\n")
	if body == "" || body[0] != '{' && body[0] != '[' || !utf8.ValidString(body) {
		return false
	}
	r := newJSONReader(strings.NewReader(c.Text), c.Place)
	objects, problems := len(s.Objects), len(s.Problems)
	for {
		begin, at := r.InputOffset(), r.at
		n, err := r.document()
		switch {
		case err == nil:
			s.take(n, r.faults, false)
			continue
		case errors.Is(err, io.EOF):
			return true
		case filepath.Ext(s.name) != ".json":
			s.Objects, s.Problems = s.Objects[:objects], s.Problems[:problems]
			return false
		}
		s.fault(syntaxFaultInJSON(c.Text[begin:], at, err), Identity{})
		return true
	}
}

// jsonReader reads a stream of JSON documents.
type jsonReader struct {
	*jsontext.Decoder
	at     cut.Place // after the text that was read
	faults faults    // of the document
	// item reads an item of a document that may be a List; it gets the members before the items. If it is nil, items are read like all
	// values.
	item func(list *node) error
	// itemwise is set if item was called for the document.
	itemwise bool
}

func newJSONReader(from io.Reader, at cut.Place) *jsonReader {
	return &jsonReader{Decoder: jsontext.NewDecoder(from, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), at: at}
}

// document reads the next document.
func (r *jsonReader) document() (*node, error) {
	r.faults, r.itemwise = nil, false
	return r.value(1)
}

// raw reads the next value as text, or only a delimiter if delimiters is set.
func (r *jsonReader) raw(delimiters bool) (c cut.Chunk, err error) {
	kind := r.PeekKind()
	rest := r.UnreadBuffer()
	blanks := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
	r.at.Advance(string(rest[:blanks]))
	c.Place = r.at
	if delimiters && strings.ContainsRune("{}[]", rune(kind)) {
		_, err = r.ReadToken()
		c.Text = string(rune(kind))
	} else {
		var value jsontext.Value
		value, err = r.ReadValue()
		c.Text = string(value)
	}
	r.at.Advance(c.Text)
	return c, err
}

// next reads the next delimiter or scalar.
func (r *jsonReader) next() (*node, error) {
	c, err := r.raw(true)
	return &node{at: c.Place, content: c.Place, json: c.Text}, err
}

// value reads a document, an item, or the value of a member, at a depth.
func (r *jsonReader) value(depth int) (*node, error) {
	if depth > maxDepth {
		c, err := r.raw(false)
		r.faults.add(tooDeep(c.Place))
		return &node{at: c.Place, content: c.Place, json: "null"}, err
	}
	n, err := r.next()
	if err != nil || n.json != "{" && n.json != "[" {
		return n, err
	}
	for next := r.PeekKind(); next != '}' && next != ']'; next = r.PeekKind() {
		if n.json == "{" {
			err = r.member(n, depth+1)
		} else {
			var item *node
			item, err = r.value(depth + 1)
			n.nodes = append(n.nodes, item)
		}
		if err != nil {
			return nil, err
		}
	}
	if n.json == "{" {
		n.keepLast(valueOfMember, r.faults.add)
	}
	_, err = r.next()
	return n, err
}

// member reads a member of an object.
func (r *jsonReader) member(of *node, depth int) error {
	key, err := r.next()
	if err != nil {
		return err
	}
	var m *node
	if r.item != nil && depth == 2 && key.json == `"items"` && r.PeekKind() == '[' {
		m, err = r.items(of)
	} else {
		m, err = r.value(depth)
	}
	if err != nil {
		return err
	}
	m.key, m.at = key.text(), key.at
	of.nodes = append(of.nodes, m)
	return nil
}

// items calls r.item for the items of a document, and returns a list without them.
func (r *jsonReader) items(list *node) (*node, error) {
	n, err := r.next()
	for err == nil && r.PeekKind() != ']' {
		err, r.itemwise = r.item(list), true
	}
	if err == nil {
		_, err = r.next()
	}
	return n, err
}

// syntaxFaultInJSON returns the fault for an error in the document at the beginning of text. The decoder does not report the position in
// a stream well, so the document is parsed once more by itself.
func syntaxFaultInJSON(text string, at cut.Place, err error) *fault {
	message := err.Error()
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal([]byte(text), &raw), &syntax) {
		message = syntax.Error()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			message, text = "unexpected end of the input", strings.TrimRight(text, " \t\r\n")
		} else {
			text = text[:min(max(int(syntax.Offset)-1, 0), len(text))]
		}
		at.Advance(text)
	}
	return &fault{at: at, rule: RuleSyntax, message: "not valid JSON: " + message}
}
