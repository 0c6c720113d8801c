// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/capkit/capkit/internal/cli/manifest"
)

const positioned = `# A profile.
apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata:
  labels: {a.b/c: d, a: {b: x}, "[odd]": 1, 'q"': 2}
spec:
  flavors: &flavors
  - architecture: [amd64, arm64]
  -   secureBoot: ["true"]
  machineImages:
  - name: gardenlinux
    versions:
    - version: 1.0.0
      capabilityFlavors: *flavors
    -
      version: ä; x: y
  extra:
    <<: {merged: 1}
    own: 2
  "quoted": {ümlaut: 1, next: [1, [2, 3]]}
`

func TestPosition(t *testing.T) {
	text := strings.Replace(positioned, "ä; x: y", "1.1.0", 1)
	objects, problems := read(t, "---\n"+text)
	if problems != nil {
		t.Fatal(problems)
	}
	for path, want := range map[string]struct {
		line, column int
		exact        bool
	}{
		"":                            {3, 1, true},
		"kind":                        {4, 1, true},
		"metadata":                    {5, 1, true},
		"metadata.labels.a":           {6, 22, true},
		"metadata.labels[a.b/c]":      {6, 12, true},
		`metadata.labels["a.b/c"]`:    {6, 12, true},
		"metadata.labels.a.b/c":       {6, 12, true},
		"metadata.labels.a.b":         {6, 26, true},
		"metadata.labels[a][b]":       {6, 26, true},
		"metadata.labels[[odd]]":      {6, 33, true},
		`metadata.labels["q""]`:       {6, 45, true},
		"metadata.name":               {5, 1, false},
		"spec.flavors[1]":             {10, 7, true},
		"spec.machineImages[0]":       {12, 5, true},
		"spec.machineImages[0].name":  {12, 5, true},
		"spec.machineImages[1]":       {11, 3, false},
		"spec.machineImages[-1]":      {11, 3, false},
		"spec.machineImages[x].y":     {11, 3, false},
		"spec.machineImages.name":     {11, 3, false},
		"spec.machineImages[0":        {11, 3, false},
		"spec.machineImages[0]name":   {12, 5, true},
		"spec.machineImages[0].image": {12, 5, false},
		"spec.machineImages[0].versions[0].capabilityFlavors":                    {15, 7, true},
		"spec.machineImages[0].versions[0].capabilityFlavors[0].architecture[1]": {9, 27, true},
		"spec.machineImages[0].versions[0].capabilityFlavors[1].secureBoot":      {10, 7, true},
		"spec.machineImages[0].versions[0].capabilityFlavors[2]":                 {15, 7, false},
		"spec.machineImages[0].versions[1]":                                      {17, 7, true},
		"spec.machineImages[0].versions[1].version":                              {17, 7, true},
		"spec.extra.merged":      {19, 10, true},
		"spec.extra.own":         {20, 5, true},
		"spec.quoted.next":       {21, 25, true},
		"spec.quoted.next[1][1]": {21, 39, true},
		".spec":                  {7, 1, true},
		"nothing.at.all":         {3, 1, false},
		"[0]":                    {3, 1, false},
		"kind.x":                 {4, 1, false},
	} {
		line, column := objects[0].Position(path)
		if value := objects[0].Value(path); line != want.line || column != want.column || (value != nil) != want.exact {
			t.Errorf("%s: got %d:%d %s, want %+v", path, line, column, value, want)
		}
	}
}

func TestDuplicateKey(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"a: {b: 1, b: 2, c: {d: 1}}\ne: [{f: 1, f: 2}]\n": {
			"": "b", "a": "b", "a.b": "b", "a.c": "", "a.x": "", "e": "f", "e[0]": "f", "e[1]": "", "kind": "",
		},
		"a: 1\na: {b: 1}\na: {c: 1}\n":                                              {"": "a", "a": "a", "a.c": "a", "a.b": ""},
		"x: &x {a: 1, a: 2}\nb: *x\nc: {<<: *x}\nd: {<<: *x, a: 3}\nx2: [*x, *x]\n": {"b": "a", "c": "a", "x2": "a"},
		`{"apiVersion": "v1", "kind": "A", "a": {"b": [{"c": 1, "c": 2}]}, "d": 1}`: {"": "c", "a.b[0]": "c", "d": ""},
		"a: 1\n": {"": "", "a": ""},
		"m: &m {" + keys(30) + "}\na: {" + keys(30) + ", k7: 2}\nb: {k20: 1, <<: *m}\nc: {k20: 1, <<: *m, k20: 2}\n": {
			"": "k7", "m": "", "a": "k7", "a.k7": "k7", "a.k8": "", "b": "", "c": "k20", "c.k20": "k20", "c.k21": "",
		},
	} {
		if !strings.HasPrefix(text, "{") {
			text = "apiVersion: v1\nkind: A\n" + text
		}
		objects, _ := read(t, text)
		for path, key := range want {
			if got := objects[0].DuplicateKey(path); (key == "") != (got == "") || !strings.HasPrefix(got, "the key \""+key) && key != "" {
				t.Errorf("%s of %s: got %q, want %q", path, text, got, key)
			}
		}
	}
}

// keys returns n members of a mapping.
func keys(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("k%d: %d", i, i)
	}
	return strings.Join(all, ", ")
}

