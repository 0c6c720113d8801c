// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

// maxGuesses limits the guesses in a manifest, because each of them takes a pass over the whole text.
const maxGuesses = 64

// Meant returns the object that a manifest with errors was probably meant to describe, so that the rest of it can be checked. It applies
// the keys and values that the errors suggest, unwraps core flavors, and leaves out keys that the type has nowhere: they may be of a newer
// Gardener. Of a misspelt key beside the right one, the right one counts. The object is nil if there are other errors, for example a key in
// the wrong place. Do not modify it. In the returned manifest, the object's paths lead to the written text.
func Meant[T any](m Memory, o *manifest.Object) (*T, *manifest.Object) {
	known := m[o]
	if known.meant != nil {
		return known.meant.(*T), known.manifest
	}
	object, errs := Object[T](m, o)
	g := &guess{t: reflect.TypeFor[T](), text: o.JSON, renamed: map[string]string{}}
	switch certain := g.take(errs); {
	case !certain:
		object = nil
	case len(g.splices) > 0:
		repaired := *o
		repaired.JSON = g.spliced()
		object = new(T)
		if left := into(&repaired, object); slices.ContainsFunc(left, func(f finding.Finding) bool { return !g.ignorable(&f) }) {
			object = nil
		}
	}
	if m != nil {
		known = m[o]
		known.meant, known.manifest = object, o.Renamed(g.renamed)
		m[o] = known
		return object, known.manifest
	}
	return object, o.Renamed(g.renamed)
}

// Config is a provider config as it was probably meant.
type Config struct {
	// Raw is nil if no error of the config suggests the intention, or if a suggestion cannot be applied.
	Raw []byte
	// Taken are the errors that were corrected. In Manifest, the paths of Raw lead to the written text.
	Taken    finding.List
	Manifest *manifest.Object
}

// Config returns the provider config at a path of a manifest as it was probably meant, by the suggestions of the decoder's errors. decode
// returns these errors.
func (m Memory) Config(o *manifest.Object, config []byte, at string, decode func() finding.List) Config {
	known, found := m[o]
	if known.config != nil {
		return *known.config
	}
	meant := meantConfig(o, config, at, decode())
	if found {
		known.config = &meant
		m[o] = known
	}
	return meant
}

func meantConfig(o *manifest.Object, config []byte, at string, errs finding.List) Config {
	errs = slices.DeleteFunc(slices.Clone(errs), func(f finding.Finding) bool {
		return f.Suggestion == nil || f.Origin != strictjson.OriginUnknownField && f.Origin != strictjson.OriginFieldType
	})
	g := &guess{text: config, above: len(fieldpath.Parse(at)), renamed: map[string]string{}}
	if certain := g.take(errs); !certain || len(errs) == 0 {
		return Config{}
	}
	return Config{g.spliced(), errs, o.Renamed(g.renamed)}
}

// guess is the probable intention of a manifest's JSON, or of a part of it, for an object of type t.
type guess struct {
	t       reflect.Type
	text    []byte
	above   int // number of path segments above the text
	splices []splice
	// renamed maps paths in the intended object to the paths of the written text.
	renamed map[string]string
	// names are the names of the type's fields; nil until needed.
	names map[string]bool
}

// splice replaces a part of a text.
type splice struct {
	span
	with []byte
}

// span is a part of a text. It includes start, but not end.
type span struct{ start, end int }

