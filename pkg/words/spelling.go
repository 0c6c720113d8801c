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
	maxSuggest  = 64 // bytes of a name that a suggestion is sought for
	maxDistance = 2  // edits between an unknown name and the suggestion
)

// Closest returns the known name that was probably meant by another one: the one that differs from name in case only,
// or else the one with the fewest edits (at most maxDistance and fewer than half its letters; of several the longest,
// because leaving a letter out is the usual slip). It is "" if there is none, or two that are equally near.
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

// Slip returns the known name that was probably meant by another one where names are often alike, as those of regions are: one
// that differs in case only; or else the only one that differs in separators, like gardenlinux from garden-linux, or by one
// edit, and that within a word of at least four letters, so that eu-de-2 is no slip for eu-de-1. It is "" if there is none.
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
			meant, several = k, meant != "" && meant != k
		}
		if several {
			return ""
		}
	}
	return meant
}

// maxGuesses bounds the names for which a Speller looks for another one. Nobody reads more suggestions.
const maxGuesses = 32

// Speller finds the names that misspelt ones were probably meant to be, as Slip, Certain and Closest do. It looks for the first 32 different names
// that it is asked about, and has no suggestion for more: so the work grows with the known names, not with their product. It is
// for one check of one object, and not safe for concurrent use. The zero Speller knows no name.
type Speller struct {
	known                   []string
	slips, certain, closest map[string]string
}

// NewSpeller returns a speller with these known names, which it does not change. Nil: no name is known.
func NewSpeller(known []string) *Speller {
	return &Speller{known, map[string]string{}, map[string]string{}, map[string]string{}}
}

// Slip returns the known name that was probably meant by another one, see the function of that name; "" if there is none, or if
// it was asked for too many.
func (s *Speller) Slip(name string) string { return ask(s, s.slips, name, Slip) }

// Certain returns the known name that another one must mean, see the function of that name; "" if there is none, or if it was asked
// for too many.
func (s *Speller) Certain(name string) string { return ask(s, s.certain, name, Certain) }

// Closest returns the known name that is nearest to another one, see the function of that name; "" if there is none, or if it was asked
// for too many.
func (s *Speller) Closest(name string) string { return ask(s, s.closest, name, Closest) }

func ask(s *Speller, answers map[string]string, name string, about func(string, []string) string) string {
	meant, asked := answers[name]
	if !asked && len(answers) < maxGuesses && len(s.known) > 0 {
		meant = about(name, s.known)
		answers[name] = meant
	}
	return meant
}

// InCase returns the first known name that another one is but for upper and lower case; "" if there is none.
func InCase(name string, known []string) string {
	if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
		return known[i]
	}
	return ""
}

// Certain returns the known name that another one must mean, so that one can be replaced by the other without a question: the only
// one that differs in case, or by one letter too many or too few, or by two neighbors that are swapped, in at least five characters.
// What differs in a digit, or by one letter for another, can be another thing: eu-de-1 and eu-de-2, eu-de and eu-be. It is "" if
// there is none, or if there are several.
func Certain(name string, known []string) string {
	meant := ""
	for _, k := range known {
		if k == name || !strings.EqualFold(k, name) && !differsInOneSlip(name, k) {
			continue
		}
		if meant != "" {
			return ""
		}
		meant = k
	}
	return meant
}

// Question asks whether a name was meant: "did you mean NAME?". It is empty if none was.
func Question(name string) string {
	if name == "" {
		return ""
	}
	return "did you mean " + name + "?"
}

// DidYouMean returns the end of a message about an unknown name: "; did you mean NAME?". It is empty if no name was meant.
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

// differsInSeparators looks at the first letters before it allocates: of many names few begin alike.
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

// differsInFewLetters reports whether no more than letters is between what two names begin and end with alike, and no more of
// them than one edit changes. It allocates nothing.
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

// differsInOneSlip reports whether two names of at least five characters differ by one letter more, or by two letters that are swapped.
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

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b, up to limit+1.
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
