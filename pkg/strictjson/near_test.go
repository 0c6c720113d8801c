// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
)

// DecodeKnown reports near misses of absent fields, also in a document that the fast decoder refuses.
func TestNearMisses(t *testing.T) {
	type part struct {
		Name  string             `json:"name"`
		Image string             `json:"image"`
		Port  intstr.IntOrString `json:"port"`
	}
	type whole struct {
		Parts  []part            `json:"parts"`
		Lists  [][]part          `json:"lists"`
		Single *part             `json:"single"`
		Labels map[string]string `json:"labels"`
		Keyed  map[string]part   `json:"keyed"`
		Number int               `json:"number"`
	}
	found := func(list finding.List) (lines []string) {
		for _, f := range list {
			line := f.Field + " " + f.Origin
			if f.Suggestion != nil {
				line = f.Field + " is " + f.Suggestion.With
			}
			lines = append(lines, line)
		}
		return lines
	}
	for document, want := range map[string][]string{
		`{}`:                          nil,
		`{"other": {}}`:               nil,
		`{"part": [{}]}`:              {`part is parts`},
		`{"Parts": []}`:               {`Parts is parts`},
		`{"part": [], "parts": []}`:   nil,
		`{"part": [], "parts": null}`: nil,
		`{"parts": [{"name": "a", "imgae": "x"}, {"image": "x", "imgae": "y", "nam": "z"}, null]}`: {
			`parts[0].imgae is image`, `parts[1].nam is name`,
		},
		`{"lists": [[], [{"Name": "a"}]], "singel": {"nmae": "b"}}`: {
			`lists[1][0].Name is name`, `singel is single`,
		},
		`{"single": {"nam\u0065s": "b", "i\"mage": "c"}}`: {
			`single.names is name`, `single.i"mage is image`,
		},
		`{"single": {"n\u0061me": "b", "names": ""}}`:                      nil,
		`{"keyed": {"name": {"nmae": "b"}}}`:                               {`keyed[name].nmae is name`},
		`{"labels": {"nmae": "b"}, "parts": []}`:                           nil,
		`{"labels": {}, "other": {"nmae": "b", "part": [{"imgae": "x"}]}}`: nil,
		`{"` + strings.Repeat("parts", 60) + `": 1}`:                       nil,
	} {
		var into whole
		if diff := cmp.Diff(want, found(strictjson.DecodeKnown([]byte(document), &into, nil))); diff != "" {
			t.Errorf("%s: %s", document, diff)
		}
		into = whole{Number: 1} // which the fast decoder refuses
		if diff := cmp.Diff(want, found(strictjson.DecodeKnown([]byte(document), &into, nil))); diff != "" {
			t.Errorf("%s, slowly: %s", document, diff)
		}
	}
	var into whole
	got := found(strictjson.DecodeKnown([]byte(`{"numbr": 1, "number": "1", "parts": [{"imgae": "x", "name": 1}]}`), &into, field.NewPath("a")))
	want := []string{"a.number field-type", "a.parts[0].name field-type", "a.parts[0].imgae is image"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
