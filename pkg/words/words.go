// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package words suggests spellings, see [Closest] and [Slip], and formats lists and numbers for messages, see [Few] and [Count]. It imports
// no other package of this module.
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

// maxNames is the maximum number of names that a message lists.
const maxNames = 5

// Few joins the first five names for a message, and adds the number of the others. It quotes each name with [Quoted], except empty ones.
func Few(names []string) string {
	first := slices.Clone(names[:min(len(names), maxNames)])
	for i, name := range first {
		if name != "" {
			first[i] = Quoted(name)
		}
	}
	return JoinFirst(len(names), first, ", ")
}

// JoinFew joins the first five clauses with a separator, and adds the number of the others, like [Few].
func JoinFew(clauses []string, separator string) string {
	return JoinFirst(len(clauses), clauses[:min(len(clauses), maxNames)], separator)
}

// JoinFirst joins the first of n clauses, and adds the number of the others.
func JoinFirst(n int, first []string, separator string) string {
	joined := strings.Join(first, separator)
	if n <= len(first) {
		return joined
	}
	return fmt.Sprintf("%s%sand %d more", joined, separator, n-len(first))
}

// Or joins alternatives: "a", "a or b", "a, b or c".
func Or(names []string) string { return join(names, " or ") }

// And joins names: "a", "a and b", "a, b and c".
func And(names []string) string { return join(names, " and ") }

func join(names []string, beforeLast string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + beforeLast + names[last]
}

// Plural returns the noun in singular for one name, otherwise in plural.
func Plural(names []string, noun string) string {
	if len(names) == 1 {
		return noun
	}
	return noun + "s"
}

// Count returns a number with its noun: "1 pool", "2 pools".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Quoted returns a name as a message quotes it: in quotation marks if it is empty or has space around it, otherwise unchanged.
func Quoted(name string) string {
	if name == "" || strings.TrimSpace(name) != name {
		return `"` + name + `"`
	}
	return name
}

// word matches texts of a single word, which YAML may still read as another type than text.
var word = regexp.MustCompile(`^[\w.-]+$`)

// InYAML returns a text as it is written in YAML, even in brackets: quoted if it would otherwise have another meaning, like no.
func InYAML(text string) string {
	if !word.MatchString(text) {
		quoted, _ := json.Marshal(text) // a string can always be marshalled
		return string(quoted)
	}
	written, _ := yaml.Marshal(text)
	return strings.TrimSuffix(string(written), "\n")
}

// Printable replaces each character that is not printable, and each byte that is not UTF-8, by an escape sequence, as [strconv.Quote]
// writes it: \x1b, \n, \u202e. Everything else is kept, including backslashes and quotation marks. The result is one line, and harmless to
// a terminal.
func Printable(text string) string { return printable(text, func(string) bool { return false }) }

// PrintableLines is like [Printable] for a text of several lines: it keeps line ends and tabs.
func PrintableLines(text string) string {
	return printable(text, func(rest string) bool {
		return rest[0] == '\n' || rest[0] == '\t' || strings.HasPrefix(rest, "\r\n")
	})
}

// printable escapes a text, see [Printable]. Characters are kept if stays returns true for the text from there on.
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

// Choice returns the choice that was probably meant by a word: a similar one, or the only one that begins with the word; empty if there is
// none.
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
