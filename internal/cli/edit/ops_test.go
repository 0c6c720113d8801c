// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/pkg/fieldpath"
)

// layout writes values as people do, with comments and blank lines.
type layout struct {
	t        *rapid.T
	b        strings.Builder
	comments int
}

func (l *layout) one(of int, label string) bool { return rapid.IntRange(1, of).Draw(l.t, label) == 1 }

// comment returns a unique comment, or none.
func (l *layout) comment(before string) string {
	if !l.one(4, "comment") {
		return ""
	}
	l.comments++
	return fmt.Sprintf("%s# %d: it's [", before, l.comments)
}

// line writes a line, with random comments and blank lines around it.
func (l *layout) line(indent int, text string) {
	if c := l.comment(strings.Repeat(" ", indent)); c != "" {
		l.b.WriteString(c + "\n")
	}
	if l.one(8, "blank") {
		l.b.WriteString("\n")
	}
	before := " "
	if !strings.HasSuffix(text, "-") && l.one(2, "tab") {
		before = "\t"
	}
	l.b.WriteString(text + l.comment(before) + "\n")
}

var scalars = []string{"a", "~", "'b b'", `"c"`, "1", "d e", "true", "'1'", `"#"`, "x#y"}

// inline returns a value on one line.
func (l *layout) inline(depth int) string {
	kind := rapid.IntRange(0, 5).Draw(l.t, "inline")
	var entries []string
	if depth == 2 && l.one(8, "plain") {
		return "a, b]:c"
	}
	if depth > 0 && kind < 2 {
		for i := range rapid.IntRange(0, 3).Draw(l.t, "entries") {
			if kind == 0 {
				entries = append(entries, l.inline(depth-1))
				continue
			}
			entries = append(entries, fmt.Sprintf("k%d: %s", i, l.inline(depth-1)))
		}
		return []string{"[" + strings.Join(entries, ", ") + "]", "{" + strings.Join(entries, ", ") + "}"}[kind]
	}
	return rapid.SampledFrom(scalars).Draw(l.t, "scalar")
}

// block writes the members of a mapping, or the items of a list, at a column; first is the beginning of its first line.
func (l *layout) block(first string, column, depth int) {
	list := rapid.Bool().Draw(l.t, "list") && column > 0 && first == strings.Repeat(" ", column)
	for i := range rapid.IntRange(1, 3).Draw(l.t, "members") {
		begin := strings.Repeat(" ", column)
		if i == 0 {
			begin = first
		}
		switch kind := rapid.IntRange(0, 2).Draw(l.t, "member"); {
		case kind == 0 || depth == 0:
			value := l.inline(2)
			if list {
				l.line(column, begin+"- "+value)
				continue
			}
			l.line(column, begin+fmt.Sprintf("k%d: %s", i, value))
		case list && kind == 1:
			l.block(begin+"- ", column+2, depth-1)
		case list:
			l.line(column, begin+"-")
			l.block(strings.Repeat(" ", column+3), column+3, depth-1)
		default:
			l.line(column, begin+fmt.Sprintf("k%d:", i))
			l.block(strings.Repeat(" ", column+2), column+2, depth-1)
		}
	}
}

// everyPath returns the paths of all values.
func everyPath(value any, at fieldpath.Path) (paths []fieldpath.Path) {
	switch value := value.(type) {
	case map[string]any:
		for i := range 3 {
			key := fmt.Sprintf("k%d", i)
			if member, there := value[key]; there {
				path := append(slices.Clip(at), fieldpath.Segment{Name: key, Index: -1})
				paths = append(append(paths, path), everyPath(member, path)...)
			}
		}
	case []any:
		for i, item := range value {
			path := append(slices.Clip(at), fieldpath.Segment{Index: i})
			paths = append(append(paths, path), everyPath(item, path)...)
		}
	}
	return paths
}

// meaning returns a text's decoded content.
func meaning(t interface{ Fatalf(string, ...any) }, text string) (value any) {
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatalf("%v", err)
	}
	return value
}

// commentsIn returns the sorted texts of the comments.
func commentsIn(text string) (comments []string) {
	for _, c := range edit.Comments(text) {
		comments = append(comments, strings.TrimSpace(c.Text))
	}
	slices.Sort(comments)
	return comments
}

// within reports whether lines occur in others, in order, except lines that are not needed.
func within(lines, others []string, needed func(string) bool) bool {
	for _, line := range lines {
		i := slices.Index(others, line)
		if i < 0 && needed(line) {
			return false
		}
		others = others[i+1:]
	}
	return true
}

