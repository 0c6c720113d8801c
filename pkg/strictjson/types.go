// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"encoding/json"
	"reflect"
	"sync"
)

// typeTraits says what a Go type can hold, at any depth.
type typeTraits struct {
	// interfaces: something whose type only the document knows. Kubernetes decodes whole numbers into it as integers,
	// other decoders do not.
	interfaces bool
	// quantities: a resource.Quantity, outside of the types that decode themselves.
	quantities bool
}

var traitsCache sync.Map // reflect.Type -> typeTraits

// traitsOf returns the traits of a type. It is safe for concurrent use.
func traitsOf(t reflect.Type) typeTraits {
	if cached, ok := traitsCache.Load(t); ok {
		return cached.(typeTraits)
	}
	traits := typeTraits{
		interfaces: containsInterface(t, map[reflect.Type]bool{}),
		quantities: containsQuantity(t, map[reflect.Type]bool{}),
	}
	traitsCache.Store(t, traits)
	return traits
}

// containsInterface reports whether values of t may contain an interface. Types in visited are left out.
func containsInterface(t reflect.Type, visited map[reflect.Type]bool) bool {
	if visited[t] {
		return false
	}
	visited[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return containsInterface(t.Elem(), visited)
	case reflect.Struct:
		if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return false
		}
		for i := range t.NumField() {
			if containsInterface(t.Field(i).Type, visited) {
				return true
			}
		}
	}
	return false
}

// containsQuantity reports whether the walk of a document beside t can come to a quantity. Types in visited are left
// out.
func containsQuantity(t reflect.Type, visited map[reflect.Type]bool) bool {
	t = indirect(t)
	if visited[t] {
		return false
	}
	visited[t] = true
	switch {
	case decodesItself(t):
		return t == quantity
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map:
		return containsQuantity(t.Elem(), visited)
	case t.Kind() == reflect.Struct:
		for _, f := range fieldsOf(t).byName {
			if containsQuantity(f.typ, visited) {
				return true
			}
		}
	}
	return false
}
