// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"strings"
	"testing"
)

func TestLongExponents(t *testing.T) {
	for document, want := range map[string]string{
		`{"size": "1e2147483647"}`:                         "at.size",
		`{"size":1e2147483647}`:                            "at.size",
		`{"size": "-5E-2147483647"}`:                       "at.size",
		`{"size": "1e-9999999"}`:                           "at.size", // 33 MiB of digits, and the ones above never end
		`{"size": ".5e+0002147483647"}`:                    "at.size",
		`{"size": "1\u0065\u0032147483647"}`:               "at.size",
		`{"size": "\u0031E99999999"}`:                      "at.size",
		`{"sizes": ["1", "1e1000", "2e99999"]}`:            "at.sizes[1] at.sizes[2]",
		`{"self": {"size": "1e4000"}, "text": 5, "x": ""}`: "at.self.size at.text at.x",
		`{"size": "e1000"}`:                                "at.size", // Kubernetes takes this for 0
		`{"size": "1e999"}`:                                "",
		`{"size": "1e0000009"}`:                            "",
		`{"size": "1234567890"}`:                           "",
		`{"text": "1e2147483647", "name": "1\u0065"}`:      "",
		`{"any": {"size": "1e2147483647"}}`:                "",
		`{"texts": ["2f8b94e7777-7a3c", "5e123456"]}`:      "",
		`{"size": "1e2147483647"`:                          "at",
	} {
		t.Run(document, func(t *testing.T) {
			bytes, errs := decoded(document)
			var paths []string
			for _, err := range errs {
				paths = append(paths, err.Field)
			}
			if got := strings.Join(paths, " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if bytes > 1<<20 {
				t.Errorf("it took %.0f bytes: the digits are written out", bytes)
			}
		})
	}
}
