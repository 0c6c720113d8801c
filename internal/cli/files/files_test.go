// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/edit"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/fieldpath"
)

// If another program has changed a file since it was read, neither it nor any other file is written.
func TestFilesThatChangeMeanwhile(t *testing.T) {
	folder := t.TempDir()
	var changed []files.Changed
	for _, name := range []string{"a.yaml", "b.yaml"} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte("was"), 0o600); err != nil {
			t.Fatal(err)
		}
		changed = append(changed, files.Changed{File: file, Before: "was", Text: "is"})
	}
	look := func(a, b string) {
		t.Helper()
		for i, want := range []string{a, b} {
			if text, err := os.ReadFile(changed[i].File); err != nil || string(text) != want {
				t.Errorf("%s, %v, want %s", text, err, want)
			}
		}
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 2 {
			t.Errorf("%v, %v", entries, err)
		}
	}
	if err := os.WriteFile(changed[1].File, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := files.Write(changed)
	if want := "nothing is written, because " + changed[1].File + " has changed meanwhile: run the command again"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	look("was", "mine")
	changed[1].Before = "mine"
	if err := files.Write(changed); err != nil {
		t.Error(err)
	}
	look("is", "is")
}

// An edit is not applied to another object that is now in the same place.
func TestObjectsThatChangeMeanwhile(t *testing.T) {
	const was = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nspec: [{name: x, value: 1}]\n"
	objects := manifest.Parse("a.yaml", was, nil).Objects
	edits := map[*manifest.Object]files.Edit{objects[0]: {Ops: []edit.Op{edit.Replace(fieldpath.Parse("spec[0].value"), 2)}}}
	if changed, _, err := files.Edited("a.yaml", was, nil, edits); err != nil || changed != strings.Replace(was, "value: 1", "value: 2", 1) {
		t.Errorf("%v: %s", err, changed)
	}
	for name, is := range map[string]string{"changed": strings.Replace(was, "x", "y", 1), "moved": "---\n\n" + was, "gone": ""} {
		changed, _, err := files.Edited("a.yaml", is, nil, edits)
		if fault := new(edit.Fault); !errors.As(err, &fault) || !strings.Contains(fault.Message, "has changed meanwhile") || changed != is {
			t.Errorf("%s: %v: %s", name, err, changed)
		}
	}
	objects = manifest.Parse("a.yaml", was+strings.Repeat("---\n"+was, 7), nil).Objects
	for _, o := range objects {
		edits[o] = files.Edit{}
	}
	for range 9 {
		_, _, err := files.Edited("a.yaml", "", nil, edits)
		if fault := new(edit.Fault); !errors.As(err, &fault) || fault.Line != 1 {
			t.Errorf("the first object is not the one that is named: %v", err)
		}
	}
}
