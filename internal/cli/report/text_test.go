// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// found returns a warning at a line.
func found(rule, message string, line int) report.Finding {
	return report.Finding{
		Severity: finding.SeverityWarning, Rule: rule, Message: message, Field: fmt.Sprintf("spec.x[%d]", line),
		Object: report.Object{Kind: "CloudProfile", Name: "a"}, File: "a.yaml", Line: line, Column: 3,
	}
}

// text returns a report as text.
func text(t *testing.T, options report.Options, findings ...report.Finding) string {
	t.Helper()
	r := report.New(findings, report.Summary{})
	var out bytes.Buffer
	if err := r.Write(&out, "text", options); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Findings that say the same about different names, for one reason, are written once, too, whatever their indices.
func TestWhatHasOneReasonIsSaidOnce(t *testing.T) {
	var findings []report.Finding
	for line := 1; line <= 6; line++ {
		reason := fmt.Sprintf("the profile has an error at spec.machineTypes[%d]", line%5)
		f := found("no-image-fits", fmt.Sprintf("worker pool a: no image fits machine type m%d in region europe: %s", line, reason), line)
		f.Subject.Reason = reason
		findings = append(findings, f)
	}
	other := findings[5]
	other.Line, other.Subject.Reason = 7, "the profile has no image"
	want := `a.yaml:1:3: warning: worker pool a: no image fits machine type m1 in region europe: the profile has an error at spec.machineTypes[1] [no-image-fits]
    CloudProfile a: spec.x[1]
    for the same reason 5 times more: a.yaml:2:3, a.yaml:3:3, a.yaml:4:3, and 2 more (--all shows each)
a.yaml:7:3: warning: worker pool a: no image fits machine type m6 in region europe: the profile has an error at spec.machineTypes[1] [no-image-fits]
    CloudProfile a: spec.x[6]
`
	if got := text(t, report.Options{}, append(findings, other)...); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if got := text(t, report.Options{}, findings[:3]...); strings.Count(got, "no image fits") != 3 {
		t.Errorf("a few stay apart: %s", got)
	}
}

func TestWhatIsSaidOftenIsSaidOnce(t *testing.T) {
	var findings []report.Finding
	for line := 1; line <= 6; line++ {
		findings = append(findings, found("region-unknown", "no such region", line))
	}
	other := found("region-unknown", "no other region", 2)
	live := found("region-unknown", "no such region", 0)
	live.File, live.Column, live.Object = "<cluster>", 0, report.Object{Kind: "Shoot", Namespace: "garden-a", Name: "b"}
	got := text(t, report.Options{}, append(findings, other, live)...)
	want := `<cluster>: warning: no such region [region-unknown]
    Shoot garden-a/b: spec.x[0]
    the same 6 times more: a.yaml:1:3, a.yaml:2:3, a.yaml:3:3, and 3 more (--all shows each)
a.yaml:2:3: warning: no other region [region-unknown]
    CloudProfile a: spec.x[2]
`
	if got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if n := strings.Count(text(t, report.Options{All: true}, findings...), "no such region"); n != 6 {
		t.Errorf("%d of 6 with --all", n)
	}
	if n := strings.Count(text(t, report.Options{}, findings[:3]...), "no such region"); n != 3 {
		t.Errorf("%d of 3: they are few", n)
	}
	apart := found("region-unknown", "no such region", 9)
	apart.Severity = finding.SeverityError
	contains(t, text(t, report.Options{}, append(findings, apart)...), "the same 5 times more: a.yaml:2:3", "a.yaml:9:3: error: ")
}

// A message of Gardener that forbids something is about the first value in it.
func TestWhatIsForbiddenOftenIsSaidOnce(t *testing.T) {
	var findings []report.Finding
	for line := 1; line <= 6; line++ {
		findings = append(findings, found("gardener-core", fmt.Sprintf(`Forbidden: unable to add version "1.0.%d" as "supported": they overlap`, line), line))
	}
	contains(t, text(t, report.Options{}, findings...),
		`Forbidden: unable to add version "1.0.1", "1.0.2", "1.0.3", "1.0.4", "1.0.5", and 1 more as "supported": they overlap [gardener-core]`,
		"the same 5 times more: a.yaml:2:3")
}

// Notes about many subjects are written once, also if each of them ends with a command of its own.
func TestManyNotesAreOne(t *testing.T) {
	var same, apart []string
	for i := range 6 {
		same = append(same, fmt.Sprintf("NamespacedCloudProfile a%d: it has 1 error: run capkit lint all.yaml", i))
		apart = append(apart, fmt.Sprintf("NamespacedCloudProfile b%d: it has 2 errors: run capkit lint %d.yaml", i, i))
	}
	var out bytes.Buffer
	report.Notes(&out, slices.Concat(same, apart, []string{"one more", "and: another"}))
	want := `note: NamespacedCloudProfiles a0, a1, a2, a3, a4, and 1 more: it has 1 error: run capkit lint all.yaml
note: NamespacedCloudProfile b0: it has 2 errors: run capkit lint 0.yaml
    for the same reason 5 times more: NamespacedCloudProfile b1, NamespacedCloudProfile b2, NamespacedCloudProfile b3, and 2 more
note: one more
note: and: another
`
	if out.String() != want {
		t.Error(out.String())
	}
}

func TestRulesAreCounted(t *testing.T) {
	suppressed := found("c", "x", 1)
	suppressed.Suppressions = []report.Suppression{{Kind: report.External}}
	r := report.New([]report.Finding{found("b", "x", 1), found("a", "x", 2), found("b", "y", 3), found("aa", "x", 1), suppressed}, report.Summary{})
	if got := fmt.Sprint(r.ByRule()); got != "[{b 2} {a 1} {aa 1}]" {
		t.Error(got)
	}
}

// No text in a manifest ends a workflow command or begins another one.
func TestWorkflowCommandsAreEscaped(t *testing.T) {
	t.Chdir(t.TempDir()) // not a repository
	f := found("gardener-core", "100%\r\n::error::x,y:z", 7)
	f.File, f.Field = "a,b:c%.yaml", "spec.a[x\n::warning::]"
	r := report.New([]report.Finding{f}, report.Summary{})
	want := "::warning title=gardener-core,file=a%2Cb%3Ac%25.yaml,line=7,col=3::" +
		`100%25\r\n::error::x,y:z%0ACloudProfile a: spec.a[x\n::warning::]` + "\n"
	if got := written(t, &r, "github"); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}

// A suppressed finding is not counted, and is marked as suppressed in every format that supports it.
func TestSuppressed(t *testing.T) {
	f := found("region-unknown", "no such region", 7)
	f.Suppressions = []report.Suppression{{Kind: report.InSource, Justification: "it opens in May"}, {Kind: report.External}}
	f.Severity = finding.SeverityError
	r := report.New([]report.Finding{f}, report.Summary{Objects: 1})
	if r.Fails(report.Options{}) || r.Summary != (report.Summary{Objects: 1, Suppressed: 1}) {
		t.Errorf("%+v", r.Summary)
	}
	if got := r.Summary.String(); got != "1 object checked: no errors, no warnings; 1 finding silenced" {
		t.Error(got)
	}
	for _, format := range []string{"text", "github"} {
		if got := written(t, &r, format); got != "" {
			t.Errorf("%s: %s", format, got)
		}
	}
	contains(t, written(t, &r, "json"), `"suppressed": 1`, `"justification": "it opens in May"`, `"kind": "external"`)
	log, err := sarif.FromString(written(t, &r, "sarif"))
	if err == nil {
		err = log.Validate()
	}
	if s := log.Runs[0].Results[0].Suppressions; err != nil || len(s) != 2 || *s[0].Kind != "inSource" || *s[0].Justification != "it opens in May" {
		t.Error(err, s)
	}
	var suites junit.Testsuites
	if err := xml.Unmarshal([]byte(written(t, &r, "junit")), &suites); err != nil || suites.Failures != 0 || suites.Skipped != 1 {
		t.Errorf("%v: %+v", err, suites)
	}
}

// contains reports the texts in want that are missing.
func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
}

