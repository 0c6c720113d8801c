// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/capkit/capkit/pkg/strictjson"
)

// sized has no interfaces, unlike sample, so valid values take the fast path.
type sized struct {
	Name  string              `json:"name"`
	Text  string              `json:"text"`
	Texts []string            `json:"texts"`
	Size  *resource.Quantity  `json:"size"`
	Sizes []resource.Quantity `json:"sizes"`
	Self  *sized              `json:"self"`
}

func TestLongExponents(t *testing.T) {
	for document, want := range map[string]string{
		`{"size": "1e2147483647"}`:                         "at.size",
		`{"size":1e2147483647}`:                            "at.size",
		`{"size": "-5E-2147483647"}`:                       "at.size",
		`{"size": "1e-9999999"}`:                           "at.size", // 33 MiB of digits; the ones above would never end
		`{"size": ".5e+0002147483647"}`:                    "at.size",
		`{"size": "1\u0065\u0032147483647"}`:               "at.size",
		`{"size": "\u0031E99999999"}`:                      "at.size",
		`{"sizes": ["1", "1e1000", "2e99999"]}`:            "at.sizes[1] at.sizes[2]",
		`{"self": {"size": "1e4000"}, "text": 5, "x": ""}`: "at.self.size at.text at.x",
		`{"size": "e1000"}`:                                "at.size", // Kubernetes reads this as 0
		`{"size": "1e999"}`:                                "",
		`{"size": "1e0000009"}`:                            "",
		`{"size": "1234567890"}`:                           "",
		`{"size": null}`:                                   "",
		`{"text": "1e2147483647", "name": "1\u0065"}`:      "",
		`{"texts": ["2f8b94e7777-7a3c", "5e123456"]}`:      "",
		`{"size": "1e2147483647"`:                          "at",
	} {
		check := func(t *testing.T, into any) {
			t.Helper()
			bytes, errs := decoded(document, into)
			var paths []string
			for _, err := range errs {
				paths = append(paths, err.Field)
			}
			if got := strings.Join(paths, " "); got != want {
				t.Errorf("%T: got %q, want %q", into, got, want)
			}
			if bytes > 1<<20 {
				t.Errorf("%T: it took %.0f bytes: the digits are written out", into, bytes)
			}
		}
		t.Run(document, func(t *testing.T) {
			check(t, &sized{})
			check(t, &sample{})
		})
	}
	var list struct{ List []sized }
	shared := strictjson.Shared[sized]()
	if errs := strictjson.Decode([]byte(`{"List":[{"size":"1e99999"}]}`), &list, nil, shared); len(errs) != 1 {
		t.Errorf("in a shared value: %v", errs)
	}
	if _, errs := decoded(`{"any": {"size": "1e2147483647"}}`, &sample{}); errs != nil {
		t.Errorf("what is no quantity: %v", errs)
	}
}

// Many UUIDs contain what looks like a number with a long exponent. The walk allocates for every value; the fast decoder does not.
func TestUUIDsDecodeFast(t *testing.T) {
	data := newConfig()
	if !regexp.MustCompile(`"[0-9]+e[0-9]{4}`).Match(data) {
		t.Error("none of the UUIDs looks like a number with a long exponent: this test tests nothing")
	}
	fast := testing.AllocsPerRun(1, func() {
		if errs := strictjson.Decode(data, &configWithQuantity{}, nil); errs != nil {
			t.Fatal(errs)
		}
	})
	plain := testing.AllocsPerRun(1, func() {
		if err := json.Unmarshal(data, &configWithQuantity{}); err != nil {
			t.Fatal(err)
		}
	})
	if fast > 1.5*plain {
		t.Errorf("it took %.0f allocations, encoding/json %.0f", fast, plain)
	}
}
