// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capkit/capkit/internal/cli/clouds"
	"github.com/capkit/capkit/internal/cli/schema"
	"github.com/capkit/capkit/pkg/cli"
)

// completions returns the completion scripts for shells, and the one that kubectl runs for completion as a plugin.
func completions() []file {
	root := cli.Command(clouds.All()...)
	script := func(name string, generate func(io.Writer) error) file {
		var b bytes.Buffer
		_ = generate(&b) // writing to a buffer never fails
		return file{"completions/" + name, 0o644, b.Bytes()}
	}
	return []file{
		script("capkit.bash", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }),
		script("_capkit", root.GenZshCompletion),
		script("capkit.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }),
		script("capkit.ps1", root.GenPowerShellCompletionWithDesc),
		{"completions/kubectl_complete-capkit", 0o755, []byte("#!/bin/sh\nexec kubectl capkit __complete \"$@\"\n")},
	}
}

// schemas returns the JSON Schemas of capkit schema, ordered by path.
func schemas() (files []file) {
	all := schema.Files(clouds.All())
	for _, at := range slices.Sorted(maps.Keys(all)) {
		files = append(files, file{at, 0o644, all[at]})
	}
	return files
}

// manPages returns a man page for the root command, and for each of its commands and topics. It does not use cobra's generator, which reads
// the texts as Markdown, and shows a flag's default instead of the name of its value.
func (r Release) manPages() []file {
	root := cli.Command(clouds.All()...)
	pages := []file{r.manPage(root)}
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" && cmd.Name() != "completion" {
			pages = append(pages, r.manPage(cmd))
		}
	}
	return pages
}

// pageName returns the name of a command's page.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage writes a page in the macros of man(7).
func (r Release) manPage(cmd *cobra.Command) file {
	cmd.InitDefaultHelpFlag()
	page := pageName(cmd)
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 %s %q capkit\n", roff(strings.ToUpper(page)), r.Created.UTC().Format("2006-01-02"), name+" "+r.Tag())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(page), roff(cmd.Short))
	if cmd.Runnable() {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	}
	fmt.Fprint(&b, ".SH DESCRIPTION\n")
	paragraphs(&b, cmd.Long)
	if cmd.Runnable() {
		fmt.Fprint(&b, ".SH OPTIONS\n")
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) { option(&b, flag) })
	}
	if cmd.Example != "" {
		fmt.Fprint(&b, ".SH EXAMPLES\n")
		paragraphs(&b, cmd.Example)
	}
	fmt.Fprint(&b, ".SH SEE ALSO\n")
	var others []string
	if cmd.HasParent() {
		others = append(others, ".BR "+name+" (1)")
	}
	for _, other := range cmd.Root().Commands() {
		if other != cmd && other.Name() != "help" && other.Name() != "completion" {
			others = append(others, ".BR "+roff(pageName(other))+" (1)")
		}
	}
	fmt.Fprintln(&b, strings.Join(others, ",\n"))
	return file{"man/man1/" + page + ".1", 0o644, b.Bytes()}
}

// option writes a flag: its names, the name of its value, its usage, and its default.
func option(w io.Writer, flag *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(flag)
	names := `\fB` + roff("--"+flag.Name) + `\fR`
	if flag.Shorthand != "" {
		names = `\fB` + roff("-"+flag.Shorthand) + `\fR, ` + names
	}
	if value != "" {
		names += ` \fI` + roff(value) + `\fR`
	}
	if d := flag.DefValue; d != "" && d != "false" && d != "[]" {
		usage += " (default " + d + ")"
	}
	fmt.Fprintf(w, ".TP\n%s\n%s\n", names, roff(usage))
}

// paragraphs writes a help text. Paragraphs are filled; lines that begin with a space are kept unchanged.
func paragraphs(w io.Writer, text string) {
	fixed := false
	for _, line := range strings.Split(text, "\n") {
		if is := strings.HasPrefix(line, " "); is != fixed && line != "" {
			fmt.Fprintln(w, map[bool]string{true: ".nf", false: ".fi"}[is])
			fixed = is
		}
		if line == "" {
			fmt.Fprintln(w, ".PP")
			continue
		}
		fmt.Fprintln(w, roff(line))
	}
	if fixed {
		fmt.Fprintln(w, ".fi")
	}
}

// roff escapes a line of text: nothing in it is a roff command, and hyphens can be copied.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
