// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
)

// TextWidth is how wide the lines of texts are for people.
const TextWidth = 100

// Wrapped breaks a paragraph into lines of at most [TextWidth] characters, as far as its words allow that.
func Wrapped(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch n := len([]rune(word)); {
		case column == 0:
			column = n
		case column+1+n > TextWidth:
			b.WriteByte('\n')
			column = n
		default:
			b.WriteByte(' ')
			column += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}
