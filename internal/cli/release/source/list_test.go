// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"os"
	"path/filepath"
	"testing"
)

// If two members of a flavor cannot be read, the reported one is always the same.
func TestListSaysTheSameEachTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "images.yaml")
	text := "apiVersion: capkit/v1\nkind: ImageList\nimages:\n- name: a\n  version: 1.2.3\n  flavors:\n  - {regions: 7, capabilities: 5}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		_, faults, err := Read(Source{Kind: List, Path: file})
		const want = "a value in it has the wrong type: expected an object, got a number"
		if err != nil || len(faults) != 1 || faults[0].Message != want {
			t.Fatal(faults, err)
		}
	}
}
