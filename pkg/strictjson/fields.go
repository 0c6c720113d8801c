// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"cmp"
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
	rank   int  // if several members have one name, the lowest rank wins
	quoted bool // the json tag says ",string"
}

// structFields are the JSON members of a struct type, including those of embedded structs.
type structFields struct {
	names  []string // sorted
	byName map[string]structField
}

var fieldCache sync.Map // reflect.Type -> *structFields

// fieldsOf returns the JSON members of the struct type t, by the rules of encoding/json. If several members have one name, the least nested
// wins, then the tagged one; if neither decides, the name is not a member. The result is shared and must not be modified.
func fieldsOf(t reflect.Type) *structFields {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(*structFields)
	}
	all := membersOf(t, nil)
	slices.SortFunc(all, func(a, b structField) int {
		return cmp.Or(strings.Compare(a.name, b.name), a.rank-b.rank)
	})
	fields := &structFields{byName: map[string]structField{}}
	for i, f := range all {
		if i > 0 && all[i-1].name == f.name {
			continue // a lower rank wins
		}
		if i+1 < len(all) && all[i+1].name == f.name && all[i+1].rank == f.rank {
			continue // a tie
		}
		fields.names, fields.byName[f.name] = append(fields.names, f.name), f
	}
	cached, _ := fieldCache.LoadOrStore(t, fields)
	return cached.(*structFields)
}

// without returns the names of the fields that are not present.
func (f *structFields) without(present func(name string) bool) []string {
	return slices.DeleteFunc(slices.Clone(f.names), present)
}

// membersOf returns the members that the struct type t and the types embedded in it declare. The types in within embed t.
func membersOf(t reflect.Type, within []reflect.Type) (members []structField) {
	if slices.Contains(within, t) {
		return nil
	}
	rank, within := 2*len(within), append(within, t)
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		embedded := indirect(f.Type)
		switch {
		case tag == "-":
		case f.Anonymous && name == "" && embedded.Kind() == reflect.Struct:
			members = append(members, membersOf(embedded, within)...)
		case f.IsExported(), f.Anonymous && f.Type.Kind() == reflect.Struct: // otherwise it is an unsettable pointer
			quoted := slices.Contains(strings.Split(options, ","), "string") && isScalar(embedded.Kind())
			own := rank
			if name == "" { // the name is not from a tag
				name, own = f.Name, rank+1
			}
			members = append(members, structField{name, f.Type, own, quoted})
		}
	}
	return members
}

// indirect strips all pointers from a type.
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

// decodesItself reports whether t has its own method for decoding JSON or text.
func decodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(unmarshaler) || reflect.PointerTo(t).Implements(textUnmarshaler)
}
