// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Comment is a comment in a text.
type Comment struct {
	// Line and Column, counted from 1, are where its # is.
	Line, Column int
	// Text is the comment from the # on.
	Text string
	// Of is the line that it is about: its own if anything stands before it, or else the next one with something else than
	// comments, markers of documents and a dash; 0 if there is none.
	Of int
}

// Comments returns the comments of a text, in their order. There are none in one that is no YAML, nor in JSON. What looks like
// a comment and is part of a value is not among them.
func Comments(text string) []Comment {
	documents, err := parse(text)
	if err != nil {
		return nil
	}
	f := newFile(strings.TrimPrefix(text, byteOrderMark) + "\n")
	for _, document := range documents {
		f.look(document, -1)
	}
	f.lookUpTo(len(f.text))
	var comments []Comment
	of := 0
	for i := len(f.begins) - 2; i >= 0; i-- {
		says, comment := f.cut(i)
		switch strings.TrimSpace(says) {
		case "", "---", "...", "-": // a dash alone is for what comes below
		default:
			of = i + 1
		}
		if comment != "" {
			comments = append(comments, Comment{Line: i + 1, Column: 1 + utf8.RuneCountInString(says), Text: comment, Of: of})
		}
	}
	slices.Reverse(comments)
	return comments
}
