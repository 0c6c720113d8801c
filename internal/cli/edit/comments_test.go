// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/edit"
)

func TestComments(t *testing.T) {
	text := `# above
---
a: b # behind a
c: "# none" #x
d: | # header
  # none
  x # none
e: 'x
  # none
  y'
f: x#none
é: [a, # in brackets
  b] # behind
# at the end
`
	want := []string{
		"1:1 of 3 # above", "3:6 of 3 # behind a", "4:13 of 4 #x", "5:6 of 5 # header", "12:8 of 12 # in brackets",
		"13:6 of 13 # behind", "14:1 of 0 # at the end",
	}
	var got []string
	for _, c := range edit.Comments(text) {
		got = append(got, fmt.Sprintf("%d:%d of %d %s", c.Line, c.Column, c.Of, c.Text))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"", "a: [ # x", "\x00 # x", `{"a": "# x"}`} {
		if c := edit.Comments(text); len(c) > 0 {
			t.Errorf("%q: %v", text, c)
		}
	}
}

// In any text, a comment is at the reported position.
func FuzzComments(f *testing.F) {
	for _, text := range []string{"a: b # c\n", "a: |\n # c\n# d", "[a, #b\n]", "'\n#'", "# é\r\n--- #x\n...\n", "\ufeff# a\nb: 1", "&w??+ ?"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range edit.Comments(text) {
			if !strings.HasPrefix(c.Text, "#") || !strings.Contains(text, c.Text) || c.Line < 1 || c.Column < 1 || c.Of != 0 && c.Of < c.Line {
				t.Errorf("%+v in %q", c, text)
			}
		}
	})
}
