// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/capkit/capkit/pkg/cli/manifest"
)

// read loads text as standard input.
func read(t *testing.T, text string) ([]*manifest.Object, []manifest.Problem) {
	t.Helper()
	objects, problems, err := manifest.Load([]string{"-"}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects, problems
}

// outcome summarises what Load found: objects as kind/name, problems as line:column rule.
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
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                   {"", nil},
		"comments only":             {"# a\n\n  # b\n", nil},
		"empty documents":           {"---\n---\n# c\n---\nnull\n--- ~\n...\n", nil},
		"one":                       {doc("a"), []string{"A/a"}},
		"several":                   {"---\n" + doc("a") + "---\n" + doc("b") + "--- # c\n" + doc("c"), []string{"A/a", "A/b", "A/c"}},
		"document end":              {doc("a") + "...\n" + doc("b") + "...\n---\n" + doc("c") + "...\n", []string{"A/a", "A/b", "A/c"}},
		"content beside marker":     {"--- {apiVersion: v1, kind: A}\n--- {apiVersion: v1, kind: B}", []string{"A/", "B/"}},
		"directives":                {"# c\n%YAML 1.1\n%TAG !e! tag:example.com,2000:\n---\n" + doc("a") + "...\n%YAML 1.1\n---\n" + doc("b"), []string{"A/a", "A/b"}},
		"marker in block scalar":    {"apiVersion: v1\nkind: A\ntext: |\n  ---\n  ...\n  %x\n" + "---\n" + doc("b"), []string{"A/", "A/b"}},
		"no marker":                 {"apiVersion: v1\nkind: A\n---x: 1\n----: 2\n", []string{"A/"}},
		"CRLF":                      {strings.ReplaceAll(doc("a")+"---\n"+doc("b")+"--- \n[\n", "\n", "\r\n"), []string{"A/a", "A/b", "9:1 syntax"}},
		"CR":                        {strings.ReplaceAll(doc("a")+"---\n"+doc("b"), "\n", "\r"), []string{"A/a", "A/b"}},
		"byte order mark":           {"\ufeff" + doc("a") + "\ufeff---\n" + doc("b"), []string{"A/a", "A/b"}},
		"byte order mark and JSON":  {"\ufeff{\"apiVersion\":\"v1\",\"kind\":\"A\"}", []string{"A/"}},
		"error in the middle":       {doc("a") + "---\na: b: c\n---\n" + doc("b"), []string{"A/a", "A/b", "5:1 syntax"}},
		"errors at both ends":       {"a: [\n---\n" + doc("a") + "---\n\"\n", []string{"A/a", "1:1 syntax", "7:1 syntax"}},
		"first line":                {"a: }\n", []string{"1:1 syntax"}},
		"deep in a mapping":         {doc("a") + "spec:\n  one: 1\n  two:\n    three: 3\n   four: 4\n  five: 5\n  six: 6\n", []string{"8:4 syntax"}},
		"line without colon":        {doc("a") + "spec:\n  one: 1\n  two\n  three: 3\n  four: 4\n", []string{"6:3 syntax"}},
		"tab as indentation":        {doc("a") + "spec:\n\tone: 1\n", []string{"5:1 syntax"}},
		"unknown anchor":            {doc("a") + "spec:\n  one: *two\n", []string{"5:3 syntax"}},
		"duplicate keys":            {doc("a") + "spec:\n  x: 1\n  y: 2\n  x: 3\n  x: 4\n", []string{"A/a", "7:3 duplicate-key", "8:3 duplicate-key"}},
		"duplicate after text":      {doc("a") + "1: a\n\"1\": b\ntrue: c\nyes: d\n", []string{"A/a", "5:1 duplicate-key", "7:1 duplicate-key"}},
		"duplicate in JSON":         {"{\"apiVersion\":\"v1\",\n\"kind\":\"A\",\n \"kind\":\"B\"}", []string{"B/", "3:2 duplicate-key"}},
		"override is no duplicate":  {"apiVersion: v1\nkind: A\nb: &b {x: 1}\nc: {<<: *b, x: 2}\n", []string{"A/"}},
		"scalar":                    {doc("a") + "---\nfoo\n", []string{"A/a", "5:1 not-an-object"}},
		"list":                      {"---\n- a\n- b\n", []string{"2:1 not-an-object"}},
		"JSON list":                 {" [{\"apiVersion\":\"v1\"}]", []string{"1:2 not-an-object"}},
		"empty mapping":             {"{}", []string{"1:1 not-an-object"}},
		"no kind":                   {"# c\napiVersion: v1\n", []string{"2:1 not-an-object"}},
		"null kind":                 {"apiVersion: v1\nkind:\n", []string{"1:1 not-an-object"}},
		"kind not text":             {"apiVersion: v1\nkind: 5\n", []string{"2:7 not-an-object"}},
		"kind is a list":            {"apiVersion: v1\nkind: [A]\n", []string{"2:7 not-an-object"}},
		"name not text":             {"apiVersion: v1\nkind: A\nmetadata: {name: 5}\n", []string{"A/"}},
		"metadata not a mapping":    {"apiVersion: v1\nkind: A\nmetadata: x\n", []string{"A/"}},
		"JSON documents":            {"{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n\t{\"apiVersion\":\"v1\",\"kind\":\"B\"}\n", []string{"A/", "B/"}},
		"JSON with a comment":       {"{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n# comment\n", []string{"A/"}},
		"JSON surrogates":           {"{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"\\ud83d\\ude00\\/\"}}", []string{"A/😀/"}},
		"JSON, long key":            {"{\"apiVersion\":\"v1\",\"kind\":\"A\",\"" + strings.Repeat("k", 5000) + "\":1}", []string{"A/"}},
		"flow with tabs":            {"{\n\tapiVersion: v1,\n\t\"kind\":\t\"A\",\n}", []string{"A/"}},
		"marker between JSON":       {"{\"apiVersion\":\"v1\",\"kind\":\"A\"}\n---\n{\"apiVersion\":\"v1\",\"kind\":\"B\"}\n", []string{"A/", "B/"}},
		"invalid UTF-8":             {doc("a") + "---\n" + "a: 1\nb: ä\xff\n---\n" + doc("b"), []string{"A/a", "A/b", "6:5 syntax"}},
		"invalid UTF-8 in JSON":     {"{\"a\":\"\xff\"}", []string{"1:7 syntax"}},
		"NUL":                       {"a: 1\nb: \x00\n", []string{"2:4 syntax"}},
		"NUL in JSON":               {"{\"a\":\n\"\x00\"}", []string{"2:2 syntax"}},
		"UTF-16":                    {"\xff\xfea\x00:\x00", []string{"1:1 syntax"}},
		"control character":         {"a: 1\nb: \x1b[1m\n", []string{"2:4 syntax"}},
		"not a number":              {"apiVersion: v1\nkind: A\nx:\n- 1\n- .nan\n", []string{"5:3 syntax"}},
		"list as a key":             {"apiVersion: v1\nkind: A\n? [a]\n: b\n", []string{"3:3 syntax"}},
		"null as a key":             {"apiVersion: v1\nkind: A\nx:\n  ~: b\n", []string{"4:3 syntax"}},
		"wrong tag":                 {"apiVersion: v1\nkind: A\nx: !!int foo\n", []string{"3:4 syntax"}},
		"wrong merge":               {"apiVersion: v1\nkind: A\n<<: [5]\n", []string{"3:6 syntax"}},
		"alias to itself":           {"apiVersion: v1\nkind: A\nx: &x [1, *x]\n", []string{"3:11 syntax"}},
		"merge of itself":           {"apiVersion: v1\nkind: A\nx: &x\n  <<: *x\n", []string{"4:7 syntax"}},
		"List":                      {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n- {kind: B}\n-\n- apiVersion: v1\n  kind: List\n  items: [{apiVersion: v1, kind: C}]\n", []string{"A/", "C/", "6:3 not-an-object", "7:2 not-an-object"}},
		"typed list":                {"apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfileList\nitems:\n- apiVersion: core.gardener.cloud/v1beta1\n  kind: CloudProfile\n", []string{"CloudProfile/"}},
		"empty lists":               {"apiVersion: v1\nkind: List\n---\napiVersion: v1\nkind: List\nitems:\n---\napiVersion: v1\nkind: FooList\nitems: []\n", nil},
		"kind that ends with List":  {"apiVersion: v1\nkind: AllowList\nitems: 5\n---\napiVersion: v1\nkind: AllowList\n", []string{"AllowList/", "AllowList/"}},
		"List with an error within": {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  kind: B\n", []string{"B/", "6:3 duplicate-key"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects, problems := read(t, test.text)
			if got := outcome(objects, problems); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %q\nwant %q\n%+v", got, test.want, problems)
			}
			for _, p := range problems {
				if p.File != manifest.Stdin || p.Message == "" || strings.Contains(p.Message, "yaml:") {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

func TestLoadMessages(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: v1\nkind: A\nx: {\na: 1,\na: 2}\n": `the key "a" is already given in line 4`,
		"foo":                         "this is a single value, but a manifest is a mapping with apiVersion and kind",
		"[]":                          "this is a list, but a manifest is a mapping with apiVersion and kind",
		"a: 1":                        "apiVersion and kind are missing",
		"kind: B":                     "apiVersion is missing",
		"kind: Secret\na: *topsecret": "not valid YAML: an alias (*name) refers to an anchor (&name) that is not defined above it",
		"a: [":                        "not valid YAML: did not find expected node content",
		"apiVersion: v1\nkind: A\nx: !!bool maybe\n":                                                          "the value is not what its tag !!bool says",
		"apiVersion: v1\nkind: A\n" + strings.Repeat("k", 100) + ": 1\n" + strings.Repeat("k", 100) + ": 1\n": `the key "` + strings.Repeat("k", 60) + `…" is already given in line 3`,
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
		"larger than the limit": strings.Repeat("#\n", 17<<20),
		"alias bomb":            head + bomb,
		"List bomb":             lists + "apiVersion: v1\nkind: List\nitems: [*a19]\n",
		"many alias bombs":      strings.Repeat(head+bomb+"---\n", 3000),
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
		"many errors":           strings.Repeat("a: [\n---\n", 100_000),
		"long line":             head + "x: 'a" + strings.Repeat(" a", 5<<20) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			objects, problems := read(t, text)
			took := time.Since(start)
			t.Logf("%d objects and %d problems in %v: %+v", len(objects), len(problems), took, problems[0])
			if len(problems) == 0 || took > 10*time.Second {
				t.Error("no problem, or it took too long")
			}
		})
	}
}

// indented is a mapping nested n deep in block style.
func indented(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return text.String()
}
