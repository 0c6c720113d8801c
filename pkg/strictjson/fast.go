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

// Unmarshal decodes the JSON document data into the value that into points to. It is for documents that an API server
// has decoded and written: fields that the type does not have are left out, names are matched case-sensitively, of
// duplicate keys the last one counts, and the error is the first one. What is written inside a runtime.RawExtension is
// kept as it is. Long exponents of quantities are not looked for: an API server writes none. Data is not retained.
// Unmarshal is safe for concurrent use.
func Unmarshal(data []byte, into any, options ...Option) error {
	return json.Unmarshal(data, into, json.WithUnmarshalers(join(options)),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// decodeFast decodes a document that has no errors into the value that into points to, and reports whether it could.
// Otherwise into is as before. What it accepts, the strict decoder of Kubernetes accepts as well, with the same
// result; the reverse is not true: it refuses invalid UTF-8, and whatever is to go into a value that is not zero, or
// into a type that contains interfaces. Into has to be a pointer that is not nil.
func decodeFast(data []byte, into any, options []Option) bool {
	target := reflect.ValueOf(into).Elem()
	if !target.IsZero() || traitsOf(target.Type()).interfaces {
		return false
	}
	if json.Unmarshal(data, into, json.RejectUnknownMembers(true), json.WithUnmarshalers(join(options))) != nil {
		target.SetZero()
		return false
	}
	return true
}

// join calls the options, each of which begins without any values, and returns what they say in one.
func join(options []Option) *json.Unmarshalers {
	all := make([]*json.Unmarshalers, 0, len(options))
	for _, option := range options {
		all = append(all, option())
	}
	return json.JoinUnmarshalers(all...)
}
