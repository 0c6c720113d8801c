// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package garden

import (
	"crypto/rand"
	"io"
	"os"
	"testing"
	"time"
)

// A program is compiled again unless it was compiled from the same sources.
func TestCompile(t *testing.T) {
	var path string
	// kept compiles the program, which was last written at a given time, and reports whether it was kept.
	kept := func(sources string, written time.Time) bool {
		t.Helper()
		t.Setenv("CAPKIT_SOURCES", sources)
		if path != "" {
			if err := os.Chtimes(path, written, written); err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if path, err = Compile(t.Context(), io.Discard, "./hack/browser", "compiled-by-a-test"); err != nil {
			t.Fatal(err)
		}
		program, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return program.ModTime().Equal(written)
	}
	t.Cleanup(func() {
		for _, suffix := range []string{"", ".lock", sourcesSuffix} {
			_ = os.Remove(path + suffix)
		}
	})
	sources, before, after := rand.Text(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	kept(sources, before)
	if !kept(sources, before) {
		t.Error("compiled again from the same sources")
	}
	for what, again := range map[string]func() bool{
		"the sources are others":       func() bool { return kept(rand.Text(), before) },
		"the sources have no name":     func() bool { return kept("", before) },
		"somebody else has written it": func() bool { kept(sources, before); return kept(sources, after) },
	} {
		if again() {
			t.Errorf("not compiled again, and %s", what)
		}
	}
}
