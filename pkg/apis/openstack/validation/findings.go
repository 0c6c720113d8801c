// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"github.com/capkit/capkit/pkg/finding"
)

// Findings are what a check found. Warnings deny nothing. The zero Findings found nothing.
type Findings struct {
	Errors, Warnings finding.List
}

// Add appends what other found.
func (f *Findings) Add(other Findings) {
	f.Errors = append(f.Errors, other.Errors...)
	f.Warnings = append(f.Warnings, other.Warnings...)
}

// Report returns the findings as all checks report theirs.
func (f Findings) Report() finding.Report { return finding.Report(f) }