// Only the JSON of a file is kept, and a few bytes for each position.
func TestObjectsKeepLittle(t *testing.T) {
	text := doc("a") + "x:\n" + strings.Repeat("- {name: gardenlinux, version: 1.2.3, architectures: [amd64, arm64]}\n", 10_000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	objects, _ := read(t, text)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int(after.HeapAlloc) - int(before.HeapAlloc); kept > 4*len(text) {
		t.Errorf("%d bytes are kept of %d", kept, len(text))
	}
	if line, column := objects[0].Position("x[9999].architectures[1]"); line != 10_004 || column != 62 {
		t.Errorf("the last value is at %d:%d", line, column)
	}
}

func TestPositionInSeveralObjects(t *testing.T) {
	for text, places := range map[string][]map[string]string{
		"kind: List\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: A\n- kind: B\n  apiVersion: v1\n  spec:\n    x: 1\n": {
			{"": "4:3"}, {"": "6:3", "spec.x": "9:5"},
		},
		"{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"A\",\n\t\"ü\": [ 1,\n\t\t{\"b\" : [] } ], \"c\": {\"d\":null}\n}\n" +
			`{"kind":"B","apiVersion":"v1"}`: {
			{"": "1:1", "kind": "3:2", "ü[0]": "4:9", "ü[1]": "5:3", "ü[1].b": "5:4", "c": "5:18", "c.d": "5:24"},
			{"apiVersion": "7:13"},
		},
		// YAML has more line breaks than editors
		"apiVersion: v1\u2028kind: A # x\u0085s: {a: b, \u2029 c: [d]}\r\nz: \"p\u2028q\"\nw: 1\n---\n{\"kind\":\"\u2029\",\n\"apiVersion\":\"v1\"}": {
			{"": "1:1", "kind": "1:16", "s": "1:28", "s.c": "1:40", "s.c[0]": "1:44", "z": "2:1", "w": "3:1"}, {"": "5:1", "apiVersion": "6:1"},
		},
	} {
		objects, problems := read(t, text)
		if problems != nil || len(objects) != len(places) {
			t.Fatalf("%q: %d objects, %v", text, len(objects), problems)
		}
		for i, o := range objects {
			for path, want := range places[i] {
				line, column := o.Position(path)
				if got := fmt.Sprintf("%d:%d", line, column); got != want {
					t.Errorf("%s of %q: got %s, want %s", path, text, got, want)
				}
			}
		}
	}
}

// FuzzLoad checks for arbitrary bytes that objects are valid JSON objects, and that every reported position is in the file.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		positioned, "a: b\n---\n" + doc("a"), "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"x\":[1,{}]}\n[",
		"kind: List\napiVersion: v1\nitems: [{kind: a, apiVersion: b}]",
		"a: &a [*a]\n<<: *a\n", "\ufeff%YAML 1.1\n---\n\u0085\u2028x: |+\n\n", "? [a]\n: !!binary x\n", "a: \"\\\r\n\t b\"\r--- >\r x", "{a: 1,\n#", "!!int\n- \xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, problems := read(t, string(data))
		for _, p := range problems {
			checkPlace(t, data, p.Line, p.Column)
		}
		for _, o := range objects {
			var fields map[string]any
			if err := json.Unmarshal(o.JSON, &fields); err != nil || o.APIVersion == "" || o.Kind == "" {
				t.Fatalf("%q: %+v: %v", data, o, err)
			}
			for key, v := range fields {
				paths := []string{key, "[" + key + "]", key + ".x", key + "[0]"}
				if list, ok := v.([]any); ok {
					paths = append(paths, fmt.Sprintf("%s[%d]", key, len(list)-1))
				}
				for _, path := range paths {
					line, column := o.Position(path)
					checkPlace(t, data, line, column)
				}
			}
			line, column := o.Position("")
			checkPlace(t, data, line, column)
		}
	})
}

// checkPlace fails unless the line exists, with the column at most just after its end.
func checkPlace(t *testing.T, data []byte, line, column int) {
	t.Helper()
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	const broken = ".\n." // so that no line is empty
	breaks := strings.NewReplacer("\n", broken, "\r", broken)
	lines := strings.Split("."+breaks.Replace(text)+".", "\n")
	if line < 1 || line > len(lines) || column < 1 || column > utf8.RuneCountInString(lines[line-1])-1 {
		t.Fatalf("%q: there is no %d:%d", data, line, column)
	}
}

func Example() {
	text := `apiVersion: core.gardener.cloud/v1beta1
kind: CloudProfile
metadata:
  name: openstack
spec:
  machineImages:
  - name: gardenlinux
    versions:
    - version: 1877.5.0
---
apiVersion: v1
kind: Secret
kind: Secret
`
	objects, problems, err := manifest.Load([]string{"-"}, strings.NewReader(text))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for _, o := range objects {
		line, column := o.Position("spec.machineImages[0].versions[0]")
		fmt.Printf("%s %s %q %d:%d\n", o.File, o.Kind, o.Name, line, column)
	}
	for _, p := range problems {
		fmt.Printf("%s:%d:%d: %s: %s\n", p.File, p.Line, p.Column, p.Rule, p.Message)
	}
	// Output:
	// <stdin> CloudProfile "openstack" 9:7
	// <stdin> Secret "" 11:1
	// <stdin>:13:1: duplicate-key: the key "kind" is already given in line 12; remove one of the two
}
