// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/manifest"
)

// scalars in many spellings: the results must equal kubectl's.
var scalars = strings.Split(`~|null|Null|NULL|nULL|true|True|TRUE|tRUE|false|yes|Yes|YES|yEs|no|No|NO|on|On|ON|off|Off|OFF|y|Y|n|N|oN|
0|1|-1|+1|007|0777|08|09|0o17|0O17|-0o17|0x1F|0XfF|-0x10|0b101|0B1|-0b11|+0b1|0b2|0x|1_000|1__0|_1|1_|0_1|0x_1|0b_1|-0b_1|12_34.5_6|
9223372036854775807|9223372036854775808|18446744073709551615|18446744073709551616|-9223372036854775808|-9223372036854775809|
0.1|.5|-.5|+.5|5.|-5.|1e3|1E3|1e+3|1e-3|1.e3|.e3|e3|1e|1e400|-1e400|1e-400|0x1p4|1.5e3_0|100000000000000000000|1e20|1e21|1e22|0.000001|0.0000001|
1.0|1.10|10.0|-0|-0.0|+0|123456789.125|3.4028236e38|0.30000000000000004|1.2.3|1.2.3-rc.1|1.27|v1|1a|-a|--1|+-1|1:30|12:30:45|190:20:30.15|
2001-12-14|2001-1-1|2001-12-14t21:59:43.10-05:00|2001-12-14T21:59:43Z|2001-12-14 21:59:43.10|2001-12-14 21:59:43.10 -5|2001-13-14|2001-02-30|20011214|2001-|
.|..|.a|.inf|.Inf|.INF|-.inf|+.inf|.nan|.NaN|.iNF|inf|nan|Infinity|.1.2|.1_0|._1|+|-x|+x|=|<<|a b|a#b|a'b|a"b|ä€😀|a\b|<>&|
"1"|"true"|"null"|""|''|'no'|'it''s'|"a\tb\n\u00e9\x41\U0001F600"|"\
  folded"|!!str 1|!!str true|!!str|!!str null|!!int 1|!!int "1"|!!int 0x10|!!float 1|!!float "1"|
!!float 1.5|!!float -1|!!bool yes|!!bool "no"|!!null ""|!!null ~|!!null null|
!!timestamp 2001-12-14|!!binary aGVsbG8=|!!binary /w==|!foo bar|!foo 1|!<tag:yaml.org,2002:str> 1|!<tag:yaml.org,2002:int> 1|
!!int foo|!!int 1.5|!!bool 1|!!float foo|!!null x|!!timestamp foo|!!binary '%'|!!set x`, "|")

func TestJSONIsThatOfKubectl(t *testing.T) {
	for _, scalar := range scalars {
		scalar = strings.TrimPrefix(scalar, "\n")
		for _, form := range []string{"x: %s", "x: [%s]", "x: {%s: v}", "x:\n  - %s", "x:\n  %s: v", "x: &a %s\ny: *a"} {
			if strings.Contains(scalar, "\n") && form == "x:\n  %s: v" {
				continue
			}
			compare(t, fmt.Sprintf(form+"\n", scalar))
		}
	}
}

