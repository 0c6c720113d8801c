// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// reader reads the images of a provider config, and skips everything else. Null is treated as absent, and the last of two members with one
// name wins. Errors say, in words for the user, where a config is malformed.
type reader struct {
	tokens *jsontext.Decoder
	data   []byte
}

// readImages returns the images of a provider config, which share its bytes, and the offset of the end of their list. end is -1 if there is
// no such list, or several.
func readImages(config []byte) (images []entry, end int, err error) {
	r := &reader{data: config, tokens: jsontext.NewDecoder(bytes.NewBuffer(config), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	lists := 0
	err = r.object(func(name string) (err error) {
		if name == "machineImages" {
			images, err = r.entries((*reader).image)
			end = int(r.tokens.InputOffset()) - len("]")
			lists++
			return err
		}
		return r.tokens.SkipValue()
	})
	if err == nil {
		if _, err = r.tokens.ReadToken(); errors.Is(err, io.EOF) {
			if lists != 1 || config[end] != ']' {
				end = -1
			}
			return images, end, nil
		}
	}
	if err == nil || errors.As(err, new(misfit)) {
		return nil, -1, cmp.Or(err, error(misfit("not an object: something comes after it")))
	}
	return nil, -1, fmt.Errorf("not an object: %w", err)
}

// misfit says which type a value should have, and where. Other errors are about invalid JSON.
type misfit string

func (m misfit) Error() string { return string(m) }

// image reads an element of machineImages.
func (r *reader) image() (e entry, err error) {
	e.raw, err = r.written(func(name string) (err error) {
		switch name {
		case "name":
			e.key, err = r.text()
		case "versions":
			e.versions, err = r.entries((*reader).version)
		default:
			err = r.tokens.SkipValue()
		}
		return err
	})
	return e, err
}

// version reads a version of an image.
func (r *reader) version() (e entry, err error) {
	e.raw, err = r.written(func(name string) (err error) {
		if name == "version" {
			e.key, err = r.text()
			return err
		}
		return r.tokens.SkipValue()
	})
	return e, err
}

// written reads an object, and returns its bytes as written.
func (r *reader) written(member func(name string) error) ([]byte, error) {
	r.tokens.PeekKind()
	from := int(r.tokens.InputOffset())
	from += len(r.data[from:]) - len(bytes.TrimLeft(r.data[from:], " \t\r\n,"))
	if err := r.object(member); err != nil {
		return nil, err
	}
	return slices.Clip(r.data[from:r.tokens.InputOffset()]), nil
}

// object reads an object. It calls member to read the value of each of its members.
func (r *reader) object(member func(name string) error) error {
	return r.each(jsontext.KindBeginObject, "not an object", func() error {
		name, err := r.tokens.ReadToken()
		if err != nil {
			return err
		}
		return member(name.String())
	})
}

// entries reads a list of entries.
func (r *reader) entries(element func(*reader) (entry, error)) (entries []entry, err error) {
	err = r.each(jsontext.KindBeginArray, "not a list", func() error {
		e, err := element(r)
		entries = append(entries, e)
		return err
	})
	return entries, err
}

// each reads an object or a list that begins with the given kind of token. It calls read for each member or element. If the value begins
// with another token, the error says otherwise.
func (r *reader) each(begin jsontext.Kind, otherwise string, read func() error) error {
	kind := r.tokens.PeekKind()
	if kind != begin && kind != jsontext.KindNull {
		return r.misfit(otherwise)
	}
	if _, err := r.tokens.ReadToken(); err != nil || kind == jsontext.KindNull {
		return err
	}
	for kind := r.tokens.PeekKind(); kind != jsontext.KindEndObject && kind != jsontext.KindEndArray; kind = r.tokens.PeekKind() {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := r.tokens.ReadToken()
	return err
}

// text reads a string. Null is the empty string.
func (r *reader) text() (string, error) {
	switch r.tokens.PeekKind() {
	case jsontext.KindNull:
		return "", r.tokens.SkipValue()
	case jsontext.KindString:
		token, err := r.tokens.ReadToken()
		return token.String(), err
	}
	return "", r.misfit("not a string")
}

// misfit reads the next value, and returns an error with its path and the expected type.
func (r *reader) misfit(what string) error {
	if err := r.tokens.SkipValue(); err != nil {
		return err
	}
	var at *field.Path
	for token := range r.tokens.StackPointer().Tokens() {
		if index, err := strconv.Atoi(token); err == nil {
			at = at.Index(index)
		} else {
			at = at.Child(token)
		}
	}
	if at == nil {
		return misfit(what)
	}
	return misfit(at.String() + ": " + what)
}
