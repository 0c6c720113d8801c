// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

// issue is a finding in a Code Quality report of GitLab, with the fields that GitLab reads.
type issue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	// Severity is one of info, minor, major, critical and blocker.
	Severity string `json:"severity"`
	Location place  `json:"location"`
}

type place struct {
	Path  string `json:"path"`
	Lines lines  `json:"lines"`
}

type lines struct {
	Begin int `json:"begin"`
}

// codeQuality writes a Code Quality report of GitLab with the findings that are not suppressed. GitLab compares reports by fingerprints,
// which must be unique.
func codeQuality(w io.Writer, r *Report, _ *Options) error {
	places, issues, seen := newPlaces(), []issue{}, map[string]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.suppressed() {
			continue
		}
		severity, description := "major", f.Message
		if f.Severity == finding.SeverityWarning {
			severity = "minor"
		}
		if f.Field != "" {
			description += " (" + f.where() + ")"
		}
		path := places.of(f.File)
		id := fingerprint(*f)
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, seen[id])
		}
		issues = append(issues, issue{
			words.Printable(description), f.Rule, id, severity, place{words.Printable(path), lines{max(f.Line, 1)}},
		})
	}
	return JSON(w, issues)
}
