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
)

// parseJSON reads a chunk of one or several JSON documents. It reports false, having done nothing, if there is anything
// else in the chunk, so that it may be YAML. In a .json file, whatever begins like JSON is JSON.
func (s *source) parseJSON(c chunk) bool {
	body := strings.TrimLeft(c.text, " \t\r\n")
	if body == "" || body[0] != '{' && body[0] != '[' || !utf8.ValidString(body) {
		return false
	}
	r := newJSONReader(c)
	objects, problems := len(s.Objects), len(s.Problems)
	for {
		r.faults = nil
		pos, at := r.pos, r.at
		document, err := r.value(1)
		var broken *fault
		switch {
		case err == nil:
			s.take(document, r.faults, false)
			continue
		case errors.Is(err, io.EOF):
			return true
		case !errors.As(err, &broken) && filepath.Ext(s.name) != ".json":
			s.Objects, s.Problems = s.Objects[:objects], s.Problems[:problems]
			return false
		case broken == nil:
			broken = syntaxFaultInJSON(c.text[pos:], at, err)
		}
		s.fault(broken, Identity{})
		return true
	}
}

// jsonReader reads a stream of JSON tokens.
type jsonReader struct {
	*jsontext.Decoder
	text string
	// pos is the end of the last token, in bytes, and at its place in the file.
	pos    int
	at     place
	faults []*fault
}

func newJSONReader(c chunk) *jsonReader {
	return &jsonReader{Decoder: newDecoder(bytes.NewBufferString(c.text)), text: c.text, at: c.place}
}

func newDecoder(from io.Reader) *jsontext.Decoder {
	return jsontext.NewDecoder(from, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// next returns the next token as a scalar, with its text and place.
func (r *jsonReader) next() (*node, error) {
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	end := int(r.InputOffset())
	raw := strings.TrimLeft(r.text[r.pos:end], " \t\r\n,:")
	r.at.advance(r.text[r.pos : end-len(raw)])
	n := &node{at: r.at, content: r.at, json: raw}
	r.at.advance(raw)
	r.pos = end
	return n, nil
}

// value reads the document, an item, or the value of a member, at the given depth.
func (r *jsonReader) value(depth int) (*node, error) {
	n, err := r.next()
	switch {
	case err != nil:
		return nil, err
	case depth > maxDepth:
		return nil, tooDeep(n.at)
	case n.json != "{" && n.json != "[":
		return n, nil
	}
	given := map[string]*node{}
	for next := r.PeekKind(); next != '}' && next != ']'; next = r.PeekKind() {
		if n.json == "{" {
			err = r.member(n, depth+1, given)
		} else {
			var item *node
			item, err = r.value(depth + 1)
			n.nodes = append(n.nodes, item)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(given) < len(n.nodes) && n.json == "{" {
		n.keepLast()
	}
	_, err = r.next()
	return n, err
}

// member reads a member of an object whose mapping has given some keys.
func (r *jsonReader) member(of *node, depth int, given map[string]*node) error {
	key, err := r.next()
	if err != nil {
		return err
	}
	m, err := r.value(depth)
	if err != nil {
		return err
	}
	m.key, m.at = key.text(), key.at
	if again := of.put(m, given); again != nil {
		r.faults = append(r.faults, again)
	}
	return nil
}

// syntaxFaultInJSON returns the fault for an error in the document with which the text begins, at a place. The decoder
// does not tell well where in a stream an error is, so the document is read once more by itself.
func syntaxFaultInJSON(text string, at place, err error) *fault {
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
		at.advance(text)
	}
	return &fault{at, RuleSyntax, "not valid JSON: " + message}
}
