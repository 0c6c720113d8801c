// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package report is what the lint command prints: its findings, and the formats that they are written in.
//
// Start reading at [Report], whose JSON is documented, and [Report.Write] in formats.go, where [JSON] and [YAML] are,
// too, in which other commands print their answers. Whatever the command prints goes through a [Writer], in printable.go.
//
// Nothing is checked here, and nothing is known here of manifests: who makes a [Finding] says where it is.
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

// Report is what lint prints. Its JSON, with that of all types in it, is an interface: a field once published keeps its
// name and meaning.
type Report struct {
	// Findings as [Sort] orders them. Empty rather than nil: in JSON it is a list.
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
	// Unused is what no profile uses of the clouds; nil if nobody asks. Without it, the JSON does not have the field.
	Unused *Unused `json:"unused,omitempty"`
}

// Unused is what clouds have and no profile uses, by provider and region. The lists are empty rather than nil.
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

// Finding is one thing that lint found.
type Finding struct {
	Severity finding.Severity `json:"severity"`
	// Rule is the stable name of the rule, with a section in docs/rules.md.
	Rule string `json:"rule"`
	// Type is the Kubernetes field error type.
	Type field.ErrorType `json:"type"`
	// Field is the path within the object, empty if the finding is about the object as a whole.
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
	// Suppressions say why the finding does not count. There are none for one that does.
	Suppressions []Suppression `json:"suppressions,omitempty"`
	// Implied are findings that the report leaves out, because they follow from this one. Suppressing this one adds them
	// to the report. Mostly none.
	Implied []Finding `json:"-"`
}

// Suppression is a reason why a finding does not count, as SARIF has it.
type Suppression struct {
	// Kind is one of the constants.
	Kind string `json:"kind"`
	// Justification is what somebody has written for a reason; for a flag, which has none, its name.
	Justification string `json:"justification,omitempty"`
}

// The kinds of suppressions: a comment in the manifest, and anything else.
const (
	InSource = "inSource"
	External = "external"
)

func (f *Finding) suppressed() bool { return len(f.Suppressions) > 0 }

// place is where the finding is, as compilers write it.
func (f *Finding) place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
}

// Object identifies the object that a finding is about. Its fields are empty where the manifest could not be read.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
}

// String is KIND [NAMESPACE/]NAME.
func (o Object) String() string {
	if o.Namespace == "" {
		return fmt.Sprintf("%s %s", o.Kind, o.Name)
	}
	return fmt.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name)
}

// where returns the object and the field in it; the field alone if what is wrong is no object: the metadata of a release, for example.
func (f *Finding) where() string {
	if object := strings.TrimSpace(f.Object.String()); object != "" {
		return object + ": " + f.Field
	}
	return f.Field
}

// Summary counts what lint did.
type Summary struct {
	// Objects were checked, Skipped are manifests of other kinds.
	Objects  int `json:"objects"`
	Skipped  int `json:"skipped"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	// Suppressed findings are neither among Errors nor among Warnings. Without any, the JSON does not have the field.
	Suppressed int `json:"suppressed,omitempty"`
	// Passed are what folders have that was not read. Some of it is among Skipped as well.
	Passed int `json:"-"`
	// Unread objects are those of Objects that could not be decoded, so that nothing else was checked about them.
	Unread int `json:"-"`
	// AsMeant are those of Objects with errors about the manifest itself of which all else was checked, as they were probably meant.
	AsMeant int `json:"-"`
}

// New returns a report of findings, which are copied. Of the summary it takes the objects, and counts the findings
// itself.
func New(findings []Finding, objects Summary) Report {
	r := Report{Findings: append([]Finding{}, findings...), Summary: objects}
	Sort(r.Findings)
	r.Count()
	return r
}

// Count counts the findings anew, for the summary.
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

// Sort orders findings by the names of their files, and within a file by line, column, field, rule and message.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			fieldpath.Compare(a.Field, b.Field), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
		)
	})
}

// Options are what writing a report depends on besides its findings. The zero value fails on errors, and describes no rules.
type Options struct {
	// FailOn is the lowest severity that makes the command fail; empty is error. With [Skipped] it fails as well if anything was skipped.
	FailOn finding.Severity
	// Rules are the catalogue that describes the rules of the findings. One that is missing stays without a
	// description.
	Rules []finding.Rule
	// All makes the text name each finding, where it would tell once what is the same in many places. Other formats always
	// have each.
	All bool
	// Command is the one that reports, as lint.
	Command string
	// Version of capkit, as its command version prints it.
	Version string
}

// fails reports whether a finding of a severity makes the command fail.
func (o *Options) fails(severity finding.Severity) bool {
	return severity == finding.SeverityError || o.FailOn == finding.SeverityWarning || o.FailOn == Skipped
}

// Failing returns the findings that make the command fail: those of such a severity that are not suppressed.
func (r *Report) Failing(options Options) []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.suppressed() || !options.fails(f.Severity) })
}

// Fails reports whether there are any, or anything was skipped that must not be.
func (r *Report) Fails(options Options) bool {
	return len(r.Failing(options)) > 0 || options.FailOn == Skipped && r.Summary.Skipped+r.Summary.Passed > 0
}

// Skipped is below all severities.
const Skipped finding.Severity = "skipped"

// Severities are the values of FailOn.
func Severities() []string {
	return []string{string(finding.SeverityError), string(finding.SeverityWarning), string(Skipped)}
}
