// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package report has the findings of the lint command, and their output formats.
//
// Start reading at [Report], whose JSON is documented, and at [Report.Write] in formats.go. There are also [JSON] and [YAML], the formats
// of other commands' answers. All output of the command goes through a [Writer], in printable.go.
//
// This package checks nothing, and knows nothing about manifests: the creator of a [Finding] sets its position.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
)

// Report is the result of lint. Its JSON, including that of its parts, is an interface: a published field keeps its name and meaning.
type Report struct {
	// Findings are in the order of [Sort]. Empty rather than nil, so that the JSON has a list.
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
	// Unused has the unused contents of the clouds; nil, and omitted in JSON, unless requested.
	Unused *Unused `json:"unused,omitempty"`
}

// Unused has the contents of clouds that no profile uses, by provider and region. The lists are empty rather than nil.
type Unused struct {
	Images       []UnusedImage       `json:"images"`
	MachineTypes []UnusedMachineType `json:"machineTypes"`
}

// UnusedImage is an image that no profile refers to.
type UnusedImage struct {
	Provider string `json:"provider"`
	Region   string `json:"region"`
	ID       string `json:"id"`
	Name     string `json:"name"`
}

// UnusedMachineType is a machine type that no profile offers.
type UnusedMachineType struct {
	Provider string `json:"provider"`
	Region   string `json:"region"`
	Name     string `json:"name"`
}

// Finding is an error or a warning of lint.
type Finding struct {
	Severity finding.Severity `json:"severity"`
	// Rule is the stable name of the rule, with a section in docs/rules.md.
	Rule string `json:"rule"`
	// Type is the Kubernetes field error type.
	Type field.ErrorType `json:"type"`
	// Field is the path within the object; empty if the finding is about the whole object.
	Field   string `json:"field"`
	Message string `json:"message"`
	Object  Object `json:"object"`
	File    string `json:"file"`
	// Line and Column count from 1 in the file. They are 0 if the object is in no file.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Subject and Suggestion are those of [finding.Finding].
	Subject    finding.Subject     `json:"-"`
	Suggestion *finding.Suggestion `json:"-"`
	// Suppressions are the reasons why the finding is suppressed; empty if it is not.
	Suppressions []Suppression `json:"suppressions,omitempty"`
	// Implied are findings that follow from this one, and are left out of the report. Suppressing this one adds them. Usually none.
	Implied []Finding `json:"-"`
}

// Suppression is a reason why a finding is suppressed, as in SARIF.
type Suppression struct {
	// Kind is [InSource] or [External].
	Kind string `json:"kind"`
	// Justification is the user's reason, or the name of the flag that suppresses the finding.
	Justification string `json:"justification,omitempty"`
}

// The kinds of suppressions: a comment in the manifest, and anything else.
const (
	InSource = "inSource"
	External = "external"
)

func (f *Finding) suppressed() bool { return len(f.Suppressions) > 0 }

// place returns the finding's position in the notation of compilers.
func (f *Finding) place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

// Object identifies the object of a finding. Its fields are empty if the manifest could not be read.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// String returns KIND [NAMESPACE/]NAME.
func (o Object) String() string {
	if o.Namespace == "" {
		return fmt.Sprintf("%s %s", o.Kind, o.Name)
	}
	return fmt.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name)
}

// where returns the object and the field in it; only the field if there is no object, as for the metadata of a release.
func (f *Finding) where() string {
	if object := strings.TrimSpace(f.Object.String()); object != "" {
		return object + ": " + f.Field
	}
	return f.Field
}

// Summary has the totals of a lint run.
type Summary struct {
	// Objects is the number of checked objects, Skipped that of manifests of other kinds.
	Objects  int `json:"objects"`
	Skipped  int `json:"skipped"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	// Suppressed is the number of suppressed findings. They are not in Errors and Warnings. JSON omits 0.
	Suppressed int `json:"suppressed,omitempty"`
	// Passed is the number of folders, files and documents in folders that were not read. Skipped includes some of them.
	Passed int `json:"-"`
	// Unread is the number of Objects that could not be decoded, so that nothing else was checked about them.
	Unread int `json:"-"`
	// AsMeant is the number of Objects with errors in the manifest itself that were checked as they were probably meant.
	AsMeant int `json:"-"`
}

// New returns a report with a sorted copy of the findings. Its summary has the numbers of objects from the given one, and counts the
// findings.
func New(findings []Finding, objects Summary) Report {
	r := Report{Findings: append([]Finding{}, findings...), Summary: objects}
	Sort(r.Findings)
	r.Count()
	return r
}

// Count updates the numbers of findings in the summary.
func (r *Report) Count() {
	r.Summary.Errors, r.Summary.Warnings, r.Summary.Suppressed = 0, 0, 0
	for i := range r.Findings {
		switch f := &r.Findings[i]; {
		case f.suppressed():
			r.Summary.Suppressed++
		case f.Severity == finding.SeverityError:
			r.Summary.Errors++
		default:
			r.Summary.Warnings++
		}
	}
}

// Sort orders findings by file name, line, column, field, rule and message. It is stable.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			fieldpath.Compare(a.Field, b.Field), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
		)
	})
}

// Options control how a report is written. The zero value fails on errors, and describes no rules.
type Options struct {
	// FailOn is the lowest severity that makes the command fail; empty means error. With [Skipped], it also fails if anything was skipped.
	FailOn finding.Severity
	// Rules describe the rules of the findings. A rule that is missing here has no description.
	Rules []finding.Rule
	// All makes the text format print each finding, instead of groups. Other formats always do.
	All bool
	// Command is the reporting command, for example lint.
	Command string
	// Version is the version of capkit, as its command version prints it.
	Version string
}

// fails reports whether findings of a severity make the command fail.
func (o *Options) fails(severity finding.Severity) bool {
	return severity == finding.SeverityError || o.FailOn == finding.SeverityWarning || o.FailOn == Skipped
}

// Failing returns the findings that make the command fail. Suppressed ones do not.
func (r *Report) Failing(options Options) []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.suppressed() || !options.fails(f.Severity) })
}

// Fails reports whether there are failing findings, or FailOn is [Skipped] and anything was skipped.
func (r *Report) Fails(options Options) bool {
	return len(r.Failing(options)) > 0 || options.FailOn == Skipped && r.Summary.Skipped+r.Summary.Passed > 0
}

// Unchecked returns why the command fails without a failing finding: FailOn is [Skipped], and something was skipped. Otherwise it is empty.
func (r *Report) Unchecked(options Options) string {
	if !r.Fails(options) || len(r.Failing(options)) > 0 {
		return ""
	}
	return "--fail-on=skipped: not all of the inputs were checked"
}

// Skipped is a value of FailOn below all severities.
const Skipped finding.Severity = "skipped"

// Severities returns the values of FailOn, highest first.
func Severities() []string {
	return []string{string(finding.SeverityError), string(finding.SeverityWarning), string(Skipped)}
}
