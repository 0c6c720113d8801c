// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"testing"
)

func TestFoldersApart(t *testing.T) {
	for _, tc := range []struct{ a, b, wantA, wantB string }{
		{"dev/a.yaml", "prod/a.yaml", "dev", "prod"},
		{"./l/dev/p/a.yaml", "l/prod/a.yaml", "l/dev", "l/prod"},
		{"/l/dev/a.yaml", "/l/prod/p/b.yaml", "/l/dev", "/l/prod"},
		{"a.yaml", "b.yaml", "", ""},
		{"dev/a.yaml", "dev/b.yaml", "", ""},
		{"dev/a.yaml", "dev/p/a.yaml", "", ""},
		{"a.yaml", "dev/a.yaml", "", ""},
		{Stdin, "dev/a.yaml", "", ""},
		{"dev/a.yaml", Stdin, "", ""},
	} {
		if a, b := foldersApart(tc.a, tc.b); a != tc.wantA || b != tc.wantB {
			t.Errorf("%s and %s: %q and %q", tc.a, tc.b, a, b)
		}
	}
}
