// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Quantities with long exponents are well-formed, and nobody needs them. The decoder of Kubernetes writes them out with
// all their digits before it rounds them, which may take hours for one of twelve bytes. So they are found before it
// sees them.

var (
	quantity = reflect.TypeFor[resource.Quantity]()
	// longExponent matches a number with an exponent of more than three digits.
	longExponent = regexp.MustCompile(`^[-+0-9.]*[eE][-+]?0*[1-9][0-9]{3,}$`)
	// escapedDigit matches a character of a number that is written as an escape, as no encoder does without being asked.
	escapedDigit = regexp.MustCompile(`(?i)\\u00(2[bde]|3[0-9]|[46]5)`)
)

// hasLongExponent reports whether a JSON value for the type t is a quantity with an exponent that is too long.
func hasLongExponent(t reflect.Type, raw []byte) bool {
	if t != quantity {
		return false
	}
	text := string(raw)
	if raw[0] == '"' {
		text = unquote(raw)
	}
	return longExponent.MatchString(text)
}

// minExponent is the number of digits from which on an exponent is too long.
const minExponent = 4

// mayHaveLongExponent reports whether a document has a number, or a string with nothing but a number, whose exponent
// may be too long. It knows no types, and takes leading zeros of the exponent for digits like any other. It is quick:
// looking at every fourth byte finds every run of four digits.
func mayHaveLongExponent(data []byte) bool {
	for i := minExponent - 1; i < len(data); i += minExponent {
		if !isDigit(data[i]) {
			continue
		}
		start, end := i, i+1
		for start > 0 && isDigit(data[start-1]) {
			start--
		}
		for end < len(data) && isDigit(data[end]) {
			end++
		}
		if end-start >= minExponent && beginsExponent(data[:start]) && endsToken(data[end:]) {
			return true
		}
		i = end // no digit
	}
	return bytes.Contains(data, []byte(`\u00`)) && escapedDigit.Match(data)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// beginsExponent reports whether a document that is cut before digits ends with all of a token up to them, which is a
// number, or nothing, and the letter of its exponent.
func beginsExponent(before []byte) bool {
	if last := len(before) - 1; last >= 0 && (before[last] == '+' || before[last] == '-') {
		before = before[:last]
	}
	last := len(before) - 1
	if last < 0 || before[last]|0x20 != 'e' {
		return false
	}
	outside := bytes.TrimRight(before[:last], "+-.0123456789")
	return len(outside) == 0 || bytes.IndexByte([]byte("\" \t\r\n:,["), outside[len(outside)-1]) >= 0
}

// endsToken reports whether a document goes on behind a number, or behind the last character of a string.
func endsToken(after []byte) bool {
	return len(after) == 0 || bytes.IndexByte([]byte("\" \t\r\n,]}"), after[0]) >= 0
}
