// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

// Meant returns the object that a manifest with errors was probably meant to describe, so that the rest of it can be checked, too: with
// the keys and values that the errors suggest, core flavors without what wraps them, and without keys that no part of the type has. These
// may be of a newer Gardener. It is nil if there are other errors: a key in the wrong place, for example. The object must not be changed.
func Meant[T any](m Memory, o *manifest.Object) *T {
	known, found := m[o]
	if found && known.meant != nil {
		return known.meant.(*T)
	}
	_, errs := Object[T](m, o)
	value := edit.Decoded(o.JSON)
	ops := meantOps(value, reflect.TypeFor[T](), errs)
	var object *T
	if ops != nil {
		object = new(T)
		repaired := *o
		repaired.JSON, _ = json.Marshal(edit.Result(value, ops)) // it was JSON before
		if len(into(&repaired, object)) > 0 {
			object = nil
		}
	}
	if m != nil {
		known = m[o]
		known.meant = object
		m[o] = known
	}
	return object
}

// meantOps returns what makes of an object of a type what was probably meant. Nil: one of the errors does not say that.
func meantOps(object any, t reflect.Type, errs finding.List) []edit.Op {
	var ops []edit.Op
	names := namesIn(t, map[reflect.Type]bool{}, map[string]bool{})
	taken := map[string]bool{}
	for _, f := range errs {
		path := fieldpath.Parse(f.Field)
		if len(path) == 0 {
			return nil
		}
		last, meant := path[len(path)-1].Name, f.Suggestion
		switch {
		case f.Origin == RuleFlavorWrapped:
			if flavor, _ := edit.Value(object, path[:len(path)-1]).(map[string]any); len(flavor) != 1 {
				return nil
			}
			ops = append(ops, edit.Unwrap(path))
		case meant == nil && f.Origin == strictjson.OriginUnknownField && !names[last]:
			ops = append(ops, edit.Delete(path))
		case meant == nil && f.Origin == strictjson.OriginFieldType && isAmount(typeAt(t, path)):
			ops = append(ops, edit.Delete(path))
		case meant == nil:
			return nil
		case meant.Replace == finding.ReplaceByList:
			ops = append(ops, edit.Replace(path, []any{meant.With}))
		case meant.Replace == finding.ReplaceKey:
			beside, _ := edit.Value(object, path[:len(path)-1]).(map[string]any)
			target := strings.TrimSuffix(f.Field, meant.Name) + meant.With
			if _, there := beside[meant.With]; there || taken[target] || last != meant.Name {
				return nil
			}
			taken[target] = true
			ops = append(ops, edit.Rename(path, meant.With))
		case meant.Replace == finding.ReplaceValue:
			ops = append(ops, edit.Replace(path, meant.With))
		default:
			return nil
		}
	}
	return ops
}

// isAmount reports whether the values of a type are numbers or switches, without which an object is still the same one.
func isAmount(t reflect.Type) bool {
	return t != nil && (t == reflect.TypeFor[resource.Quantity]() || t.Kind() <= reflect.Float64)
}

// typeAt returns the type of what is at a path of a type, without its pointer; nil if there is nothing, or in a map.
func typeAt(t reflect.Type, path fieldpath.Path) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case len(path) == 0:
		return t
	case path[0].IsIndex():
		if t.Kind() == reflect.Slice {
			return typeAt(t.Elem(), path[1:])
		}
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == path[0].Name {
				return typeAt(f.Type, path[1:])
			}
			if name == "" && f.Anonymous {
				if found := typeAt(f.Type, path); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

// namesIn returns the JSON names of the fields of a type, and of all that it consists of.
func namesIn(t reflect.Type, seen map[reflect.Type]bool, names map[string]bool) map[string]bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return namesIn(t.Elem(), seen, names)
	case reflect.Struct:
	default:
		return names
	}
	if seen[t] {
		return names
	}
	seen[t] = true
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.IsExported() {
			names[name] = true
			namesIn(f.Type, seen, names)
		}
	}
	return names
}
