// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/capkit/capkit/internal/strictyaml"
)

// Comment is a comment in a text.
type Comment struct {
	// Line and Column are the position of its # in an editor, counted from 1.
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
	f, lines := newFile(strings.TrimPrefix(text, byteOrderMark)+"\n"), strictyaml.LinesOf(text)
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
			of, _ = lines.Editor(i+1, 1)
		}
		if comment != "" {
			line, column := lines.Editor(i+1, 1+utf8.RuneCountInString(says))
			comments = append(comments, Comment{Line: line, Column: column, Text: comment, Of: of})
		}
	}
	slices.Reverse(comments)
	return comments
}
