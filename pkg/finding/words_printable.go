// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable returns a text for a terminal, a log or an Event: itself if all of it is printable (see [strconv.IsPrint]).
// Otherwise it has Go's escape in place of each character that is not: \n, \t, \x1b, \u202e, and \xff for a byte that is
// no UTF-8. All else stays as it is, a backslash too: what is escaped once is not escaped again.
func Printable(text string) string {
	unprintable := func(r rune) bool { return !strconv.IsPrint(r) }
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unprintable) {
		return text
	}
	var printable strings.Builder
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		part := rest[:size]
		if r == utf8.RuneError && size == 1 || unprintable(r) {
			quoted := strconv.Quote(part)
			part = quoted[1 : len(quoted)-1]
		}
		printable.WriteString(part)
		rest = rest[size:]
	}
	return printable.String()
}
