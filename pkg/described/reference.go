// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Reference refers to an image by the fields that a description names. Its JSON is an object with these fields, by their paths. The zero
// Reference refers to nothing.
type Reference struct {
	form *form
	// values are the values of the fields, in the order of the form.
	values []string
}

// form describes the references at one kind of place in a config.
type form struct {
	// fields are the paths of the fields, as in the description. segments are the same paths, split.
	fields   []string
	segments [][]string
	// inEntry reports that the path of a reference is that of the entry with its fields, instead of that of its only field.
	inEntry bool
}

// newForm returns the form of references with the given fields, either in the entries of regions or for all regions.
func newForm(fields []string, regional bool) *form {
	f := &form{fields: fields, inEntry: regional || len(fields) > 1}
	for _, name := range fields {
		f.segments = append(f.segments, pathOf(name))
	}
	return f
}

// value returns the value of a field, or "" if it has none.
func (r Reference) value(i int) string {
	if i >= len(r.values) {
		return ""
	}
	return r.values[i]
}

// IsZero reports whether a field has no value: nothing boots by a part of a reference.
func (r Reference) IsZero() bool { return r.form == nil || slices.Contains(r.values, "") }

// empty reports whether no field has a value.
func (r Reference) empty() bool { return strings.Join(r.values, "") == "" }

// MarshalJSON encodes an object with the fields.
func (r Reference) MarshalJSON() ([]byte, error) {
	if r.form == nil {
		return []byte("{}"), nil
	}
	fields := make(object, 0, len(r.form.fields))
	for i, name := range r.form.fields {
		fields = append(fields, member{name, r.value(i)})
	}
	return fields.MarshalJSON()
}

// String returns the fields with their values.
func (r Reference) String() string {
	if r.form == nil {
		return ""
	}
	fields := make([]string, 0, len(r.form.fields))
	for i, name := range r.form.fields {
		fields = append(fields, name+" "+r.value(i))
	}
	return strings.Join(fields, ", ")
}

// object is a JSON object with ordered members.
type object []member

type member struct {
	name  string
	value any
}

// set appends a field, which may be nested.
func (o *object) set(segments []string, value any) {
	if len(segments) == 1 {
		*o = append(*o, member{segments[0], value})
		return
	}
	for _, m := range *o {
		if inner, is := m.value.(*object); is && m.name == segments[0] {
			inner.set(segments[1:], value)
			return
		}
	}
	inner := &object{}
	inner.set(segments[1:], value)
	*o = append(*o, member{segments[0], inner})
}

// MarshalJSON encodes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(m.name)
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
