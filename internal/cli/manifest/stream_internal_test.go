// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/manifest/cut"
)

// found returns everything that was found in an input.
func (s *source) found() (found []string) {
	for _, o := range s.Objects {
		found = append(found, fmt.Sprintf("%v %s %v", o.Identity, o.JSON, o.written.places))
	}
	for _, p := range s.Problems {
		found = append(found, fmt.Sprint(p))
	}
	for _, t := range s.Marked {
		found = append(found, fmt.Sprint(t))
	}
	return append(found, fmt.Sprint(s.Skipped, s.Foreign))
}

// Comments are also found in the other parts of a List, for example above its first item.
func TestMarkedItemByItem(t *testing.T) {
	const text = "# capkit:ignore a: b\napiVersion: v1\nitems:\n# Capkit-Ignore\n- apiVersion: v1\n  kind: A\n# none\n- apiVersion: v1\n" +
		"  kind: B # capkit ignore\nkind: List # capkit:ignore a: b\n"
	s := newSource("f.yaml", nil)
	if err := s.stream(strings.NewReader(text), text); err != nil {
		t.Fatal(err)
	}
	want := []Text{
		{"f.yaml", 0, "# capkit:ignore a: b\napiVersion: v1\nitems:\n# Capkit-Ignore\n"},
		{"f.yaml", 7, "  apiVersion: v1\n  kind: B # capkit ignore\n"},
		{"f.yaml", 9, "kind: List # capkit:ignore a: b\n"},
	}
	if diff := cmp.Diff(want, s.Marked); diff != "" {
		t.Error(diff)
	}
}

// A large input is read item by item only if the result equals that of reading it at once.
func FuzzItemByItem(f *testing.F) {
	const two = "items:\n- apiVersion: v1\n  kind: A\n  x: |\n    - b\n    c\n# two\n- kind: B\n  apiVersion: v1\n"
	for _, text := range []string{
		"apiVersion: v1\n" + two + "kind: List\nmetadata:\n  resourceVersion: \"\"\n",
		two + "kind: List\n",                     // no apiVersion
		"apiVersion: v1\n" + two + "kind: AB\n",  // not a List
		"apiVersion: v1\n" + two + "kind: [\n",   // an error after the items
		"apiVersion: v1\n" + two + "o\n- x: 1\n", // another one
		"apiVersion: v1\n" + two + "{kind: List}\n",
		"apiVersion: v1\n" + two + " kind: List\n",
		"apiVersion: v1\nkind: List\n" + two + "-' a: b\n",
		"apiVersion: v1\nkind: List\n" + two + two, // items twice
		"apiVersion: v1\nkind: List\n" + two + "kind: List\n",
		"apiVersion: x\nkind: List\nmetadata: {}\nitems:\n- metadata: {}\n- spec: 1\n- x: 1\n",
		"apiVersion: x\nkind: List\nitems:\n- metadata: {}\nspec: {}\n",
		"apiVersion:items: v1\nkind: List\n" + two,
		"apiVersion: v1\nkind: \"List\n" + two + "\"\n",
		"apiVersion: v1\nkind: List\nitems:\n-\n- {apiVersion: v1, kind: A}\n", // an empty item
		"apiVersion: v1\nkind: List\nmetadata: &a {}\nitems:\n- {apiVersion: v1, kind: A, metadata: *a}\n",
		"# capkit:ignore a: b\napiVersion: v1\nkind: List\n# capkit:ignore a: b\n" + two,
		"apiVersion: v1\nkind: AList\nitems:\n  - metadata: {name: a}\n  - metadata: {name: b}\n---\napiVersion: v1\nkind: B\n",
		"apiVersion: v1\nkind: List\n\ufeff" + two,
		"---\n# a\n...\n---\napiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: List\nitems: []\n",
		`{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"A"},5,{"kind":"B","apiVersion":"v1"}],"kind":"List"}` + "\n",
		`{"items":[{"apiVersion":"v1","kind":"A"}],"kind":"List"}` + "\n",
		`{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"A"}],"items":[],"kind":"List"}` + "\n",
		"{\"apiVersion\":\"v1\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"A\"}],\"kind\":\"List\",\"\xac\":1}\n",
		`{"apiVersion":"v1","kind":"A"} {"apiVersion":"v1","kind":"B"}` + "\n" + `{"apiVersion":"v1","kind":"C"}`,
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, inFolder bool) {
		large := text + strings.Repeat(" ", 1<<10) // at least this large
		if strings.HasSuffix(text, "\n") {
			large = text + strings.Repeat("\n", 1<<10)
		}
		group := ""
		if inFolder {
			group = "v1"
		}
		atOnce, byItem := newSource("f.yaml", nil), newSource("f.yaml", nil)
		atOnce.group, byItem.group = group, group
		cut.Documents(large, atOnce.takePart)
		if !byItem.parseLarge(large) {
			cut.Documents(large, byItem.takePart)
		}
		if diff := cmp.Diff(atOnce.found(), byItem.found()); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}
