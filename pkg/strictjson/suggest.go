// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxListed   = 12 // known fields listed for an unknown one
	maxSuggest  = 64 // bytes of a name that a suggestion is sought for
	maxDistance = 2  // edits between an unknown name and the suggestion
)

// unknownField explains a name that is not among the sorted known ones: with the one it was probably meant to be, or
// else with all of them if they are few.
func unknownField(name string, known []string) string {
	detail := fmt.Sprintf("unknown field %q", short(name))
	switch meant := Closest(name, known); {
	case meant != "":
		return fmt.Sprintf("%s; did you mean %q?", detail, meant)
	case len(known) == 0 || len(known) > maxListed:
		return detail
	}
	return detail + "; known fields: " + strings.Join(known, ", ")
}

// Closest returns the known name that was probably meant by another one: the one that differs from name in case only,
// or else the one with the fewest edits (at most maxDistance and fewer than half its letters; of several the longest,
// because leaving a letter out is the usual slip), or "".
func Closest(name string, known []string) string {
	if len(name) > maxSuggest {
		return ""
	}
	best, least := "", maxDistance
	for _, k := range known {
		if strings.EqualFold(name, k) {
			return k
		}
		d := distance([]rune(name), []rune(k))
		if 2*d < utf8.RuneCountInString(k) && (d < least || d == least && len(k) > len(best)) {
			best, least = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b.
func distance(a, b []rune) int {
	if len(a)-len(b) > maxDistance || len(b)-len(a) > maxDistance {
		return maxDistance + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
