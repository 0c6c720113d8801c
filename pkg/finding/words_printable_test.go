// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/capkit/capkit/pkg/finding"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		`a "b" \n \ C:\temp`:             `a "b" \n \ C:\temp`,
		"größer, 版本, 🚀, \ufffd":          "größer, 版本, 🚀, \ufffd",
		"\x1b[31mred":                    `\x1b[31mred`,
		"a\nb\tc\rd\x00e\af\bg\x7f":      `a\nb\tc\rd\x00e\af\bg\x7f`,
		"\u009b31m, \u202etxt, \u200b, ": `\u009b31m, \u202etxt, \u200b, `,
		"\u00a0\ufeff\u2028\U000e0041":   `\u00a0\ufeff\u2028\U000e0041`,
		"\xff\x9b, \xe2\x80":             `\xff\x9b, \xe2\x80`,
		"\\\n":                           `\\n`,
	} {
		if got := finding.Printable(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[0m\xff\\n")
	f.Fuzz(func(t *testing.T, text string) {
		got := finding.Printable(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !strconv.IsPrint(r) }) {
			t.Errorf("%q became %q, which is not printable", text, got)
		}
		if again := finding.Printable(got); again != got {
			t.Errorf("%q became %q, and then %q", text, got, again)
		}
	})
}
