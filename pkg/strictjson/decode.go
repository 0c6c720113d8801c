// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
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
// which the document states them; nil when there is none.
//
// Field names are matched case-sensitively; unknown fields and duplicate keys are errors, as with strict field
// validation in the API server (sigs.k8s.io/json UnmarshalStrict), and exactly the documents it accepts are accepted,
// but for quantities with an exponent of more than three digits, which it could not decode in a reasonable time.
// That includes null, which leaves its place at the zero value. The content of a type that decodes itself, such as
// runtime.RawExtension, is its own affair: no unknown or duplicate key is found inside.
//
// Paths are prefixed with at; nil stands for the root, whose own path is "". Keys of maps are subscripts. A key of more
// than 256 bytes is cut in the path. At most about 4000 problems are listed (fewer if their paths are long); a last one
// says how many were left out, under the origin of the one before it.
//
// Decode never panics because of data. If it returns errors about values, into is filled with the others, unless a
// type that decodes itself has let a value pass that it then refuses. After other errors it may be partially filled.
// An into that is not a non-nil pointer gives an internal error. Options apply to documents without errors. Neither
// data nor at is retained. Decode is safe for concurrent use.
func Decode(data []byte, into any, at *field.Path, options ...Option) field.ErrorList {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return field.ErrorList{{Type: field.ErrorTypeInternal, Field: spell(at), Detail: "decoding needs a non-nil pointer"}}
	}
	if decodeFast(data, into, options) {
		return nil
	}
	if problem := syntaxProblem(data, at); problem != nil {
		return field.ErrorList{problem}
	}
	w := walk(data, target.Type().Elem(), at)
	if len(w.errs) > 0 {
		w.decodeValid(into)
		return w.listed(at)
	}
	// The strict decoder of Kubernetes has the last word, but only on a document whose keys are right: it spells out the
	// whole path of each key that it refuses, which takes quadratic time in a deep document.
	wrong, err := kjson.UnmarshalStrict(data, into)
	if err = errors.Join(append(wrong, err)...); err != nil {
		return field.ErrorList{{Type: field.ErrorTypeInvalid, Field: spell(at), BadValue: field.OmitValueType{},
			Origin: OriginFieldType, Detail: "cannot be read" + because(err)}}
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
	return &field.Error{Type: field.ErrorTypeInvalid, Field: spell(at), Origin: OriginSyntax, BadValue: excerpt(data),
		Detail: fmt.Sprintf("not valid JSON%s: %s", where, err.Error())}
}
