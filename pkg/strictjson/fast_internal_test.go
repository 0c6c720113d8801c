// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"fmt"
	"reflect"
	"testing"

	kjson "sigs.k8s.io/json"
)

// Where only the document determines the type, whole numbers are integers, and null is nil.
func TestDecodeFastTakesAnything(t *testing.T) {
	type recursive struct {
		Self  []*recursive `json:"self"`
		Other map[string][2]*any
	}
	type embeds struct{ recursive }
	for document, into := range map[string]any{
		`[1,-1.5,{"a":[1e3,null,"1",true]},9223372036854775808]`: new(any),
		`{"a":[1,{"b":2}],"c":null}`:                             new(map[string][]any),
		`{"self":[{"Other":{"a":[1,null]}},null]}`:               new(recursive),
		`{"Other":{"a":[{"b":1},2.0]}}`:                          new(embeds),
	} {
		want := reflect.New(reflect.TypeOf(into).Elem()).Interface()
		if wrong, err := kjson.UnmarshalStrict([]byte(document), want); err != nil || wrong != nil {
			t.Fatal(document, wrong, err)
		}
		if !decodeFast([]byte(document), into, false, nil) || !reflect.DeepEqual(into, want) {
			t.Errorf("%s: got %s, want %s", document, fmt.Sprintf("%#v", into), fmt.Sprintf("%#v", want))
		}
	}
}
