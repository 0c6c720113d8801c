// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package strictjson decodes JSON into Go API types as strictly as the API server does with strict field validation,
// and reports every problem at the path where the user wrote it, in words that need no knowledge of Go.
//
// Start reading at Decode. A document without errors is decoded once, by a fast decoder that is as strict. Only one
// that it refuses is walked, value by value, beside the Go type (walk.go, over the fields found by fields.go); words.go
// turns what does not fit into messages. Then the decoder of Kubernetes fills in what fits. If the walk finds nothing,
// its strict decoder has the last word.
//
// Unmarshal is for documents that an API server has written, in which there is nothing to report.
//
// It uses github.com/go-json-experiment/json, which became encoding/json/v2 in Go 1.27 and is an alias of that there, because encoding/json lets
// duplicate keys and names in another case pass, and does not say where a value begins. It goes when the oldest Go is 1.27.
//
// Nothing here knows Gardener, images or providers; rules about values belong to the caller.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
)

// The origins of the errors that Decode returns: the stable names of its rules.
const (
	// OriginSyntax marks the one error about bytes that are not a JSON document.
	OriginSyntax = "syntax"
	// OriginUnknownField marks a key that its object does not have, reported as forbidden at the key.
	OriginUnknownField = "unknown-field"
	// OriginDuplicateKey marks a key that one object has more than once, reported once, as a duplicate.
	OriginDuplicateKey = "duplicate-key"
	// OriginFieldType marks a value of the wrong kind or format, reported as invalid at the deepest such value.
	OriginFieldType = "field-type"
)

// Decode decodes the JSON document data into the value that into points to and returns every problem, in the order in
// which the document states them, with what was probably meant; nil when there is none.
//
// It accepts exactly the documents that strict field validation in the API server accepts (sigs.k8s.io/json
// UnmarshalStrict), but for quantities with an exponent of more than three digits, which that could not decode in a
// reasonable time: names are matched case-sensitively, unknown fields and duplicate keys are errors, and null leaves
// its place at the zero value. Inside a type that decodes itself, such as runtime.RawExtension, no key is looked at.
//
// Paths are prefixed with at; nil stands for the root, whose own path is "". Keys of maps are subscripts. A key of more
// than 256 bytes is cut in the path. At most about 1000 problems are listed (fewer if their paths are long); a last one
// says how many were left out, under the origin of the one before it.
//
// If it returns errors about values, into is filled with the others, unless a type that decodes itself has let a value
// pass that it then refuses. After other errors it may be partially filled. An into that is not a non-nil pointer gives
// an internal error. Options apply to documents without errors. Neither data nor at is retained. Decode is safe for
// concurrent use, and never panics because of data.
func Decode(data []byte, into any, at *field.Path, options ...Option) finding.List {
	return decode(data, into, at, false, options)
}

// DecodeKnown decodes a document of which a type knows a part only: fields that the type does not have are left out, and no
// error. All else is as Decode says, duplicate keys in what is left out included.
func DecodeKnown(data []byte, into any, at *field.Path, options ...Option) finding.List {
	return decode(data, into, at, true, options)
}

// decode does the work of both. knownOnly leaves fields out that the type does not have.
func decode(data []byte, into any, at *field.Path, knownOnly bool, options []Option) finding.List {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return finding.Of(field.ErrorList{{Type: field.ErrorTypeInternal, Field: fieldpath.Text(at), Detail: "decoding needs a non-nil pointer"}})
	}
	if decodeFast(data, into, knownOnly, options) {
		return nil
	}
	if problem := syntaxProblem(data, at); problem != nil {
		return finding.Of(field.ErrorList{problem})
	}
	w := walk(data, target.Type().Elem(), at, knownOnly)
	if len(w.errs) > 0 {
		w.decodeValid(into)
		return w.listed(at)
	}
	// The strict decoder of Kubernetes has the last word, but only on a document whose keys are right: it spells out the
	// whole path of each key that it refuses, which takes quadratic time in a deep document.
	err := safely(into, func() error {
		if knownOnly {
			return kjson.UnmarshalCaseSensitivePreserveInts(data, into)
		}
		wrong, err := kjson.UnmarshalStrict(data, into)
		return errors.Join(append(wrong, err)...)
	})
	if err != nil {
		return finding.Of(field.ErrorList{{Type: field.ErrorTypeInvalid, Field: fieldpath.Text(at), BadValue: field.OmitValueType{},
			Origin: OriginFieldType, Detail: "cannot be read" + because(err)}})
	}
	return nil
}

