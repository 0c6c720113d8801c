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
	body := bytes.TrimLeft(c.text, " \t\r\n")
	if len(body) == 0 || body[0] != '{' && body[0] != '[' || !utf8.Valid(body) {
		return false
	}
	r := jsonReader{text: string(c.text), mark: mark{at: place{c.line + 1, 1}}, decoder: jsontext.NewDecoder(
		bytes.NewBuffer(c.text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
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
	text    string
	decoder *jsontext.Decoder
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
		t, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.broken(err)
		}
		v, broken := r.value(t, 1)
		if broken != nil {
			return broken
		}
		yield(v, r.faults)
	}
}

// token is a token with its text, which shares memory with that of the chunk, and its place.
type token struct {
	jsontext.Token
	raw string
	at  place
}

// next returns the next token. Its Token is valid until the next call.
func (r *jsonReader) next() (token, error) {
	read, err := r.decoder.ReadToken()
	if err != nil {
		return token{}, err
	}
	end := int(r.decoder.InputOffset())
	raw := strings.TrimLeft(r.text[r.pos:end], " \t\r\n,:")
	r.at.advance(r.text[r.pos : end-len(raw)])
	t := token{read, raw, r.at}
	r.at.advance(raw)
	r.pos = end
	return t, nil
}

// value reads the rest of the value that begins with a token, at the given depth.
func (r *jsonReader) value(t token, depth int) (*value, *fault) {
	if depth > maxDepth {
		return nil, tooDeep(t.at)
	}
	switch t.Kind() {
	case '{':
		return r.object(t.at, depth)
	case '[':
		return r.list(t.at, depth)
	}
	return &value{at: t.at, text: t.raw}, nil
}

func (r *jsonReader) list(at place, depth int) (*value, *fault) {
	v := &value{at: at, kind: kindList}
	for {
		t, err := r.next()
		if err != nil {
			return nil, r.broken(err)
		}
		if t.Kind() == ']' {
			return v, nil
		}
		item, broken := r.value(t, depth+1)
		if broken != nil {
			return nil, broken
		}
		v.items = append(v.items, item)
	}
}

func (r *jsonReader) object(at place, depth int) (*value, *fault) {
	var m mapping
	for {
		key, err := r.next()
		if err != nil {
			return nil, r.broken(err)
		}
		if key.Kind() == '}' {
			return &value{at: at, kind: kindObject, members: m.members}, nil
		}
		name := key.name()
		t, err := r.next()
		if err != nil {
			return nil, r.broken(err)
		}
		v, broken := r.value(t, depth+1)
		if broken != nil {
			return nil, broken
		}
		if f := m.putOwn(member{key: name, at: key.at, value: v}); f != nil {
			r.faults = append(r.faults, f)
		}
	}
}

// name returns the text of a string.
func (t token) name() string {
	if strings.IndexByte(t.raw, '\\') < 0 {
		return t.raw[1 : len(t.raw)-1]
	}
	return t.String()
}

// broken returns the fault for an error in the current document. The decoder does not tell well where in a stream an
// error is, so the document is read once more by itself.
func (r *jsonReader) broken(err error) *fault {
	at, message := r.start.at, err.Error()
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if text := r.text[r.start.pos:]; errors.As(json.Unmarshal([]byte(text), &raw), &syntax) {
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
