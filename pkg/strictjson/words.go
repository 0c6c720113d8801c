// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

const (
	maxExcerpt = 60  // runes of a value in a message
	maxCause   = 200 // bytes of a decoder's message in ours
)

// wording is the users' name for the values of a type.
type wording struct {
	one, many string
	kinds     string // JSON kinds that a value may have; empty: any
	cause     bool   // the decoder's own message helps
}

// wordings are the types in Kubernetes API types that decode their JSON themselves.
var wordings = map[reflect.Type]wording{
	reflect.TypeFor[resource.Quantity](): like("a quantity", "quantities", "4Gi", "a string, a number", false),
	reflect.TypeFor[metav1.Duration]():   like("a duration", "durations", "60s or 1h30m", "a string", true),
	reflect.TypeFor[time.Time]():         like("a time", "times", "2006-01-02T15:04:05Z", "a string", false),
	reflect.TypeFor[metav1.Time]():       like("a time", "times", "2006-01-02T15:04:05Z", "a string", false),
	reflect.TypeFor[metav1.MicroTime]():  like("a time", "times", "2006-01-02T15:04:05.000000Z", "a string", false),
	reflect.TypeFor[intstr.IntOrString](): {
		"a whole number or a string", "whole numbers or strings", "a string, a number", false},
	reflect.TypeFor[json.Number](): {"a number", "numbers", "a number", false},
}

// like returns a wording with an example.
func like(one, many, example, kinds string, cause bool) wording {
	return wording{one + " like " + example, many + " like " + example, kinds, cause}
}

// describe returns the wording for t, which is not a pointer.
func describe(t reflect.Type) wording {
	if w, ok := wordings[t]; ok {
		return w
	}
	switch k := t.Kind(); {
	case reflect.PointerTo(t).Implements(unmarshaler):
		return wording{"a valid value", "valid values", "", true}
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		return wording{"a string of its format", "strings of their format", "a string", true}
	case k == reflect.Bool:
		return wording{"true or false", "true or false values", "a boolean", false}
	case isInteger(k):
		return wording{"a whole number" + bounds(t), "whole numbers", "a number", false}
	case k == reflect.Float32 || k == reflect.Float64:
		return wording{"a number within the range of the field", "numbers", "a number", false}
	case k == reflect.String:
		return wording{"a string", "strings", "a string", false}
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return wording{"a base64 string", "base64 strings", "a string", false}
	case isList(k) && isList(indirect(t.Elem()).Kind()):
		return wording{"a list of lists", "lists", "a list", false}
	case isList(k):
		return wording{"a list of " + describe(indirect(t.Elem())).many, "lists", "a list", false}
	case k == reflect.Struct || k == reflect.Map:
		return wording{"an object", "objects", "an object", false}
	}
	return wording{"a valid value", "values", "", false}
}

// misfit explains why the JSON value raw, which failed to decode with err, does not fit t, and suggests a repair. key is set if the problem
// is about a member of raw.
func misfit(t reflect.Type, raw []byte, err error) (key, problem string, meant *finding.Suggestion) {
	want, got := describe(t), kindOf(raw)
	problem = "must be " + want.one
	switch {
	case want.kinds != "" && !strings.Contains(want.kinds, got):
		if isInteger(t.Kind()) {
			want.one = "a whole number"
		}
		problem = fmt.Sprintf("expected %s, got %s", strings.TrimSuffix(want.one, " within the range of the field"), got)
		switch {
		case want.one != "a string":
		case got == "a number":
			problem += inQuotes
		case got == "a boolean":
			problem += "; write the text that is meant, in quotes" // the value may be the letter n in YAML
		case got == "an object":
			problem += nameOf(raw)
		}
		list, inList := asList(want.one, raw)
		object, inObject := asObject(t, raw)
		problem, meant = problem+list+object+unquoted(want, raw)+withUnit(t, raw), cmp.Or(inList, inObject)
	case (t == reflect.TypeFor[metav1.Time]() || t == reflect.TypeFor[time.Time]()) && date.MatchString(unquote(raw)):
		meant = finding.Suggest(finding.ReplaceValue, unquote(raw), unquote(raw)+"T00:00:00Z", "")
		problem += `; write "` + meant.With + `"`
	case t == reflect.TypeFor[resource.Quantity]():
		if quantity := asQuantity(unquote(raw)); quantity != "" {
			problem, meant = problem+"; write "+quantity, finding.Suggest(finding.ReplaceValue, unquote(raw), quantity, "")
		}
	case want.cause:
		return within(problem, err, raw)
	}
	return "", problem, meant
}

// nameOf suggests the name of an object where a string is expected, as for the zone {name: europe-1a}; empty if it has none.
func nameOf(raw []byte) string {
	var object struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(raw, &object) != nil || object.Name == "" {
		return ""
	}
	return "; write " + words.InYAML(object.Name)
}

// inQuotes ends the message about a number where a string is expected.
const inQuotes = "; put it in quotes"

// unquoted explains that a number or a boolean must not be quoted; empty for other values.
func unquoted(want wording, raw []byte) string {
	text := unquote(raw)
	if raw[0] != '"' || want.kinds != "a number" && want.kinds != "a boolean" || !json.Valid([]byte(text)) || kindOf([]byte(text)) != want.kinds {
		return ""
	}
	return "; write " + text + ", without quotes"
}

// withUnit explains how to write a duration that is a bare number; empty for other values.
func withUnit(t reflect.Type, raw []byte) string {
	if t != reflect.TypeFor[metav1.Duration]() || !seconds.Match(raw) {
		return ""
	}
	return "; write " + string(raw) + "s, if seconds are meant"
}

