// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package ratchet_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/ratchet"
)

// excused returns the report after the ratchet.
func excused(report, before finding.Report, object, old any) finding.Report {
	return ratchet.Excuse(ratchet.Judged{Object: object, Report: report}, ratchet.Judged{Object: old, Report: before})
}

// anything decodes an arbitrary object.
func anything(t *testing.T, text string) any {
	t.Helper()
	var object any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// reported returns errors from lines "type field value" or "type field".
func reported(lines ...string) finding.Report {
	var errs field.ErrorList
	for _, line := range lines {
		parts := strings.SplitN(line, " ", 3)
		err := &field.Error{Type: field.ErrorType("FieldValue" + parts[0]), Field: parts[1], Detail: "rule"}
		if len(parts) == 3 {
			err.BadValue = parts[2]
		}
		errs = append(errs, err.WithOrigin("rule"))
	}
	list := finding.Of(errs)
	for i := range list {
		if pool, _, found := strings.Cut(list[i].Field, ".machine."); found { // the fields that decide a pool's image
			for _, part := range []string{".machine", ".providerConfig", ".updateStrategy"} {
				list[i].Extent = append(list[i].Extent, fieldpath.Parse(pool+part))
			}
		}
	}
	return finding.Report{Errors: list}
}

// A change of a value is noticed even if the error omits the value as a secret.
func TestRatchetLooksAtOmittedValues(t *testing.T) {
	hidden := func(at string) finding.Report {
		return finding.Failed(finding.New("rule", field.ErrorTypeInvalid, field.NewPath("data").Key(at), field.OmitValueType{}, "no"))
	}
	old := anything(t, "data: {a: secret, b: secret, c.d: x}")
	for name, tc := range map[string]struct {
		is      string
		at      string
		excused bool
	}{
		"left alone":     {"data: {a: secret, b: other}", "a", true},
		"changed":        {"data: {a: other, b: secret}", "a", false},
		"another of it":  {"data: {a: secret, b: secret}", "b", false},
		"no longer here": {"data: {b: secret}", "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			report := excused(hidden(tc.at), hidden("a"), anything(t, tc.is), old)
			if (len(report.Errors) == 0) != tc.excused {
				t.Error(report)
			}
		})
	}
}

func TestRatchetTellsErrorsApart(t *testing.T) {
	cases.Run(t, "testdata/ratchet.txtar", func(c *cases.Case) string {
		// A file that a case lacks is the same as before.
		orElse := func(name, before string) string {
			if c.Has(name) {
				return name
			}
			return before
		}
		var was, is any
		c.Decode("was.yaml", &was)
		c.Decode(orElse("is.yaml", "was.yaml"), &is)
		old, here := strings.TrimSpace(c.Text("old")), strings.TrimSpace(c.Text(orElse("here", "old")))
		got := excused(reported(here), reported(old), is, was)
		return strings.Repeat("new\n", len(got.Errors)) + strings.Repeat("known\n", len(got.Warnings))
	})
}

// Each old error excuses one new one.
func TestRatchetCounts(t *testing.T) {
	object := anything(t, "spec: {machineImages: [{name: a}, {name: a}, {name: a}, {name: b}]}")
	one, two := "Duplicate spec.machineImages[1].name a", "Duplicate spec.machineImages[2].name a"
	for _, tc := range []struct {
		old, here []string
		errs      int
	}{
		{nil, []string{one, two}, 2}, {[]string{one}, []string{one, two}, 1}, {[]string{two}, []string{one}, 0},
		{[]string{one, two}, []string{one, two}, 0}, {[]string{one, two}, nil, 0}, {nil, nil, 0},
	} {
		got := excused(reported(tc.here...), reported(tc.old...), object, object)
		if len(got.Errors) != tc.errs || len(got.Warnings) != len(tc.here)-tc.errs {
			t.Errorf("%v after %v: %v", tc.here, tc.old, got)
		}
	}
}

// A value that cannot be marshaled to JSON distinguishes nothing, so it excuses no error inside a list.
func TestRatchetOfWhatIsNoObject(t *testing.T) {
	report := reported("Required spec.machineImages[0]", "Required spec.type")
	for _, garbage := range []any{make(chan int), func() {}, nil, "text", 5} {
		got := excused(report, report, anything(t, "spec: {machineImages: [{name: a}]}"), garbage)
		if len(got.Errors) != 1 || got.Errors[0].Field != "spec.machineImages[0]" {
			t.Errorf("%T: %v", garbage, got)
		}
	}
}

func TestRatchetDoesNotChangeReports(t *testing.T) {
	report := reported("Required b", "Required a")
	report.Warnings = append(make(finding.List, 0, 8), reported("Required z", "Required y").Errors...)
	before := lines(slices.Concat(report.Errors, report.Warnings))
	excused(report, reported("Required a"), map[string]any{}, map[string]any{})
	if diff := cmp.Diff(before, lines(slices.Concat(report.Errors, report.Warnings))); diff != "" {
		t.Error(diff)
	}
	if behind := report.Warnings[:3][2]; behind.Error != nil {
		t.Errorf("%v was written behind the warnings", behind)
	}
}

// lines returns one line for each finding.
func lines(list finding.List) []string {
	var lines []string
	for _, f := range list {
		lines = append(lines, f.Error.Error())
	}
	return lines
}

// If a report omits errors, it is unknown whether they are new.
func TestNothingIsExcusedInAReportThatLeavesErrorsOut(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"name": "x"}}
	report := finding.Failed(finding.New("rule", field.ErrorTypeInvalid, field.NewPath("spec", "name"), "x", "wrong"))
	if got := ratchet.Excuse(ratchet.Judged{Object: object, Report: report}, ratchet.Judged{Object: object, Report: report}); len(got.Errors) > 0 {
		t.Errorf("not excused: %v", got.Errors)
	}
	updated := report
	updated.WarningsLeftOut = true
	if got := ratchet.Excuse(ratchet.Judged{Object: object, Report: updated}, ratchet.Judged{Object: object, Report: report}); !got.WarningsLeftOut {
		t.Error("it is forgotten that warnings are left out")
	}
	updated.ErrorsLeftOut = true
	if got := ratchet.Excuse(ratchet.Judged{Object: object, Report: updated}, ratchet.Judged{Object: object, Report: report}); len(got.Errors) != 1 {
		t.Errorf("excused: %v", got)
	}
}

// Each part of an error needs an old error of its own, also if two parts are about equal entries.
func TestRatchetCountsParts(t *testing.T) {
	object := anything(t, "spec: {machineImages: [{name: a, versions: [{version: 1}, {version: 1}]}]}")
	parts := reported("Required spec.machineImages[0].versions[0]", "Required spec.machineImages[0].versions[1]")
	whole := reported("Required spec.machineImages[0]")
	whole.Errors[0].Parts = parts.Errors
	for _, tc := range []struct {
		old  finding.Report
		errs int
	}{{whole, 0}, {parts, 0}, {reported("Required spec.machineImages[0].versions[0]"), 1}, {reported("Required spec.machineImages[0]"), 1}} {
		if got := excused(whole, tc.old, object, object); len(got.Errors) != tc.errs {
			t.Errorf("after %v: %v", tc.old, got)
		}
	}
}
