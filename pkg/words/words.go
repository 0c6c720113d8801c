// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package words helps with spelling, see [Closest] and [Slip], and puts lists and numbers into words, see [Few] and [Count].
// It imports no other package of this module.
package words

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// maxNames is how many names a message lists before it says how many more there are.
const maxNames = 5

// Few joins names for a message, each as [Quoted] quotes it unless it is empty: the first five, and how many more there are.
func Few(names []string) string {
	first := slices.Clone(names[:min(len(names), maxNames)])
	for i, name := range first {
		if name != "" {
			first[i] = Quoted(name)
		}
	}
	return JoinFirst(len(names), first, ", ")
}

// JoinFew joins the first five clauses with a separator, and adds how many more there are, see [Few].
func JoinFew(clauses []string, separator string) string {
	return JoinFirst(len(clauses), clauses[:min(len(clauses), maxNames)], separator)
}

// JoinFirst joins the first ones of n clauses, and says how many more there are.
func JoinFirst(n int, first []string, separator string) string {
	joined := strings.Join(first, separator)
	if n <= len(first) {
		return joined
	}
	return fmt.Sprintf("%s%sand %d more", joined, separator, n-len(first))
}

// Or joins names of which one is enough: "a", "a or b", "a, b or c".
func Or(names []string) string { return join(names, " or ") }

// And joins names that are all meant: "a", "a and b", "a, b and c".
func And(names []string) string { return join(names, " and ") }

func join(names []string, beforeLast string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + beforeLast + names[last]
}

// Plural returns the noun for as many things as there are names.
func Plural(names []string, noun string) string {
	if len(names) == 1 {
		return noun
	}
	return noun + "s"
}

// Count returns a number of things with their noun: "1 pool", "2 pools".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Quoted returns a name as a message quotes it: as it is, or in quotation marks if nobody could see it or its ends otherwise.
func Quoted(name string) string {
	if name == "" || strings.TrimSpace(name) != name {
		return `"` + name + `"`
	}
	return name
}

// word matches texts that YAML may read as something else than text, but not as more than one word.
var word = regexp.MustCompile(`^[\w.-]+$`)

// InYAML returns a text as it is written in YAML, also in brackets: in quotes where it would be something else without them, as no is.
func InYAML(text string) string {
	if !word.MatchString(text) {
		quoted, _ := json.Marshal(text) // text can be written
		return string(quoted)
	}
	written, _ := yaml.Marshal(text)
	return strings.TrimSuffix(string(written), "\n")
}

// Printable returns a text in which each character that is not printable is an escape sequence, as [strconv.Quote] writes it:
// \x1b, \n, \u202e. Bytes that are not UTF-8 are escaped, too. Everything else stays, also backslashes and quotation marks.
// The result is one line, which is harmless to a terminal.
func Printable(text string) string { return printable(text, func(string) bool { return false }) }

// PrintableLines is like [Printable] for a text of several lines: line ends and tabs stay.
func PrintableLines(text string) string {
	return printable(text, func(rest string) bool {
		return rest[0] == '\n' || rest[0] == '\t' || strings.HasPrefix(rest, "\r\n")
	})
}

// printable escapes a text, see [Printable], except where stays returns true for the rest of the text.
func printable(text string, stays func(rest string) bool) string {
	if utf8.ValidString(text) && strings.TrimLeftFunc(text, strconv.IsPrint) == "" {
		return text
	}
	var quoted strings.Builder
	done := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if (!strconv.IsPrint(r) || r == utf8.RuneError && n == 1) && !stays(text[i:]) {
			escape := strconv.Quote(text[i : i+n])
			quoted.WriteString(text[done:i] + escape[1:len(escape)-1])
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return text
	}
	return quoted.String() + text[done:]
}

// Choice returns the one of some words that was probably meant by another one: that is almost the same, or the only one that begins with
// it; empty if there is none.
func Choice(word string, choices []string) string {
	if closest := Closest(word, choices); closest != "" {
		return closest
	}
	meant := ""
	for _, choice := range choices {
		if len(word) < 2 || !strings.HasPrefix(choice, strings.ToLower(word)) {
			continue
		}
		if meant != "" {
			return ""
		}
		meant = choice
	}
	return meant
}
