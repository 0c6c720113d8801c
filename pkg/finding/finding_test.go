// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

func ExampleNew() {
	at := field.NewPath("spec", "machineImages").Index(2).Child("name")
	f := finding.New("name-missing", field.ErrorTypeRequired, at, nil, "every image needs a name").In(field.NewPath("spec", "type"))
	fmt.Println(f)
	fmt.Println(f.Origin, f.Place, f.Extent)
	// Output:
	// spec.machineImages[2].name: Required value: every image needs a name
	// name-missing [{spec -1} {machineImages -1} { 2} {name -1}] [[{spec -1} {type -1}]]
}

func TestParsePath(t *testing.T) {
	name := func(n string) finding.Segment { return finding.Segment{Name: n, Index: -1} }
	index := func(i int) finding.Segment { return finding.Segment{Index: i} }
	for text, want := range map[string]finding.Path{
		"":                        nil,
		"<nil>":                   nil,
		"spec":                    {name("spec")},
		"[3]":                     {index(3)},
		"a[0][12].b":              {name("a"), index(0), index(12), name("b")},
		"data[user]":              {name("data"), name("user")},
		"a[99999999999999999999]": {name("a"), name("99999999999999999999")},
	} {
		if diff := cmp.Diff(want, finding.ParsePath(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if got := finding.PathOf(nil); got != nil {
		t.Error(got)
	}
}

func TestOrderOfFindings(t *testing.T) {
	at := func(path, rule, detail string) finding.Finding {
		f := finding.Of(field.ErrorList{{Field: path, Origin: rule, Detail: detail}})[0]
		return f
	}
	sorted := finding.List{
		at("spec", "a", ""), at("spec.a[2]", "a", ""), at("spec.a[10]", "a", ""), at("spec.a[10].x", "a", "1"), at("spec.a[10].x", "a", "2"),
		at("spec.a[10].x", "b", ""), at("spec.b", "a", ""),
	}
	report := finding.Report{Errors: finding.List{sorted[5], sorted[2], sorted[6], sorted[0], sorted[4], sorted[3], sorted[1]}}.Sorted()
	for i := range sorted {
		if report.Errors[i].Error != sorted[i].Error {
			t.Errorf("%d: %v", i, report.Errors[i])
		}
	}
	if finding.Of(nil) != nil || (finding.List{}).Errors() != nil {
		t.Error("nothing is nil")
	}
}

func TestAbove(t *testing.T) {
	for other, want := range map[string]bool{"a.b": true, "a.b.c": true, "a.b[1]": true, "a.bc": false, "a": false} {
		if finding.Above("a.b", other) != want {
			t.Errorf("%s: %t", other, !want)
		}
	}
}

func TestWords(t *testing.T) {
	six := []string{"a", "b", "c", "d", "e", "f"}
	for got, want := range map[string]string{
		finding.Few(six):               "a, b, c, d, e, and 1 more",
		finding.Few(six[:5]):           "a, b, c, d, e",
		finding.Few(nil):               "",
		finding.JoinFew(six[:2], "; "): "a; b",
		finding.Plural(six[:1], "x"):   "x",
		finding.Plural(six, "region"):  "regions",
		finding.Quoted("name"):         "name",
	} {
		if got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
	if finding.Quoted("") != `""` {
		t.Error(finding.Quoted(""))
	}
}
