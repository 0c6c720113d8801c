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

// Quantities with long exponents are well-formed, and nobody needs them. The decoder of Kubernetes writes them out with all
// their digits before it rounds them, which may take hours for one of twelve bytes. So they are found before it sees them.

var (
	quantity = reflect.TypeFor[resource.Quantity]()
	// longExponent matches a number with an exponent of more than three digits.
	longExponent = regexp.MustCompile(`^[-+0-9.]*[eE][-+]?0*[1-9][0-9]{3,}$`)
	// escapedDigit matches a character of a number that is written as an escape, as no encoder does without being asked.
	escapedDigit = regexp.MustCompile(`(?i)\\u00(2[bde]|3[0-9]|[46]5)`)
)

// tooLong tells whether a JSON value is a quantity with an exponent that is too long.
func tooLong(t reflect.Type, raw []byte) bool {
	if t != quantity {
		return false
	}
	text := string(raw)
	if raw[0] == '"' {
		text = unquote(raw)
	}
	return longExponent.MatchString(text)
}

// suspicious tells whether a document may have a quantity with a long exponent somewhere. It is quick, and knows no types.
func suspicious(data []byte) bool {
	digits := 0
	for i, c := range data {
		if c < '0' || c > '9' {
			digits = 0
			continue
		}
		if digits++; digits == 4 && beginsWithNumber(data[:i-3]) {
			return true
		}
	}
	return bytes.Contains(data, []byte(`\u00`)) && escapedDigit.Match(data)
}

// beginsWithNumber tells whether the end of a text is a number and the beginning of its exponent.
func beginsWithNumber(before []byte) bool {
	before = bytes.TrimRight(before, "+-0")
	if len(before) == 0 || before[len(before)-1]|0x20 != 'e' {
		return false
	}
	rest := bytes.TrimRight(before[:len(before)-1], "+-.0123456789")
	return len(rest) < len(before)-1 && (len(rest) == 0 || bytes.IndexByte([]byte("\" \t\r\n:,["), rest[len(rest)-1]) >= 0)
}
