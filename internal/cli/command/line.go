// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"regexp"
	"slices"
	"strings"
)

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// InShell returns the name of a file as it is written in a command to copy: in quotes if a shell would read it as something else, and never
// like a flag.
func InShell(file string) string {
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	if plainWord.MatchString(file) {
		return file
	}
	return "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
}

// Line returns a command of capkit that reads files, to be copied into a shell: each once, and by the names that findings give to what is
// no file, too.
func Line(name string, files ...string) string {
	words := []string{"capkit", name}
	for _, file := range files {
		switch file {
		case "<stdin>":
			file = "-"
		case "<cluster>":
			file = "-A"
		default:
			file = InShell(file)
		}
		if !slices.Contains(words, file) {
			words = append(words, file)
		}
	}
	return strings.Join(words, " ")
}
