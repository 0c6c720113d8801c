// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"regexp"
	"strings"
)

// Parse reads the manifests in a text as [Load] does with a file of that name.
func Parse(name, text string) (objects []*Object, problems []Problem) {
	src := source{name: name}
	src.parse(text)
	return src.objects, src.problems
}

// Mark is what a comment of the command's own begins with.
const Mark = "capkit:"

// nearlyMark matches what is written instead of it.
var nearlyMark = regexp.MustCompile(`(?i)capkit[ \t:_-]*ignore`)

// hasMark reports whether a text has a [Mark], or what is written instead.
func hasMark(text string) bool {
	return strings.Contains(text, Mark) ||
		(strings.Contains(text, "apkit") || strings.Contains(text, "APKIT")) && nearlyMark.MatchString(text)
}

// Text is a document as it is written: what is between two of its markers, the first one included.
type Text struct {
	File string
	// Line is how many lines of the file come before it.
	Line int
	Text string
}

// Marked returns the documents of a text with a [Mark], or with what is written instead, as [Read] does with a file of that name.
func Marked(name, text string) []Text { return marked(name, text, 0) }

// marked does so for a part of a file that begins behind some lines.
func marked(name, text string, line int) (texts []Text) {
	if !hasMark(text) {
		return nil
	}
	for _, c := range split(text) {
		if hasMark(c.text) {
			texts = append(texts, Text{name, line + c.line, c.text})
		}
	}
	return texts
}
