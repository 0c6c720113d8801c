// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package finding_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/fieldpath"
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

// A finding about the whole document has no path, and prints none.
func TestAFindingAboutTheWholeDocument(t *testing.T) {
	f := finding.New("not-an-object", field.ErrorTypeRequired, nil, nil, "write an object")
	if got := f.String(); got != "Required value: write an object" || f.Field != "" || len(f.Place) > 0 {
		t.Errorf("%q, at %q, %v", got, f.Field, f.Place)
	}
}

func TestANilIsNoError(t *testing.T) {
	found := finding.Of(field.ErrorList{nil, field.Invalid(field.NewPath("a"), "", "no"), nil})
	if len(found) != 1 || found[0].Field != "a" {
		t.Error(len(found))
	}
}

// A helper of an author returns no finding as the zero one.
func TestAZeroFindingIsNone(t *testing.T) {
	f := finding.New("a", field.ErrorTypeInvalid, field.NewPath("a"), "", "no")
	var report finding.Report
	report.Add(finding.Report{Errors: finding.List{{}, f}, Warnings: finding.List{f, {}}, Silenced: finding.List{{}}})
	if len(report.Errors) != 1 || len(report.Warnings) != 1 || report.Silenced != nil || report.Errors[0].Error != f.Error {
		t.Error(report)
	}
}

func TestParsePath(t *testing.T) {
	name := func(n string) fieldpath.Segment { return fieldpath.Segment{Name: n, Index: -1} }
	index := func(i int) fieldpath.Segment { return fieldpath.Segment{Index: i} }
	for text, want := range map[string]fieldpath.Path{
		"":                        nil,
		"<nil>":                   nil,
		"spec":                    {name("spec")},
		"[3]":                     {index(3)},
		"a[0][12].b":              {name("a"), index(0), index(12), name("b")},
		"data[user]":              {name("data"), name("user")},
		"a[99999999999999999999]": {name("a"), name("99999999999999999999")},
	} {
		if diff := cmp.Diff(want, fieldpath.Parse(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	if got := fieldpath.Of(nil); got != nil {
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
		if fieldpath.Above("a.b", other) != want {
			t.Errorf("%s: %t", other, !want)
		}
	}
}

// A report accepts a thousand errors and a thousand warnings. One further finding says that there were more.
func TestReportEnds(t *testing.T) {
	at := field.NewPath("spec")
	for severity, rule := range map[finding.Severity]finding.Rule{
		finding.SeverityError: finding.Denies("error", "", ""), finding.SeverityWarning: finding.Warns("warning", "", ""),
	} {
		for _, more := range []int{0, 1, 5000} {
			var part, report finding.Report
			for i := range finding.Most + more {
				part.Found(rule, field.ErrorTypeInvalid, at.Index(i), nil, "wrong").Detail += ", too" // also for a finding that does not fit
			}
			report.Add(part)
			report.End(at)
			report.End(at)
			found := report.Errors
			if severity == finding.SeverityWarning {
				found = report.Warnings
			}
			want := finding.Most
			if more > 0 {
				want++
			}
			if len(found) != want || len(report.Errors)+len(report.Warnings) != want || more > 0 && found[want-1].Field != "spec" {
				t.Errorf("%d more %ss than fit: %d", more, severity, len(found))
			}
			if ended := more > 0 && severity == finding.SeverityError; report.ErrorsLeftOut != ended || report.Full() != (severity == finding.SeverityError) {
				t.Errorf("%d more %ss than fit: ended %t, full %t", more, severity, report.ErrorsLeftOut, report.Full())
			}
		}
	}
	full := finding.Report{Silenced: make(finding.List, finding.Most)}
	if !full.Full() || full.ErrorsLeftOut || !full.LeavesOut() || !full.ErrorsLeftOut {
		t.Error("silenced errors fill a report, too, and a check that stops then says so")
	}
}

func TestUpward(t *testing.T) {
	for path, want := range map[string]string{"": "|", "a": "a|", "a[0].b[x]": "a[0].b[x]|a[0].b|a[0]|a|"} {
		var got strings.Builder
		for above := range fieldpath.Upward(path) {
			got.WriteString(above + "|")
		}
		if got.String() != want {
			t.Errorf("%q: %s", path, &got)
		}
	}
	for above := range fieldpath.Upward("a.b.c") {
		if above == "a.b" {
			break
		}
	}
}
