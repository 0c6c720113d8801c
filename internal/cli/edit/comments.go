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
	// Line and Column are the position of its #, counted from 1.
	Line, Column int
	// Text is the comment from the # on.
	Text string
	// Of is the line that the comment is about. This is its own line if the comment follows other content. Otherwise
	// it is the next line with more than comments, document markers and a dash; 0 if there is none.
	Of int
}

// Comments returns the comments of a YAML text, in order. JSON and invalid YAML have none. Text within a value that
// looks like a comment is not one.
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
		case "", "---", "...", "-": // a single dash belongs to the content below it
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
