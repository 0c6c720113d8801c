// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"

	"github.com/capkit/capkit/test/rules"
)

func TestChanged(t *testing.T) {
	const text = "a: 1\nb: 2\nc:\n  a: 1\n"
	for diff, want := range map[string]string{
		"# A remark.\n-b: 2\n+b: 3\n":      "a: 1\nb: 3\nc:\n  a: 1\n",
		" c:\n+  b: 2\n":                   "a: 1\nb: 2\nc:\n  b: 2\n  a: 1\n",
		"-a: 1\n\n b: 2\n+d: 4\n":          "b: 2\nd: 4\nc:\n  a: 1\n", // two places
		"-a: 1\n+x: 1\n\n-x: 1\n+y: 1\n":   "y: 1\nb: 2\nc:\n  a: 1\n", // the second change applies to the result of the first
		"":                                 "",                         // these change nothing
		"+d: 4\n":                          "",
		"-: 1\n":                           "", // not a whole line
		"-d: 4\n":                          "",
		"b: 2\n":                           "",
		"-  a: 1\n+  b: 1\n\n-  a: 1\n+\n": "",
	} {
		got, err := rules.Changed(text, diff)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", diff, got, err)
		}
	}
	if _, err := rules.Changed("a: 1\na: 1\n", "-a: 1\n"); err == nil {
		t.Error("a line that is there twice")
	}
}
