// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package words_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/words"
)

func TestWords(t *testing.T) {
	six := []string{"a", "b", "c", "d", "e", "f"}
	for got, want := range map[string]string{
		words.Few(six):               "a, b, c, d, e, and 1 more",
		words.Few(six[:5]):           "a, b, c, d, e",
		words.Few(nil):               "",
		words.JoinFew(six[:2], "; "): "a; b",
		words.Plural(six[:1], "x"):   "x",
		words.Plural(six, "region"):  "regions",
		words.Quoted("name"):         "name",
		"JSON: " + words.Choice("JSON", []string{"html", "json"}):           "JSON: json",
		"warn: " + words.Choice("Warn", []string{"error", "warning"}):       "warn: warning",
		"s: " + words.Choice("sa", []string{"same", "safe", "sarif-short"}): "s: ",
		"x: " + words.Choice("", []string{"same"}):                          "x: ",
	} {
		if got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
	if got := words.Few([]string{"a b", "c ", "\u00a0d"}) + words.Quoted("") + words.Few([]string{""}); got != "a b, \"c \", \"\u00a0d\"\"\"" {
		t.Error(got)
	}
}

func TestInYAML(t *testing.T) {
	for _, text := range []string{"amd64", "no", "y", "true", "null", "1.5", "1e3", ".inf", "-", "~", "", "a b", "a, b", "[a]", "{a", "a: b", "#", "\n",
		"europe-1a"} {
		written := words.InYAML(text)
		var read []any
		if err := yaml.Unmarshal([]byte("["+written+"]"), &read); err != nil || !slices.Equal(read, []any{text}) {
			t.Errorf("%q is written %s, and read as %v: %v", text, written, read, err)
		}
	}
	if got := words.InYAML("europe-1a"); got != "europe-1a" {
		t.Error(got)
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "grün 図 🚀 \\x \"y\" \ufffd": "grün 図 🚀 \\x \"y\" \ufffd",
		"a\x1b[31mb\u009b\a\b\r\x00\x7f\n\tc":      `a\x1b[31mb\u009b\a\b\r\x00\x7f\n\tc`,
		"\u202e\u2066\u200b\u00a0\u3000\U000e0001": `\u202e\u2066\u200b\u00a0\u3000\U000e0001`, "\xff\xe2\x80": `\xff\xe2\x80`,
	} {
		if got := words.Printable(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
	const lines = "a\tb\r\nc\n\n"
	if got := words.PrintableLines(lines + "\r\x1b\n"); got != lines+`\r\x1b`+"\n" {
		t.Errorf("%q", got)
	}
}

// Except for the double quote and the backslash, Printable equals strconv.Quote without the quotation marks.
func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b\xff\u202e図\n")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.NewReplacer(`"`, "", `\`, "").Replace(text)
		quoted := strconv.Quote(text)
		if got := words.Printable(text); got != quoted[1:len(quoted)-1] {
			t.Errorf("%q becomes %q", text, got)
		}
	})
}