// syntaxProblem returns the error for data that is not one JSON document, or nil. Too deep a nesting is one such error.
func syntaxProblem(data []byte, at *field.Path) *field.Error {
	var raw json.RawMessage
	err := json.Unmarshal(data, &raw)
	if err == nil {
		return nil
	}
	where := ""
	if ok, offset := kjson.SyntaxErrorOffset(err); ok {
		before := data[:min(max(int(offset)-1, 0), len(data))]
		line := bytes.Count(before, []byte("\n")) + 1
		where = fmt.Sprintf(" at line %d, column %d", line, len(before)-bytes.LastIndexByte(before, '\n'))
	}
	return &field.Error{Type: field.ErrorTypeInvalid, Field: fieldpath.Text(at), Origin: OriginSyntax, BadValue: excerpt(data),
		Detail: fmt.Sprintf("not valid JSON%s: %s", where, err.Error())}
}

// Option tells a decoder something about the types that it fills.
type Option func() *jsonv2.Unmarshalers

// Shared lets equal texts of type T become one value within a document, which saves decoding them again: for types that
// a document repeats thousands of times. Whoever uses the document must then not change maps and slices in a T.
func Shared[T any]() Option {
	return func() *jsonv2.Unmarshalers {
		known := map[string]T{}
		return jsonv2.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *T) error {
			raw, err := dec.ReadValue()
			if err != nil {
				return err
			}
			if value, found := known[string(raw)]; found {
				*into = value
				return nil
			}
			if err := jsonv2.Unmarshal(raw, into, dec.Options(), jsonv2.WithUnmarshalers(asKubernetes)); err != nil {
				return err
			}
			known[string(raw)] = *into
			return nil
		})
	}
}

// Foreign leaves values of type T to the decoder of Kubernetes. It is for types whose tags the fast decoder refuses: such as
// v1beta1.SeedSelector, which embeds a struct with "inline,omitempty". T must hold no quantities.
func Foreign[T any]() Option {
	return func() *jsonv2.Unmarshalers {
		return jsonv2.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *T) error {
			raw, err := dec.ReadValue()
			if err != nil {
				return err
			}
			wrong, err := kjson.UnmarshalStrict(raw, into)
			if strict, _ := jsonv2.GetOption(dec.Options(), jsonv2.RejectUnknownMembers); strict {
				err = errors.Join(append(wrong, err)...)
			}
			return err
		})
	}
}

// asKubernetes decodes what only the document knows the type of as Kubernetes does, with whole numbers as integers; numbers that are kept
// as they are written; and quantities, of which it refuses those with long exponents.
var asKubernetes = jsonv2.JoinUnmarshalers(
	jsonv2.UnmarshalFunc(func(raw []byte, into *any) error {
		return kjson.UnmarshalCaseSensitivePreserveInts(raw, into)
	}),
	jsonv2.UnmarshalFunc(func(raw []byte, into *json.Number) error {
		return kjson.UnmarshalCaseSensitivePreserveInts(raw, into)
	}),
	jsonv2.UnmarshalFunc(func(raw []byte, into *resource.Quantity) error {
		if hasLongExponent(raw) {
			return errors.New("the exponent is too long")
		}
		return into.UnmarshalJSON(raw)
	}),
)

// Unmarshal decodes the JSON document data into the value that into points to. It is for documents that an API server
// has decoded and written: fields that the type does not have are left out, names are matched case-sensitively, of
// duplicate keys the last one counts, and the error is the first one. What is written inside a runtime.RawExtension is
// kept as it is. A quantity with an exponent of more than three digits is an error: an API server writes none. Data is
// not retained. Unmarshal is safe for concurrent use.
func Unmarshal(data []byte, into any, options ...Option) error {
	return safely(into, func() error {
		return jsonv2.Unmarshal(data, into, unmarshalers(options), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	})
}

// safely decodes into a value, and makes an error of a panic: decoders have one if they are to set an unexported struct that is embedded
// under a name.
func safely(into any, decode func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("a %T cannot hold this: %v", into, cause)
		}
	}()
	return decode()
}

// decodeFast decodes a document without errors into a non-nil pointer's value, and reports whether it could. Otherwise
// into is as before. What it accepts, the strict decoder of Kubernetes accepts as well, with the same result; the
// reverse is not true: it refuses invalid UTF-8, and whatever is to go into a value that is not zero.
func decodeFast(data []byte, into any, knownOnly bool, options []Option) bool {
	target := reflect.ValueOf(into).Elem()
	if !target.IsZero() {
		return false
	}
	if safely(into, func() error {
		return jsonv2.Unmarshal(data, into, unmarshalers(options), jsonv2.RejectUnknownMembers(!knownOnly), jsonv1.FormatByteArrayAsArray(true))
	}) != nil {
		target.SetZero()
		return false
	}
	return true
}

// unmarshalers calls the options, each of which begins without any values, and returns what they say in one.
func unmarshalers(options []Option) jsonv2.Options {
	all := []*jsonv2.Unmarshalers{asKubernetes}
	for _, option := range options {
		all = append(all, option())
	}
	return jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(all...))
}
