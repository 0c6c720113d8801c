// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/capkit/capkit/pkg/finding"
)

// Report renders a report as lines of severity, type, path and rule, with errors first. It logs the messages, and fails the test if one
// is empty or has unfilled verbs.
func Report(t testing.TB, report finding.Report) string {
	t.Helper()
	var lines []string
	add := func(severity finding.Severity, list finding.List) {
		for _, f := range list {
			lines = append(lines, fmt.Sprintf("%s %s %s %s", severity, string(f.Type), f.Field, f.Origin))
			if f.Detail == "" || strings.Contains(f.Detail, "%!") {
				t.Errorf("not for a reader: %v", f)
			}
			t.Log(f)
		}
	}
	add(finding.SeverityError, report.Errors)
	add(finding.SeverityWarning, report.Warnings)
	return strings.Join(lines, "\n")
}
