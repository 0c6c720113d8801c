// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/lsp/text"
)

func TestPositions(t *testing.T) {
	const s = "\ufeffa𝄞b\r\nä\u2028c\rd\n"
	x := text.New(s)
	for _, tc := range []struct {
		part         string
		utf16, utf8  text.Position
		line, column int
	}{
		{"a", text.Position{}, text.Position{}, 1, 1},
		{"𝄞", text.Position{Character: 1}, text.Position{Character: 1}, 1, 2},
		{"b", text.Position{Character: 3}, text.Position{Character: 5}, 1, 3},
		{"ä", text.Position{Line: 1}, text.Position{Line: 1}, 2, 1},
		{"c", text.Position{Line: 1, Character: 2}, text.Position{Line: 1, Character: 5}, 2, 3},
		{"d", text.Position{Line: 2}, text.Position{Line: 2}, 3, 1},
	} {
		offset := strings.Index(s, tc.part)
		if got := x.Position(offset, text.UTF16); got != tc.utf16 {
			t.Errorf("%s: %v", tc.part, got)
		}
		if got := x.Position(offset, text.UTF8); got != tc.utf8 {
			t.Errorf("%s: %v", tc.part, got)
		}
		if a, b := x.Offset(tc.utf16, text.UTF16), x.Offset(tc.utf8, text.UTF8); a != offset || b != offset {
			t.Errorf("%s: %d and %d, want %d", tc.part, a, b, offset)
		}
		if line, column := x.Place(offset); line != tc.line || column != tc.column || x.Placed(line, column) != offset {
			t.Errorf("%s: %d:%d, %d", tc.part, line, column, x.Placed(line, column))
		}
	}
	for p, want := range map[text.Position]int{
		{Character: 2}: strings.Index(s, "𝄞"), {Character: 99}: strings.Index(s, "\r\n"), {Line: 9}: len(s), {Line: -1}: 0,
	} {
		if got := x.Offset(p, text.UTF16); got != want {
			t.Errorf("%v: %d, want %d", p, got, want)
		}
	}
	edited := x.Edited(text.Position{Line: 1}, text.Position{Line: 2}, text.UTF16, "x")
	if edited.String() != "\ufeffa𝄞b\r\nxd\n" {
		t.Errorf("%q", edited)
	}
}

// outline prints one line for each node of a text.
func outline(o *text.Outline) string {
	var b strings.Builder
	var walk func(n *text.Node, depth int)
	walk = func(n *text.Node, depth int) {
		for _, child := range n.Nodes {
			name := child.Key
			if child.Item {
				name = "-"
			}
			fmt.Fprintf(&b, "%s%s=%s\n", strings.Repeat(" ", depth), name, child.Value)
			walk(child, depth+1)
		}
	}
	for _, document := range o.Documents {
		b.WriteString("---\n")
		walk(document, 0)
	}
	return b.String()
}

func TestOutline(t *testing.T) {
	for in, want := range map[string]string{
		"a: 1 # b: 2\nc:\n- d: 'it''s'\n  e: \"x\\ty\"\n- - f\n": "---\na=1\nc=\n -=\n  d=it's\n  e=x\ty\n -=\n  -=f\n",
		"a: {b: [1, two], \"c\": }\nd: e\n":                      "---\na=\n b=\n  -=1\n  -=two\n c=\nd=e\n",
		"a: {b: [1,\n  2\nc: d\n":                                "---\na=\n b=\n  -=1\n  -=2\nc=d\n",
		"a: |\n  b: c\n\n  d\ne: >-\n  f\ng: h\n":                "---\na=\ne=\ng=h\n",
		"# x\n---\na: b\n---\n- c\n...\n":                        "---\na=b\n---\n-=c\n---\n",
		"{\"a\": [{\"b\": 1},\n  {\"c\": \"d: e\"}]}\n":          "---\na=\n -=\n  b=1\n -=\n  c=d: e\n",
		"a:\n  b\n  c: &x !!str d\n":                             "---\na=\n =b\n c=d\n",
		"a:\r\n  - b: c\r\n    d: e\r\n":                         "---\na=\n -=\n  b=c\n  d=e\n",
		"\ta: b\n\t\tc: d\n":                                     "---\na=b\n c=d\n",
		"a: http://x#y\nb: 'c # d' # e\nf: [g] # h\n":            "---\na=http://x#y\nb=c # d\nf=\n -=g\n",
	} {
		if got := outline(text.Read(text.New(in))); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", in, got, want)
		}
	}
}

