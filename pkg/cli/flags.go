// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func outputFlag(cmd *cobra.Command, value *string, formats []string) {
	cmd.Flags().StringVarP(value, "output", "o", "text", "output format: "+strings.Join(formats, ", "))
	complete(cmd, "output", formats)
}

func choiceFlag(cmd *cobra.Command, value *string, name, standard, usage string, choices []string) {
	cmd.Flags().StringVar(value, name, standard, usage+": "+oneOf(choices))
	complete(cmd, name, choices)
}

// oneOf lists choices, of which there is at least one: a, b or c.
func oneOf(choices []string) string {
	last := len(choices) - 1
	if last == 0 {
		return choices[0]
	}
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}

func complete(cmd *cobra.Command, flag string, choices []string) {
	// The only error there can be is that the flag does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

func needFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no FILE given: name files or directories, or - for standard input")
	}
	return nil
}

// answerFormats are the formats of all commands but lint. What render prints as text is YAML.
var answerFormats = []string{"json", "text", "yaml"}

func checkOutput(format string) error {
	if !slices.Contains(answerFormats, format) {
		return unknownFormat(format, answerFormats)
	}
	return nil
}

func unknownFormat(name string, formats []string) error {
	return fmt.Errorf("unknown output format %q: use one of %s", name, strings.Join(formats, ", "))
}
