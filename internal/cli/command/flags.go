// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// OutputFlag adds the flag for the output format. The command refuses to run with a format that is not in formats.
func OutputFlag(cmd *cobra.Command, value *string, formats []string) {
	cmd.Flags().StringVarP(value, "output", "o", "text", "`FORMAT` of the output: "+strings.Join(formats, ", "))
	Complete(cmd, "output", formats)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !slices.Contains(formats, *value) {
			hint := words.DidYouMean(words.Choice(*value, formats))
			if format, file, found := strings.Cut(*value, "="); found && slices.Contains(formats, format) {
				hint = "; to write into a file, use -o " + format + " > " + file
			}
			return fmt.Errorf("unknown output format %q: use one of %s%s", *value, strings.Join(formats, ", "), hint)
		}
		return nil
	}
}

// ChoiceFlag adds a flag whose value is one of choices. standard is its default.
func ChoiceFlag(cmd *cobra.Command, value *string, name, standard, usage string, choices []string) {
	cmd.Flags().StringVar(value, name, standard, usage+": "+words.Or(choices))
	Complete(cmd, name, choices)
}

// OrderFlag adds the flag for the preference order.
func OrderFlag(cmd *cobra.Command, order *string) {
	ChoiceFlag(cmd, order, "order", "", "`ORDER` of preference among the images that fit; without the flag that of the extension",
		[]string{"gep33", "gardener"})
}

// The annotations of a flag with its completions in the shell: one of some choices, or a comma-separated list of them.
const (
	choicesOf = "choices"
	listOf    = "list"
)

// Complete makes the shell complete a flag with choices instead of file names.
func Complete(cmd *cobra.Command, flag string, choices []string) {
	annotate(cmd, flag, choicesOf, choices)
}

// CompleteList makes the shell complete a flag whose value is a comma-separated list, with the choices that it does not contain yet. A
// tab separates a choice from its description.
func CompleteList(cmd *cobra.Command, flag string, choices []string) {
	annotate(cmd, flag, listOf, choices)
}

func annotate(cmd *cobra.Command, flag, kind string, choices []string) {
	// The only error is that the flag does not exist.
	_ = cmd.Flags().SetAnnotation(flag, kind, choices)
}

// RegisterCompletions registers the completions of a command's flags, and those of its subcommands, with cobra. Call it only in a process
// that answers a shell's request: cobra keeps the flags, and everything that they refer to, until the process ends.
func RegisterCompletions(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if choices, found := f.Annotations[choicesOf]; found {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
		}
		if choices, found := f.Annotations[listOf]; found {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, written string) ([]string, cobra.ShellCompDirective) {
				return completeList(written, choices), cobra.ShellCompDirectiveNoFileComp
			})
		}
	})
	for _, sub := range cmd.Commands() {
		RegisterCompletions(sub)
	}
}

// completeList completes the last entry of a list with each choice that is not in it.
func completeList(written string, choices []string) (completions []string) {
	list := written[:strings.LastIndex(written, ",")+1]
	named := strings.Split(list, ",")
	for _, choice := range choices {
		if name, _, _ := strings.Cut(choice, "\t"); !slices.Contains(named, name) {
			completions = append(completions, list+choice)
		}
	}
	return completions
}

// NoFiles returns an argument check for commands without arguments. It refuses them with a message.
func NoFiles(message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return errors.New(message)
		}
		return nil
	}
}

// AnswerFormats are the output formats of all commands except lint. The text format of render is YAML.
var AnswerFormats = []string{"json", "text", "yaml"}

// PrintAs writes a value in one of [AnswerFormats]. text writes it for people.
func PrintAs(w io.Writer, format string, value any, text func(io.Writer)) error {
	switch format {
	case "json":
		return report.JSON(w, value)
	case "yaml":
		return report.YAML(w, value)
	}
	text(w)
	return nil
}