func TestAt(t *testing.T) {
	for in, want := range map[string]string{
		"a:\n  b: c‸d\n":        "value a.b [cd] in a",
		"a:\n  b‸b: c\n":        "key a.bb [bb] in a",
		"a:\n  b: 1\n  ‸\n":     "key - [] in a",
		"a:\n  b: 1\n‸\n":       "key - [] in ",
		"a:\n  b:\n    ‸\nc: d": "key - [] in a.b",
		"a:\n- b: c\n- ‸\n":     "value a[] [] in a",
		"a:\n- b: c\n  ‸\n":     "key - [] in a[]",
		"a: [b, ‸]\n":           "value - [] in a",
		"a: [b, c‸]\n":          "value a[] [c] in a",
		"a: {b: c, ‸}\n":        "key - [] in a",
		"a: {b: ‸}\n":           "value a.b [] in a",
		"a: {b‸}\n":             "key a. [b] in a",
		"a: [b‸":                "value a[] [b] in a",
		"a: b # c‸d\n":          "comment - [# cd] in ",
		"a: ‸# c\n":             "value a [] in ",
		"a:\n  wor‸\n":          "key a. [wor] in a",
		"a: [b] ‸\nc: d":        "value a [] in ",
		"‸":                     "key - [] in ",
	} {
		before, after, _ := strings.Cut(in, "‸")
		o := text.Read(text.New(before + after))
		spot := o.At(len(before))
		node := "-"
		if spot.Node != nil {
			node = spot.Node.Pattern()
		}
		got := fmt.Sprintf("%s %s [%s] in %s", [...]string{"key", "value", "comment"}[spot.Role], node, (before + after)[spot.Start:spot.End], spot.Parent.Pattern())
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// Deep and large input is neither slow nor fails.
func TestDeepBrackets(t *testing.T) {
	o := text.Read(text.New("a: " + strings.Repeat("[", 100_000) + "\nb: c\n"))
	if o.Documents[0].Child("a") == nil {
		t.Error("nothing is left of it")
	}
}

// A position beyond the end of its line, however far, is at the end.
func TestPositionsFarAway(t *testing.T) {
	for _, s := range []string{"a\nb", "ä\nb"} {
		x := text.New(s)
		for _, far := range []int{2, math.MaxInt32, math.MaxInt} {
			if got := x.Offset(text.Position{Line: 1, Character: far}, text.UTF16); got != len(s) {
				t.Errorf("%q: character %d is at %d", s, far, got)
			}
			if got := x.Placed(2, far); got != len(s) {
				t.Errorf("%q: column %d is at %d", s, far, got)
			}
		}
	}
}

func FuzzAt(f *testing.F) {
	for _, seed := range []string{"a: {b: [c, d]}\n- e: 'f' # g\n", "\ufeff{\"a\": \"𝄞\"}\r\n", "a: |\n  b\n---\n\tc: [\n", "- - a:\n - b"} {
		f.Add(seed, 3)
		f.Add(seed, 12) // inside a character of the second text, and inside its line ending
		f.Add(seed, 17)
	}
	f.Fuzz(func(t *testing.T, s string, at int) {
		x := text.New(s)
		counted := text.New(s + " ä") // also if x contains only ASCII
		o := text.Read(x)
		spot := o.At(at)
		if spot.Parent == nil || spot.Start < 0 || spot.Start > spot.End || spot.End > len(s) {
			t.Errorf("%+v", spot)
		}
		for _, encoding := range []text.Encoding{text.UTF8, text.UTF16} {
			if p := x.Position(at, encoding); x.Position(x.Offset(p, encoding), encoding) != p {
				t.Errorf("%d is at %v", at, p)
			}
			if p := x.Position(at, encoding); at <= len(s) && (counted.Position(at, encoding) != p || counted.Offset(p, encoding) != x.Offset(p, encoding)) {
				t.Errorf("%d is at %v, or at %v", at, p, counted.Position(at, encoding))
			}
		}
		line, column := x.Place(at)
		if l, c := counted.Place(at); at <= len(s) && (l != line || c != column || counted.Placed(l, c) != x.Placed(l, c)) {
			t.Errorf("%d is at %d:%d, or at %d:%d", at, line, column, l, c)
		}
		if l, c := x.Place(x.Placed(line, column)); l != line || c != column {
			t.Errorf("%d:%d is at %d:%d", line, column, l, c)
		}
	})
}
