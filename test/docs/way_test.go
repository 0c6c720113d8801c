// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/pkg/cli"
)

// Each page below docs is at most two links away from docs/README.md.
func TestWayIn(t *testing.T) {
	const way = "docs/README.md"
	steps := map[string]int{way: 0}
	for step, pages := 1, []string{way}; step <= 2; step++ {
		var next []string
		for _, page := range pages {
			for _, match := range link.FindAllStringSubmatch(fence.ReplaceAllString(read(t, page), ""), -1) {
				file, _, _ := strings.Cut(match[1], "#")
				target := filepath.Join(filepath.Dir(page), file)
				if _, seen := steps[target]; !seen && strings.HasSuffix(target, ".md") {
					steps[target] = step
					next = append(next, target)
				}
			}
		}
		pages = next
	}
	pages := 0
	for _, document := range documents {
		if strings.HasPrefix(document, "docs/") {
			pages++
			if _, found := steps[document]; !found {
				t.Errorf("no two links lead from %s to %s", way, document)
			}
		}
	}
	if pages < 20 {
		t.Errorf("there are %d pages", pages)
	}
}

// Each rule has a section in rules.md, with the anchor that SARIF output links to, and a row in the table.
func TestRules(t *testing.T) {
	sections, text := anchors(t, "docs/rules.md"), read(t, "docs/rules.md")
	for _, rule := range cli.Rules(clouds.All()...) {
		if !sections[rule.Name] {
			t.Errorf("%s has no section", rule.Name)
		}
		if !strings.Contains(text, " | [`"+rule.Name+"`](#"+rule.Name+") | ") {
			t.Errorf("%s is not in the table", rule.Name)
		}
	}
}

// Each picture is on a page or linked from one. Pictures on pages have an alternative text.
func TestPictures(t *testing.T) {
	files, err := filepath.Glob("docs/pictures/*")
	if err != nil || len(files) < 6 {
		t.Fatalf("%v, %v", files, err)
	}
	linked := map[string]bool{}
	for _, document := range documents {
		text := read(t, document)
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			linked[filepath.Join(filepath.Dir(document), match[1])] = true
		}
		for _, match := range regexp.MustCompile(`!\[([^\]]*)\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			if len(strings.Fields(match[1])) < 5 {
				t.Errorf("%s: %s has no text that says what is there: %q", document, match[2], match[1])
			}
		}
	}
	for _, file := range files {
		if !linked[file] {
			t.Errorf("no page has %s", file)
		}
	}
}
