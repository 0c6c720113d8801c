// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/between"
	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/pkg/fieldpath"
)

var before = between.Before{"machineCapabilities": {"machineTypes", "machineImages"}}

// apply edits a text with one object until it has the content of another text.
func apply(t *testing.T, text, want string) (string, error) {
	t.Helper()
	to, err := yaml.YAMLToJSON([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	line := 1
	for l := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if content := strings.TrimSpace(l); content != "" && content[0] != '#' && content != "---" {
			break
		}
		line++
	}
	was := meaning(t, text)
	ops := between.Operations(nil, was, meaning(t, want), before)
	changed, err := edit.Apply(text, []edit.Change{{Line: line, Column: 1, Ops: ops}})
	if err == nil {
		got, err := yaml.YAMLToJSON([]byte(changed))
		if err != nil {
			t.Fatalf("%v in\n%s", err, changed)
		}
		var a, b any
		if json.Unmarshal(got, &a) != nil || json.Unmarshal(to, &b) != nil {
			t.Fatal("no JSON")
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Errorf("it does not say what it should: %s\n%s", diff, changed)
		}
	}
	return changed, err
}

const capabilities = "machineCapabilities: [{name: architecture, values: [amd64, arm64]}]\n"

func TestApply(t *testing.T) {
	for name, c := range map[string]struct{ text, says, want string }{
		"a member before another one": {
			"kind: A\nspec:\n  type: x # kept\n\n  # about types\n  machineTypes:\n  - name: m\n",
			"kind: A\nspec: {type: x, machineTypes: [{name: m}], " + strings.TrimSpace(capabilities) + "}\n",
			"kind: A\nspec:\n  type: x # kept\n  machineCapabilities:\n  - name: architecture\n    values: [amd64, arm64]\n\n" +
				"  # about types\n  machineTypes:\n  - name: m\n",
		},
		"CRLF, a byte order mark, and no line break at the end": {
			"\ufeffkind: A\r\nspec:\r\n    type: x\r\n    machineTypes:\r\n      - name: m",
			"kind: A\nspec: {type: x, machineTypes: [{name: m}], " + strings.TrimSpace(capabilities) + "}\n",
			"\ufeffkind: A\r\nspec:\r\n    type: x\r\n    machineCapabilities:\r\n      - name: architecture\r\n        values: [amd64, arm64]\r\n" +
				"    machineTypes:\r\n      - name: m",
		},
		"members without a value": {
			"spec:\n  # to come\n  machineCapabilities: # none yet\n\n  type:\n  \"a:b\": # what\n  c:\n  machineTypes: []\n",
			"spec: {type: x, machineTypes: [], 'a:b': [1], c: {d: 1}, " + strings.TrimSpace(capabilities) + "}\n",
			"spec:\n  # to come\n  machineCapabilities: # none yet\n  - name: architecture\n    values: [amd64, arm64]\n\n" +
				"  type: x\n  \"a:b\": [1] # what\n  c:\n    d: 1\n  machineTypes: []\n",
		},
		"text that looks like a comment": {
			"cert: |\n  # no comment\n  'x\n\ntypes:\n- a: 1 # one\n",
			"cert: \"# no comment\\n'x\\n\"\ntypes: [{a: 1, b: two}]\n",
			"cert: |\n  # no comment\n  'x\n\ntypes:\n- a: 1 # one\n  b: two\n",
		},
		"members that move with their comments": {
			`versions:
# the first
- version: 1.0.0 # stable
  image: "one" # by name
  regions: # all
  # in Europe
  - name: europe
    id: 'a' # old
  - architecture: arm64 # new
    name: europe
    id: b

# the second
- version: 2.0.0
  regions:
  - name: asia
    id: c
`,
			`versions:
- version: 1.0.0
  capabilityFlavors:
  - capabilities: {architecture: [amd64]}
    image: one
    regions: [{name: europe, id: a}]
  - capabilities: {architecture: [arm64]}
    regions: [{name: europe, id: b}]
- version: 2.0.0
  regions: [{name: asia, id: c}]
`,
			`versions:
# the first
- version: 1.0.0 # stable
  capabilityFlavors:
  - capabilities:
      architecture: [amd64]
    image: "one" # by name
    regions: # all
    # in Europe
    - name: europe
      id: 'a' # old
  - capabilities:
      architecture: [arm64]
    regions:
    # new
    - name: europe
      id: b

# the second
- version: 2.0.0
  regions:
  - name: asia
    id: c
`,
		},
		"entries that become one": {
			"versions:\n- version: 1 # one\n  urn: a # first\n# of the other\n- version: 1 # two\n  urn: b # second\n- version: 3\n  urn: c\n",
			"versions: [{version: 1, flavors: [{urn: a}, {urn: b}]}, {version: 3, urn: c}]\n",
			"versions:\n- version: 1 # one\n  flavors:\n  - urn: a # first\n  # of the other\n  # two\n  - urn: b # second\n- version: 3\n  urn: c\n",
		},
		"brackets indented by tabs": {
			"{\n\t\"types\": [\n\t\t{\n\t\t\t\"name\": \"m\"\n\t\t}\n\t]\n}\n",
			`{types: [{name: m, capabilities: {architecture: [amd64]}}]}`,
			"{\n\t\"types\": [\n\t\t{\n\t\t\t\"name\": \"m\",\n\t\t\t\"capabilities\": {\n\t\t\t\t\"architecture\": [\"amd64\"]\n" +
				"\t\t\t}\n\t\t}\n\t]\n}\n",
		},
		"brackets": {
			"a: {types: [{name: m, x: 'yy'}], z: \"q\"} # end\n",
			"a: {types: [{name: m, x: yy, capabilities: {architecture: [amd64]}}], z: q}\n",
			"a: {types: [{name: m, x: 'yy', capabilities: {architecture: [amd64]}}], z: \"q\"} # end\n",
		},
		"JSON": {
			"{\n  \"kind\": \"A\",\n  \"spec\": {\n    \"type\": \"x\",\n    \"machineTypes\": []\n  }\n}\n",
			"kind: A\nspec: {type: x, machineTypes: [], " + strings.TrimSpace(capabilities) + "}\n",
			"{\n  \"kind\": \"A\",\n  \"spec\": {\n    \"type\": \"x\",\n    \"machineCapabilities\": [\n      {\n        \"name\": \"architecture\",\n" +
				"        \"values\": [\"amd64\", \"arm64\"]\n      }\n    ],\n    \"machineTypes\": []\n  }\n}\n",
		},
		"blank lines in what moves": {
			`versions:
- version: 1.0.0

  image: one

  # all of them
  regions:

  - name: europe

    id: a

  # in Europe, too
  - name: europe
    architecture: arm64

    id: b


  - name: asia
    id: c

- version: 2.0.0

  image: two

`,
			`versions:
- version: 1.0.0
  capabilityFlavors:
  - capabilities: {architecture: [amd64]}
    image: one
    regions: [{name: europe, id: a}, {name: asia, id: c}]
  - capabilities: {architecture: [arm64]}
    regions: [{name: europe, id: b}]
- version: 2.0.0
  capabilityFlavors: [{image: two}]
`,
			`versions:
- version: 1.0.0

  capabilityFlavors:
  - capabilities:
      architecture: [amd64]
    image: one

    # all of them
    regions:

    - name: europe

      id: a

    - name: asia
      id: c
  - capabilities:
      architecture: [arm64]
    regions:
    # in Europe, too
    - name: europe

      id: b



- version: 2.0.0

  capabilityFlavors:
  - image: two

`,
		},
		"dashes in lines of their own": {
			"l:\n-\n  # one\n  a: 1\n  b: 2\n- # two\n  name: x\n  a: 1\n", "l: [{b: 2}, {k: [{name: x}], a: 1}]\n",
			"l:\n-\n  # one\n  b: 2\n- a: 1\n  k:\n  # two\n  - name: x\n",
		},
		"an entry that moves, with its dash in a line of its own": {
			"l:\n- version: 1\n  r:\n  - # here\n    # one\n    name: x\n    id: y\n", "l: [{version: 1, f: [{r: [{name: x, id: y}]}]}]\n",
			"l:\n- version: 1\n  f:\n  - r:\n    - # here\n      # one\n      name: x\n      id: y\n",
		},
		"an entry of those that move": {
			"l:\n- version: 1\n  r:\n  - # here\n    # one\n    name: x\n    id: y\n  -\n    name: z\n",
			"l: [{version: 1, f: [{r: [{name: z}]}, {r: [{name: x, id: y}]}]}]\n",
			"l:\n- version: 1\n  f:\n  - r:\n    - name: z\n  - r:\n    # here\n    # one\n    - name: x\n      id: y\n",
		},
		"JSON whose entries share lines": {
			"{\"a\": 1, \"b\": 2,\n \"machineTypes\": [], \"c\": [1,\n  2]}\n",
			"{a: 1, b: 2, machineTypes: [], c: [2], " + strings.TrimSpace(capabilities) + "}\n",
			"{\"a\": 1, \"b\": 2, \"machineCapabilities\": [{\"name\": \"architecture\", \"values\": [\"amd64\", \"arm64\"]}],\n" +
				" \"machineTypes\": [], \"c\": [2]}\n",
		},
		"anchors above what changes": {
			"kind: A\nspec: &spec\n  l: &list # all\n  # one\n  - &one\n    name: x\n    a: 1\n  - name: y\n  machineTypes: &m\n  - name: m\n",
			"kind: A\nspec: {l: [{name: x, a: 2}, {name: y, b: 3}], machineTypes: [{name: m}], " + strings.TrimSpace(capabilities) + "}\n",
			"kind: A\nspec: &spec\n  l: &list # all\n  # one\n  - &one\n    name: x\n    a: 2\n  - name: y\n    b: 3\n" +
				"  machineCapabilities:\n  - name: architecture\n    values: [amd64, arm64]\n  machineTypes: &m\n  - name: m\n",
		},
		"a removed member": {
			"a: 1\n# about b\nb: # in b\n- x # of b\nc: 3\n", "a: 1\nc: 3\n", "a: 1\n# about b\n# in b\n# of b\nc: 3\n",
		},
		"the first member of an entry": {
			"l:\n  # head\n  - a: 1 # one\n    name: x\n", "l: [{name: x}]\n", "l:\n  # head\n  # one\n  - name: x\n",
		},
		"a whole list that moves": {
			"base: &base\n- name: europe\n  id: a\nv:\n- version: 1\n  regions: *base # shared\n",
			"base: [{name: europe, id: a}]\nv: [{version: 1, f: [{regions: [{name: europe, id: a}]}]}]\n",
			"base: &base\n- name: europe\n  id: a\nv:\n- version: 1\n  f:\n  - regions: *base # shared\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := apply(t, c.text, c.says)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v: %s", err, diff)
			}
		})
	}
}