func TestDocumentsAreThoseOfKubectl(t *testing.T) {
	for _, text := range []string{
		"x: |\n  a\n\n  b\n\n\ny: |-\n  c\n\nz: |+\n  d\n\n", "x: >\n  a\n  b\n\n  c\n", "x: |2\n    a\n", "x: a\n  b\n\n  c\n",
		"a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {y: 3, <<: *a}\nd: {<<: {z: 1}, w: 1}\n",
		"a: &a {x: 1, y: 2}\nb: &b {y: 5, z: 6}\nc: {<<: [*a, *b]}\nd: {<<: [*b, *a], z: 7}\ne: {z: 7, <<: [*b, {q: 1}]}\nf: {<<: *a, <<: *b}\n",
		"a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b}\n", "a: &a [1, &c {d: e}]\nb: *a\nf: *c\n", "a: &x 1\nb: *x\nc: &x 2\nd: *x\n",
		"\"<<\": {a: b}\n", "? a\n: b\n", "? a\n? b\n", "a: &k key\nb: {*k : v}\n", "a:\n- b\n-   - c\n    - d\n-\n", "a: {}\nb: []\nc: [a, {b: c}, [d]]\n",
		"a: 'x\n  y\n\n  z'\n", "a: \"x\\\n  y\"\n", "a: b # c\n# d\n", "é: ü\n\"\\u2028\": \"\\u2029\"\n", "a: [x: 1, y: 2]\n", "a: {b, c: , \"d\":e}\n",
		"a: !!map {b: c}\nd: !!seq [e]\n", "a: !x {b: c}\n", "- not\n", "x: \"\u0085\"\n", "x: a\u2028 b\n", "x: 'a\u2028  b'\n",
	} {
		compare(t, text)
	}
}

// compare checks that a document with this content has the JSON of sigs.k8s.io/yaml, or that both refuse it.
func compare(t *testing.T, text string) {
	t.Helper()
	text = "apiVersion: v1\nkind: A\n" + text
	objects, problems := read(t, text)
	want, err := yaml.YAMLToJSON([]byte(text))
	if err != nil || len(objects) == 0 {
		if (err != nil) != (len(objects) == 0) {
			t.Errorf("%q:\n got %v\nwant %s, %v\n%+v", text, objects, want, err, problems)
		}
		return
	}
	if got := objects[0].JSON; !json.Valid(got) || !reflect.DeepEqual(decode(t, got), decode(t, want)) {
		t.Errorf("%q:\n got %s\nwant %s\n%+v", text, got, want, problems)
	}
}

func decode(t *testing.T, data []byte) (v any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

func TestJSONKeepsTheOrderOfKeys(t *testing.T) {
	for text, want := range map[string]string{
		"kind: K\napiVersion: v1\nz: 1\na: {w: 1, x: 2}\n":                       `{"kind":"K","apiVersion":"v1","z":1,"a":{"w":1,"x":2}}`,
		"a: &a {q: 1, p: 2}\nkind: K\napiVersion: v1\nb: {z: 0, <<: *a, p: 3}\n": `{"a":{"q":1,"p":2},"kind":"K","apiVersion":"v1","b":{"z":0,"q":1,"p":3}}`,
		"{\"kind\":\"K\",\t\"apiVersion\":\"v1\",\n\"n\":[1.50, 1e3 ,null]}":     `{"kind":"K","apiVersion":"v1","n":[1.50,1e3,null]}`,
	} {
		objects, problems := read(t, text)
		if len(objects) != 1 || string(objects[0].JSON) != want {
			t.Errorf("%q: got %v, %+v, want %s", text, objects, problems, want)
		}
	}
}

// BenchmarkLoadManyErrors has two sizes: nonlinear work without allocations shows in MB/s.
func BenchmarkLoadManyErrors(b *testing.B) {
	for _, n := range []int{10_000, 40_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := strings.Repeat("a: [\n---\n", n)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, problems, _ := manifest.Load([]string{"-"}, strings.NewReader(text)); len(problems) != n {
					b.Fatal(len(problems))
				}
			}
		})
	}
}

func BenchmarkLoad1MiB(b *testing.B) {
	item := "  - name: gardenlinux\n    versions:\n    - version: 1.2.3 # comment\n      architectures: [amd64, arm64]\n      classification: \"supported\"\n"
	yamlText := "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nspec:\n  machineImages:\n" + strings.Repeat(item, (1<<20)/len(item))
	jsonText, err := yaml.YAMLToJSON([]byte(yamlText))
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"yaml": yamlText, "json": string(jsonText)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				objects, problems, err := manifest.Load([]string{"-"}, strings.NewReader(text))
				if len(objects) != 1 || problems != nil || err != nil {
					b.Fatal(problems, err)
				}
			}
		})
	}
}
