// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// remembered reads a text with a memory, as a file of a folder if group is set. It also returns the number of known items.
func remembered(text, group string, m *Memory) (found []string, known int) {
	f := Found{group: group, folder: group != ""}
	drop := func(Identity) [][]string { return [][]string{{"status"}, {"metadata", "managedFields"}} }
	before := map[itemText]bool{}
	if m != nil {
		for key := range m.known {
			before[key] = true
		}
	}
	in, err := f.Read("f.yaml", strings.NewReader(text), drop, m)
	if m != nil {
		for key := range m.known {
			if before[key] {
				known++
			}
		}
	}
	return append((&source{Input: in}).found(), fmt.Sprint(err)), known
}

// listed returns an object with count items; the item at index other has another value.
func listed(count, other int, value string) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: A\nspec:\n  images:\n  - name: a\n    versions:\n")
	for i := range count {
		text := "x"
		if i == other {
			text = value
		}
		fmt.Fprintf(&b, "    - version: %d.0.0 # %d\n      flavors:\n      - architecture: [amd64]\n        text: %s\n", i, i, text)
	}
	return b.String() + "  - name: b\n    versions: [{version: 1}]\n  regions:\n  - name: r\n"
}

// Every change of a file is noticed, and unchanged items are not parsed again.
func TestMemory(t *testing.T) {
	text := listed(200, -1, "")
	lines := strings.SplitAfter(text, "\n")
	m := new(Memory)
	for i, step := range []struct {
		text string
		// known is the number of unchanged items, of 202.
		known int
	}{
		{text, 0},
		{text, 202},
		{listed(200, 100, "y"), 201},
		{listed(200, 100, "z"), 201},
		{"# moved\n\n" + listed(200, 100, "z"), 202},
		{listed(200, 100, "z\n        text: again"), 202}, // a duplicate key
		{listed(200, 100, "["), 202},                      // incomplete
		{text, 201},                                       // little is forgotten because of that
		{strings.ReplaceAll(text, "\n  ", "\n   "), 0},    // other indentation
		{text, 0},
		{strings.Replace(text, "spec:", "spec:\n y:", 1), 0}, // deeper
		{text, 0},
		{strings.Join(lines[:9], "") + strings.Join(lines[13:], ""), 201}, // a line less, so items move up
		{strings.Replace(text, "text: x", "text: &a x", 1), 201},          // an anchor
		{strings.Replace(strings.Replace(text, "text: x", "text: &a x", 1), "name: r", "name: *a", 1), 202},
		{strings.Replace(text, "name: r", "name: s", 1), 201},
		{strings.Replace(text, "name: r", "name: r\n  x: |\n  - name: a\n", 1), 202}, // not an item
	} {
		want, _ := remembered(step.text, "", nil)
		got, known := remembered(step.text, "", m)
		if diff := cmp.Diff(want, got); diff != "" || known != step.known {
			t.Errorf("step %d: %d items were known, want %d: %s", i, known, step.known, diff)
		}
	}
}

// FuzzMemory checks that reading a text and an edited version gives the same results with and without a memory.
func FuzzMemory(f *testing.F) {
	for _, text := range []string{
		positionedItems,
		"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: A\n  status: {}\n- apiVersion: v1\n  kind: B\n  metadata:\n    managedFields:\n    - a: b\n",
		"a: |\n  - b: c\n  - d: e\n", "a: \"\n- b: c\n- d: e\n\"\n", "a: [\n- b: c\n]\n", "- a: \"x\n- b: y\"\n", "- a: x\n y\n- b: z\n",
		"- a: &a x\n- b: *a\n", "a: &a\n- b: c\nd: *a\n", "- - a: b\n  - c: d\n", "- ? a\n  : b\n-\n  - c: d\n", "- a: |+\n    x\n\n# c\n- b: >-\n   y\n",
		"- a: b\r\n  c: d\r\n- e: f\r\n", "- a: b\r- c: d\n", "- a: b\u2028- c: d\n", "%YAML 1.1\n---\n- a: !!int 1\n", "- a: !x y\n  a: b\n",
		"- a: 1\n  b: 2\n  a: 3\n  b: 4\n- c: 5\n", "# x\n- a: b # y\n  # z\n\n# u\n- c:\n  # v\n  - d: e\n   # w\n", "a:\n- b: c\n\td\n", "a:\n\t- b: c\n",
		"- a: b\n---\n- c: d\n...\n", "- ''\n- '': ''\n-  a: b\n- {a: b}\n- [a]\n- {a: b}: c\n", "? - a: b\n: - c: d\n", "- a: b\n  <<: {c: d}\n- <<: [{e: f}]\n",
	} {
		f.Add("apiVersion: v1\nkind: A\nx:\n"+text, 9, "\n", false)
		f.Add(text, 3, "#", true)
	}
	f.Fuzz(func(t *testing.T, text string, at int, with string, inFolder bool) {
		group := ""
		if inFolder {
			group = "v1"
		}
		at = min(max(at, 0), len(text))
		m := new(Memory)
		for _, text := range []string{text, text[:at] + with + text[at:], "\n" + text} {
			if comment := "#" + strings.Repeat("x", mostItem) + "\n"; strings.HasSuffix(text, "\n") {
				text += "          " + comment // large, and so is its last item
			} else {
				text = comment + text
			}
			want, _ := remembered(text, group, nil)
			got, _ := remembered(text, group, m)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
		}
	})
}

const positionedItems = `- name: a
  versions:
  - version: "1" # one
    flavors:
    - architecture: [amd64, arm64]
      region: {a: b,
        c: d}
  # two
  - version: 2
    text: >
      folded

      text
- name: b
  versions: []
`
