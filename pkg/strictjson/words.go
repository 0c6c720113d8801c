// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
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

// misfit says in the user's words why the JSON value raw, which failed to decode with err, is no t.
func misfit(t reflect.Type, raw []byte, err error) string {
	want, got := describe(t), kindOf(raw)
	problem := "must be " + want.one
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
		problem += inBrackets(want.one, raw)
	case want.cause:
		problem = within(problem, err, raw)
	}
	return problem
}

// inQuotes ends what is wrong with a number where a string is expected.
const inQuotes = "; put it in quotes"

// inBrackets says how a list of strings is written, if raw is the only one.
func inBrackets(want string, raw []byte) string {
	if want != "a list of strings" || raw[0] != '"' {
		return ""
	}
	if value := unquote(raw); plain.MatchString(value) {
		return "; write it in brackets: [" + value + "]"
	}
	return "; write it in brackets"
}

// plain matches values that need no quotes in a list.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,39}$`)

// within says what a value that reads its JSON itself does not like within it, or what else is the problem.
func within(problem string, err error, raw []byte) string {
	var inner *json.UnmarshalTypeError
	if !errors.As(err, &inner) || raw[0] != '{' {
		return problem + because(err)
	}
	want := describe(indirect(inner.Type)).one
	problem = fmt.Sprintf("a value in it has the wrong type: expected %s, got a %s", want, inner.Value)
	if key, value := noList(raw); want == "a list of strings" && key != "" {
		problem = fmt.Sprintf("%s: expected %s, got %s%s", short(key), want, kindOf(value), inBrackets(want, value))
	}
	return problem
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

const (
	maxListed   = 12 // known fields listed for an unknown one
	maxSuggest  = 64 // bytes of a name that a suggestion is sought for
	maxDistance = 2  // edits between an unknown name and the suggestion
)

// unknownField explains a name that is not among the sorted known ones: with the one probably meant, or with a few.
func unknownField(name string, known []string) string {
	detail := fmt.Sprintf("unknown field %q", short(name))
	switch meant := Closest(name, known); {
	case meant != "":
		return fmt.Sprintf("%s; did you mean %q?", detail, meant)
	case len(known) == 0 || len(known) > maxListed:
		return detail
	}
	return detail + "; known fields: " + strings.Join(known, ", ")
}

// Closest returns the known name that was probably meant by another one: the one that differs from name in case only,
// or else the one with the fewest edits (at most maxDistance and fewer than half its letters; of several the longest,
// because leaving a letter out is the usual slip). It is "" if there is none, or two that are equally near.
func Closest(name string, known []string) string {
	if len(name) > maxSuggest {
		return ""
	}
	best, least, tie := "", maxDistance, false
	for _, k := range known {
		if strings.EqualFold(name, k) {
			return k
		}
		d := distance([]rune(name), []rune(k), maxDistance)
		switch {
		case 2*d >= utf8.RuneCountInString(k) || d > least:
		case d < least || len(k) > len(best):
			best, least, tie = k, d, false
		case len(k) == len(best) && k != best:
			tie = true
		}
	}
	if tie {
		return ""
	}
	return best
}

// Slip returns the known name that was probably meant by another one where names are often alike, as those of regions are: one
// that differs in case only; or else the only one that differs in separators, like gardenlinux from garden-linux, or by one
// edit, and that within a word of at least four letters, so that eu-de-2 is no slip for eu-de-1. It is "" if there is none.
func Slip(name string, known []string) string {
	if len(name) > maxSuggest {
		return ""
	}
	meant, several := "", false
	for _, k := range known {
		switch {
		case strings.EqualFold(name, k):
			return k
		case differsInSeparators(name, k) || differsInFewLetters(name, k) && differsInOneWord(name, k):
			meant, several = k, meant != "" && meant != k
		}
		if several {
			return ""
		}
	}
	return meant
}

// maxGuesses bounds the names for which a Speller looks for another one. Nobody reads more suggestions.
const maxGuesses = 32

// Speller finds the names that misspelt ones were probably meant to be, as Slip does. It looks for the first 32 different names
// that it is asked about, and has no suggestion for more: so the work grows with the known names, not with their product. It is
// for one check of one object, and not safe for concurrent use.
type Speller struct {
	known []string
	found map[string]string
}

// NewSpeller returns a speller with these known names, which it does not change. Nil: no name is known.
func NewSpeller(known []string) *Speller { return &Speller{known, map[string]string{}} }

// Slip returns the known name that was probably meant by another one, see the function of that name; "" if there is none, or if
// it was asked for too many.
func (s *Speller) Slip(name string) string {
	meant, asked := s.found[name]
	if !asked && len(s.found) < maxGuesses {
		meant = Slip(name, s.known)
		s.found[name] = meant
	}
	return meant
}

// DidYouMean returns the end of a message about an unknown name: "; did you mean NAME?". It is empty if no name was meant.
func DidYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

var (
	letters    = regexp.MustCompile(`\pL+`)
	separators = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")
)

// differsInSeparators looks at the first letters before it allocates: of many names few begin alike.
func differsInSeparators(a, b string) bool {
	const between = "-_. "
	x, y := strings.TrimLeft(a, between), strings.TrimLeft(b, between)
	for x != "" && y != "" && x[0] == y[0] {
		x, y = strings.TrimLeft(x[1:], between), strings.TrimLeft(y[1:], between)
	}
	if x != "" && y != "" && unicode.ToLower(rune(x[0])) != unicode.ToLower(rune(y[0])) && x[0] < utf8.RuneSelf && y[0] < utf8.RuneSelf {
		return false
	}
	return strings.ContainsFunc(a, unicode.IsLetter) && strings.EqualFold(separators.Replace(a), separators.Replace(b))
}

// differsInFewLetters reports whether no more than letters is between what two names begin and end with alike, and no more of
// them than one edit changes. It allocates nothing.
func differsInFewLetters(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	const swapped = 2 * utf8.UTFMax // the letters of an edit, in bytes
	noLetter := func(r rune) bool { return r != utf8.RuneError && !unicode.IsLetter(r) }
	return max(len(a), len(b)) <= swapped && !strings.ContainsFunc(a, noLetter) && !strings.ContainsFunc(b, noLetter)
}

func differsInOneWord(a, b string) bool {
	x, y := letters.FindAllString(a, -1), letters.FindAllString(b, -1)
	if len(x) != len(y) || letters.ReplaceAllString(a, "x") != letters.ReplaceAllString(b, "x") {
		return false
	}
	differing := 0
	for i := range x {
		if x[i] == y[i] {
			continue
		}
		if differing++; min(len(x[i]), len(y[i])) < 4 || distance([]rune(x[i]), []rune(y[i]), 1) > 1 {
			return false
		}
	}
	return differing == 1
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b, up to limit+1.
func distance(a, b []rune, limit int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case len(a) == 0 || len(b) == 0:
		return min(len(a)+len(b), limit+1)
	case limit == 0:
		return 1
	}
	others := min(distance(a[1:], b, limit-1), distance(a, b[1:], limit-1), distance(a[1:], b[1:], limit-1))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		others = min(others, distance(a[2:], b[2:], limit-1))
	}
	return 1 + others
}
