// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// longest is the maximum length of a value in a message, in characters. aroundValue is the additional length of a word, for quotation marks
// and brackets around a value.
const (
	longest     = 200
	aroundValue = 20
)

// Shortened returns a value for a message. A long one is cut, and its length is added.
func Shortened(value string) string {
	characters := []rune(value)
	if len(characters) <= longest {
		return value
	}
	return fmt.Sprintf("%s… (%d characters)", string(characters[:longest]), len(characters))
}

// ShortWords returns a message with long words shortened.
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
