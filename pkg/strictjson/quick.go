// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Option tells a decoder something about the types that it fills.
type Option func() *json.Unmarshalers

// Shared lets equal texts of type T become one value within a document, which saves decoding them again: for types that
// a document repeats thousands of times. Whoever uses the document must then not change maps and slices in a T.
func Shared[T any]() Option {
	return func() *json.Unmarshalers {
		known := map[string]T{}
		return json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *T) error {
			raw, err := dec.ReadValue()
			if err != nil {
				return err
			}
			if value, found := known[string(raw)]; found {
				*into = value
				return nil
			}
			if err := json.Unmarshal(raw, into, dec.Options(), json.WithUnmarshalers(nil)); err != nil {
				return err
			}
			known[string(raw)] = *into
			return nil
		})
	}
}

// Unmarshal decodes the JSON document data into the value that into points to. It is for documents that an API server has
// decoded and written: fields that the type does not have are left out, names are matched case-sensitively, of duplicate
// keys the last one counts, and the error is the first one. What is written inside a runtime.RawExtension is kept as it is. Data is not retained. Unmarshal is safe for concurrent use.
func Unmarshal(data []byte, into any, options ...Option) error {
	return json.Unmarshal(data, into, json.WithUnmarshalers(join(options)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// quickly decodes a document that has no errors, and returns whether it has none. Otherwise into is as before. What it
// accepts, the strict decoder of Kubernetes accepts as well, with the same result.
func quickly(data []byte, into any, options []Option) bool {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() || !target.Elem().IsZero() || anywhere(target.Type().Elem(), map[reflect.Type]bool{}) {
		return false
	}
	if json.Unmarshal(data, into, json.RejectUnknownMembers(true), json.WithUnmarshalers(join(options))) != nil {
		target.Elem().SetZero()
		return false
	}
	return true
}

func join(options []Option) *json.Unmarshalers {
	all := make([]*json.Unmarshalers, 0, len(options))
	for _, option := range options {
		all = append(all, option())
	}
	return json.JoinUnmarshalers(all...)
}

// anywhere tells whether a type has an interface in it. Kubernetes decodes whole numbers into it as integers, others do
// not.
func anywhere(t reflect.Type, visited map[reflect.Type]bool) bool {
	if visited[t] {
		return false
	}
	visited[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return anywhere(t.Elem(), visited)
	case reflect.Struct:
		if reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ UnmarshalJSON([]byte) error }]()) {
			return false
		}
		for i := range t.NumField() {
			if anywhere(t.Field(i).Type, visited) {
				return true
			}
		}
	}
	return false
}
