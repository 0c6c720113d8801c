// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	// cited matches a link to a test, with its name and its file.
	cited = regexp.MustCompile("\\[`([^`]+)`\\]\\(([^)]+_test\\.go)\\)")
	// function matches the name of a test function, and text the text of a spec or of a part.
	function = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\((?:t|f|b) \*testing\.`)
	text     = regexp.MustCompile(`\b(?:Describe|DescribeTable|Context|It|Entry)\("([^"]+)"`)
)

// Each test that a page names exists in its file. The page about GEP-0054 names a test for each claim.
func TestTestsThatAreNamed(t *testing.T) {
	count := map[string]int{}
	for _, document := range documents {
		for _, test := range cited.FindAllStringSubmatch(read(t, document), -1) {
			if strings.Contains(test[1], "/") || strings.HasSuffix(test[1], ".go") { // a link to a file or package
				continue
			}
			count[document]++
			if file := filepath.Join(filepath.Dir(document), test[2]); !has(read(t, file), test[1]) {
				t.Errorf("%s: %s has no test %q", document, file, test[1])
			}
		}
	}
	if count["docs/concepts/gep-0054.md"] < 20 {
		t.Errorf("%v", count)
	}
}

// sized matches a file with its number of lines on a page.
var sized = regexp.MustCompile(`(?m)^\| \[[^\]]+\]\(([^)]+\.go)\)[^|]*\| (\d+) \|$`)

// The numbers of lines on a page are right within a tenth.
func TestNumbersOfLines(t *testing.T) {
	const document = "docs/concepts/gep-0054.md"
	all := sized.FindAllStringSubmatch(read(t, document), -1)
	for _, file := range all {
		said, err := strconv.Atoi(file[2])
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(read(t, filepath.Join(filepath.Dir(document), file[1])), "\n")
		if 10*lines < 9*said || 10*lines > 11*said {
			t.Errorf("%s: %s has %d lines, and not %d", document, file[1], lines, said)
		}
	}
	if len(all) < 5 {
		t.Errorf("there are %d files", len(all))
	}
}

// Each claim about a defence names tests, and they exist.
func TestSecurity(t *testing.T) {
	const document = "docs/operators/security.md"
	table := ""
	for _, heading := range []string{"Threats and defences", "The command"} {
		_, rest, found := strings.Cut(read(t, document), "\n## "+heading+"\n")
		section, _, ends := strings.Cut(rest, "\n## ")
		if !found || !ends {
			t.Fatalf("there is no table of threats below %s", heading)
		}
		table += section
	}
	claims := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| threat |") || strings.HasPrefix(line, "|---") {
			continue
		}
		claims++
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			t.Fatalf("not three cells: %s", line)
		}
		tests := cited.FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 {
			t.Errorf("there is no test for: %s", line)
		}
		if other := strings.Trim(cited.ReplaceAllString(cells[3], ""), ", "); other != "" {
			t.Errorf("%q is not linked to: %s", other, line)
		}
		for _, test := range tests {
			if file := filepath.Join(filepath.Dir(document), test[2]); !has(read(t, file), test[1]) {
				t.Errorf("%s has no test %q", file, test[1])
			}
		}
	}
	if claims < 10 {
		t.Errorf("there are %d claims", claims)
	}
}

// has reports whether a Go file has a test of this name. The name of a spec begins with the texts around it.
func has(file, name string) bool {
	for _, match := range function.FindAllStringSubmatch(file, -1) {
		if match[1] == name {
			return true
		}
	}
	for _, match := range text.FindAllStringSubmatch(file, -1) {
		part := strings.TrimSpace(match[1])
		if rest, found := strings.CutPrefix(name, part+" "); name == part || found && has(file, rest) {
			return true
		}
	}
	return false
}
