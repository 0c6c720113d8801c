// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"strings"
	"testing"
)

var (
	target   = regexp.MustCompile(`\]\([^)]*\)`)
	item     = regexp.MustCompile(`(?m)^(?:#+ .*| *(?:[-*]|\d+\.) )`)
	between  = regexp.MustCompile(`\n\s*\n`)
	sentence = regexp.MustCompile(`[.?!:;]\s`)
)

// Sentences are short enough to read at once. Generated pages, tables and blocks are excluded.
func TestSentencesAreShort(t *testing.T) {
	const most = 40
	for _, document := range documents {
		if document == "docs/rules.md" || strings.HasPrefix(document, "docs/api/") {
			continue
		}
		var prose strings.Builder
		for line := range strings.Lines(fence.ReplaceAllString(read(t, document), "")) {
			if !strings.HasPrefix(line, "|") {
				prose.WriteString(line)
			}
		}
		text := item.ReplaceAllString(target.ReplaceAllString(prose.String(), "]"), "\n\n")
		for _, paragraph := range between.Split(text, -1) {
			for _, part := range sentence.Split(paragraph, -1) {
				if words := strings.Fields(part); len(words) > most {
					t.Errorf("%s: a sentence has %d words: %s", document, len(words), strings.Join(words, " "))
				}
			}
		}
	}
}