// asQuantity rewrites a quantity whose unit Kubernetes does not know; empty for other values.
func asQuantity(text string) string {
	if in := inBytes.FindStringSubmatch(text); in != nil {
		return in[1] + strings.ToUpper(in[2]) + "i"
	}
	if in := inPieces.FindStringSubmatch(text); in != nil {
		return in[1]
	}
	return ""
}

var (
	// seconds matches a number that may be a number of seconds.
	seconds = regexp.MustCompile(`^[1-9]\d*$`)
	// inBytes matches quantities like 8GB and 8 GiB, and inPieces those like 4 cores.
	inBytes  = regexp.MustCompile(`^(\d+) ?([kKmMgGtT])i?[bB]$`)
	inPieces = regexp.MustCompile(`^(\d+) ?(?i:cores?|v?cpus?|gpus?)$`)
)

// asList explains how to write a list of strings whose only element is raw, and suggests it if that is a single word.
func asList(want string, raw []byte) (text string, meant *finding.Suggestion) {
	if want != "a list of strings" || raw[0] != '"' {
		return "", nil
	}
	value := unquote(raw)
	if !strings.ContainsAny(value, ", \t\n") {
		meant = finding.Suggest(finding.ReplaceByList, "", "", value)
	}
	if plain.MatchString(value) {
		return "; write it in brackets: [" + words.InYAML(value) + "]", meant
	}
	return "; write it in brackets", meant
}

// date matches a day, written where a time is expected.
var date = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// asObject explains how to write an object for which only a name, or enabled as a boolean, is given; empty for other values. It suggests
// that object if it needs no other fields.
func asObject(t reflect.Type, raw []byte) (text string, meant *finding.Suggestion) {
	if t.Kind() != reflect.Struct || decodesItself(t) {
		return "", nil
	}
	key, kind, value := "enabled", reflect.Bool, unquote(raw)
	if raw[0] == '"' && plain.MatchString(value) {
		key, kind, value = "name", reflect.String, words.InYAML(value)
	}
	if f, known := fieldsOf(t).byName[key]; !known || indirect(f.typ).Kind() != kind || kindOf(raw) != describe(indirect(f.typ)).kinds {
		return "", nil
	}
	text = fmt.Sprintf("; write {%s: %s}", key, value)
	for f := range t.Fields() {
		if name, options, _ := strings.Cut(f.Tag.Get("json"), ","); name != key && !strings.Contains(options, "omit") {
			return text, nil
		}
	}
	return text, finding.Suggest(finding.ReplaceByObject, key, "", unquote(raw))
}

// plain matches values that need no quotes in a list.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,39}$`)

// within explains the error of a type that decodes itself. If it is about a value inside, it explains that value and, if known, names its
// member.
func within(problem string, err error, raw []byte) (member, detail string, meant *finding.Suggestion) {
	var inner *json.UnmarshalTypeError
	if !errors.As(err, &inner) || raw[0] != '{' {
		return "", problem + because(err), nil
	}
	want := describe(indirect(inner.Type)).one
	problem = fmt.Sprintf("a value in it has the wrong type: expected %s, got a %s", want, inner.Value)
	if key, value := noList(raw); want == "a list of strings" && key != "" {
		written, list := asList(want, value)
		return short(key), fmt.Sprintf("expected %s, got %s%s", want, kindOf(value), written), list
	}
	return "", problem, nil
}

// noList returns the first key, in lexical order, of an object of lists whose value is not a list, with the value; no key if all are lists.
func noList(object []byte) (string, json.RawMessage) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return "", nil
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if value := members[key]; kindOf(value) != "a list" && kindOf(value) != "null" {
			return key, value
		}
	}
	return "", nil
}

func isList(k reflect.Kind) bool { return k == reflect.Slice || k == reflect.Array }

// bounds returns the range of the integer type t.
func bounds(t reflect.Type) string {
	if t.Kind() >= reflect.Uint {
		return fmt.Sprintf(" between 0 and %d", uint64(math.MaxUint64)>>(64-t.Bits()))
	}
	return fmt.Sprintf(" between %d and %d", int64(math.MinInt64)>>(64-t.Bits()), int64(math.MaxInt64)>>(64-t.Bits()))
}

// because returns a decoder's message as the end of a sentence, or nothing if it is about Go instead of the value.
func because(err error) string {
	text := strings.TrimPrefix(err.Error(), "time: ")
	if strings.Contains(text, "json:") || strings.Contains(text, "Go ") || len(text) > maxCause {
		return ""
	}
	return ": " + text
}

func kindOf(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// excerpt formats a JSON value in at most maxExcerpt characters on one line, a string without its quotes.
func excerpt(raw []byte) string {
	text := string(raw[:min(len(raw), 8*maxExcerpt)])
	if strings.HasPrefix(text, `"`) && len(text) == len(raw) {
		text = unquote(raw)
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if utf8.RuneCountInString(text) <= maxExcerpt {
		return text
	}
	return string([]rune(text)[:maxExcerpt-1]) + "…"
}

// maxListed is the maximum number of known fields that are listed for an unknown one.
const maxListed = 12

// unknownField explains an unknown name by the known one that was probably meant, or by the known names if they are few. known is sorted.
func unknownField(name string, known []string) (detail string, meant *finding.Suggestion) {
	detail = fmt.Sprintf("unknown field %q", short(name))
	certain := cmp.Or(words.InCase(name, known), words.Certain(name, known))
	switch closest := cmp.Or(certain, words.Closest(name, known)); {
	case closest != "":
		detail += words.DidYouMean(strconv.Quote(closest))
		return detail, finding.Suggest(finding.ReplaceKey, name, closest, certain)
	case len(known) == 0 || len(known) > maxListed:
		return detail, nil
	}
	return detail + "; known fields: " + strings.Join(known, ", "), nil
}
