// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/finding"
)

// Finding is one thing that lint found. Its JSON is an interface: a field once published keeps its name and meaning.
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

// Summary counts what lint did.
type Summary struct {
	// Objects were checked, Skipped are manifests of other kinds.
	Objects  int `json:"objects"`
	Skipped  int `json:"skipped"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	// unread objects were checked for nothing but what keeps them from being read.
	unread int
}

// Report is what lint prints.
type Report struct {
	// Findings in the order of the names of files, and within a file by line, column and field.
	Findings []Finding `json:"findings"`
	Summary  Summary   `json:"summary"`
	// failOn is the severity from which on a finding counts.
	failOn finding.Severity
	// rules are the catalogue that describes the findings.
	rules []finding.Rule
}

// fails tells whether a finding of a severity makes the command fail.
func (r *Report) fails(severity finding.Severity) bool {
	return severity == finding.SeverityError || r.failOn == finding.SeverityWarning
}

// findingAt places an error of a rule in the manifest that it is about.
func findingAt(source *manifest.Object, severity finding.Severity, rule string, err *field.Error) Finding {
	f := Finding{
		Severity: severity, Rule: rule, Type: err.Type, Field: err.Field, Message: message(rule, err), Object: identify(source), File: source.File,
	}
	f.Line, f.Column = source.Position(err.Field)
	return f
}

// message is what the user reads: for rules of our own the detail, which says it all; for others what the API server
// would say.
func message(rule string, err *field.Error) string {
	if rule == RuleCore || err.Detail == "" {
		return err.ErrorBody()
	}
	return err.Detail
}

func identify(o *manifest.Object) Object { return object(o.Identity) }

func object(id manifest.Identity) Object {
	return Object{APIVersion: id.APIVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
}

func (o Object) String() string {
	if o.Namespace == "" {
		return fmt.Sprintf("%s %s", o.Kind, o.Name)
	}
	return fmt.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name)
}

// sortFindings orders findings as Report promises.
func sortFindings(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			finding.ComparePaths(a.Field, b.Field), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
		)
	})
}
