// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
)

const (
	// reportBudget bounds the memory of all errors of one document: each costs errorCost plus the length of its path.
	reportBudget = 1 << 20
	errorCost    = 1 << 10
	// maxKeyInPath bounds one element of a path, in bytes.
	maxKeyInPath = 256
)

var anything = reflect.TypeFor[any]()

// walker compares a valid JSON document with a Go type, value by value, and collects the mismatches. Each byte is decoded at most once
// more, because only values without children are decoded.
type walker struct {
	// tokens reads the document, which is known to be valid, so its errors are ignored.
	tokens *jsontext.Decoder
	data   []byte
	// knownOnly ignores fields that the type does not have, except for near misses.
	knownOnly bool
	errs      finding.List
	budget    int
	cut       int // errors omitted because the budget is spent
	// misfits are the mismatches, in the order of the document.
	misfits []value
}

// value is a value of a document, with its first byte (inclusive), its end (exclusive), and the type that should hold it.
type value struct {
	start, end int
	as         reflect.Type
}

func newWalker(data []byte) *walker {
	return &walker{data: data, budget: reportBudget, tokens: jsontext.NewDecoder(bytes.NewBuffer(data),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
}

// skip consumes the next value or key and returns its text, which is valid until the next one is read.
func (w *walker) skip() []byte {
	raw, _ := w.tokens.ReadValue()
	return raw
}

// enter consumes the bracket that opens an object or list.
func (w *walker) enter() { _, _ = w.tokens.ReadToken() }

// leave consumes the bracket that closes an object or list and reports whether it was next.
func (w *walker) leave() bool {
	switch w.tokens.PeekKind() {
	case jsontext.KindEndObject, jsontext.KindEndArray, jsontext.KindInvalid:
		_, _ = w.tokens.ReadToken()
		return true
	}
	return false
}

// value consumes the next value, which t should hold. A null, which decoders ignore, fits.
func (w *walker) value(t reflect.Type, at *field.Path) {
	elem, first := indirect(t), w.tokens.PeekKind()
	switch {
	case decodesItself(elem):
		w.leaf(t, at)
	case first == '{' && elem.Kind() == reflect.Struct:
		w.object(fieldsOf(elem), at)
	case first == '{' && elem.Kind() == reflect.Map:
		w.mapping(elem.Key(), elem.Elem(), at)
	case first == '{' && elem == anything:
		w.mapping(reflect.TypeFor[string](), anything, at)
	case first == '[' && isList(elem.Kind()):
		w.list(elem.Elem(), at)
	case first == '[' && elem == anything:
		w.list(anything, at)
	default:
		w.leaf(t, at)
	}
}

// object consumes an object whose members are those of a struct.
func (w *walker) object(fields *structFields, at *field.Path) {
	seen := map[string]int{}
	var ignored []string
	for w.enter(); !w.leave(); {
		name := unquote(w.skip())
		here := at.Child(short(name))
		w.once(seen, name, here)
		switch f, known := fields.byName[name]; {
		case !known && w.knownOnly:
			w.value(anything, here) // which may have duplicate keys
			if seen[name] == 1 {
				ignored = append(ignored, name)
			}
		case !known:
			w.skip()
			if seen[name] == 1 {
				detail, meant := unknownField(name, fields.names)
				w.report(here, field.Error{Type: field.ErrorTypeForbidden, Origin: OriginUnknownField, Detail: detail}, meant)
			}
		case f.quoted:
			w.quoted(f, here)
		default:
			w.value(f.typ, here)
		}
	}
	if len(ignored) > 0 {
		w.nearMisses(ignored, fields.without(func(name string) bool { return seen[name] > 0 }), func() *field.Path { return at })
	}
}

// mapping consumes an object with free keys.
func (w *walker) mapping(key, elem reflect.Type, at *field.Path) {
	seen := map[string]int{}
	for w.enter(); !w.leave(); {
		raw := w.skip()
		name := unquote(raw)
		here := at.Key(short(name))
		w.once(seen, name, here)
		if !fitsKey(key, raw) {
			w.misfit(here, raw, "the key must be "+describe(key).one, nil)
		}
		w.value(elem, here)
	}
}

func (w *walker) list(elem reflect.Type, at *field.Path) {
	w.enter()
	for i := 0; !w.leave(); i++ {
		w.value(elem, at.Index(i))
	}
}

// leaf consumes a value and reports it unless it decodes into t.
func (w *walker) leaf(t reflect.Type, at *field.Path) {
	raw, elem, problem := w.skip(), indirect(t), ""
	var meant *finding.Suggestion
	if elem == quantity && hasLongExponent(raw) {
		problem = "must be a quantity like 4Gi: the exponent has more than three digits"
	} else if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, reflect.New(t).Interface()); err != nil {
		var key string
		if key, problem, meant = misfit(elem, raw, err); key != "" {
			at = at.Key(key)
		}
	}
	if problem != "" {
		if strings.HasSuffix(problem, inQuotes) && w.budget > 0 && strings.HasSuffix(fieldpath.Text(at), ".version") {
			problem = strings.TrimSuffix(problem, inQuotes) + `; put the full version in quotes, as in "1.2.3"`
		}
		end := int(w.tokens.InputOffset())
		w.misfits = append(w.misfits, value{end - len(raw), end, t})
		w.misfit(at, raw, problem, meant)
	}
}

var (
	quantity = reflect.TypeFor[resource.Quantity]()
	// longExponent matches a number with an exponent of more than three digits.
	longExponent = regexp.MustCompile(`^[-+0-9.]*[eE][-+]?0*[1-9][0-9]{3,}$`)
)

// hasLongExponent reports whether a JSON value is a quantity with a long exponent, which is well-formed but useless. The decoder of
// Kubernetes expands it to all its digits before it rounds, which may take hours for one of twelve bytes. So it must not see the value.
func hasLongExponent(raw []byte) bool {
	if !bytes.ContainsAny(raw, `eE\`) {
		return false
	}
	text := string(raw)
	if raw[0] == '"' {
		text = unquote(raw)
	}
	return longExponent.MatchString(text)
}

// decodeValid decodes the document with every mismatch replaced by its type's zero value. Otherwise the decoder would stop at the first
// mismatch of a type that decodes itself.
func (w *walker) decodeValid(into any) {
	fits, from := make([]byte, 0, len(w.data)), 0
	for _, m := range w.misfits {
		fits = append(append(fits, w.data[from:m.start]...), nothing(m.as)...)
		from = m.end
	}
	fits = append(fits, w.data[from:]...)
	_ = safely(into, func() error { return kjson.UnmarshalCaseSensitivePreserveInts(fits, into) }) // the errors are known
}

// nothing returns the JSON text for the zero value of a type: null, unless the type refuses that.
func nothing(t reflect.Type) []byte {
	null := []byte("null")
	if kjson.UnmarshalCaseSensitivePreserveInts(null, reflect.New(t).Interface()) == nil {
		return null
	}
	if zero, err := json.Marshal(reflect.Zero(t).Interface()); err == nil {
		return zero
	}
	return null
}

// quoted consumes the value of a field with the json option ",string": a scalar inside a JSON string.
func (w *walker) quoted(f structField, at *field.Path) {
	raw := w.skip()
	holder := reflect.StructOf([]reflect.StructField{{Name: "Value", Type: f.typ, Tag: `json:"value,string"`}})
	wrapped := append(append([]byte(`{"value":`), raw...), '}')
	if kjson.UnmarshalCaseSensitivePreserveInts(wrapped, reflect.New(holder).Interface()) != nil {
		w.misfit(at, raw, fmt.Sprintf("expected %s in quotes, got %s", describe(indirect(f.typ)).one, kindOf(raw)), nil)
	}
}

// once counts a key of an object, and reports its second occurrence.
func (w *walker) once(seen map[string]int, name string, at *field.Path) {
	if seen[name]++; seen[name] == 2 {
		w.report(at, field.Error{Type: field.ErrorTypeDuplicate, Origin: OriginDuplicateKey, BadValue: short(name),
			Detail: "the key is given more than once"}, nil)
	}
}

func (w *walker) misfit(at *field.Path, raw []byte, detail string, meant *finding.Suggestion) {
	w.report(at, field.Error{Type: field.ErrorTypeInvalid, Origin: OriginFieldType, BadValue: excerpt(raw),
		Detail: detail}, meant)
}

// report adds a problem at the path at. It formats the path only if there is budget left.
func (w *walker) report(at *field.Path, problem field.Error, meant *finding.Suggestion) {
	if w.budget <= 0 {
		w.cut++
		return
	}
	problem.Field = fieldpath.Text(at)
	w.budget -= errorCost + len(problem.Field)
	w.errs = append(w.errs, finding.Finding{Error: &problem, Place: fieldpath.Parse(problem.Field), Suggestion: meant})
}

// listed returns the errors, of which there must be one. If some are omitted, a last error at the path gives their number.
func (w *walker) listed(at *field.Path) finding.List {
	if w.cut == 0 {
		return w.errs
	}
	return append(w.errs, finding.Of(field.ErrorList{{Type: field.ErrorTypeInvalid, Field: fieldpath.Text(at), BadValue: field.OmitValueType{},
		Origin: w.errs[len(w.errs)-1].Origin, Detail: fmt.Sprintf("%d more problems are not listed", w.cut)}})...)
}

// fitsKey reports whether a map with keys of type t can have the key raw, a JSON string.
func fitsKey(t reflect.Type, raw []byte) bool {
	if t.Kind() == reflect.String && !decodesItself(t) {
		return true
	}
	single := bytes.Join([][]byte{[]byte("{"), raw, []byte(":null}")}, nil)
	holder := reflect.New(reflect.MapOf(t, anything)).Interface()
	return kjson.UnmarshalCaseSensitivePreserveInts(single, holder) == nil
}

// short cuts a key for use in a path.
func short(name string) string {
	if len(name) <= maxKeyInPath {
		return name
	}
	end := maxKeyInPath
	for end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end] + "…"
}

// unquote returns the text of a JSON string; any other value is returned unchanged.
func unquote(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}
