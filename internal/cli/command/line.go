// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"regexp"
	"slices"
	"strings"
)

// plainWord matches a word that a shell does not interpret.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// InShell returns a file name for a command to copy. It is quoted if a shell would interpret it, and never looks like a flag.
func InShell(file string) string {
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	if plainWord.MatchString(file) {
		return file
	}
	return "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
}

// Line returns a capkit command that reads files, to be copied into a shell. Each file appears once. The names of standard input and the
// cluster in findings become their arguments.
func Line(name string, files ...string) string {
	words := []string{"capkit", name}
	for i, file := range files {
		switch {
		case slices.Contains(files[:i], file):
		case file == "<stdin>":
			words = append(words, "-")
		case file == "<cluster>":
			words = append(words, "-A")
		default:
			words = append(words, InShell(file))
		}
	}
	return strings.Join(words, " ")
}
