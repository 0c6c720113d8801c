// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/report"
)

// root returns the command with its subcommands. name is what the user calls it by, which may be several words.
func (c *command) root(name string) *cobra.Command {
	use := strings.ReplaceAll(name, " ", "\u00a0") // cobra takes the first word of Use as the command's name
	root := &cobra.Command{
		Use:   use,
		Short: "Check the machine images of Gardener CloudProfiles, and find the image of a worker pool",
		Long: `Checks CloudProfiles, and the Shoots that use them, in files or a cluster: with Gardener's own validation and the very checks of the
admission webhooks, it says what is wrong in which line, which image a worker pool boots, and why.

A FILE is a YAML or JSON file, a directory of them, or - for standard input. Objects that are given together see each
other: a Shoot finds its CloudProfile, a NamespacedCloudProfile its parent.

With -A or -n objects come from a garden cluster, which is only read, and a file stands for the object of its name: what if
it were applied? With --kubeconfig or --context alone, files find in it the profiles that they refer to.

Exit status: 0 nothing found wrong, 1 something found wrong, 2 the command could not do its work.`,
		Version:       versions{Version, gardener.Version()}.String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(c.lint(), c.selectImage(), c.explain(), c.maintenance(), c.plan(), c.migrate(), c.render(), c.capabilities(), c.version())
	for _, cmd := range root.Commands() {
		cmd.Example = strings.ReplaceAll(cmd.Example, "capkit ", name+" ")
	}
	return root
}

// outputFlag adds the flag for the output format, which is one of formats, or the command does not run.
func outputFlag(cmd *cobra.Command, value *string, formats []string) {
	cmd.Flags().StringVarP(value, "output", "o", "text", "output format: "+strings.Join(formats, ", "))
	complete(cmd, "output", formats)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !slices.Contains(formats, *value) {
			return fmt.Errorf("unknown output format %q: use one of %s", *value, strings.Join(formats, ", "))
		}
		return nil
	}
}

// choiceFlag adds a flag whose value is one of choices. standard is its value if it is not given.
func choiceFlag(cmd *cobra.Command, value *string, name, standard, usage string, choices []string) {
	cmd.Flags().StringVar(value, name, standard, usage+": "+oneOf(choices))
	complete(cmd, name, choices)
}

// complete makes the shell complete a flag with choices rather than with names of files.
func complete(cmd *cobra.Command, flag string, choices []string) {
	// An error would say that the flag does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// oneOf lists choices, of which there is at least one: a, b or c.
func oneOf(choices []string) string {
	last := len(choices) - 1
	if last == 0 {
		return choices[0]
	}
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}

// noFiles is for commands that read none: it refuses arguments with a message.
func noFiles(message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return errors.New(message)
		}
		return nil
	}
}

// answerFormats are the formats of all commands but lint. What render prints as text is YAML.
var answerFormats = []string{"json", "text", "yaml"}

// printAs writes a value in one of answerFormats. text writes it for people.
func printAs(w io.Writer, format string, value any, text func(io.Writer)) error {
	switch format {
	case "json":
		return report.JSON(w, value)
	case "yaml":
		return report.YAML(w, value)
	}
	text(w)
	return nil
}

// mostSkipped is how many things that were skipped are named.
const mostSkipped = 20

// printSkipped writes what was not read of folders.
func (c *command) printSkipped(g *garden) {
	for i, s := range g.skipped {
		if i == mostSkipped {
			fmt.Fprintf(c.stderr, "skipped: %d more\n", len(g.skipped)-i)
			return
		}
		fmt.Fprintf(c.stderr, "skipped: %s\n", s)
	}
}

// printNotes writes the remarks about the profiles that answers come from, and about what was left out.
func (c *command) printNotes(g *garden) {
	c.printSkipped(g)
	for _, note := range g.notes {
		fmt.Fprintf(c.stderr, "note: %s\n", note)
	}
	for _, name := range slices.Sorted(maps.Keys(g.leftOut)) {
		fmt.Fprintf(c.stderr, "note: %s of provider %s left out: this command knows %s\n",
			report.Count(g.leftOut[name], "Shoot"), name, strings.Join(slices.Sorted(maps.Keys(g.providers)), ", "))
	}
}

// printFindings writes what was found wrong on the way to a result. err is the reason why there is none; nil if there
// is one. What it returns ends the command, unless it is nil.
func (c *command) printFindings(g *garden, err error) error {
	if len(g.findings) == 0 {
		return err
	}
	report.Sort(g.findings)
	if failed := report.Text(c.stderr, g.findings); failed != nil {
		return failed
	}
	if err != nil {
		return errWrong
	}
	return nil
}
