// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"strings"
	"testing"

	"github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/capkit/capkit/internal/cli/report"
)

// reports returns reports with findings of all severities, with and without namespace and field, and an empty one.
func reports(t *testing.T) map[string]*report.Report {
	t.Helper()
	text, err := os.ReadFile("../../../pkg/cli/testdata/golden/lint.json")
	if err != nil {
		t.Fatal(err)
	}
	var found report.Report
	if err := json.Unmarshal(text, &found); err != nil || len(found.Findings) != 3 {
		t.Fatal(err, found)
	}
	namespaced := report.New(append([]report.Finding{}, found.Findings...), report.Summary{Objects: 1})
	for i := range namespaced.Findings {
		namespaced.Findings[i].Object.Namespace, namespaced.Findings[i].File = "garden-demo", "a folder/%.yaml"
	}
	none := report.New(nil, report.Summary{})
	return map[string]*report.Report{"findings": &found, "namespaced": &namespaced, "none": &none}
}

// written returns a report in a format.
func written(t *testing.T, r *report.Report, format string) string {
	t.Helper()
	var text bytes.Buffer
	if err := r.Write(&text, format, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestSARIFIsValid(t *testing.T) {
	for name, r := range reports(t) {
		log, err := sarif.FromString(written(t, r, "sarif"))
		if err == nil {
			err = log.Validate()
		}
		if err != nil {
			t.Error(name, err)
		}
	}
}

func TestJUnitCounts(t *testing.T) {
	for name, want := range map[string][2]int{"findings": {3, 2}, "namespaced": {3, 2}, "none": {1, 0}} {
		var suites junit.Testsuites
		err := xml.Unmarshal([]byte(written(t, reports(t)[name], "junit")), &suites)
		if got := [2]int{suites.Tests, suites.Failures}; got != want || err != nil {
			t.Errorf("%s: tests and failures are %v, not %v: %v", name, got, want, err)
		}
	}
	syntax := report.New([]report.Finding{{Severity: "error", Rule: "syntax", File: "a.yaml", Line: 1, Column: 1, Message: "m"}}, report.Summary{})
	if text := written(t, &syntax, "junit"); !strings.Contains(text, `<testcase name="syntax" classname="syntax">`) {
		t.Error(text)
	}
}
