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
	r := jsonReader{text: c.text, at: c.begin(), decoder: jsontext.NewDecoder(bytes.NewBufferString(c.text),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	objects, problems := len(s.objects), len(s.problems)
	broken := r.documents(s)
	if broken != nil && broken.rule == RuleSyntax && filepath.Ext(s.name) != ".json" {
		s.objects, s.problems = s.objects[:objects], s.problems[:problems]
		return false
	}
	if broken != nil {
		s.fault(broken, Identity{})
	}
	return true
}

// jsonReader writes a stream of JSON tokens as documents.
type jsonReader struct {
	*writer
	text    string
	decoder *jsontext.Decoder
	// pos is the end of the last token, in bytes, and at its place in the file.
	pos int
	at  place
}

// documents reads all documents, and returns the fault that ends the stream early, or nil.
func (r *jsonReader) documents(s *source) *fault {
	for {
		r.writer = newWriter()
		pos, at := r.pos, r.at
		err := r.value(1)
		var broken *fault
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &broken):
			return broken
		case err != nil:
			return syntaxFaultInJSON(r.text[pos:], at, err)
		}
		s.take(r.writer, false)
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

// value reads and writes the document or an item, at the given depth.
func (r *jsonReader) value(depth int) error {
	first, err := r.next()
	if err != nil {
		return err
	}
	i := r.begin(first.at)
	err = r.content(first, depth)
	r.end(i)
	return err
}

// content writes the value that begins with a token, at the given depth. What it is of has begun.
func (r *jsonReader) content(first token, depth int) error {
	if depth > maxDepth {
		return tooDeep(first.at)
	}
	r.json = append(r.json, first.raw...)
	kind := first.Kind()
	if kind != '{' && kind != '[' {
		return nil
	}
	keyLines := map[string]int{}
	for next := r.decoder.PeekKind(); next != '}' && next != ']'; next = r.decoder.PeekKind() {
		var err error
		if kind == '{' {
			err = r.member(depth+1, keyLines)
		} else {
			err = r.value(depth + 1)
		}
		if err != nil {
			return err
		}
	}
	last, err := r.next()
	r.json = append(r.json, last.raw...)
	return err
}

// member reads and writes a member whose value is at the given depth.
func (r *jsonReader) member(depth int, keyLines map[string]int) error {
	key, err := r.next()
	if err != nil {
		return err
	}
	name := key.raw[1 : len(key.raw)-1]
	if strings.IndexByte(name, '\\') >= 0 {
		name = key.String()
	}
	i, again := r.beginMember(name, key.at, keyLines)
	if again != nil {
		r.faults = append(r.faults, again)
	}
	t, err := r.next()
	if err == nil {
		err = r.content(t, depth)
	}
	if err == nil {
		r.endMember(i, name, t.at)
	}
	return err
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
