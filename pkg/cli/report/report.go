// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/finding"
)

// Report is what lint prints. Its JSON, with that of all types in it, is an interface: a field once published keeps its
// name and meaning.
type Report struct {
	// Findings as [Sort] orders them. Empty rather than nil: in JSON it is a list.
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
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
	// Line and Column count from 1 in the file.
	Line   int `json:"line"`
	Column int `json:"column"`
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

// Summary counts what lint did.
type Summary struct {
	// Objects were checked, Skipped are manifests of other kinds.
	Objects  int `json:"objects"`
	Skipped  int `json:"skipped"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	// Unread objects are those of Objects that could not be decoded, so that nothing else was checked about them.
	Unread int `json:"-"`
}

// New returns a report of findings, which are copied. Of the summary it takes the objects, and counts the findings
// itself.
func New(findings []Finding, objects Summary) Report {
	r := Report{
		Findings: append([]Finding{}, findings...),
		Summary:  Summary{Objects: objects.Objects, Skipped: objects.Skipped, Unread: objects.Unread},
	}
	Sort(r.Findings)
	for _, f := range findings {
		if f.Severity == finding.SeverityError {
			r.Summary.Errors++
		} else {
			r.Summary.Warnings++
		}
	}
	return r
}

// Sort orders findings by the names of their files, and within a file by line, column, field, rule and message.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			finding.ComparePaths(a.Field, b.Field), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
		)
	})
}

// Options are what writing a report depends on besides its findings. The zero value fails on errors, and describes no rules.
type Options struct {
	// FailOn is the lowest severity that makes the command fail; empty is error.
	FailOn finding.Severity
	// Rules are the catalogue that describes the rules of the findings. One that is missing stays without a
	// description.
	Rules []finding.Rule
	// Version of the command. It is left out unless it is a semantic version.
	Version string
}

// fails reports whether a finding of a severity makes the command fail.
func (o *Options) fails(severity finding.Severity) bool {
	return severity == finding.SeverityError || o.FailOn == finding.SeverityWarning
}

// Fails reports whether any of the findings makes the command fail.
func (r *Report) Fails(options Options) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return options.fails(f.Severity) })
}

// formats are the writers by the names of their formats.
var formats = map[string]func(io.Writer, *Report, *Options) error{
	"text":  func(w io.Writer, r *Report, _ *Options) error { return Text(w, r.Findings) },
	"json":  func(w io.Writer, r *Report, _ *Options) error { return JSON(w, r) },
	"yaml":  func(w io.Writer, r *Report, _ *Options) error { return YAML(w, r) },
	"sarif": sarifLog,
	"junit": junitReport,
}

// Formats returns the names of the formats of a report, sorted. The caller owns the slice.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Write writes the report in one of [Formats]. The error is about writing, or an unknown format.
func (r *Report) Write(w io.Writer, format string, options Options) error {
	write, found := formats[format]
	if !found {
		return fmt.Errorf("unknown format %q", format)
	}
	return write(w, r, &options)
}

// JSON writes a value as indented JSON.
func JSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// YAML writes a value as YAML, with the names that it has in JSON.
func YAML(w io.Writer, value any) error {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
