// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// longest is how many characters a message has of a value, and aroundValue how many more a word may have because of the quotation
// marks and brackets around one.
const (
	longest     = 200
	aroundValue = 20
)

// Shortened returns a value as messages have it: of a long one the beginning, and how long it is.
func Shortened(value string) string {
	if len(value) <= longest {
		return value
	}
	characters := []rune(value)
	if len(characters) <= longest {
		return value
	}
	return fmt.Sprintf("%s… (%d characters)", string(characters[:longest]), len(characters))
}

// ShortWords returns a message in which words that are too long are shortened.
func ShortWords(message string) string {
	if len(message) <= longest {
		return message
	}
	split := strings.Split(message, " ")
	for i, word := range split {
		if utf8.RuneCountInString(word) > longest+aroundValue {
			bare := strings.TrimRight(word, ".,:;)]}")
			split[i] = Shortened(bare) + word[len(bare):]
		}
	}
	return strings.Join(split, " ")
}
