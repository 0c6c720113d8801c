// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package strictjson decodes JSON into Go API types as strictly as the API server does with strict field validation. It reports every
// problem at the path where the user wrote it, in words that need no knowledge of Go.
//
// Start reading at [Decode]. A document without errors is decoded once, by a fast decoder that is as strict. If that refuses the document,
// it is compared with the Go type, value by value (walk.go, with the fields that fields.go finds), and words.go formats the mismatches.
// Then the decoder of Kubernetes decodes the valid part. If there is no mismatch, the strict decoder of Kubernetes has the last word.
// Where unknown fields are ignored, near.go finds those by which a known field was probably meant.
//
// [Unmarshal] is for documents that an API server has written, which have no errors to report.
//
// The package uses github.com/go-json-experiment/json, because encoding/json accepts duplicate keys and names in another case, and does not
// report where a value begins. That module became encoding/json/v2 in Go 1.27, where it is an alias. Replace it once Go 1.27 is the oldest
// supported version.
//
// The package knows nothing about Gardener, images or providers. Rules about values belong to the caller.
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

// The origins of the errors that [Decode] returns: the stable names of its rules.
const (
	// OriginSyntax marks the one error about bytes that are not a JSON document.
	OriginSyntax = "syntax"
	// OriginUnknownField marks a key that its object does not have, reported as Forbidden at the key.
	OriginUnknownField = "unknown-field"
	// OriginDuplicateKey marks a key that an object has more than once, reported once, as a Duplicate.
	OriginDuplicateKey = "duplicate-key"
	// OriginFieldType marks a value of the wrong kind or format, reported as Invalid at the innermost value.
	OriginFieldType = "field-type"
)

// Decode decodes the JSON document data into the value that into points to. It returns every problem, in the order of the document, with
// suggestions where possible; nil if there is none.
//
// It accepts exactly the documents that strict field validation in the API server accepts (sigs.k8s.io/json UnmarshalStrict), except for
// quantities with an exponent of more than three digits, which take too long to decode. Names are case-sensitive, unknown fields and
// duplicate keys are errors, and null leaves the zero value. Keys inside a type that decodes itself, such as runtime.RawExtension, are not
// checked.
//
// Paths begin with at; nil is the root, whose own path is "". Keys of maps are subscripts. Keys of more than 256 bytes are shortened in
// paths. At most about 1000 problems are listed, fewer if their paths are long. A last one then gives the number of omitted ones, under the
// origin of the one before it.
//
// If there are errors about values, into holds the other values, unless a type that decodes itself accepts a value first and later refuses
// it. After other errors into may be partially filled. An into that is not a non-nil pointer is an internal error. Options apply to
// documents without errors. Decode retains neither data nor at. It is safe for concurrent use, and never panics because of data.
func Decode(data []byte, into any, at *field.Path, options ...Option) finding.List {
	return decode(data, into, at, false, options)
}

// DecodeKnown is [Decode] for a type that has only a part of the document's fields. It ignores fields that the type does not have, except
// for duplicate keys in them, and for near misses: unknown fields by which another field was probably meant that is absent there. Each of
// these has a suggestion, and comes after the other problems of its object. It does not affect into.
func DecodeKnown(data []byte, into any, at *field.Path, options ...Option) finding.List {
	return decode(data, into, at, true, options)
}

// decode implements Decode and DecodeKnown. knownOnly ignores fields that the type does not have.
func decode(data []byte, into any, at *field.Path, knownOnly bool, options []Option) finding.List {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return finding.Of(field.ErrorList{{Type: field.ErrorTypeInternal, Field: fieldpath.Text(at), Detail: "decoding needs a non-nil pointer"}})
	}
	if decodeFast(data, into, false, options) {
		return nil
	}
	if knownOnly && decodeFast(data, into, true, options) {
		return nearMisses(data, target.Type().Elem(), at)
	}
	if problem := syntaxProblem(data, at); problem != nil {
		return finding.Of(field.ErrorList{problem})
	}
	w := newWalker(data)
	w.knownOnly = knownOnly
	w.value(target.Type().Elem(), at)
	if len(w.errs) > 0 {
		w.decodeValid(into)
		return w.listed(at)
	}
	// The strict decoder of Kubernetes has the last word, but only on a document without wrong keys: for each of these it formats the whole
	// path, which takes quadratic time in a deep document.
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

// syntaxProblem returns the error for data that is not one JSON document, or nil. Excessive nesting is also an error.
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

// Option configures the decoding of a type.
type Option func() *jsonv2.Unmarshalers

// Shared decodes equal JSON texts of type T within a document only once, into one value. It is for types that a document repeats thousands
// of times. Users of the document must not modify maps and slices in a T.
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

// Foreign decodes values of type T with the decoder of Kubernetes. It is for types whose tags the fast decoder refuses, such as
// v1beta1.SeedSelector, which embeds a struct with "inline,omitempty". T must not contain quantities.
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

// asKubernetes decodes the following types as Kubernetes does: any, with whole numbers as integers; json.Number, unchanged; and quantities,
// except those with long exponents, which it refuses.
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

// Unmarshal decodes the JSON document data into the value that into points to. It is for documents that an API server has decoded and
// written. It ignores fields that the type does not have, matches names case-sensitively, takes the last of duplicate keys, and returns the
// first error. The content of a runtime.RawExtension is kept unchanged. A quantity with an exponent of more than three digits is an error;
// an API server writes none. Unmarshal does not retain data, and is safe for concurrent use.
func Unmarshal(data []byte, into any, options ...Option) error {
	return safely(into, func() error {
		return jsonv2.Unmarshal(data, into, unmarshalers(options), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	})
}

// safely calls decode and turns a panic into an error: decoders panic at an unexported struct that is embedded under a name.
func safely(into any, decode func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("a %T cannot hold this: %v", into, cause)
		}
	}()
	return decode()
}

// decodeFast decodes a document without errors into a non-nil pointer's value, and reports whether it succeeded. Otherwise into is
// unchanged. The strict decoder of Kubernetes accepts every document that it accepts, with the same result. The reverse is not true:
// decodeFast refuses invalid UTF-8, and an into whose value is not zero.
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

// unmarshalers calls the options, each of which starts without cached values, and joins the results.
func unmarshalers(options []Option) jsonv2.Options {
	all := []*jsonv2.Unmarshalers{asKubernetes}
	for _, option := range options {
		all = append(all, option())
	}
	return jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(all...))
}
