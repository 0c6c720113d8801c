// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/cli/manifest"
)

// dump returns some objects of about 1 MiB each, with what is before, between and behind them. Each has its number as its
// name.
func dump(before, object, between, after string, n int) string {
	var text strings.Builder
	text.WriteString(before)
	for i := range n {
		if i > 0 {
			text.WriteString(between)
		}
		fmt.Fprintf(&text, object, i, strings.Repeat("x", 1<<20))
	}
	return text.String() + after
}

// What is larger than a document may be is read like what is smaller: the same objects at the same places.
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
			found := func(n int) (places []string, lines []int) {
				text := dump(parts[0], parts[1], parts[2], parts[3], n)
				objects, problems, err := manifest.Load([]string{"-"}, strings.NewReader(text))
				if err != nil || len(problems) > 0 {
					t.Fatal(problems, err)
				}
				for _, o := range objects {
					line, column := o.Position("metadata.name")
					places = append(places, fmt.Sprintf("%s %s %s %d:%d", o.APIVersion, o.Kind, o.Name, line, column))
					lines = append(lines, line)
				}
				return places, lines
			}
			few, first := found(2)
			many, lines := found(34)
			if len(few) < 2 || len(many) != len(few)+32 {
				t.Fatalf("%d and %d objects", len(few), len(many))
			}
			if diff := cmp.Diff(few[:2], many[:2]); diff != "" {
				t.Error(diff)
			}
			for i, line := range lines[:34] {
				if want := first[0] + i*(first[1]-first[0]); line != want {
					t.Errorf("object %d is in line %d, not %d", i, line, want)
				}
			}
		})
	}
}

// A mistake in a dump is one in its document alone; what is too large, or no JSON, ends it.
func TestDumpsWithMistakes(t *testing.T) {
	const item = "- apiVersion: v1\n  kind: A\n  metadata: {name: o%d}\n  data: %s\n"
	long := strings.Repeat("y", 34<<20)
	for name, tc := range map[string]struct {
		text    string
		objects int
		want    string
	}{
		"item":           {dump("items:\n", item, "", "- a: [\n- apiVersion: v1\n  kind: A\n", 34), 35, "138:3 syntax"},
		"item too large": {dump("items:\n", item, "", "- a: "+long+"\n", 1), 1, "6:1 too-large"},
		"document":       {"a: [\n---\n" + doc("a") + "---\n# " + long, 1, "1:1 syntax"},
		"JSON":           {dump(`{"items":[`, `{"apiVersion":"v1","kind":"A%d","a":"%s"}`, ",", ",]}", 34), 34, "1:"},
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
