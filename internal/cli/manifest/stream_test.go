// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/manifest"
)

// dump returns n objects of about 1 MiB each, named by their numbers, with text before, between and after them.
func dump(before, object, between, after string, n int) string {
	return dumpOf(1<<20, before, object, between, after, n)
}

// dumpOf is dump for objects of another size.
func dumpOf(size int, before, object, between, after string, n int) string {
	var text strings.Builder
	text.Grow(len(before) + n*(len(between)+len(object)+size) + len(after))
	text.WriteString(before)
	data := strings.Repeat("x", size)
	for i := range n {
		if i > 0 {
			text.WriteString(between)
		}
		fmt.Fprintf(&text, object, i, data)
	}
	text.WriteString(after)
	return text.String()
}

// Input that is too large to be read at once gives the same objects at the same positions as small input.
func TestDumps(t *testing.T) {
	const (
		plain   = "apiVersion: v1\nkind: A\nmetadata:\n  name: o%d\ndata: %s\n"
		item    = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: o%d\n  data: |\n    - %s\n\n    b\n"
		untyped = "  - metadata:\n      name: o%d\n    data: %s\n"
		json    = `{"apiVersion":"v1","kind":"A","metadata":{"name":"o%d"},"data":"%s"}`
		pretty  = "        {\n            \"apiVersion\": \"v1\",\n            \"kind\": \"A\",\n" +
			"            \"metadata\": {\"name\": \"o%d\"},\n            \"data\": \"%s\"\n        }"
		bare = `{"metadata":{"name":"o%d"},"data":"%s"}`
	)
	for name, parts := range map[string][4]string{
		"documents":               {"", plain, "---\n", ""},
		"documents with markers":  {"---\n# a\n", plain, "...\n---\n", "...\n"},
		"List":                    {"apiVersion: v1\nitems:\n", item, "", "kind: List\nmetadata:\n  resourceVersion: \"\"\n"},
		"Lists":                   {"apiVersion: v1\nitems:\n", item, "", "kind: List\n---\napiVersion: v1\nkind: A\nmetadata: {name: last}\n"},
		"typed List":              {"kind: AList\napiVersion: v1\nitems:\n", untyped, "", ""},
		"JSON documents":          {"", json, "\n", "\n"},
		"JSON documents in a row": {"", json, "", ""},
		"JSON List":               {`{"apiVersion":"v1","items":[`, json, ",", `],"kind":"List"}`},
		"kubectl":                 {"{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n", pretty, ",\n", "\n    ],\n    \"kind\": \"List\"\n}\n"},
		"typed JSON List":         {`{"kind":"AList","apiVersion":"v1","metadata":{},"items":[`, bare, ",", `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			found := func(size, n int) (places []string, lines []int) {
				text := dumpOf(size, parts[0], parts[1], parts[2], parts[3], n)
				objects, problems, err := manifest.Load([]string{"-"}, strings.NewReader(text))
				if err != nil || len(problems) > 0 {
					t.Fatal(problems, err)
				}
				for _, o := range objects {
					line, column := o.Position("metadata.name")
					if len(lines) > 0 && line == lines[0] {
						column = 0 // after the data of another object
					}
					places = append(places, fmt.Sprintf("%s %s %s %d:%d", o.APIVersion, o.Kind, o.Name, line, column))
					lines = append(lines, line)
				}
				return places, lines
			}
			few, first := found(1, 2)    // at once
			some, _ := found(150_000, 2) // document by document, and item by item
			if diff := cmp.Diff(few, some); diff != "" {
				t.Error(diff)
			}
			many, lines := found(1<<20, 18)
			if len(few) < 2 || len(many) != len(few)+16 {
				t.Fatalf("%d and %d objects", len(few), len(many))
			}
			if diff := cmp.Diff(few[:2], many[:2]); diff != "" {
				t.Error(diff)
			}
			for i, line := range lines[:18] {
				if want := first[0] + i*(first[1]-first[0]); line != want {
					t.Errorf("object %d is in line %d, not %d", i, line, want)
				}
			}
		})
	}
}

// Input that is not a single List is read as a whole, at any size, with the same objects, problems and positions.
func TestLargeDocuments(t *testing.T) {
	const (
		item = "- apiVersion: v1\n  kind: A\n  metadata: {name: o%d}\n  data: %s\n"
		last = "- apiVersion: v1\n  kind: A\n  metadata: {name: last, labels: *l}\n"
	)
	for name, parts := range map[string][2]string{
		"anchors":     {"apiVersion: v1\nmetadata: {labels: &l {a: b}}\nitems:\n", last + "kind: List\n"},
		"no List":     {"apiVersion: v1\nitems:\n", "kind: A\nmetadata: {name: a}\n"},
		"no object":   {"items:\n", ""},
		"a mistake":   {"apiVersion: v1\nitems:\n", "- apiVersion: v1\n  kind: [\nkind: List\n"},
		"no item":     {"apiVersion: v1\nitems:\n", "- a: b\n- apiVersion: v1\n  kind: A\n  a: b\n  a: c\nkind: List\n"},
		"a second":    {"apiVersion: v1\nitems:\n", "kind: List\nitems:\n- {apiVersion: v1, kind: B}\n"},
		"wrong space": {"apiVersion: v1\nitems:\n", " - apiVersion: v1\n   kind: A\nkind: List\n"},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(size int) (found []string) {
				text := dumpOf(size, parts[0], item, "", parts[1], 2)
				objects, problems, err := manifest.Load([]string{"-"}, strings.NewReader(text))
				if err != nil || len(objects)+len(problems) == 0 {
					t.Fatal(objects, err)
				}
				for _, o := range objects {
					line, column := o.Position("metadata.name")
					found = append(found, fmt.Sprintf("%v %d:%d", o.Identity, line, column))
				}
				for _, p := range problems {
					found = append(found, fmt.Sprintf("%v %d:%d %s", p.Identity, p.Line, p.Column, p.Message))
				}
				return found
			}
			if diff := cmp.Diff(read(1), read(150_000)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A List may have any number of lines, if none of its items has too many.
func TestDumpOfManyLines(t *testing.T) {
	item := "- apiVersion: v1\n  kind: A\n  x: |\n    a" + strings.Repeat("\n", 2_100_000) + "    b\n"
	if objects, problems := read(t, "apiVersion: v1\nkind: List\nitems:\n"+item+item); len(objects) != 2 || len(problems) > 0 {
		t.Error(len(objects), problems)
	}
}

// An error in a dump affects only its own document. A document that is too large, or invalid JSON, ends the input.
func TestDumpsWithMistakes(t *testing.T) {
	const item = "- apiVersion: v1\n  kind: A\n  metadata: {name: o%d}\n  data: %s\n"
	long := strings.Repeat("y", 34<<20)
	asJSON := dump(`{"items":[`, `{"apiVersion":"v1","kind":"A%d","a":"%s"}`, ",", "", 18)
	for name, tc := range map[string]struct {
		text    string
		objects int
		want    string
	}{
		"item":           {dump("items:\n", item, "", "- a: [\n- apiVersion: v1\n  kind: A\n", 18), 19, "74:3 syntax"},
		"item too large": {dump("items:\n", item, "", "- a: "+long+"\n", 1), 1, "6:1 too-large"},
		"document":       {"a: [\n---\n" + doc("a") + "---\n# " + long, 1, "1:1 syntax"},
		"JSON":           {asJSON + ",]}", 18, "1:"},
		"JSON item":      {asJSON + ", 5]}", 18, fmt.Sprintf("1:%d not-an-object", len(asJSON)+3)},
		"JSON too large": {`{"items":[{"apiVersion":"v1","kind":"A"},{"a":"` + long + `"}]}`, 1, "1:1 too-large"},
		"JSON object":    {`{"apiVersion":"v1","a":"` + long + `"}`, 0, "1:1 too-large"},
	} {
		t.Run(name, func(t *testing.T) {
			objects, problems, err := manifest.Load([]string{"-"}, strings.NewReader(tc.text))
			if err != nil || len(objects) != tc.objects || len(problems) == 0 {
				t.Fatal(len(objects), problems, err)
			}
			if got := fmt.Sprintf("%d:%d %s", problems[0].Line, problems[0].Column, problems[0].Rule); !strings.HasPrefix(got, tc.want) {
				t.Error(got, problems[0].Message)
			}
		})
	}
}

// JSON on a single line keeps its positions in that line, and each item is read once.
func TestJSONInOneLine(t *testing.T) {
	for name, parts := range map[string][2]string{"List": {`{"apiVersion":"v1","kind":"List","items":[`, "]}"}, "documents": {"", ""}} {
		t.Run(name, func(t *testing.T) {
			text := dumpOf(1000, parts[0], `{"apiVersion":"v1","kind":"A","metadata":{"name":"o%d"},"data":"%s"}`, ",", parts[1], 1000)
			if name == "documents" {
				text = strings.ReplaceAll(text, "},{", "} {")
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			objects, problems, err := manifest.Load([]string{"-"}, strings.NewReader(text))
			runtime.ReadMemStats(&after)
			if err != nil || len(problems) > 0 || len(objects) != 1000 {
				t.Fatal(len(objects), problems, err)
			}
			for i, o := range objects {
				line, column := o.Position("metadata")
				if !strings.HasPrefix(text[column-1:], fmt.Sprintf(`"metadata":{"name":"o%d"`, i)) || line != 1 {
					t.Fatalf("object %d is at %d:%d", i, line, column)
				}
			}
			// Reading the line again for each item would allocate hundreds of times its size.
			if allocated, most := after.TotalAlloc-before.TotalAlloc, uint64(100*len(text)); allocated > most {
				t.Errorf("%d bytes allocated, instead of %d at most", allocated, most)
			}
		})
	}
}
