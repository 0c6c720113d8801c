// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"unicode/utf8"

	"github.com/capkit/capkit/pkg/words"
)

// MaxErrorText bounds one error, in bytes. Only what no API server sends has names or values of such a size.
const MaxErrorText = 8 << 10

// Cut shortens a text to a number of bytes, without breaking a character.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const mark = "…"
	for limit = max(0, limit-len(mark)); limit > 0 && !utf8.RuneStart(text[limit]); {
		limit--
	}
	return text[:limit] + mark
}

// Shown returns what strangers may have written as others may see it: printable, and no longer than a number of bytes.
func Shown(text string, limit int) string { return Cut(words.Printable(Cut(text, limit)), limit) }
