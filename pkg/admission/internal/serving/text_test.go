// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	const text = "aä€😀z"
	for most := range len(text) + 2 {
		got := Cut(text, most)
		if !utf8.ValidString(got) || len(got) > max(most, len("…")) {
			t.Errorf("%q cut to %d bytes is %q", text, most, got)
		}
		if most >= len(text) && got != text {
			t.Errorf("%q fits into %d bytes, and is cut to %q", text, most, got)
		}
	}
}