// Equal findings about several objects are printed as one. With All, each is printed.
func TestWhatIsSaidOfManyIsToldOnce(t *testing.T) {
	var findings []report.Finding
	for i, message := range []string{
		"machine type a: no image", "machine type b: no image", "machine type c: no image", "machine type d: no image",
		"gl@1: {x: [y]} fits nothing", "gl@2: {x: [y]} fits nothing", "gl@3: {x: [y]} fits nothing", "gl@4: {x: [y]} fits nothing",
		"flavor {a: [b]}: odd", "flavor {a: [c]}: odd", "flavor {a: [d]}: odd", "flavor {a: [e]}: odd",
		`Invalid value: "a b": wrong`, `Invalid value: "c: d": wrong`, `Invalid value: "e\"f": wrong`, `Invalid value: "g": wrong`,
		"Required value: here", "Required value: there", "Required value: and here", "Required value: and there",
		"machine type a: other", "pool b: other", "gl@1: other", "gl@2: other",
	} {
		findings = append(findings, found("rule", message, i+1))
	}
	r := report.New(findings, report.Summary{})
	got := written(t, &r, "text")
	for _, want := range []string{
		"machine types a, b, c, d: no image [", "gl@1, gl@2, gl@3, gl@4: {x: [y]} fits nothing [", "flavor {a: [b]}: odd [", "flavor {a: [e]}: odd [",
		`Invalid value: "a b", "c: d", "e\"f", "g": wrong [`, "Required value: here [", "Required value: and there [",
		"machine type a, pool b, gl@1, gl@2: other [", "the same 3 times more: ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	var all strings.Builder
	if err := r.Write(&all, "text", report.Options{All: true}); err != nil || strings.Count(all.String(), "[rule]") != len(findings) {
		t.Errorf("%v\n%s", err, all.String())
	}
}
