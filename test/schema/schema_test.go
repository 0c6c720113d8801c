// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package schema tests the JSON Schemas of capkit schema: they find the misspelt keys, wrong types and wrong values that lint finds, and
// have no error where lint has none.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/schema"
	"github.com/capkit/capkit/pkg/cli"
)

const root = "../.."

// manifest is an object in JSON's types.
type manifest = map[string]any

// compiled returns the schema of a kind for a cloud. Empty strings stand for all clouds and all kinds.
func compiled(t testing.TB, cloud, kind string) *jsonschema.Schema {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.Of(clouds.All(), cloud, kind)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	ready, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return ready
}

// wrong has the mistakes in a manifest by field path, in the format of [pathOf]. The texts of a schema begin with its demand, in the
// format of [demands].
type wrong map[string]string

// judged returns the errors of a schema.
func judged(t testing.TB, by *jsonschema.Schema, m manifest) wrong {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	found := wrong{}
	var invalid *jsonschema.ValidationError
	if err := by.Validate(value); err != nil {
		invalid = err.(*jsonschema.ValidationError) //nolint:errorlint // it is documented to be one
		found.collect(invalid)
	}
	return found
}

func (w wrong) collect(err *jsonschema.ValidationError) {
	at := err.InstanceLocation
	_, in, _ := strings.Cut(err.SchemaURL, "#/definitions/")
	switch what := err.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, name := range what.Properties {
			w[pathOf(append(slices.Clone(at), name))] = "unknown key"
		}
	case *kind.Required:
		for _, name := range what.Missing {
			w[pathOf(append(slices.Clone(at), name))] = in + " requires " + name
		}
	case *kind.Enum:
		w[pathOf(at)] = in + " has an enum"
	default:
		if len(err.Causes) == 0 {
			w[pathOf(at)] = fmt.Sprintf("%T", err.ErrorKind)
		}
	}
	for _, cause := range err.Causes {
		w.collect(cause)
	}
}

// pathOf returns a path in lint's format without brackets: keys and indices separated by dots.
func pathOf(segments []string) string { return strings.Join(segments, ".") }

// brackets removes the brackets that lint writes around indices and map keys.
var brackets = strings.NewReplacer("[", ".", "]", "")

// linted returns lint's errors in a manifest, which is checked together with the profiles that it refers to. form has the errors about
// the format: unknown fields and wrong types.
func linted(t testing.TB, m manifest, profiles []manifest) (errs, form wrong) {
	t.Helper()
	var text, stdout, stderr bytes.Buffer
	for _, m := range append([]manifest{m}, profiles...) {
		document, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(document) + "\n")
	}
	cli.Run([]string{"capkit", "lint", "-o", "json", "-"}, &text, &stdout, &stderr, clouds.All()...)
	var found struct {
		Findings []report.Finding `json:"findings"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &found); err != nil {
		t.Fatalf("%v: %s\n%s", err, stdout.Bytes(), stderr.Bytes())
	}
	errs, form = wrong{}, wrong{}
	for _, f := range found.Findings {
		if f.Severity != "error" || f.Line > 2 { // it is about another object
			continue
		}
		field := brackets.Replace(strings.ReplaceAll(f.Field, "[]", ""))
		errs[field] = f.Rule + ": " + f.Message
		if f.Rule == "unknown-field" || f.Rule == "field-type" {
			form[field] = f.Rule
		}
	}
	return errs, form
}

// near reports whether there is a mistake at a path, at a parent or at a child.
func (w wrong) near(path string) bool {
	for at := range w {
		if at == path || within(path, at) || within(at, path) {
			return true
		}
	}
	return false
}

// ofConfig reports whether a path is in a provider config of the wrong kind. lint then reports only the kind, and the schema also the
// consequences.
func (w wrong) ofConfig(path string) bool {
	const end = "Config."
	i := strings.LastIndex(path, end)
	return i >= 0 && (w[path[:i+len(end)]+"kind"] != "" || w[path[:i+len(end)]+"apiVersion"] != "")
}

// within reports whether a path is below another one.
func within(path, above string) bool {
	rest, is := strings.CutPrefix(path, above)
	return is && (above == "" || strings.HasPrefix(rest, "."))
}

// manifests returns the objects with a schema in the files of folders, by file and position.
func manifests(t testing.TB, folders ...string) map[string]manifest {
	t.Helper()
	found := map[string]manifest{}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i, document := range strings.Split("\n"+string(text), "\n---") {
				var m manifest
				if yaml.Unmarshal([]byte(document), &m) != nil { // some examples are broken
					continue
				}
				if kind, _ := m["kind"].(string); slices.Contains(schema.Kinds(), kind) {
					found[fmt.Sprintf("%s#%d", strings.TrimPrefix(path, root+"/"), i)] = m
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestExamples(t *testing.T) {
	all := compiled(t, "", "")
	found := manifests(t, "example", "docs/examples", "pkg/cli/testdata", "test/fixtures")
	if len(found) < 100 {
		t.Fatalf("only %d manifests were found", len(found))
	}
	for name, m := range found {
		compare(t, name, all, m, profilesOf(found, name))
	}
}

// profilesOf returns the profiles that a manifest refers to, those in its own file first.
func profilesOf(all map[string]manifest, name string) (profiles []manifest) {
	m := all[name]
	for range 2 { // a NamespacedCloudProfile, and its parent
		kind, _ := member(m, "spec", "parent", "kind").(string)
		wanted := member(m, "spec", "parent", "name")
		if m["kind"] == "Shoot" {
			wanted = member(m, "spec", "cloudProfile", "name")
			if kind, _ = member(m, "spec", "cloudProfile", "kind").(string); kind == "" {
				kind = "CloudProfile"
			}
			if old := member(m, "spec", "cloudProfileName"); old != nil {
				wanted = old
			}
		}
		file, _, _ := strings.Cut(name, "#")
		var found manifest
		for _, other := range slices.Sorted(maps.Keys(all)) {
			candidate := all[other]
			if candidate["kind"] == kind && member(candidate, "metadata", "name") == wanted && (found == nil || strings.HasPrefix(other, file+"#")) {
				found = candidate
			}
		}
		if found == nil {
			break
		}
		profiles, m = append(profiles, found), found
	}
	return profiles
}

// member returns the value below some keys of an object, or nil.
func member(of any, keys ...string) any {
	for _, key := range keys {
		object, _ := of.(map[string]any)
		of = object[key]
	}
	return of
}

// compare reports schema errors in a manifest where lint has none, and unknown fields and wrong types that the schema misses. It returns
// the texts of the schema's errors.
func compare(t testing.TB, name string, by *jsonschema.Schema, m manifest, profiles []manifest) (agreed []string) {
	t.Helper()
	judged := judged(t, by, m)
	errs, form := linted(t, m, profiles)
	for path, what := range judged {
		if !errs.near(path) && !errs.ofConfig(path) {
			t.Errorf("%s: the schema has an error at %s, and lint has none: %s", name, path, what)
		}
		agreed = append(agreed, what)
	}
	for path, rule := range form {
		if !judged.near(path) {
			t.Errorf("%s: lint has an error at %s, and the schema has none: %s", name, path, rule)
		}
	}
	return agreed
}
