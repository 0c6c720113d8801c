// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// plainWord matches a word that a shell does not interpret.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// InShell returns a file name for a command to copy. It is quoted if a shell would interpret it, and never looks like a flag.
func InShell(file string) string {
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	return quoted(file)
}

func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Line returns a command that reads files, to be copied into a shell: name, which may be several words, then flags, then files. Each file
// appears once. The names of standard input and the cluster in findings become their arguments.
func Line(name string, flags []string, files ...string) string {
	words := []string{name}
	for _, flag := range flags {
		words = append(words, quoted(flag))
	}
	var args []string
	for _, file := range files {
		switch file {
		case "<stdin>", "-":
			file = "-"
		case "<cluster>":
			file = "-A"
		default:
			file = InShell(file)
		}
		if !slices.Contains(args, file) {
			args = append(args, file)
		}
	}
	return strings.Join(append(words, args...), " ")
}

// Words returns flags as they were given: those with the names, or all if there are none. Those with the value in settings are left out.
func Words(set *pflag.FlagSet, settings map[string]string, names []string) (words []string) {
	set.Visit(func(f *pflag.Flag) {
		setting, settled := settings[f.Name]
		if len(names) > 0 && !slices.Contains(names, f.Name) || settled && setting == f.Value.String() {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			word := "--" + f.Name
			if f.Value.Type() != "bool" || value != "true" {
				word += "=" + value
			}
			words = append(words, word)
		}
	})
	return words
}

// AsLint has the name of the program, the flags of a lint with the same results, and those for the same cluster. The zero value has none.
type AsLint struct {
	Name           string
	Flags, Cluster []string
}

// Line returns the command that lints files. With a cluster it has -A, since lint reports CloudProfiles of a cluster with -A only.
func (l AsLint) Line(files []string) string {
	flags := l.Flags
	if slices.Contains(files, "<cluster>") {
		flags = slices.Concat(flags, l.Cluster)
	}
	return Line(cmp.Or(l.Name, "capkit")+" lint", flags, files...)
}
