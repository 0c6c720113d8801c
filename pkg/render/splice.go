// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// place holds the changes to a value of a document.
type place struct {
	// value replaces the existing value, or is added as a member; nil if the value stays.
	value json.RawMessage
	// added are appended to a list.
	added []json.RawMessage
	// within holds the changes to the members of an object, by name, or to the elements of a list, by index.
	within map[string]*place
}

// placesOf returns the changes as a tree, from the root of the document.
func placesOf(changes []Change) *place {
	root := &place{}
	for _, change := range changes {
		at := root
		last := ""
		for token := range jsontext.Pointer(change.Path).Tokens() {
			if last = token; token == "-" {
				break
			}
			if at.within == nil {
				at.within = map[string]*place{}
			}
			if at.within[token] == nil {
				at.within[token] = &place{}
			}
			at = at.within[token]
		}
		if last == "-" {
			at.added = append(at.added, change.Value)
		} else {
			at.value = change.Value
		}
	}
	return root
}

// splicer copies a document with changes. It reads the document once, and copies unchanged parts as written.
type splicer struct {
	tokens *jsontext.Decoder
	data   []byte
	// out has the written part of the result. It covers the document up to copied.
	out    []byte
	copied int
}

// splice returns a document with changes. It returns false if a change does not match the document, or if a member on its path occurs
// twice.
func splice(changes []Change, data []byte) ([]byte, bool) {
	size := len(data)
	for _, change := range changes {
		size += len(change.Value) + len(",")
	}
	s := &splicer{data: data, out: make([]byte, 0, size), tokens: jsontext.NewDecoder(bytes.NewBuffer(data),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	if !s.value(placesOf(changes)) {
		return nil, false
	}
	return append(s.out, data[s.copied:]...), true
}

// put replaces a part of the document by texts.
func (s *splicer) put(from, to int, texts ...[]byte) {
	s.out = append(s.out, s.data[s.copied:from]...)
	for _, text := range texts {
		s.out = append(s.out, text...)
	}
	s.copied = to
}

// value copies the next value with the changes of p, nil for none, and reports whether that was possible.
func (s *splicer) value(p *place) bool {
	switch kind := s.tokens.PeekKind(); {
	case p == nil:
		return s.tokens.SkipValue() == nil
	case p.value != nil:
		raw, err := s.tokens.ReadValue()
		end := int(s.tokens.InputOffset())
		s.put(end-len(raw), end, p.value)
		return err == nil && len(p.added)+len(p.within) == 0
	case kind == jsontext.KindBeginObject:
		return len(p.added) == 0 && s.object(p)
	case kind == jsontext.KindBeginArray:
		return s.list(p)
	}
	return false
}

// closed reports whether the next token ends an object or a list. If so, it reads the token and returns its offset. In an invalid document,
// it returns true and the offset -1.
func (s *splicer) closed() (at int, closed bool) {
	switch s.tokens.PeekKind() {
	case jsontext.KindEndObject, jsontext.KindEndArray:
		if _, err := s.tokens.ReadToken(); err == nil {
			return int(s.tokens.InputOffset()) - 1, true
		}
		return -1, true
	case jsontext.KindInvalid:
		return -1, true
	}
	return 0, false
}

func (s *splicer) object(p *place) bool {
	_, _ = s.tokens.ReadToken()
	seen := map[string]bool{}
	at, closed := s.closed()
	for ; !closed; at, closed = s.closed() {
		token, _ := s.tokens.ReadToken() // without a name, there is no value either
		name := token.String()
		if within := p.within[name]; seen[name] && within != nil || !s.value(within) {
			return false
		}
		seen[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(p.within)) {
		if seen[name] {
			continue
		}
		if at < 0 || p.within[name].value == nil || len(p.within[name].within)+len(p.within[name].added) > 0 {
			return false
		}
		s.put(at, at, comma(len(seen) > 0), marshal(name), []byte(":"), p.within[name].value)
		seen[name] = true
	}
	return at >= 0
}

func (s *splicer) list(p *place) bool {
	_, _ = s.tokens.ReadToken()
	i, made := 0, 0
	at, closed := s.closed()
	for ; !closed; at, closed = s.closed() {
		within := p.within[strconv.Itoa(i)]
		if !s.value(within) {
			return false
		}
		if i++; within != nil {
			made++
		}
	}
	if at < 0 {
		return false
	}
	for _, element := range p.added {
		s.put(at, at, comma(i > 0), element)
		i++
	}
	return made == len(p.within)
}

func comma(needed bool) []byte {
	if needed {
		return []byte(",")
	}
	return nil
}
