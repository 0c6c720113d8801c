// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/cli/manifest"
)

func TestIgnoreFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".capkitignore":        "# not meant to be right\nbroken\n*/draft-*.yaml\n!broken/kept.yaml\n",
		"a.yaml":               "{apiVersion: v1, kind: A}",
		"broken/b.yaml":        "{apiVersion: v1, kind: B}",
		"broken/deep/c.yaml":   "{apiVersion: v1, kind: C}",
		"broken/kept.yaml":     "{apiVersion: v1, kind: Kept}",
		"team/draft-d.yaml":    "{apiVersion: v1, kind: D}",
		"team/e.yaml":          "{apiVersion: v1, kind: E}",
		"broken/.capkitignore": "*\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kinds := func(args ...string) []string {
		objects, problems, err := manifest.Load(args, nil)
		if err != nil || len(problems) > 0 {
			t.Fatal(err, problems)
		}
		var kinds []string
		for _, o := range objects {
			kinds = append(kinds, o.Kind)
		}
		return kinds
	}
	if diff := cmp.Diff([]string{"A", "Kept", "E"}, kinds(dir)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"C"}, kinds(filepath.Join(dir, "broken", "deep"))); diff != "" {
		t.Error("an ignore file above the directory that is given does not count", diff)
	}
	if diff := cmp.Diff([]string{"B"}, kinds(filepath.Join(dir, "broken", "b.yaml"))); diff != "" {
		t.Error("a file that is named is read", diff)
	}
	if err := os.WriteFile(filepath.Join(dir, ".capkitignore"), []byte("[\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := manifest.Load([]string{dir}, nil); err == nil {
		t.Error("a pattern that cannot be read must be an error")
	}
}