// Documents are independent of each other, and several objects can be edited at once.
func TestSeveralObjects(t *testing.T) {
	const text = "a: 1\n--- # first\n# about k\nk: 1 # one\n...\n# no marker\nk: 1\n---\nitems:\n- k: 1\n- {k: 1}\n- k: 1 # last\n--- \n\tno YAML\n"
	ops := []edit.Op{edit.Replace(fieldpath.Parse("k"), 2), edit.Insert(fieldpath.Parse("l"), "on")}
	got, err := edit.Apply(text, []edit.Change{
		{Line: 12, Column: 3, Ops: ops}, {Line: 4, Column: 1, Ops: ops}, {Line: 11, Column: 3, Ops: ops}, {Line: 7, Column: 1, Ops: ops},
	})
	const want = "a: 1\n--- # first\n# about k\nk: 2 # one\nl: \"on\"\n...\n# no marker\nk: 2\nl: \"on\"\n---\nitems:\n- k: 1\n- {k: 2, l: \"on\"}\n" +
		"- k: 2 # last\n  l: \"on\"\n--- \n\tno YAML\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if _, err := edit.Apply(text, []edit.Change{{Line: 14, Column: 2, Ops: ops}}); err == nil {
		t.Error("what is no YAML is changed")
	}
	if _, err := edit.Apply(text, []edit.Change{{Line: 3, Column: 7, Ops: ops}}); err == nil {
		t.Error("an object is changed that is not there")
	}
}

