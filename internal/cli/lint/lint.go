// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/inventories"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

type lintFlags struct {
	checks.Options
	inventories            inventories.Flags
	output                 string
	all, quiet, fix, write bool
}

// Command returns the command lint.
func Command(c *command.Call) *cobra.Command {
	flags := &lintFlags{}
	cmd := &cobra.Command{
		Use:        "lint FILE...",
		SuggestFor: []string{"check", "validate"},
		Short:      "Check CloudProfiles and the objects that use them",
		Long: `Reports the errors and warnings of the API server and the admission webhooks for the objects in the files, with line and column.
Each finding ends with the name of its rule, in brackets: explain-rule explains it. Objects of a cluster are checked like those of
files. A file replaces the object of the same name, as if it were applied.

The choices of a Shoot can depend on the domain of its credentials. Admission takes it from their Secret; here, name it with
--domain. Without the flag, checks that depend on it are reported as not done.

A comment silences a finding, in its line or in the line above; above an object it silences the rule for the whole object:

  # capkit:ignore region-unknown: the region opens in May

--disable silences a rule for all objects, and so does the file .capkit.yaml, with reasons. Admission reads neither.

--inventory also reports differences between the profiles and their cloud, as verify does.

--fix repairs unambiguous mistakes, like a string where a list belongs: it prints a diff, and with -w it changes
the files and then lints them. With and without -w, the exit status is that of the remaining findings.`,
		Example: "  capkit lint cloudprofile.yaml\n" +
			"  capkit lint -o sarif manifests/ > capkit.sarif\n" +
			"  capkit lint --fix cloudprofile.yaml\n" +
			"  capkit lint --domain demo shoot.yaml cloudprofile.yaml\n" +
			"  capkit lint --reserved-in-core cloudprofile.yaml\n" +
			"  capkit lint -A --context landscape\n" +
			"  capkit lint -n garden-demo shoot.yaml\n" +
			"  capkit lint --inventory inventory.yaml cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return runLint(cmd.Context(), c, args, flags) },
	}
	flags.Flags = input.NewFlags(cmd)
	flags.AllowEmptyFlag(cmd)
	command.OutputFlag(cmd, &flags.output, report.Formats())
	flags.Add(cmd, c)
	flags.inventories.Add(cmd)
	f := cmd.Flags()
	f.BoolVar(&flags.all, "all", false, "in text output, print each finding instead of grouping similar ones")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "print only findings: no summary, no notes")
	f.BoolVar(&flags.fix, "fix", false, "repair unambiguous mistakes, and print a diff")
	f.BoolVarP(&flags.write, "write", "w", false, "with --fix, change the files, and then lint them")
	cmd.Args = func(_ *cobra.Command, files []string) error { return flags.prepare(files, checks.Catalogue(c)) }
	return cmd
}

// prepare returns the errors in the flags, the settings and the FILE arguments.
func (flags *lintFlags) prepare(files []string, rules []finding.Rule) error {
	switch {
	case flags.write && !flags.fix:
		return errors.New("-w goes with --fix: lint changes nothing by itself")
	case flags.fix && !flags.write && flags.Given("output"):
		return errors.New("--fix prints a diff: -o goes with --fix -w, which lints the files then")
	}
	if flags.fix && flags.inventories.Given() {
		return errors.New("--fix repairs what lint finds by itself: leave --inventory out")
	}
	if err := flags.Options.Prepare(files, rules); err != nil {
		return err
	}
	if err := flags.inventories.Prepare(flags.Files(files)); err != nil {
		return err
	}
	if flags.write && slices.Contains(flags.Files(files), "-") {
		return errors.New("standard input cannot be changed: leave -w out, or name a file")
	}
	return nil
}

func runLint(ctx context.Context, c *command.Call, args []string, flags *lintFlags) error {
	if flags.quiet {
		c.Terminal = nil
	}
	var text func(file string) (string, error)
	if flags.fix {
		text = files.TextOf(c)
	}
	g, err := checks.Load(ctx, c, args, &flags.Options)
	if err != nil {
		return err
	}
	g.TakeAsMeant()
	if g.Summary.Objects+len(g.Findings) == 0 {
		if err := flags.Nothing(g, "CloudProfile, NamespacedCloudProfile or Shoot"); err != nil {
			return err
		}
	}
	if flags.fix {
		if err := fix(c, g, flags, text); err != nil || !flags.write {
			return err
		}
		flags.fix = false
		return runLint(ctx, c, args, flags)
	}
	found, verified, err := flags.check(c, g)
	if err != nil {
		return err
	}
	options := report.Options{
		Command: "lint", FailOn: finding.Severity(flags.FailOn), Rules: checks.Catalogue(c), Version: c.Versions().Version, All: flags.all,
	}
	if err := found.Write(c.Stdout, flags.output, options); err != nil {
		return err
	}
	checks.PrintSilenced(c, found)
	if !flags.quiet {
		input.PrintNotes(c, g)
		if verified != nil {
			verified.PrintNotes(c)
		}
		checks.PrintRules(c, found, flags.output)
		report.Printf(c.Stderr, "%s\n", found.Summary)
	}
	return flags.End(c, found)
}

// check checks the inputs. With inventories, it verifies the profiles first; otherwise verified is nil.
func (flags *lintFlags) check(c *command.Call, g *input.Given) (found report.Report, verified *inventories.Verified, err error) {
	objects := len(g.Profiles.All) + len(g.Namespaced.All) + len(g.Shoots.All)
	if flags.inventories.Given() {
		verifying := c.Terminal.Begin("verifying", objects-len(g.Shoots.All))
		verified, err = flags.inventories.Verify(c, g, false, verifying)
		verifying.End()
		if err != nil {
			return found, nil, err
		}
	}
	checking := c.Terminal.Begin("checking", objects)
	defer checking.End()
	return checks.Counted(c, g, &flags.Options, checks.All(g, checking), func(r *finding.Rule) bool {
		return r.InManifests() || verified != nil && inventories.Finds(r)
	}), verified, nil
}