// take collects the corrections for errors. It returns false if one of the errors has none.
func (g *guess) take(errs finding.List) bool {
	for i := range errs {
		f := &errs[i]
		path := fieldpath.Parse(f.Field)
		path = path[min(g.above, len(path)):]
		switch meant := f.Suggestion; {
		case g.ignorable(f):
		case len(path) == 0 || len(g.splices) == maxGuesses:
			return false
		case f.Origin == RuleFlavorWrapped:
			_, flavor := g.find(path[:len(path)-1])
			_, capabilities := g.find(path)
			if capabilities.end == 0 || len(edit.Members(edit.Decoded(g.text[flavor.start:flavor.end]))) != 1 {
				return false
			}
			g.splice(flavor, g.text[capabilities.start:capabilities.end])
			g.renamed[strings.TrimSuffix(f.Field, ".capabilities")] = f.Field
		case meant == nil || meant.Replace == finding.ReplaceRegion || !g.suggested(f, path):
			return false
		}
	}
	slices.SortFunc(g.splices, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(g.splices); i++ {
		if g.splices[i].start < g.splices[i-1].end {
			return false
		}
	}
	return true
}

// suggested collects the correction that an error at a path suggests: a key whose suggestion exists beside it is left out. It returns
// false if the path does not exist.
func (g *guess) suggested(f *finding.Finding, path fieldpath.Path) bool {
	key, value := g.find(path)
	meant := f.Suggestion
	var with any = meant.With
	switch meant.Replace {
	case finding.ReplaceKey:
		if other, _ := g.find(path[:len(path)-1].Child(meant.With)); other.end > 0 { // the right key is there as well
			g.splice(g.member(span{key.start, value.end}), nil)
			return value.end > 0
		}
		value = key
		if above, is := strings.CutSuffix(f.Field, meant.Name); is {
			g.renamed[above+meant.With] = f.Field
		}
	case finding.ReplaceByList:
		with = []string{meant.With}
	case finding.ReplaceByObject:
		with = map[string]json.RawMessage{meant.Name: g.text[value.start:value.end]}
	}
	text, err := json.Marshal(with)
	g.splice(value, text)
	return err == nil && value.end > 0
}

func (g *guess) splice(at span, with []byte) { g.splices = append(g.splices, splice{at, with}) }

// member returns a member of an object that has others, with the comma before it, or behind the first one.
func (g *guess) member(at span) span {
	before := bytes.TrimRight(g.text[:at.start], " \t\r\n")
	if before[len(before)-1] == ',' {
		return span{len(before) - 1, at.end}
	}
	return span{at.start, at.end + bytes.IndexByte(g.text[at.end:], ',') + 1}
}

// spliced returns the intended text.
func (g *guess) spliced() []byte {
	var text []byte
	from := 0
	for _, s := range g.splices {
		text = append(append(text, g.text[from:s.start]...), s.with...)
		from = s.end
	}
	return append(text, g.text[from:]...)
}

// find returns the value at a path, and its key if it has one. Both are zero if the path does not exist.
func (g *guess) find(path fieldpath.Path) (key, value span) {
	d := jsontext.NewDecoder(bytes.NewBuffer(g.text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	read := func() span {
		raw, _ := d.ReadValue()
		end := int(d.InputOffset())
		return span{end - len(raw), end}
	}
	for _, step := range path {
		token, err := d.ReadToken()
		if err != nil || token.Kind() != '{' && token.Kind() != '[' || step.IsIndex() != (token.Kind() == '[') {
			return span{}, span{}
		}
		key = span{}
		for i := 0; ; i++ {
			if next := d.PeekKind(); next == '}' || next == ']' || next == 0 {
				return span{}, span{}
			}
			if step.IsIndex() {
				if i == step.Index {
					break
				}
			} else if key = read(); edit.Decoded(g.text[key.start:key.end]) == step.Name {
				break
			}
			read()
		}
	}
	return key, read()
}

// ignorable reports whether the object can be checked without the part that an error is about: a key that the type has nowhere, or a number
// or switch without a readable value.
func (g *guess) ignorable(f *finding.Finding) bool {
	path := fieldpath.Parse(f.Field)
	if f.Suggestion != nil || len(path) == 0 {
		return false
	}
	switch f.Origin {
	case strictjson.OriginFieldType:
		return isAmount(typeAt(g.t, path))
	case strictjson.OriginUnknownField:
		if g.names == nil {
			g.names = namesIn(g.t, map[reflect.Type]bool{}, map[string]bool{})
		}
		return !g.names[path[len(path)-1].Name]
	}
	return false
}

// isAmount reports whether the values of a type are numbers or switches, which can be ignored.
func isAmount(t reflect.Type) bool {
	return t != nil && (t == reflect.TypeFor[resource.Quantity]() || t.Kind() <= reflect.Float64)
}

// typeAt returns the type at a path in a type, without its pointer; nil if the path does not exist, or leads into a map.
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

// namesIn adds the JSON names of a type's fields and of their types' fields to names, and returns names.
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
