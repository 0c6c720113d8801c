// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/pkg/words"
)

// These are the groups of commands, by purpose.
const (
	groupCheck  = "check"
	groupAsk    = "ask"
	groupChange = "change"
	groupLook   = "look"
)

// groups is in the order in which help lists them.
var groups = []*cobra.Group{
	{ID: groupCheck, Title: "Check manifests:"},
	{ID: groupAsk, Title: "Ask what Gardener will do:"},
	{ID: groupChange, Title: "Change manifests:"},
	{ID: groupLook, Title: "Look things up:"},
}

// Command returns the command as a cobra command with the name capkit, to generate documentation such as man pages. Use [Run] to execute
// it. The command knows the given providers.
func Command(providers ...Provider) *cobra.Command {
	c := &command.Call{Providers: map[string]Provider{}, Linked: Version}
	for _, p := range providers {
		c.Providers[p.Type()] = p
	}
	root := root(c, "capkit")
	addCompletion(root)
	return root
}

// addHelp adds groups, help topics and spelling suggestions to a root command. The subcommands must have been added before.
func addHelp(root *cobra.Command) {
	root.AddGroup(groups...)
	root.SetHelpCommand(helpCommand())
	root.SetHelpCommandGroupID(groupLook)
	root.InitDefaultHelpCmd()
	root.SetCompletionCommandGroupID(groupLook)
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(exitStatuses())
	// Wrap flag descriptions at the width of other texts.
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", command.TextWidth)))
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if _, err := os.Lstat(args[0]); err == nil {
			return fmt.Errorf("unknown command %q, which is a file or folder: did you mean %s lint %s?", args[0], cmd.DisplayName(), command.InShell(args[0]))
		}
		return unknown(cmd, "command", args[0])
	}
	root.SetFlagErrorFunc(flagError)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = wrapParagraphs(cmd.Long)
		help(cmd, args)
	})
}

// tree returns a command and all commands below it.
func tree(cmd *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) {
		if !yield(cmd) {
			return
		}
		for _, sub := range cmd.Commands() {
			for each := range tree(sub) {
				if !yield(each) {
					return
				}
			}
		}
	}
}

// addCompletion adds cobra's completion command, and makes it reject unknown shells. The command writes to the output that the root command
// has at this time.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"}) // it exists
	completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	completion.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var shells []string
		for _, shell := range cmd.Commands() {
			shells = append(shells, shell.Name())
		}
		return fmt.Errorf("unknown shell %q: there are %s", args[0], strings.Join(shells, ", "))
	}
}

// unknown returns the error about an unknown command or help topic, with a suggestion.
func unknown(root *cobra.Command, kind, name string) error {
	message := fmt.Sprintf("unknown %s %q", kind, name)
	meant := root.SuggestionsFor(name)
	if closest := words.Closest(name, meant); closest != "" {
		meant = []string{closest}
	}
	if len(meant) > 0 {
		return fmt.Errorf("%s: %s", message, words.Question(words.Or(meant)))
	}
	return fmt.Errorf("%s: %s help lists what there is", message, root.DisplayName())
}

// values describes the values that flags take, by type.
var values = map[string]string{"bool": "true or false", "int": "a number", "duration": "a duration like 30s"}

// flagError adds advice to an error about an unknown flag or an invalid value.
func flagError(cmd *cobra.Command, err error) error {
	var wanting *pflag.ValueRequiredError
	if errors.As(err, &wanting) {
		_, usage := pflag.UnquoteUsage(wanting.GetFlag())
		return fmt.Errorf("--%s needs a value: %s", wanting.GetFlag().Name, usage)
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if use := values[invalid.GetFlag().Value.Type()]; use != "" {
			return fmt.Errorf("--%s=%s: use %s", invalid.GetFlag().Name, invalid.GetValue(), use)
		}
	}
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	// -output is read as -o utput, and -region as letters of which the first is no flag.
	written := missing.GetSpecifiedName()
	if letters := missing.GetSpecifiedShortnames(); letters != "" {
		written = letters
	}
	switch written { // names of kubectl's flags
	case "f", "filename":
		return fmt.Errorf("%w: files need no flag: %s FILE", err, cmd.CommandPath())
	case "output-file", "out":
		return fmt.Errorf("%w: the result is on standard output: %s ... > FILE", err, cmd.CommandPath())
	case "R", "recursive":
		return fmt.Errorf("%w: folders need no flag: %s FOLDER reads all that is below it", err, cmd.CommandPath())
	}
	if meant := words.Closest(written, names); meant != "" {
		return fmt.Errorf("%w: %s", err, words.Question("--"+meant))
	}
	return fmt.Errorf("%w: %s --help lists what there is", err, cmd.CommandPath())
}

// helpCommand is like cobra's help command, but fails for unknown commands.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command, or another topic",
		Long:    "Explains a command, with all its flags, or another topic. Without an argument it lists the commands and topics.",
		Example: "  capkit help lint\n  capkit help exit-statuses",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if asked, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, sub := range asked.Commands() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			asked, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return err
			case len(rest) > 0 && asked == cmd.Root():
				return unknown(asked, "command or topic", rest[0])
			case len(rest) > 0:
				return fmt.Errorf("help explains one command or topic: %s help %s", cmd.Root().DisplayName(), asked.Name())
			}
			asked.InitDefaultHelpFlag()
			asked.InitDefaultVersionFlag()
			return asked.Help()
		},
	}
}

// exitStatuses is a help topic: a command that does nothing.
func exitStatuses() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-statuses",
		Short: "Meaning of the exit status of each command",
		Long: `The exit status tells how a command has ended:

  0  success
  1  a negative result
  2  usage or I/O error

A negative result depends on the command:

  lint           an error, with --fix one that is not repaired; with --fail-on=warning a warning, too; with
                 --fail-on=skipped both, and anything that was skipped
  verify         as lint; with --strict also a region without an inventory, or a list that could not be read when it
                 was taken
  plan           the update is refused, locks Shoots, leaves worker pools without machines or without an image in the
                 profile, makes maintenance choose a version that does not boot, gets pools stuck at an expiration
                 date or in the next maintenance, or removes something in use from the offer; with
                 --fail-on=change any change
  select         a worker pool has no image
  explain        a worker pool has no image
  maintenance    a worker pool or a Kubernetes version is stuck, the maintenance of a Shoot fails, or a worker pool
                 is moved to a version that it cannot boot
  report         as lint; the report is also written with this status, unless no profile can be read
  import         the images cannot be imported, or lint would find a new error in the result; no file was changed
  migrate        the files cannot be migrated; no file was changed
  render         admission would refuse one of the two profiles
  version        with --check-config, the settings have something that this version does not understand
  lsp            the editor leaves without shutdown and exit

Status 2 means wrong flags, a file that cannot be read, a cluster that does not answer or refuses, or nothing to check (but for migrate, which gives status 1). A
manifest that can be read but is invalid gives status 1, and the other manifests are checked.

With any status, results are on standard output, and everything else is on standard error.`,
	}
}

// wrapParagraphs wraps the paragraphs of a text. Lines that begin with a blank, as in tables and examples, are kept.
func wrapParagraphs(text string) string {
	var lines, paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			lines = append(lines, command.Wrapped(strings.Join(paragraph, " ")))
		}
		paragraph = nil
	}
	for _, line := range strings.Split(text, "\n") {
		if line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			continue
		}
		end()
		lines = append(lines, line)
	}
	end()
	return strings.Join(lines, "\n")
}
