// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package cases runs tables of tests whose rows are manifests. A table is a txtar archive in which every case has its own files and its
// expected result. An archive looks like this:
//
//	A description of the tests, for the reader.
//	-- profile.yaml --
//	(a file that all cases share)
//	-- name of a case/profile.yaml --
//	(a file of this case, which replaces the shared one)
//	-- name of another case/profile.patch.yaml --
//	(a change of the shared file: a merge patch or, if it is a list, a JSON patch)
//	-- name of another case/want --
//	(the expected result, one finding per line; without this file, the expected result is empty)
//
// Run tests with -update to write their results into the archives, and review the difference before you commit it.
package cases

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

// want is the name of the file with the expected result of a case.
const want = "want"

var update = flag.Bool("update", false, "write the results that the tests get into golden files and archives")

// Update reports whether tests must write their results as the new expected ones.
func Update() bool { return *update }

// Case is a case of an archive. Its methods fail the test if a file is missing or invalid.
type Case struct {
	Name string

	t      *testing.T
	own    map[string][]byte
	shared map[string][]byte
}

// Run runs each case of an archive as a subtest, in the archive's order. It compares the result of run with the expected one, except for
// trailing white space.
func Run(t *testing.T, archive string, run func(c *Case) (got string)) {
	t.Helper()
	content, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	all := read(content)
	if len(all) == 0 {
		t.Fatalf("%s has no cases: their files are named CASE/FILE", archive)
	}
	results := map[string]string{}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			c.t = t
			expected := strings.TrimSpace(string(c.own[want]))
			got := strings.TrimSpace(run(c))
			if *update {
				results[c.Name] = got
			} else if diff := cmp.Diff(strings.Split(expected, "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", archive, diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(archive, txtar.Format(updated(content, results)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns the cases of an archive in order.
func read(archive *txtar.Archive) []*Case {
	var all []*Case
	shared := map[string][]byte{}
	for _, file := range archive.Files {
		name, own, ofCase := strings.Cut(file.Name, "/")
		if !ofCase {
			shared[file.Name] = file.Data
			continue
		}
		i := slices.IndexFunc(all, func(c *Case) bool { return c.Name == name })
		if i < 0 {
			i = len(all)
			all = append(all, &Case{Name: name, own: map[string][]byte{}, shared: shared})
		}
		all[i].own[own] = file.Data
	}
	return all
}

// updated returns the archive with new results. A result is the last file of its case. An empty result has no file, unless the case would
// have no file at all.
func updated(archive *txtar.Archive, results map[string]string) *txtar.Archive {
	changed := &txtar.Archive{Comment: archive.Comment}
	others := 0 // files of the current case besides its result
	for i, file := range archive.Files {
		name, own, _ := strings.Cut(file.Name, "/")
		result, known := results[name]
		if !known || own != want {
			changed.Files = append(changed.Files, file)
			others++
		}
		if i+1 < len(archive.Files) && strings.HasPrefix(archive.Files[i+1].Name, name+"/") {
			continue
		}
		if result != "" {
			result += "\n"
		}
		if known && (result != "" || others == 0) {
			changed.Files = append(changed.Files, txtar.File{Name: name + "/" + want, Data: []byte(result)})
		}
		others = 0
	}
	return changed
}

// Has reports whether the case has a file of this name, its own or a shared one.
func (c *Case) Has(name string) bool {
	_, own := c.own[name]
	_, shared := c.shared[name]
	return own || shared
}

// Text returns the content of the case's own file, or otherwise of the shared one.
func (c *Case) Text(name string) string {
	c.t.Helper()
	if !c.Has(name) {
		c.t.Fatalf("there is no file %s", name)
	}
	if own, ok := c.own[name]; ok {
		return string(own)
	}
	return string(c.shared[name])
}

// JSON returns a YAML file as JSON, after the case's change: NAME.patch.yaml changes NAME.yaml.
func (c *Case) JSON(name string) []byte {
	c.t.Helper()
	return c.Patch(c.json(name), strings.TrimSuffix(name, ".yaml")+".patch.yaml")
}

// Patch returns a JSON document after the change in one of the case's own files, or without a change if there is no such file.
func (c *Case) Patch(document []byte, name string) []byte {
	c.t.Helper()
	patch, patched := c.own[name]
	if !patched {
		return document
	}
	return Patched(c.t, document, patch)
}

func (c *Case) json(name string) []byte {
	c.t.Helper()
	document, err := yaml.YAMLToJSONStrict([]byte(c.Text(name)))
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	return document
}

// Patched returns a JSON document after changes in YAML: a JSON patch if they are a list, otherwise a merge patch.
func Patched(t testing.TB, document, changes []byte) []byte {
	t.Helper()
	changes, err := yaml.YAMLToJSON(changes)
	switch {
	case err != nil:
	case !bytes.HasPrefix(changes, []byte("[")):
		document, err = jsonpatch.MergePatch(document, changes)
	default:
		var patch jsonpatch.Patch
		if patch, err = jsonpatch.DecodePatch(changes); err == nil {
			document, err = patch.Apply(document)
		}
	}
	if err != nil {
		t.Fatalf("%v: %s", err, changes)
	}
	return document
}

// Decode decodes the result of JSON, and fails the test if it has unknown fields.
func (c *Case) Decode(name string, into any) {
	c.t.Helper()
	if err := yaml.UnmarshalStrict(c.JSON(name), into); err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
}

// T returns the test of the case.
func (c *Case) T() *testing.T { return c.t }
