// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// Splicing gives the same result as the patch library, but preserves the bytes of unchanged parts.
func TestSplice(t *testing.T) {
	for _, c := range []struct {
		document string
		changes  []Change
		// wanted is empty if the changes cannot be made in one pass.
		wanted string
	}{
		{`{"a": 1, "l": []}`, []Change{{"add", "/l", json.RawMessage(`[2]`)}}, `{"a": 1, "l": [2]}`},
		{`{}`, []Change{{"add", "/l", json.RawMessage(`[2]`)}}, `{"l":[2]}`},
		{`{"l":null, "z":{}}`, []Change{{"add", "/l", json.RawMessage(`[2]`)}}, `{"l":[2], "z":{}}`},
		{`{ "a":1 }`, []Change{{"add", "/l", json.RawMessage(`[2]`)}, {"add", "/b~1c", json.RawMessage(`3`)}}, `{ "a":1 ,"b/c":3,"l":[2]}`},
		{`{"l":[ ] }`, []Change{{"add", "/l/-", json.RawMessage(`1`)}, {"add", "/l/-", json.RawMessage(`2`)}}, `{"l":[ 1,2] }`},
		{`{"l":[{"v":[ 1, 2 ,3]},{"v":[4]}, {}]}`, []Change{
			{"replace", "/l/0/v/1", json.RawMessage(`[]`)}, {"add", "/l/0/v/-", json.RawMessage(`5`)},
			{"add", "/l/2/v", json.RawMessage(`[6]`)}, {"add", "/l/-", json.RawMessage(`{"v":[7]}`)},
		}, `{"l":[{"v":[ 1, [] ,3,5]},{"v":[4]}, {"v":[6]},{"v":[7]}]}`},
		{`{"l":[1], "l":[2]}`, []Change{{"add", "/l/-", json.RawMessage(`3`)}}, ``},
		{`{"l":[1]}`, []Change{{"replace", "/l/1", json.RawMessage(`3`)}}, ``},
		{`{"l":{"a":1}}`, []Change{{"add", "/l/-", json.RawMessage(`3`)}}, ``},
		{`{"a":1}`, []Change{{"add", "/l/-", json.RawMessage(`3`)}}, ``},
		{`{"l":[1`, []Change{{"add", "/l/-", json.RawMessage(`3`)}}, ``},
		{`{"l":[1}`, []Change{{"add", "/l/-", json.RawMessage(`3`)}}, ``},
		{`{"a":1`, []Change{{"add", "/l", json.RawMessage(`[]`)}}, ``},
		{`{"a"`, []Change{{"add", "/l", json.RawMessage(`[]`)}}, ``},
		{``, []Change{{"add", "/l", json.RawMessage(`[]`)}}, ``},
		{`[]`, []Change{{"add", "/l", json.RawMessage(`[]`)}}, ``},
	} {
		got, made := splice(c.changes, []byte(c.document))
		if string(got) != c.wanted || made != (c.wanted != "") {
			t.Errorf("%s: %t %s", c.document, made, got)
		}
		if !made {
			continue
		}
		operations, err := json.Marshal(c.changes)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(operations)
		if err != nil {
			t.Fatal(err)
		}
		if wanted, err := patch.Apply([]byte(c.document)); err != nil || !jsonpatch.Equal(wanted, got) {
			t.Errorf("%s: %s, and by the library %s, %v", c.document, got, wanted, err)
		}
	}
}
