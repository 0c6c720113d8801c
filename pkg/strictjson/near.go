// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

// nearMisses returns the near misses in a document without other errors. It reads only keys, and makes no paths in objects without any.
func nearMisses(data []byte, t reflect.Type, at *field.Path) finding.List {
	w := newWalker(data)
	w.keys(t, &step{root: at})
	return w.errs
}

// step is the last step of a path: a key of a map, the name of a field, or else an index. The first one has only the root.
type step struct {
	above *step
	root  *field.Path
	key   *string
	name  string
	index int
}

func (s *step) path() *field.Path {
	switch {
	case s.above == nil:
		return s.root
	case s.key != nil:
		return s.above.path().Key(short(*s.key))
	case s.name != "":
		return s.above.path().Child(s.name)
	}
	return s.above.path().Index(s.index)
}

// keys consumes the next value, which t holds, and reports its near misses.
func (w *walker) keys(t reflect.Type, at *step) {
	elem, first := indirect(t), w.tokens.PeekKind()
	switch kind := elem.Kind(); {
	case first != '{' && first != '[' || decodesItself(elem):
		w.skip()
	case first == '{' && kind == reflect.Struct:
		w.keysOf(fieldsOf(elem), at)
	case first == '{' && kind == reflect.Map:
		for w.enter(); !w.leave(); {
			key := unquote(w.skip())
			w.keys(elem.Elem(), &step{above: at, key: &key})
		}
	case first == '[' && isList(kind):
		here := step{above: at}
		for w.enter(); !w.leave(); here.index++ {
			w.keys(elem.Elem(), &here)
		}
	default:
		w.skip()
	}
}

// keysOf consumes an object whose members are those of a struct, and reports its near misses.
func (w *walker) keysOf(fields *structFields, at *step) {
	here := step{above: at}
	var ignored []string
	present := make([]string, 0, 8) // usually enough
	for w.enter(); !w.leave(); {
		raw := w.skip()
		name := raw[1 : len(raw)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(unquote(raw))
		}
		f, known := fields.byName[string(name)]
		if !known {
			ignored = append(ignored, string(name))
			w.skip()
			continue
		}
		present = append(present, f.name)
		here.name = f.name
		w.keys(f.typ, &here)
	}
	if len(ignored) > 0 {
		w.nearMisses(ignored, fields.without(func(name string) bool { return slices.Contains(present, name) }), at.path)
	}
}

// nearMisses reports the names among the ignored ones of an object by which an absent field was probably meant. It stops without an error
// when the budget is spent, because the type need not have all fields.
func (w *walker) nearMisses(ignored, absent []string, at func() *field.Path) {
	for _, name := range ignored {
		if w.budget <= 0 {
			return
		}
		if detail, meant := unknownField(name, absent); meant != nil {
			w.report(at().Child(short(name)), field.Error{Type: field.ErrorTypeForbidden, Origin: OriginUnknownField, Detail: detail}, meant)
		}
	}
}
