// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// structField is one JSON member of a struct type.
type structField struct {
	name   string
	typ    reflect.Type
	tagged bool // the name comes from a json tag
	quoted bool // the json tag says ",string"
}

// structFields are the JSON members of a struct type, those of embedded structs included.
type structFields struct {
	names  []string // sorted
	byName map[string]structField
}

var fieldCache sync.Map // reflect.Type -> *structFields

// fieldsOf returns the JSON members of the struct type t, by the rules of encoding/json: the least nested of several
// members of one name wins, then the tagged one; if that does not decide, the name is not a member. The result is
// shared and must not be changed.
func fieldsOf(t reflect.Type) *structFields {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(*structFields)
	}
	fields := &structFields{byName: map[string]structField{}}
	settled, visited := map[string]bool{}, map[reflect.Type]bool{}
	for level := []reflect.Type{t}; len(level) > 0; {
		var found []structField
		var deeper []reflect.Type
		for _, s := range level {
			if !visited[s] {
				members, embedded := membersOf(s)
				found, deeper = append(found, members...), append(deeper, embedded...)
			}
		}
		for _, s := range level {
			visited[s] = true
		}
		fields.add(found, settled)
		level = deeper
	}
	slices.Sort(fields.names)
	cached, _ := fieldCache.LoadOrStore(t, fields)
	return cached.(*structFields)
}

// add takes over the winners among the members found at one level of embedding. Names settled by an outer level are
// not touched; all names found are settled afterwards.
func (f *structFields) add(found []structField, settled map[string]bool) {
	byName := map[string][]structField{}
	for _, m := range found {
		byName[m.name] = append(byName[m.name], m)
	}
	for name, rivals := range byName {
		if settled[name] {
			continue
		}
		settled[name] = true
		if winner, ok := dominant(rivals); ok {
			f.byName[name] = winner
			f.names = append(f.names, name)
		}
	}
}

// dominant returns the only member, or else the only tagged one.
func dominant(rivals []structField) (structField, bool) {
	if len(rivals) == 1 {
		return rivals[0], true
	}
	tagged := slices.DeleteFunc(slices.Clone(rivals), func(m structField) bool { return !m.tagged })
	if len(tagged) == 1 {
		return tagged[0], true
	}
	return structField{}, false
}

// membersOf returns the members that the struct type t itself declares, and the struct types it embeds.
func membersOf(t reflect.Type) (members []structField, embedded []reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous {
			if s := indirect(f.Type); name == "" && s.Kind() == reflect.Struct {
				embedded = append(embedded, s)
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		m := structField{name: name, typ: f.Type, tagged: name != ""}
		if name == "" {
			m.name = f.Name
		}
		m.quoted = slices.Contains(strings.Split(options, ","), "string") && isScalar(indirect(f.Type).Kind())
		members = append(members, m)
	}
	return members, embedded
}

// indirect returns the type behind any number of pointers.
func indirect(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func isScalar(k reflect.Kind) bool {
	return k == reflect.Bool || k == reflect.String || isInteger(k) || k == reflect.Float32 || k == reflect.Float64
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uintptr }

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// decodesItself reports whether values of t read their JSON with a method of their own.
func decodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(unmarshaler) || reflect.PointerTo(t).Implements(textUnmarshaler)
}
