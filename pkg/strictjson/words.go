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
	maxExcerpt = 60  // runes of a value shown in a message
	maxCause   = 200 // bytes of a decoder's message passed on
)

// wording is what users call the values of a type.
type wording struct {
	one, many string
	kinds     string // kinds of JSON value such a value may be written as; empty: any
	cause     bool   // the decoder's own message helps
}

// wordings are the types that read their JSON themselves and occur in Kubernetes API types.
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

// like returns a wording that gives an example.
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

// misfit says in the user's words why the JSON value raw, which failed to decode with err, is no t, and what was probably meant. key
// is not empty if that is about a member of raw.
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
			problem += "; write the text that is meant, in quotes" // in YAML the letter n
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

// inQuotes ends what is wrong with a number where a string is expected.
const inQuotes = "; put it in quotes"

// unquoted says how a number or a boolean is written that is in quotes; empty for other values.
func unquoted(want wording, raw []byte) string {
	text := unquote(raw)
	if raw[0] != '"' || want.kinds != "a number" && want.kinds != "a boolean" || !json.Valid([]byte(text)) || kindOf([]byte(text)) != want.kinds {
		return ""
	}
	return "; write " + text + ", without quotes"
}

// withUnit says how a duration is written that is a number; empty for other values.
func withUnit(t reflect.Type, raw []byte) string {
	if t != reflect.TypeFor[metav1.Duration]() || !seconds.Match(raw) {
		return ""
	}
	return "; write " + string(raw) + "s, if seconds are meant"
}

// asQuantity returns how a quantity is written that has a unit which Kubernetes does not have; empty for other values.
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
	// seconds matches a number that may be one of seconds.
	seconds = regexp.MustCompile(`^[1-9]\d*$`)
	// inBytes matches quantities such as 8GB and 8 GiB, inPieces those such as 4 cores.
	inBytes  = regexp.MustCompile(`^(\d+) ?([kKmMgGtT])i?[bB]$`)
	inPieces = regexp.MustCompile(`^(\d+) ?(?i:cores?|v?cpus?|gpus?)$`)
)

// asList says how a list of strings is written, if raw is the only one, and suggests it for a string of one word.
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

// date matches a day, as people write it where a time is expected.
var date = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// asObject says how an object is written of which only the name is given, or whether it is enabled; empty for other values. It suggests
// that if everything else may be left out.
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

// within says what a value that reads its JSON itself does not like within it, and in which member, or what else is the problem.
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

// noList returns the first key, in the order of the alphabet, of an object of lists whose value is none, with the value; no key
// if all are lists.
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

// because returns a decoder's message as the end of a sentence, or nothing if it speaks of Go rather than of the value.
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

// excerpt renders a JSON value in at most maxExcerpt characters on one line. A string is shown without its quotes.
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

// maxListed is how many known fields are listed for an unknown one.
const maxListed = 12

// unknownField explains a name that is not among the sorted known ones: with the one probably meant, or with a few.
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
