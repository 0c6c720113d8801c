// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imports

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([a-z/]+)`")

// namesIn returns the packages that a text quotes, without the prefix pkg/.
func namesIn(text string) []string {
	var names []string
	for _, match := range quoted.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.TrimPrefix(match[1], "pkg/"))
	}
	return names
}

// The import rules in CONTRIBUTING.md match the table of this package.
func TestContributing(t *testing.T) {
	content, err := os.ReadFile(root + "/CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	_, paragraph, found := strings.Cut(text, "Imports go one way:")
	paragraph, _, ends := strings.Cut(paragraph, "\n\n")
	if !found || !ends {
		t.Fatal("CONTRIBUTING.md does not say which way imports go")
	}
	sentences := strings.Split(strings.ReplaceAll(paragraph, "\n", " "), ". ")
	checkChain(t, sentences[0])
	for _, sentence := range sentences[1:] {
		all, others, says := strings.Cut(sentence, " import none of our packages")
		if !says {
			continue
		}
		for _, name := range namesIn(all) {
			if name != "apis" && len(mayImport["pkg/"+name]) > 0 {
				t.Errorf("%s may import %v", name, mayImport["pkg/"+name])
			}
		}
		checkExceptions(t, others, namesIn(all))
	}
	for name := range mayImport {
		room, _, _ := strings.Cut(name, "/...")
		if strings.HasPrefix(room, "pkg/") && !strings.HasPrefix(room, "pkg/apis/") && !strings.Contains(text, "`"+room+"`") {
			t.Errorf("CONTRIBUTING.md does not say what %s is for", room)
		}
	}
}

// checkChain checks that each package of a chain may import the next one, and none may import an earlier one.
func checkChain(t *testing.T, chain string) {
	t.Helper()
	var before []string
	links := strings.Split(chain, "→")
	if len(links) < 8 {
		t.Errorf("the chain of imports has %d links", len(links))
	}
	for i, link := range links {
		names := namesIn(link)
		for _, name := range names {
			imports := mayImport["pkg/"+name]
			for _, above := range before {
				if slices.Contains(imports, "pkg/"+above) {
					t.Errorf("%s may import %s, which comes before it", name, above)
				}
			}
			if i == 0 || i == len(links)-1 {
				continue
			}
			next := func(below string) bool { return slices.Contains(imports, "pkg/"+below) }
			if !slices.ContainsFunc(namesIn(strings.Join(links[i+1:], " ")), next) {
				t.Errorf("%s may import none of what comes behind it", name)
			}
		}
		before = append(before, names...)
	}
}

// checkExceptions checks the sentence about packages that import few others: "`x` only `y`, `z` and `u` only `v` and these two".
func checkExceptions(t *testing.T, text string, none []string) {
	t.Helper()
	known := slices.Clone(none)
	for _, part := range regexp.MustCompile("((?:`[a-z/]+`(?: and )?)+) only (.*?)(?:, |$)").FindAllStringSubmatch(text, -1) {
		only := namesIn(part[2])
		if strings.Contains(part[2], "these two") {
			only = append(only, known...)
		}
		for _, name := range namesIn(part[1]) {
			for _, imported := range mayImport["pkg/"+name] {
				if !slices.Contains(only, strings.TrimPrefix(imported, "pkg/")) {
					t.Errorf("%s may import %s, and not only %v", name, imported, only)
				}
			}
			if len(mayImport["pkg/"+name]) == 0 {
				t.Errorf("%s may import nothing", name)
			}
			known = append(known, name)
		}
	}
}
