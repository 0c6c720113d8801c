// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file of another release, with an image that a third file has, has each fault once.
func TestFaultsOfAFileOnce(t *testing.T) {
	folder := t.TempDir()
	for file, version := range map[string]string{"a.yaml": "1877.3", "b.yaml": "1877.4", "c.yaml": "1877.4"} {
		text := "platform: aws\narchitecture: amd64\nversion: " + version + "\nmodifiers: []\npublished_image_metadata: null\n"
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, faults, err := Read(Source{Kind: GardenLinux, Path: folder})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range faults {
		start, _, _ := strings.Cut(f.Message, ",")
		got = append(got, fmt.Sprintf("%s:%d: %s", filepath.Base(f.File), f.Line, start))
	}
	want := []string{
		"b.yaml:3: this is release 1877.4",
		"c.yaml:3: this is release 1877.4",
		"c.yaml:1: this is the image that " + filepath.Join(folder, "b.yaml") + " is of",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got: %s", diff)
	}
}
