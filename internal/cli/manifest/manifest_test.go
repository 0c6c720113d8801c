// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/testing/cases"
)

func read(t *testing.T, text string) ([]*manifest.Object, []manifest.Problem) {
	t.Helper()
	objects, problems, err := manifest.Load([]string{"-"}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects, problems
}

// outcome summarizes the result of Load: objects as kind/name, problems as line:column rule.
func outcome(objects []*manifest.Object, problems []manifest.Problem) []string {
	var all []string
	for _, o := range objects {
		all = append(all, o.Kind+"/"+o.Name)
	}
	for _, p := range problems {
		all = append(all, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Rule))
	}
	return all
}

// doc is a manifest of three lines with the given name.
func doc(name string) string {
	return "apiVersion: v1\nkind: A\nmetadata: {name: " + name + "}\n"
}

func TestLoadDocuments(t *testing.T) {
	loaded := func(t *testing.T, text string) []string {
		t.Helper()
		objects, problems := read(t, text)
		for _, p := range problems {
			if p.File != manifest.Stdin || p.Message == "" || strings.Contains(p.Message, "yaml:") {
				t.Errorf("%+v", p)
			}
		}
		return outcome(objects, problems)
	}
	cases.Run(t, "testdata/documents.txtar", func(c *cases.Case) string {
		return strings.Join(loaded(c.T(), c.Text("input.yaml")), "\n")
	})
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                  {"", nil},
		"content beside marker":    {"--- {apiVersion: v1, kind: A}\n--- {apiVersion: v1, kind: B}", []string{"A/", "B/"}},
		"CRLF":                     {strings.ReplaceAll(doc("a")+"---\n"+doc("b")+"--- \n[\n", "\n", "\r\n"), []string{"A/a", "A/b", "9:1 syntax"}},
		"CR":                       {strings.ReplaceAll(doc("a")+"---\n"+doc("b"), "\n", "\r"), []string{"A/a", "A/b"}},
		"byte order mark":          {"\ufeff" + doc("a") + "\ufeff---\n" + doc("b"), []string{"A/a", "A/b"}},
		"byte order mark and JSON": {"\ufeff{\"apiVersion\":\"v1\",\"kind\":\"A\"}", []string{"A/"}},
		"tab as indentation":       {doc("a") + "spec:\n\tone: 1\n", []string{"5:1 syntax"}},
		"duplicate in JSON":        {"{\"apiVersion\":\"v1\",\n\"kind\":\"A\",\n \"kind\":\"B\"}", []string{"B/", "3:2 duplicate-key"}},
		"JSON list":                {" [{\"apiVersion\":\"v1\"}]", []string{"1:2 not-an-object"}},
		"empty mapping":            {"{}", []string{"1:1 not-an-object"}},
		"JSON documents":           {"{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n\t{\"apiVersion\":\"v1\",\"kind\":\"B\"}\n", []string{"A/", "B/"}},
		"JSON surrogates":          {"{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"\\ud83d\\ude00\\/\"}}", []string{"A/😀/"}},
		"JSON, long key":           {"{\"apiVersion\":\"v1\",\"kind\":\"A\",\"" + strings.Repeat("k", 5000) + "\":1}", []string{"A/"}},
		"flow with tabs":           {"{\n\tapiVersion: v1,\n\t\"kind\":\t\"A\",\n}", []string{"A/"}},
		"invalid UTF-8":            {doc("a") + "---\n" + "a: 1\nb: ä\xff\n---\n" + doc("b"), []string{"A/a", "A/b", "6:5 syntax"}},
		"invalid UTF-8 in JSON":    {"{\"a\":\"\xff\"}", []string{"1:7 syntax"}},
		"NUL":                      {"a: 1\nb: \x00\n", []string{"2:4 syntax"}},
		"NUL in JSON":              {"{\"a\":\n\"\x00\"}", []string{"2:2 syntax"}},
		"UTF-16":                   {"\xff\xfea\x00:\x00", []string{"1:1 syntax"}},
		"UTF-16, the other order":  {"\xfe\xff\x00a\x00:", []string{"1:1 syntax"}},
		"control character":        {"a: 1\nb: \x1b[1m\n", []string{"2:4 syntax"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := loaded(t, test.text); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestLoadMessages(t *testing.T) {
	long := strings.Repeat("k", 100)
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: A\nx: {\na: 1,\na: 2}\n": `the key "a" is already given in line 4; remove one of the two`,
		"foo":            "this is a single value, but a manifest is a mapping with apiVersion and kind",
		"[]":             "this is a list, but a manifest is a mapping with apiVersion and kind",
		"a: 1":           "apiVersion and kind are missing",
		"kind: B":        "apiVersion is missing",
		"items:\n- a: 1": "apiVersion and kind are missing; if it is a list of objects, add apiVersion: v1 and kind: List",
		"apiVersion: v1\nkind: A\nx: 1\napiVersion: v1\nkind: B\nx: 1\n": "a second object begins here; write --- into a line of its own above it",
		"apiVersion: v1\nkind: A\nx:\n- a: 1\n  b: 1\n  a: 2\n  b: 2\n": "not valid YAML: a second item of the list begins here without its dash; " +
			"write - a: with the dash below that of the item above",
		"apiVersion: v1\nkind: A\nx: [{a: 1, b: 1, a: 2, b: 2}]\n": "", // two problems, because there are no dashes
		"apiVersion: v1\nkind: A\nx:\n- a: 1\n  b: 1\n  b: 2\n":    `the key "b" is already given in line 5; remove one of the two`,
		"apiVersion: v1\nkind: A\nx:\n\u00a0 a: 1\n  b: 1\n": "not valid YAML: the line is indented by the character U+00A0, " +
			"which only looks like a space; write spaces",
		"kind: Secret\na: *topsecret": "not valid YAML: an alias (*name) refers to an anchor (&name) that is not defined above it",
		"%YAML 1.2\n---\na: 1\n":      "not valid YAML: found incompatible YAML document; leave the line %YAML out, as Kubernetes reads YAML 1.1 alone",
		"a: [":                        "not valid YAML: did not find expected node content",
		"apiVersion: v1\nkind: A\nx: !!bool maybe\n":                  "the value is not what its tag !!bool says",
		"apiVersion: v1\nkind: A\n" + long + ": 1\n" + long + ": 1\n": `the key "` + long[:60] + `…" is already given in line 3; remove one of the two`,
	} {
		_, problems := read(t, text)
		if len(problems) == 0 || problems[0].Message != want && len(problems) == 1 {
			t.Errorf("%q:\n got %+v\nwant %s", text, problems, want)
		}
	}
}

func TestLoadKeepsSecrets(t *testing.T) {
	const secret = "hunter2"
	head := "apiVersion: v1\nkind: Secret\nstringData:\n"
	for _, text := range []string{
		head + "  a: *hunter2\n", head + "  a: !!int hunter2\n", head + "  a: b\n  a: hunter2\n", head + "  a: @hunter2\n",
		head + "  a: \"hunter2\n", head + "  a: hunter2: hunter2\n", head + "  a: %hunter2\n", head + "  hunter2\n  a: b\n",
		head + "  a: \"\\hunter2\"\n", head + "  a: !hunter2!x 1\n", "{\"kind\": \"Secret\", \"a\": hunter2}",
		"kind: Secret\nhunter2\n", "hunter2", "apiVersion: hunter2\nkind: [hunter2]",
	} {
		_, problems := read(t, text)
		if len(problems) == 0 {
			t.Errorf("%q: no problem", text)
		}
		for _, p := range problems {
			if strings.Contains(p.Message, secret) {
				t.Errorf("%q: %s", text, p.Message)
			}
		}
	}
}

func TestLoadKnowsTheObjectOfAProblem(t *testing.T) {
	_, problems := read(t, "apiVersion: a/v1\nkind: B\nmetadata: {namespace: c, name: d}\nx: !!int e\n")
	want := manifest.Identity{APIVersion: "a/v1", Kind: "B", Namespace: "c", Name: "d"}
	if len(problems) != 1 || problems[0].Identity != want {
		t.Errorf("%+v", problems)
	}
}

func TestLoadLimits(t *testing.T) {
	head := "apiVersion: v1\nkind: A\n"
	bomb := "a0: &a0 [xxxxxxxxxx,xxxxxxxxxx,xxxxxxxxxx,xxxxxxxxxx,xxxxxxxxxx,xxxxxxxxxx,xxxxxxxxxx,xxxxxxxxxx]\n"
	merges, chain, lists := "m0: &m0 {x0: 1}\n", "c0: &c0 [1]\n", "a0: &a0 {apiVersion: v1, kind: List, items: [{}]}\n"
	for i := 1; i < 20; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), i-1)
		lists += fmt.Sprintf("a%d: &a%d {apiVersion: v1, kind: List, items: [%s*a%d]}\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), i-1)
	}
	for i := 1; i < 3000; i++ {
		merges += fmt.Sprintf("m%d: &m%d {<<: *m%d, x%d: 1}\n", i, i, i-1, i)
		chain += fmt.Sprintf("c%d: &c%d [*c%d]\n", i, i, i-1)
	}
	for name, text := range map[string]string{
		"larger than the limit": strings.Repeat("#"+strings.Repeat("x", 1022)+"\n", 33<<10),
		"alias bomb":            head + bomb,
		"List bomb":             lists + "apiVersion: v1\nkind: List\nitems: [*a19]\n",
		"many alias bombs":      strings.Repeat(head+bomb+"---\n", 1000),
		"merge bomb":            head + merges,
		"alias chain":           head + chain,
		"nested lists":          head + "x: " + strings.Repeat("[", 250) + strings.Repeat("]", 250),
		"nested JSON":           `{"apiVersion":"v1","kind":"A","x":` + strings.Repeat("[", 250) + strings.Repeat("]", 250) + "}",
		"nested blocks":         head + "x:\n" + strings.Repeat("- ", 250) + "1",
		"brackets":              strings.Repeat("[", 100_000),
		"brackets in pairs":     "x: " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"braces":                strings.Repeat("{a: ", 1_000_000),
		"JSON brackets":         strings.Repeat(`[{"a":`, 1_000_000),
		"dashes":                strings.Repeat("- ", 1_000_000),
		"question marks":        strings.Repeat("? ", 1_000_000),
		"indentation":           indented(3000),
		"deep lines":            "x:\n" + strings.Repeat("- "+strings.Repeat("[", 9000)+strings.Repeat("]", 9000)+"\n", 50),
		"many values":           "[" + strings.Repeat("a,", 10<<20) + "a]",
		"anchors":               head + "x: " + strings.Repeat("&a [", 9000) + strings.Repeat("]", 9000),
		"many errors":           strings.Repeat("a: [\n---\n", 50_000),
		"long line":             head + "x: 'a" + strings.Repeat(" a", 1<<20) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, problems := read(t, text)
			runtime.ReadMemStats(&after)
			// Quadratic work on 100 kB allocates 10 GB; exponential work allocates more.
			most := 256<<20 + 2000*uint64(len(text))
			if allocated := after.TotalAlloc - before.TotalAlloc; len(problems) == 0 || allocated > most {
				t.Errorf("%d problems, and %d bytes allocated instead of %d at most", len(problems), allocated, most)
			}
		})
	}
}

// indented returns a mapping nested n deep in block style.
func indented(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return text.String()
}

// Integers of 64 bits are compared exactly, in any notation.
func TestSameJSON(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{`{"a":[1,"x"],"b":null}`, `{"b":null, "a":[1.0,"x"]}`, true},
		{`{"a":[9007199254740993]}`, `{"a":[9007199254740992]}`, false},
		{"9007199254740993", "9007199254740993", true},
		{"18446744073709551615", "18446744073709551614", false},
		{"1000000000000000000", "1e18", true},
		{"10000000000000000000000", "1e22", true},
		{"0.5", "5e-1", true},
		{"0.5", "0.25", false},
		{"1", `"1"`, false},
		{"-0", "0", true},
		{"{", "{", false},
	} {
		if got := manifest.SameJSON([]byte(tc.a), []byte(tc.b)); got != tc.same {
			t.Errorf("%s and %s: %v", tc.a, tc.b, got)
		}
	}
}