// YAML has more line breaks than editors. Places are those of an editor.
func TestOtherLineBreaks(t *testing.T) {
	const text = "\ufeffa: 1\u2028b: 'x\u2029y'\r\n---\nk: 1 # é\u0085l: [1, # c\n 2]\n"
	change := func(op edit.Op) (string, error) {
		return edit.Apply(text, []edit.Change{{Line: 1, Column: 1, Ops: []edit.Op{edit.Delete(fieldpath.Parse("b"))}}, {Line: 3, Column: 1, Ops: []edit.Op{op}}})
	}
	got, err := change(edit.Replace(fieldpath.Parse("k"), 2))
	if want := "\ufeffa: 1\u2028---\nk: 2 # é\u0085l: [1, # c\n 2]\n"; got != want || err != nil {
		t.Errorf("%v: %q", err, got)
	}
	var fault *edit.Fault
	if _, err := change(edit.Replace(fieldpath.Parse("l"), 2)); !errors.As(err, &fault) || fault.Line != 3 || fault.Column != 17 {
		t.Errorf("%+v", fault)
	}
	comments := []edit.Comment{{Line: 3, Column: 6, Text: "# é", Of: 3}, {Line: 3, Column: 17, Text: "# c", Of: 3}}
	if diff := cmp.Diff(comments, edit.Comments(text)); diff != "" {
		t.Error(diff)
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		line       int
	}{
		"an alias":         {"a: &a {x: 1}\nb: *a\n", "a: {x: 1}\nb: {x: 2}\n", 2},
		"an anchor":        {"a: &a {x: 1}\nb: *a\n", "a: {x: 2}\nb: {x: 1}\n", 1},
		"a removed anchor": {"a: &a 1\nb: *a\n", "b: 1\n", 1},
		"a merge key":      {"a: &a\n  x: 1\nb:\n  <<: *a\n  y: 2\n", "a: {x: 1}\nb: {x: 2, y: 2}\n", 4},
		"a question mark":  {"a:\n  ? b\n  : 1\n  c: 2\n", "a: {c: 2}\n", 2},
		"a comment":        {"a: [1,\n  # two\n  2]\n", "a: [1, 3]\n", 2},
	} {
		var fault *edit.Fault
		if got, err := apply(t, c.text, c.says); !errors.As(err, &fault) || fault.Line != c.line || fault.Column == 0 || got != c.text {
			t.Errorf("%s: %v, %q", name, err, got)
		}
	}
}

