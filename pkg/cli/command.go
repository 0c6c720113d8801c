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

	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// root returns the command with its subcommands. name is what the user calls it by, which may be several words.
func (c *command) root(name string) *cobra.Command {
	root := &cobra.Command{
		Use:         strings.ReplaceAll(name, " ", "-"), // cobra takes the first word of Use as the command's name
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: name},
		Short:       "Check the machine images of Gardener CloudProfiles, and find the image of a worker pool",
		Long: `Checks CloudProfiles, and the Shoots that use them, in files or a cluster. It runs Gardener's own validation and the checks of the
admission webhooks, and says what is wrong in which line, which image a worker pool boots, and why.

A FILE is a YAML or JSON file, a directory of them, or - for standard input. Objects that are given together see each
other: a Shoot finds its CloudProfile, a NamespacedCloudProfile its parent.

With -A or -n the command reads objects from a garden cluster, and never writes there. A file then replaces the object of its
name: what if it were applied? With --kubeconfig or --context alone, files find the profiles that they refer to in the cluster.

Exit status: 0 nothing found wrong, 1 something found wrong, 2 the command could not do its work.`,
		Example:       "  capkit lint manifests/\n  capkit select shoot.yaml cloudprofile.yaml\n  capkit plan -A cloudprofile-new.yaml",
		Version:       thisVersion().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for group, commands := range map[string][]*cobra.Command{
		groupCheck:  {c.lint(), c.plan()},
		groupAsk:    {c.selectImage(), c.explain(), c.maintenance(), c.reportCells(), c.capabilities()},
		groupChange: {c.migrate()},
		groupLook:   {c.render(), c.rules(), c.explainRule(), c.version()},
	} {
		for _, cmd := range commands {
			cmd.GroupID = group
			root.AddCommand(cmd)
		}
	}
	addHelp(root)
	for _, cmd := range append(root.Commands(), root) {
		cmd.Example = strings.ReplaceAll(cmd.Example, "capkit ", name+" ")
	}
	return root
}

// outputFlag adds the flag for the output format, which is one of formats, or the command does not run.
func outputFlag(cmd *cobra.Command, value *string, formats []string) {
	cmd.Flags().StringVarP(value, "output", "o", "text", "`FORMAT` of the output: "+strings.Join(formats, ", "))
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
	cmd.Flags().StringVar(value, name, standard, usage+": "+words.Or(choices))
	complete(cmd, name, choices)
}

func orderFlag(cmd *cobra.Command, order *string) {
	choiceFlag(cmd, order, "order", "gep33", "`ORDER` of preference among the images that fit", []string{"gep33", "gardener"})
}

// complete makes the shell complete a flag with choices rather than with names of files.
func complete(cmd *cobra.Command, flag string, choices []string) {
	// An error would say that the flag does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
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
			report.Printf(c.stderr, "skipped: %d more\n", len(g.skipped)-i)
			return
		}
		report.Printf(c.stderr, "skipped: %s\n", s)
	}
}

// printNotes writes the remarks about the profiles that answers come from, and about what was left out.
func (c *command) printNotes(g *garden) {
	c.printSkipped(g)
	for _, note := range g.notes {
		report.Printf(c.stderr, "note: %s\n", note)
	}
	for _, name := range slices.Sorted(maps.Keys(g.leftOut)) {
		report.Printf(c.stderr, "note: %s of provider %s left out: this command knows %s\n",
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
