// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/strictjson"
)

// A wrong value does not prevent the values before or after it from being decoded.
func TestTheRestIsRead(t *testing.T) {
	good := map[string]string{
		"text": `"a"`, "flag": "true", "small": "1", "count": "2", "unsigned": "3", "ratio": "0.5", "bytes": `"AAEC"`, "texts": `["b", "c"]`,
		"lists": "[[1], [2, 3]]", "pair": "[true, true]", "map": `{"x": {"name": "y"}}`, "byNumber": `{"4": "d"}`, "size": `"4Gi"`,
		"sizes": `["1", "2"]`, "wait": `"60s"`, "when": `"2026-01-01T00:00:00Z"`, "port": "80", "raw": `{"z": 1}`, "self": `{"text": "e"}`, "quoted": `"5"`,
	}
	names := slices.Sorted(maps.Keys(good))
	write := func(values map[string]string, order []string) []byte {
		members := make([]string, 0, len(order))
		for _, name := range order {
			members = append(members, `"`+name+`": `+values[name])
		}
		return []byte("{" + strings.Join(members, ", ") + "}")
	}
	for _, name := range names {
		for _, bad := range []string{"{}", "[]", "[[]]", `"no"`, "1e5000", "false", "-0.25"} {
			want := &sample{}
			if err := json.Unmarshal(write(good, names), want); err != nil {
				t.Fatal(err)
			}
			values := maps.Clone(good)
			values[name] = bad
			backwards := slices.Clone(names)
			slices.Reverse(backwards)
			for _, order := range [][]string{names, backwards} {
				got := &sample{}
				if errs := strictjson.Decode(write(values, order), got, nil); len(errs) == 0 {
					continue // valid for this field
				}
				if diff := cmp.Diff(without(t, want, name), without(t, got, name)); diff != "" {
					t.Errorf("%s: %s\n%s", name, bad, diff)
				}
			}
		}
	}
}

// without returns a value as decoded JSON, without one member.
func without(t *testing.T, value any, name string) map[string]any {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	delete(object, name)
	return object
}