// Any operation on any text gives the expected content, loses no comment and changes no other line.
func TestOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &layout{t: t}
		l.b.WriteString("k9: 1\n")
		l.block("", 0, 3)
		body := l.b.String()
		was := meaning(t, body)
		at := rapid.SampledFrom(everyPath(was, nil)).Draw(t, "path")
		last := len(at) - 1
		op, kind := edit.Replace(at, "new: #"), rapid.IntRange(0, 5).Draw(t, "operation")
		switch {
		case kind == 1:
			op = edit.Replace(at, []any{"x", json.Number("1")})
		case kind == 2 && !at[last].IsIndex():
			op = edit.Rename(at, "new")
		case kind == 3:
			op = edit.Delete(at)
		case kind >= 4 && at[last].IsIndex():
			op = edit.Insert(at, map[string]any{"name": "x", "b": []any{map[string]any{"c": "d"}}})
		case kind >= 4:
			next := append(slices.Clone(at[:last]), fieldpath.Segment{Name: "new", Index: -1})
			op = edit.Insert(next, map[string]any{"name": "x", "b": []any{map[string]any{"c": "d"}}}, at[last].Name)
		}
		text := body
		if rapid.Bool().Draw(t, "CRLF") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		line := 1
		if rapid.Bool().Draw(t, "documents") {
			text, line = "z: &a 1 # first\n---\n"+text, 3
		} else if rapid.Bool().Draw(t, "no line break at the end") {
			text = strings.TrimRight(text, "\r\n")
		}
		changed, err := edit.Apply(text, []edit.Change{{Line: line, Column: 1, Ops: []edit.Op{op}}})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		_, own, several := strings.Cut(changed, "\n---\n")
		if !several {
			own = changed
		}
		if diff := cmp.Diff(edit.Result(was, []edit.Op{op}), meaning(t, own)); diff != "" {
			t.Fatalf("%d at %v: it does not say what it should: %s\n%s\n%s", kind, at, diff, text, changed)
		}
		if diff := cmp.Diff(commentsIn(text), commentsIn(changed)); diff != "" {
			t.Fatalf("%d at %v: comments: %s\n%s\n%s", kind, at, diff, text, changed)
		}
		before, after := strings.SplitAfter(text, "\n"), strings.SplitAfter(changed, "\n")
		if kind >= 4 && len(after) > len(before) && !within(before[:len(before)-1], after, func(string) bool { return true }) {
			t.Fatalf("%d at %v: other lines change:\n%s\n%s", kind, at, text, changed)
		}
		different := 0
		for i := range min(len(before), len(after)) {
			if before[i] != after[i] {
				different++
			}
		}
		if kind == 2 && !at[last].IsIndex() && (different > 1 || len(before) != len(after)) {
			t.Fatalf("%d at %v: other lines change:\n%s\n%s", kind, at, text, changed)
		}
	})
}

