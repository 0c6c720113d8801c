// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"unicode/utf8"

	"github.com/capkit/capkit/pkg/words"
)

// MaxErrorText bounds one error, in bytes. No API server sends names or values of this size.
const MaxErrorText = 8 << 10

// Cut truncates a text to a number of bytes at a character boundary. It appends …, which counts towards the limit from 3 bytes on.
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

// Shown returns untrusted text in a form for logs and answers: printable, and truncated to a number of bytes.
func Shown(text string, limit int) string { return Cut(words.Printable(Cut(text, limit)), limit) }
