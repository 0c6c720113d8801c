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

// Line returns a command of capkit that reads files, to be copied into a shell: each once, and by the names that findings give to what is
// no file, too.
func Line(name string, files ...string) string {
	words := []string{"capkit", name}
	for _, file := range files {
		switch {
		case file == "<stdin>":
			file = "-"
		case file == "<cluster>":
			file = "-A"
		case !plainWord.MatchString(file):
			file = "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
		}
		if !slices.Contains(words, file) {
			words = append(words, file)
		}
	}
	return strings.Join(words, " ")
}
