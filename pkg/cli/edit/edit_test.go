// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/cli/edit"
)

var before = edit.Before{"machineCapabilities": {"machineTypes", "machineImages"}}

// apply changes a text that is one object so that it says what another text says.
func apply(t *testing.T, text, want string) (string, error) {
	t.Helper()
	from, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
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
	changed, err := edit.Apply(text, []edit.Object{{Line: line, Column: 1, Old: from, New: to}}, before)
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

// One document does not depend on what stands in others, and several objects can be changed at once.
func TestSeveralObjects(t *testing.T) {
	const text = "a: 1\n--- # first\n# about k\nk: 1 # one\n...\n# no marker\nk: 1\n---\nitems:\n- k: 1\n- {k: 1}\n- k: 1 # last\n--- \n\tno YAML\n"
	from, to := json.RawMessage(`{"k":1}`), json.RawMessage(`{"k":2,"l":"on"}`)
	got, err := edit.Apply(text, []edit.Object{
		{Line: 12, Column: 3, Old: from, New: to}, {Line: 4, Column: 1, Old: from, New: to}, {Line: 11, Column: 3, Old: from, New: to},
		{Line: 7, Column: 1, Old: from, New: to},
	}, nil)
	const want = "a: 1\n--- # first\n# about k\nk: 2 # one\nl: \"on\"\n...\n# no marker\nk: 2\nl: \"on\"\n---\nitems:\n- k: 1\n- {k: 2, l: \"on\"}\n" +
		"- k: 2 # last\n  l: \"on\"\n--- \n\tno YAML\n"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if _, err := edit.Apply(text, []edit.Object{{Line: 14, Column: 2, Old: from, New: to}}, nil); err == nil {
		t.Error("what is no YAML is changed")
	}
	if _, err := edit.Apply(text, []edit.Object{{Line: 3, Column: 7, Old: from, New: to}}, nil); err == nil {
		t.Error("an object is changed that is not there")
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
		"a comment":        {"a: [1,\n  # two\n  2]\n", "a: [1, 3]\n", 2},
	} {
		var fault *edit.Fault
		if got, err := apply(t, c.text, c.says); !errors.As(err, &fault) || fault.Line != c.line || fault.Column == 0 || got != c.text {
			t.Errorf("%s: %v, %q", name, err, got)
		}
	}
}
