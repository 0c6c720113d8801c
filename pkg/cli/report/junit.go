// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// junitReport writes a JUnit report: a suite for each file with findings, and in it a failed case for each finding that
// makes the command fail, a passed one with its text for each that does not. Without findings there is one passed case.
func junitReport(w io.Writer, r *Report, options *Options) error {
	suites := junit.Testsuites{Name: "capkit lint"}
	for start := 0; start < len(r.Findings); {
		end := start
		for end < len(r.Findings) && r.Findings[end].File == r.Findings[start].File {
			end++
		}
		suites.AddSuite(suite(r.Findings[start:end], options))
		start = end
	}
	if len(r.Findings) == 0 {
		passed := junit.Testsuite{Name: "capkit lint"}
		passed.AddTestcase(junit.Testcase{Name: Count(r.Summary.Objects, "object") + " checked", Classname: "capkit"})
		suites.AddSuite(passed)
	}
	return suites.WriteXML(w)
}

// suite holds the findings of one file, of which there is at least one.
func suite(findings []Finding, options *Options) junit.Testsuite {
	s := junit.Testsuite{Name: findings[0].File, File: findings[0].File}
	for _, f := range findings {
		text := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
		c := junit.Testcase{Name: fmt.Sprintf("%s %s %s", f.Rule, f.Object, f.Field), Classname: f.Rule}
		if options.fails(f.Severity) {
			c.Failure = &junit.Result{Message: f.Message, Type: string(f.Type), Data: text}
		} else {
			c.SystemOut = &junit.Output{Data: text}
		}
		s.AddTestcase(c)
	}
	return s
}
