// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cited matches a link to a test: its name, and the file that has it.
var cited = regexp.MustCompile("\\[`((?:Test|Fuzz)[A-Za-z0-9]+)`\\]\\(([^)]+)\\)")

// Each claim about what stands against a threat has tests, which are there.
func TestSecurity(t *testing.T) {
	t.Chdir("../..")
	const document = "docs/security.md"
	_, rest, found := strings.Cut(read(t, document), "\n## What stands against what\n")
	table, _, ends := strings.Cut(rest, "\n## ")
	if !found || !ends {
		t.Fatal("there is no table of threats")
	}
	claims := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| threat |") || strings.HasPrefix(line, "|---") {
			continue
		}
		claims++
		tests := cited.FindAllStringSubmatch(line, -1)
		if len(tests) == 0 {
			t.Errorf("there is no test for: %s", line)
		}
		if strings.Count(line, "`Test")+strings.Count(line, "`Fuzz") != len(tests) {
			t.Errorf("a test is not linked to: %s", line)
		}
		for _, test := range tests {
			name, file := test[1], filepath.Join("docs", test[2])
			if !regexp.MustCompile(`(?m)^func ` + name + `\((t|f) \*testing\.`).MatchString(read(t, file)) {
				t.Errorf("%s has no test %s", file, name)
			}
		}
	}
	if claims < 10 {
		t.Errorf("there are %d claims", claims)
	}
}
