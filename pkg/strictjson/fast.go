// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"errors"
	"reflect"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/api/resource"
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
			if err := json.Unmarshal(raw, into, dec.Options(), json.WithUnmarshalers(shortExponents)); err != nil {
				return err
			}
			known[string(raw)] = *into
			return nil
		})
	}
}

// shortExponents decodes quantities, and refuses those with long exponents.
var shortExponents = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *resource.Quantity) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if hasLongExponent(raw) {
		return errors.New("the exponent is too long")
	}
	return into.UnmarshalJSON(raw)
})

// Unmarshal decodes the JSON document data into the value that into points to. It is for documents that an API server
// has decoded and written: fields that the type does not have are left out, names are matched case-sensitively, of
// duplicate keys the last one counts, and the error is the first one. What is written inside a runtime.RawExtension is
// kept as it is. A quantity with an exponent of more than three digits is an error: an API server writes none. Data is
// not retained. Unmarshal is safe for concurrent use.
func Unmarshal(data []byte, into any, options ...Option) error {
	return json.Unmarshal(data, into, unmarshalers(options),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// decodeFast decodes a document that has no errors into the value that into points to, and reports whether it could.
// Otherwise into is as before. What it accepts, the strict decoder of Kubernetes accepts as well, with the same
// result; the reverse is not true: it refuses invalid UTF-8, and whatever is to go into a value that is not zero, or
// into a type that holds interfaces. Into has to be a pointer that is not nil.
func decodeFast(data []byte, into any, options []Option) bool {
	target := reflect.ValueOf(into).Elem()
	if !target.IsZero() || holdsInterfaces(target.Type()) {
		return false
	}
	if json.Unmarshal(data, into, unmarshalers(options), json.RejectUnknownMembers(true)) != nil {
		target.SetZero()
		return false
	}
	return true
}

// unmarshalers calls the options, each of which begins without any values, and returns what they say in one.
func unmarshalers(options []Option) json.Options {
	all := []*json.Unmarshalers{shortExponents}
	for _, option := range options {
		all = append(all, option())
	}
	return json.WithUnmarshalers(json.JoinUnmarshalers(all...))
}

var interfaceCache sync.Map // reflect.Type -> bool

// holdsInterfaces reports whether a document can put a value of a type that only the document knows anywhere into a t.
// Kubernetes decodes whole numbers there as integers, other decoders do not.
func holdsInterfaces(t reflect.Type) bool {
	if cached, ok := interfaceCache.Load(t); ok {
		return cached.(bool)
	}
	visited := map[reflect.Type]bool{}
	var search func(reflect.Type) bool
	search = func(t reflect.Type) bool {
		t = indirect(t)
		if visited[t] || decodesItself(t) {
			return false
		}
		visited[t] = true
		switch t.Kind() {
		case reflect.Interface:
			return true
		case reflect.Slice, reflect.Array, reflect.Map:
			return search(t.Elem())
		case reflect.Struct:
			for _, f := range fieldsOf(t).byName {
				if search(f.typ) {
					return true
				}
			}
		}
		return false
	}
	found := search(t)
	interfaceCache.Store(t, found)
	return found
}