// A large file is processed in parts: an edit of one value must not process the whole file.
func TestLargeFiles(t *testing.T) {
	const n = 3000
	items := strings.TrimSuffix(strings.Repeat("    - {name: \"a\", values: [b, c]}\n    - name: d\n      values: [e]\n", n), "\n")
	block := "kind: A # capkit:x\nspec:\n    machineTypes:\n" + items + "\n"
	brackets := "{\"kind\": \"A\", \"spec\": {\"machineTypes\": [\n" + strings.Repeat("{\"name\": \"d\",\n\"values\": [\"e\"]},\n", 2*n) + "{}]}}\n"
	for name, text := range map[string]string{"block style": block, "JSON": brackets} {
		t.Run(name, func(t *testing.T) {
			old, err := yaml.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			want := []byte(strings.Replace(string(old), `"spec":{`, `"spec":{"machineCapabilities":[],`, 1))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ops := between.Operations(nil, meaning(t, string(old)), meaning(t, string(want)), nil)
			changed, err := edit.Apply(text, []edit.Change{{Line: 1, Column: 1, Ops: ops}})
			comments := edit.Comments(text)
			runtime.ReadMemStats(&after)
			if err != nil || !strings.Contains(changed, "machineCapabilities") || strings.Contains(text, "#") != (len(comments) == 1) {
				t.Error(err, len(changed), comments)
			}
			if allocated, most := after.TotalAlloc-before.TotalAlloc, uint64(1000*len(text)); allocated > most {
				t.Errorf("%d bytes allocated for a file of %d, instead of %d at most", allocated, len(text), most)
			}
		})
	}
}

// JSON on a single line is processed in parts, too: each value is located starting from the previous one.
func TestManyChangesInOneLine(t *testing.T) {
	const n, old, is = 10000, `{"name": "ü", "values": ["e"]}`, `{"name": "ü", "more": true}`
	list := func(item string) string {
		return `{"kind": "A", "spec": [` + strings.TrimSuffix(strings.Repeat(item+", ", n), ", ") + "]}"
	}
	var ops []edit.Op
	for i := range n {
		at := fieldpath.Parse("spec").Index(i)
		ops = append(ops, edit.Delete(at.Child("values")), edit.Insert(at.Child("more"), true))
	}
	if changed, err := edit.Apply(list(old), []edit.Change{{Line: 1, Column: 1, Ops: ops}}); err != nil || changed != list(is) {
		t.Errorf("%v: %.200s", err, changed)
	}
}
