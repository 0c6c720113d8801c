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

// statusOf omits the status and the managed fields of a kind.
func statusOf(kind string) manifest.Unread {
	return func(o manifest.Identity) [][]string {
		if o.Kind != kind {
			return nil
		}
		return [][]string{{"status"}, {"metadata", "managedFields"}, {"metadata", "none", "at", "all"}}
	}
}

// Unread parts are dropped. Everything else keeps its position, and so do the problems.
func TestUnread(t *testing.T) {
	const (
		object = "apiVersion: v1\nkind: A\nmetadata:\n  managedFields: [{a: b}]\n  name: \"a\\u0062\"\n  labels: {a: b, a: c}\n" +
			"status: {a: [1, {b: 2}], a: 3}\nspec:\n  status: [x, {kind: 1}]\n"
		list     = "apiVersion: v1\nitems:\n- {apiVersion: v1, kind: B, status: {a: 1}}\n- %s  status: {c: d}\n  kind: A\nkind: List\n"
		asJSON   = `{"status":{"a":1},"apiVersion":"v1","spec":{"status":1},"metadata":{"managedFields":[],"name":"a"},"kind":"A"}`
		first    = "status: {}\napiVersion: v1\nkind: A\nmetadata: {managedFields: {}}\n"
		repeated = "apiVersion: v1\nkind: A\nstatus: {a: b}\nspec: {a: b}\nstatus: {c: d}\n"
		nothing  = "apiVersion: v1\nkind: A\nmetadata: text\nspec: {status: 1}\n"
		merged   = "a: &a {status: 1, b: 2}\napiVersion: v1\nkind: A\n<<: *a\n"
	)
	for name, tc := range map[string]struct{ text, want string }{
		"object":   {object, `{"apiVersion":"v1","kind":"A","metadata":{"name":"ab","labels":{"a":"c"}},"spec":{"status":["x",{"kind":1}]}}`},
		"item":     {fmt.Sprintf(list, "apiVersion: v1\n  metadata: {name: a, managedFields: []}\n"), `{"apiVersion":"v1","metadata":{"name":"a"},"kind":"A"}`},
		"JSON":     {asJSON, `{"apiVersion":"v1","spec":{"status":1},"metadata":{"name":"a"},"kind":"A"}`},
		"first":    {first, `{"apiVersion":"v1","kind":"A","metadata":{}}`},
		"repeated": {repeated, `{"apiVersion":"v1","kind":"A","spec":{"a":"b"}}`},
		"nothing":  {nothing, `{"apiVersion":"v1","kind":"A","metadata":"text","spec":{"status":1}}`},
		"merged":   {merged, `{"a":{"status":1,"b":2},"apiVersion":"v1","kind":"A","b":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := manifest.Read([]string{"-"}, strings.NewReader(tc.text), "", nil)
			if err != nil {
				t.Fatal(err)
			}
			in, err := manifest.Read([]string{"-"}, strings.NewReader(tc.text), "", statusOf("A"))
			if err != nil || len(in.Objects) != len(whole.Objects) {
				t.Fatal(len(in.Objects), err)
			}
			if diff := cmp.Diff(whole.Problems, in.Problems); diff != "" {
				t.Error(diff)
			}
			for i, o := range in.Objects {
				if o.Kind == "A" {
					if diff := cmp.Diff(tc.want, string(o.JSON)); diff != "" {
						t.Error(diff)
					}
				} else if string(o.JSON) != string(whole.Objects[i].JSON) {
					t.Error(string(o.JSON))
				}
				samePlaces(t, o, whole.Objects[i])
			}
		})
	}
}

// samePlaces compares the positions in an object and in the whole object.
func samePlaces(t *testing.T, o, whole *manifest.Object) {
	t.Helper()
	for _, path := range []string{
		"", "kind", "metadata", "metadata.name", "metadata.labels", "metadata.labels.a", "spec", "spec.status",
		"spec.status[1]", "spec.status[1].kind", "spec.none", "a.status", "b",
	} {
		line, column := o.Position(path)
		wantLine, wantColumn := whole.Position(path)
		if line != wantLine || column != wantColumn {
			t.Errorf("%s is at %d:%d, not %d:%d", path, line, column, wantLine, wantColumn)
		}
		if diff := cmp.Diff(whole.DuplicateKey(path), o.DuplicateKey(path)); path != "" && path != "metadata" && diff != "" {
			t.Error(path, diff)
		}
	}
	if o.Kind == "A" && o.Value("status") != nil {
		t.Error("there is a status")
	}
}

// Unread parts take no memory in any format, and neither does a List whose items are kept.
func TestUnreadTakesNoMemory(t *testing.T) {
	const n, size = 40, 50_000
	status := strings.Repeat("  - {a: b, c: 1}\n", size/17)
	items, asJSON := "", ""
	for i := range n {
		items += fmt.Sprintf("- apiVersion: v1\n  kind: A\n  metadata: {name: o%d}\n  status:\n%s", i, status)
		asJSON += fmt.Sprintf(`{"apiVersion":"v1","kind":"A","metadata":{"name":"o%d"},"status":["%s"]}`+"\n", i, strings.Repeat("x", size))
	}
	for name, text := range map[string]string{
		"List":      "apiVersion: v1\nitems:\n" + items + "kind: List\n",
		"documents": strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(items, "\n  - {", "\n- {"), "\n  ", "\n"), "- api", "---\napi"),
		"JSON":      asJSON,
	} {
		t.Run(name, func(t *testing.T) {
			before := inUse()
			in, err := manifest.Read([]string{"-"}, strings.NewReader(text), "", statusOf("A"))
			if err != nil || len(in.Objects) != n {
				t.Fatal(len(in.Objects), in.Problems, err)
			}
			if took := int64(inUse()) - int64(before); took > n*size/10 {
				t.Errorf("%d objects without their status of %d bytes take %d bytes", n, size, took)
			}
			runtime.KeepAlive(in)
			runtime.KeepAlive(text)
		})
	}
}

// inUse returns the memory used by reachable objects.
func inUse() uint64 {
	runtime.GC()
	runtime.GC() // for memory released by finalizers
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