// Values in brackets over several lines, in quotes, beside a dash or missing are changed in their own style.
func TestOperationsByHand(t *testing.T) {
	at := fieldpath.Parse
	for name, c := range map[string]struct {
		text, want string
		ops        []edit.Op
	}{
		"in quotes": {
			"a: {\"b\": \"c\", 'd': 'e'} # f\n", "a: {\"x\": \"y\", z: w} # f\n",
			[]edit.Op{
				edit.Rename(at("a.b"), "x"), edit.Replace(at("a.b"), "y"), edit.Rename(at("a.d"), "z"), edit.Replace(at("a.d"), "w"),
			},
		},
		"JSON": {
			"{\n\t\"a\": [\n\t\t{\"b\": \"c\"}\n\t]\n}\n", "{\n\t\"a\": [\n\t\t{\"b\": [\"c\"], \"d\": [\"e\"]},\n\t\t\"f\"\n\t]\n}\n",
			[]edit.Op{
				edit.Replace(at("a[0].b"), []any{"c"}), edit.Insert(at("a[0].d"), []any{"e"}), edit.Insert(at("a[1]"), "f"),
			},
		},
		"nothing there yet": {
			"a: # one\n\nb:\n- # two\nc: []\n", "a: # one\n  x: 1\n\nb:\n- why # two\nc: [z]\n",
			[]edit.Op{edit.Insert(at("a.x"), 1), edit.Replace(at("b[0]"), "why"), edit.Insert(at("c[0]"), "z")},
		},
		"with an anchor and a tag": {
			"a: &a b # c\nd: !!str 1\n", "a: &a x # c\nd: \"2\"\n", []edit.Op{edit.Replace(at("a"), "x"), edit.Replace(at("d"), "2")},
		},
		"before others": {
			"a: 1\n\n# two\nb: 2\n", "a: 1\nc: 3\n\n# two\nb: 2\n", []edit.Op{edit.Insert(at("c"), 3, "b")},
		},
		"a line break for the last line": {
			"a: 1\r\nb: 2", "a: 1\r\nb: 2\r\nc: 3", []edit.Op{edit.Insert(at("c"), 3)},
		},
		"a list in a list with an anchor": {
			"a: &a\n# one\n-\n  - b: 1\n- 2\n", "a: &a\n# one\n-\n  - b: x\n- 2\n", []edit.Op{edit.Replace(at("a[0][0].b"), "x")},
		},
		"a comment below text": {
			"a:\n- &a1 |\n    b\n  # one\n- |2\n     c\n   # d\n- 3\n", "a:\n# one\n- |2\n     c\n   # d\n- 3\n", []edit.Op{edit.Delete(at("a[0]"))},
		},
		"a question mark below an anchor": {
			"a: &a\n  ? b\n  : 1\n", "a: &a\n  ? c\n  : 1\n", []edit.Op{edit.Rename(at("a.b"), "c")},
		},
		"below question marks": {
			"? a # one\n# two\n: # three\n  # four\n  ? b\n  : - 1\n  ? c\n  : &c\n    # five\n    - d: 1 # six\n      e: 2\n    - 3\n  f: 4\n",
			"? a # one\n# two\n: # three\n  # four\n  ? b\n  : - 1\n  ? c\n  : &c\n    # five\n    - d: x # six\n    - 3\n    - 5\n",
			[]edit.Op{edit.Replace(at("a.c[0].d"), "x"), edit.Delete(at("a.c[0].e")), edit.Insert(at("a.c[2]"), 5), edit.Delete(at("a.f"))},
		},
		"unwrapped": {
			"l:\n# one\n- k: # two\n    # three\n    a: [x]\n    b: # four\n      c: d\n- k: {a: [y], b: z} # five\n- {k: {a: w}}\nm: {l: [1]}\n",
			"l:\n# one\n# two\n# three\n- a: [x]\n  b: # four\n    c: d\n- a: [y]\n  b: z # five\n- {a: w}\nm: [1]\n",
			[]edit.Op{edit.Unwrap(at("l[0].k")), edit.Unwrap(at("l[1].k")), edit.Unwrap(at("l[2].k")), edit.Unwrap(at("m.l"))},
		},
		"several that go": {
			"l:\n- a: 1 # one\n  # two\n  b: 2\n  c: 3\n- 5\n- 6 # six\nm: {a: 1, b: 2, c: 3}\no: [1]\n", "l:\n# one\n# two\n- c: 3\n- 5\n# six\nm: {b: 2}\no: []\n",
			[]edit.Op{
				edit.Delete(at("l[0].a")), edit.Delete(at("l[0].b")), edit.Delete(at("l[2]")), edit.Delete(at("m.a")), edit.Delete(at("m.c")),
				edit.Delete(at("o[0]")),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := edit.Apply(c.text, []edit.Change{{Line: 1, Column: 1, Ops: c.ops}})
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v: %s", err, diff)
			}
			says, err := json.Marshal(edit.Result(meaning(t, c.text), c.ops))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(meaning(t, string(says)), meaning(t, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An operation that would change too much is refused at that place, and nothing changes.
func TestOperationsRefused(t *testing.T) {
	at := fieldpath.Parse
	for name, c := range map[string]struct {
		text string
		op   edit.Op
		at   [2]int
	}{
		"what an alias stands for":       {"a: &a {x: 1}\nb: *a\n", edit.Replace(at("b.x"), 2), [2]int{2, 4}},
		"an alias":                       {"a: &a 1\nb: *a\n", edit.Replace(at("b"), 2), [2]int{2, 4}},
		"an anchor that is used":         {"a: &a {x: 1}\nb: *a\n", edit.Delete(at("a.x")), [2]int{1, 4}},
		"an anchor in what goes":         {"a: {x: &a 1}\nb: *a\n", edit.Delete(at("a")), [2]int{1, 8}},
		"a merge key":                    {"a: &a\n  x: 1\nb:\n  <<: *a\n  y: 2\n", edit.Replace(at("b.x"), 2), [2]int{4, 3}},
		"a comment":                      {"a: [1,\n  # two\n  2]\n", edit.Replace(at("a"), 1), [2]int{2, 3}},
		"a list below a question mark":   {"? a\n:\n- 1\n", edit.Delete(at("a[0]")), [2]int{1, 3}},
		"beside the colon of one":        {"? a\n: - 1\n  - 2\n", edit.Delete(at("a[0]")), [2]int{1, 3}},
		"unwrapped from a question mark": {"a:\n  ? b # one\n  : 1\n", edit.Unwrap(at("a.b")), [2]int{2, 5}},
		"a tag":                          {"a: !!seq\n- 1\n", edit.Replace(at("a"), 1), [2]int{1, 4}},
		"a tag around what is unwrapped": {"a: !!map\n  b: 1\n", edit.Unwrap(at("a.b")), [2]int{1, 4}},
		"several lines":                  {"a: |\n  b\n  c\n", edit.Replace(at("a"), 1), [2]int{1, 4}},
		"what is not there":              {"a: b\n", edit.Delete(at("x")), [2]int{1, 1}},
		"no list":                        {"a: b\n", edit.Delete(at("a[0]")), [2]int{1, 4}},
	} {
		var fault *edit.Fault
		got, err := edit.Apply(c.text, []edit.Change{{Line: 1, Column: 1, Ops: []edit.Op{c.op}}})
		if !errors.As(err, &fault) || [2]int{fault.Line, fault.Column} != c.at || got != c.text {
			t.Errorf("%s: %v, %q", name, err, got)
		}
	}
	two := []edit.Op{edit.Replace(at("a"), 1), edit.Replace(at("a"), 2)}
	if _, err := edit.Apply("a: b\n", []edit.Change{{Line: 1, Column: 1, Ops: two}}); err == nil {
		t.Error("one value becomes two")
	}
}
