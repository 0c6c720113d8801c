// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// The shortcuts do not change any answer.
func TestSlipLooksAtAllThatMayDiffer(t *testing.T) {
	name := rapid.StringOfN(rapid.SampledFrom([]rune("aAbé-_.1 2ÀK")), 0, 7, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		if differsInOneWord(a, b) && !differsInFewLetters(a, b) {
			t.Fatalf("%q and %q differ in one word", a, b)
		}
		same := strings.ContainsFunc(a, unicode.IsLetter) && strings.EqualFold(separators.Replace(a), separators.Replace(b))
		if differsInSeparators(a, b) != same {
			t.Fatalf("%q and %q differ in separators only: %t", a, b, same)
		}
	})
	word := rapid.StringOfN(rapid.SampledFrom([]rune("abé")), 4, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b, at := word.Draw(t, "a"), word.Draw(t, "b"), rapid.SampledFrom([]string{"", "-1", "x-", "é."}).Draw(t, "around")
		if a, b = at+a+at, at+b+at; differsInOneWord(a, b) && !differsInFewLetters(a, b) {
			t.Fatalf("%q and %q differ in one word", a, b)
		}
	})
}
