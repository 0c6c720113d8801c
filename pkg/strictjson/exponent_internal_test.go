// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
)

// sized is a type for which long exponents are looked for.
type sized struct {
	IDs  []string           `json:"ids,omitempty"`
	Size *resource.Quantity `json:"size,omitempty"`
}

// uuids returns a JSON list of n random UUIDs, always the same ones. One in eighty or so looks, in a part, like a
// number with a long exponent. As a whole one in three million does, which has no letter but one e near the end.
func uuids(n int) []byte {
	random := rand.NewChaCha8([32]byte{'u'})
	ids := make([]string, n)
	for i := range ids {
		id, err := uuid.NewRandomFromReader(random)
		if err != nil {
			panic(err)
		}
		ids[i] = id.String()
	}
	list, err := json.Marshal(ids)
	if err != nil {
		panic(err)
	}
	return list
}

func TestUUIDsAreNotTakenForLongExponents(t *testing.T) {
	const n = 30_000
	list := uuids(n)
	if !looksLikeLongExponent.Match(list) {
		t.Error("none of the UUIDs looks like a number with a long exponent: this test tests nothing")
	}
	if mayHaveLongExponent(list) {
		t.Errorf("one of %d UUIDs is taken for a number with a long exponent", n)
	}
}

// The walk allocates for every value, the fast decoder does not.
func TestUUIDsDecodeFast(t *testing.T) {
	const n = 10_000
	ids := uuids(n)
	decode := func(ids []byte) float64 {
		document := append(append([]byte(`{"size":"1Gi","ids":`), ids...), '}')
		return testing.AllocsPerRun(1, func() {
			into := &sized{}
			if errs := Decode(document, into, nil); len(errs) > 0 || len(into.IDs) != n {
				t.Fatalf("%d IDs, %v", len(into.IDs), errs)
			}
		})
	}
	fast := decode(ids)
	if most := 1.5 * n; fast > most {
		t.Errorf("it took %.0f allocations, more than %.0f", fast, most)
	}
	first := ids[1:bytes.IndexByte(ids, ',')]
	if walked := decode(bytes.Replace(ids, first, []byte(`"1e1234"`), 1)); walked < 2*fast {
		t.Errorf("a document that is walked took %.0f allocations, one that is not %.0f", walked, fast)
	}
}

// tokens returns the scalars of a valid document, keys included.
func tokens(data []byte) [][]byte {
	var all [][]byte
	for c := (cursor{data: data}); c.peek() != 0; {
		if bytes.IndexByte([]byte("[]{}"), c.peek()) >= 0 {
			c.pos++
			continue
		}
		all = append(all, c.skip())
	}
	return all
}

// checkFound fails if a document has a token with a long exponent that is not found.
func checkFound(t interface{ Fatalf(string, ...any) }, data []byte) {
	if !json.Valid(data) {
		return
	}
	for _, token := range tokens(data) {
		if hasLongExponent(quantity, token) && !mayHaveLongExponent(data) {
			t.Fatalf("%q: the exponent of %s is not found", data, token)
		}
	}
}

// Property: a long exponent is found in whatever document and place it stands.
func TestLongExponentsAreFound(t *testing.T) {
	part := rapid.SampledFrom([]string{"0", "1", "9", "12", "1234", "00005", "e", "E", "+", "-", ".", "e1", "1e", "1e1000",
		"5e-99999", `\u0031`, `\u0045`, `\u002B`, `\u00e4`, " ", "x", "-7a3c"})
	text := rapid.Map(rapid.SliceOfN(part, 0, 6), func(parts []string) string { return strings.Join(parts, "") })
	token := rapid.OneOf(text, rapid.Map(text, func(text string) string { return `"` + text + `"` }),
		rapid.StringMatching(`-?[1-9]\.?[0-9]{1,3}[eE][-+]?[0-9]{1,6}`))
	space := rapid.SampledFrom([]string{"", " ", "\n", "\t", "\r\n"})
	rapid.Check(t, func(t *rapid.T) {
		list := "["
		for i, text := range rapid.SliceOfN(token, 1, 4).Draw(t, "tokens") {
			if i > 0 {
				list += ","
			}
			before, after := space.Draw(t, "before"), space.Draw(t, "after")
			list += before + text + after
			checkFound(t, []byte(text))
			checkFound(t, []byte(before+text+after))
			checkFound(t, []byte(`{"a":`+text+`}`))
			checkFound(t, []byte(`{`+text+`:null}`))
		}
		checkFound(t, []byte(list+"]"))
	})
}

func FuzzLongExponents(f *testing.F) {
	for _, seed := range []string{`{"size":1e2147483647}`, `["1\u0065\u0032147483647"]`, ` -5E-99999 `,
		`["66e36123-7a3c","1e00001234"]`, `["e1000"]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkFound(t, data) })
}

// looksLikeLongExponent finds any four digits behind what could be a number and the letter of its exponent, whatever
// follows.
var looksLikeLongExponent = regexp.MustCompile(`[" \t\r\n:,\[][-+.0-9]+[eE][-+0]*[0-9]{4}`)

// What decodes itself is not looked into, and a type may contain itself.
func TestTraitsOf(t *testing.T) {
	type recursive struct {
		Self  []*recursive `json:"self"`
		Sizes map[string][2]*resource.Quantity
	}
	type embeds struct{ sized }
	type endless struct{ Self *endless }
	for _, test := range []struct {
		of   reflect.Type
		want typeTraits
	}{
		{reflect.TypeFor[string](), typeTraits{}},
		{reflect.TypeFor[resource.Quantity](), typeTraits{quantities: true}},
		{reflect.TypeFor[**resource.Quantity](), typeTraits{quantities: true}},
		{reflect.TypeFor[recursive](), typeTraits{quantities: true}},
		{reflect.TypeFor[embeds](), typeTraits{quantities: true}},
		{reflect.TypeFor[endless](), typeTraits{}},
		{reflect.TypeFor[any](), typeTraits{interfaces: true}},
		{reflect.TypeFor[map[string][]any](), typeTraits{interfaces: true}},
		{reflect.TypeFor[runtime.RawExtension](), typeTraits{}},
		{reflect.TypeFor[struct {
			Hidden resource.Quantity `json:"-"`
		}](), typeTraits{}},
		{reflect.TypeFor[v1beta1.CloudProfile](), typeTraits{quantities: true}},
	} {
		for range 2 { // the second answer is the one that was kept
			if got := traitsOf(test.of); got != test.want {
				t.Errorf("%s: got %+v, want %+v", test.of, got, test.want)
			}
		}
	}
}
