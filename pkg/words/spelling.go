// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package words

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSuggest  = 64 // bytes of a name for which a suggestion is sought
	maxDistance = 2  // edits between an unknown name and the suggestion
)

// Closest returns the known name that was probably meant by name. It is one that differs in case only, or else the one with the fewest
// edits: at most maxDistance, and fewer than half its letters. Of several, the longest wins, because omitting a letter is the usual slip.
// It is "" if there is none, or if two are equally close.
func Closest(name string, known []string) string {
	if len(name) > maxSuggest {
		return ""
	}
	best, least, tie := "", maxDistance, false
	for _, k := range known {
		if strings.EqualFold(name, k) {
			return k
		}
		d := distance([]rune(name), []rune(k), maxDistance)
		switch {
		case 2*d >= utf8.RuneCountInString(k) || d > least:
		case d < least || len(k) > len(best):
			best, least, tie = k, d, false
		case len(k) == len(best) && k != best:
			tie = true
		}
	}
	if tie {
		return ""
	}
	return best
}

// Slip returns the known name that was probably meant by name, where names are often similar, like those of regions. It is one that differs
// in case only, or else the only one that differs in separators, like gardenlinux from garden-linux, or by one edit within a word of at
// least four letters. So eu-de-2 is no slip for eu-de-1. It is "" if there is none.
func Slip(name string, known []string) string {
	if len(name) > maxSuggest {
		return ""
	}
	meant, several := "", false
	for _, k := range known {
		switch {
		case strings.EqualFold(name, k):
			return k
		case differsInSeparators(name, k) || differsInFewLetters(name, k) && differsInOneWord(name, k):
			meant, several = k, several || meant != "" && meant != k
		}
	}
	if several {
		return ""
	}
	return meant
}

// maxGuesses limits the names for which a Speller makes suggestions. Nobody reads more.
const maxGuesses = 32

// Speller memoizes [Slip], [Certain] and [Closest] for one list of known names. Each method answers for the first 32 different names only,
// so that the work grows with the number of known names, not with their product. A Speller is for one check of one object, and not safe for
// concurrent use. The zero Speller knows no names.
type Speller struct {
	known                   []string
	slips, certain, closest map[string]string
}

// NewSpeller returns a speller with these known names, which it does not modify. Nil: it knows no names.
func NewSpeller(known []string) *Speller {
	return &Speller{known, map[string]string{}, map[string]string{}, map[string]string{}}
}

// Slip returns the known name that the function [Slip] returns; "" if there is none, or after too many names.
func (s *Speller) Slip(name string) string { return ask(s, s.slips, name, Slip) }

// Certain returns the known name that the function [Certain] returns; "" if there is none, or after too many names.
func (s *Speller) Certain(name string) string { return ask(s, s.certain, name, Certain) }

// Closest returns the known name that the function [Closest] returns; "" if there is none, or after too many names.
func (s *Speller) Closest(name string) string { return ask(s, s.closest, name, Closest) }

func ask(s *Speller, answers map[string]string, name string, about func(string, []string) string) string {
	meant, asked := answers[name]
	if !asked && len(answers) < maxGuesses && len(s.known) > 0 {
		meant = about(name, s.known)
		answers[name] = meant
	}
	return meant
}

// InCase returns the first known name that equals name except for case; "" if there is none.
func InCase(name string, known []string) string {
	if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
		return known[i]
	}
	return ""
}

// Certain returns the known name that name must mean, so that it can be replaced without asking. It is the only one that differs in case,
// or by one letter too many or too few, or by two swapped neighbors, in at least five characters. Names that differ in a digit or by a
// replaced letter may be different things: eu-de-1 and eu-de-2, eu-de and eu-be. It is "" if there is none, or if another known name is also
// one letter away: amr64 may be arm64 or amd64.
func Certain(name string, known []string) string {
	slip := func(k string) bool { return k != name && (strings.EqualFold(k, name) || differsInOneSlip(name, k)) }
	i := slices.IndexFunc(known, slip)
	if i < 0 {
		return ""
	}
	for k, other := range known { // only now, since most names are far from all
		if k != i && other != name && (slip(other) || differsInFewLetters(name, other) && distance([]rune(name), []rune(other), 1) <= 1) {
			return ""
		}
	}
	return known[i]
}

// Question returns the question whether a name was meant: "did you mean NAME?". It is empty for an empty name.
func Question(name string) string {
	if name == "" {
		return ""
	}
	return "did you mean " + name + "?"
}

// DidYouMean returns the end of a message about an unknown name: "; did you mean NAME?". It is empty for an empty name.
func DidYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; " + Question(name)
}

var (
	letters    = regexp.MustCompile(`\pL+`)
	separators = strings.NewReplacer("-", "", "_", "", ".", "", " ", "")
)

// differsInSeparators compares the first letters before it allocates, because few of many names begin alike.
func differsInSeparators(a, b string) bool {
	const between = "-_. "
	x, y := strings.TrimLeft(a, between), strings.TrimLeft(b, between)
	for x != "" && y != "" && x[0] == y[0] {
		x, y = strings.TrimLeft(x[1:], between), strings.TrimLeft(y[1:], between)
	}
	if x != "" && y != "" && unicode.ToLower(rune(x[0])) != unicode.ToLower(rune(y[0])) && x[0] < utf8.RuneSelf && y[0] < utf8.RuneSelf {
		return false
	}
	return strings.ContainsFunc(a, unicode.IsLetter) && strings.EqualFold(separators.Replace(a), separators.Replace(b))
}

// differsInFewLetters reports whether two names differ only in letters between their common prefix and suffix, and in no more of these than
// one edit changes. It does not allocate.
func differsInFewLetters(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	const swapped = 2 * utf8.UTFMax // the letters of an edit, in bytes
	noLetter := func(r rune) bool { return r != utf8.RuneError && !unicode.IsLetter(r) }
	return max(len(a), len(b)) <= swapped && !strings.ContainsFunc(a, noLetter) && !strings.ContainsFunc(b, noLetter)
}

func differsInOneWord(a, b string) bool {
	x, y := letters.FindAllString(a, -1), letters.FindAllString(b, -1)
	if len(x) != len(y) || letters.ReplaceAllString(a, "x") != letters.ReplaceAllString(b, "x") {
		return false
	}
	differing := 0
	for i := range x {
		if x[i] == y[i] {
			continue
		}
		if differing++; min(len(x[i]), len(y[i])) < 4 || distance([]rune(x[i]), []rune(y[i]), 1) > 1 {
			return false
		}
	}
	return differing == 1
}

// differsInOneSlip reports whether two names of at least five characters differ by one additional letter, or by two swapped letters.
func differsInOneSlip(name, known string) bool {
	const shortest = 5
	if longer := len(name) - len(known); longer > utf8.UTFMax || longer < -utf8.UTFMax { // by more than a letter
		return false
	}
	a, b := []rune(name), []rune(known)
	if min(len(a), len(b)) < shortest {
		return false
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	for _, r := range slices.Concat(a, b) {
		if !unicode.IsLetter(r) {
			return false
		}
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return swapped || len(a)+len(b) == 1
}

// distance counts the insertions, deletions, replacements and swaps of neighbors that turn a into b, up to limit+1.
func distance(a, b []rune, limit int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case len(a) == 0 || len(b) == 0:
		return min(len(a)+len(b), limit+1)
	case limit == 0:
		return 1
	}
	others := min(distance(a[1:], b, limit-1), distance(a, b[1:], limit-1), distance(a[1:], b[1:], limit-1))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		others = min(others, distance(a[2:], b[2:], limit-1))
	}
	return 1 + others
}
