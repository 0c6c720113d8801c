// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package finding

import (
	"fmt"
	"strings"
)

// maxNames is how many names a message lists before it says how many more there are.
const maxNames = 5

// Few joins names for a message: the first five, and how many more there are.
func Few(names []string) string { return JoinFew(names, ", ") }

// JoinFew does the same with another separator.
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

// Quoted returns a name as a message quotes it: as it is, or "" if it is empty.
func Quoted(name string) string {
	if name == "" {
		return `""`
	}
	return name
}
