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
	"unicode/utf8"
)

// parseJSON reads a chunk of one or several JSON documents. It reports false, having done nothing, if there is anything
// else in the chunk, so that it may be YAML. In a .json file, whatever begins like JSON is JSON.
func (s *source) parseJSON(c chunk) bool {
	body := bytes.TrimLeft(c.text, " \t\r\n")
	if len(body) == 0 || body[0] != '{' && body[0] != '[' || !utf8.Valid(body) {
		return false
	}
	r := jsonReader{text: c.text, decoder: json.NewDecoder(bytes.NewReader(c.text)), mark: mark{at: place{c.line + 1, 1}}}
	r.decoder.UseNumber()
	var documents []func()
	broken := r.documents(func(v *value, faults []*fault) {
		documents = append(documents, func() { s.document(v, faults, nil) })
	})
	if broken != nil && broken.rule == RuleSyntax && filepath.Ext(s.name) != ".json" {
		return false
	}
	for _, take := range documents {
		take()
	}
	if broken != nil {
		s.problem(broken.at, broken.rule, broken.message)
	}
	return true
}

// jsonReader builds values from a stream of JSON tokens.
type jsonReader struct {
	text    []byte
	decoder *json.Decoder
	mark             // end of the last token
	start   mark     // of the current document
	faults  []*fault // of the current document
}

// mark is a position in a chunk.
type mark struct {
	pos int   // in bytes
	at  place // in the file
}

// documents passes each document to yield, with its faults, and returns the fault that ends the stream early, or nil.
func (r *jsonReader) documents(yield func(*value, []*fault)) *fault {
	for {
		r.start, r.faults = r.mark, nil
		token, raw, at, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.broken(err)
		}
		v, broken := r.value(token, raw, at, 1)
		if broken != nil {
			return broken
		}
		yield(v, r.faults)
	}
}

// next returns the next token, its text and its place.
func (r *jsonReader) next() (token json.Token, raw []byte, at place, err error) {
	token, err = r.decoder.Token()
	if err != nil {
		return nil, nil, place{}, err
	}
	end := int(r.decoder.InputOffset())
	between := len(r.text[r.pos:end]) - len(bytes.TrimLeft(r.text[r.pos:end], " \t\r\n,:"))
	r.at.advance(r.text[r.pos : r.pos+between])
	raw, at = r.text[r.pos+between:end], r.at
	r.at.advance(raw)
	r.pos = end
	return token, raw, at, nil
}

// value reads the rest of the value that begins with token, at the given depth.
func (r *jsonReader) value(token json.Token, raw []byte, at place, depth int) (*value, *fault) {
	if depth > maxDepth {
		return nil, tooDeep(at)
	}
	switch token {
	case json.Delim('{'):
		return r.object(at, depth)
	case json.Delim('['):
		return r.list(at, depth)
	}
	return &value{at: at, text: string(raw)}, nil
}

func (r *jsonReader) list(at place, depth int) (*value, *fault) {
	v := &value{at: at, kind: kindList}
	for {
		token, raw, at, err := r.next()
		if err != nil {
			return nil, r.broken(err)
		}
		if token == json.Delim(']') {
			return v, nil
		}
		item, broken := r.value(token, raw, at, depth+1)
		if broken != nil {
			return nil, broken
		}
		v.items = append(v.items, item)
	}
}

func (r *jsonReader) object(at place, depth int) (*value, *fault) {
	m := newMapping(0)
	for {
		key, _, keyAt, err := r.next()
		if err != nil {
			return nil, r.broken(err)
		}
		if key == json.Delim('}') {
			return &value{at: at, kind: kindObject, members: m.members}, nil
		}
		token, raw, at, err := r.next()
		if err != nil {
			return nil, r.broken(err)
		}
		v, broken := r.value(token, raw, at, depth+1)
		if broken != nil {
			return nil, broken
		}
		if f := m.putOwn(member{key: key.(string), at: keyAt, value: v}); f != nil {
			r.faults = append(r.faults, f)
		}
	}
}

// broken returns the fault for an error in the current document. The decoder does not tell well where in a stream an
// error is, so the document is read once more by itself.
func (r *jsonReader) broken(err error) *fault {
	at, message := r.start.at, err.Error()
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if text := r.text[r.start.pos:]; errors.As(json.Unmarshal(text, &raw), &syntax) {
		message = syntax.Error()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			message, text = "unexpected end of the input", bytes.TrimRight(text, " \t\r\n")
		} else {
			text = text[:min(max(int(syntax.Offset)-1, 0), len(text))]
		}
		at.advance(text)
	}
	return &fault{at, RuleSyntax, "not valid JSON: " + message}
}
