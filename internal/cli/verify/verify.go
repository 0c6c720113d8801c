// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/inventories"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

type verifyFlags struct {
	checks.Options
	inventories.Flags
	output             string
	all, quiet, unused bool
}

// Command returns the command verify.
func Command(c *command.Call) *cobra.Command {
	flags := &verifyFlags{}
	cmd := &cobra.Command{
		Use:        "verify PROFILE... --inventory FILE",
		SuggestFor: []string{"audit", "compare"},
		Short:      "Compare CloudProfiles with an inventory of their cloud",
		Long: `Compares CloudProfiles and NamespacedCloudProfiles with their cloud, and reports images that are gone, private or of another
architecture, machine types that are gone or have other sizes, zones, volume types, floating pools and so on, with line and column.
The contents of the cloud are read from an inventory, a file that capkit inventory has made. So verify needs no credentials, and does not
contact the cloud.

Only images that can be booted are checked: versions that have expired, or that core does not list, are skipped. Nothing is
concluded from gaps in an inventory. A region without an inventory, and a list that could not be read, is a note; with --strict, an error.
A list that the inventory does not have is a note.

Findings look like those of lint, and are silenced in the same way. lint --inventory reports both.`,
		Example: "  capkit verify cloudprofile.yaml --inventory inventory.yaml\n" +
			"  capkit verify -A --inventory europe.yaml --inventory asia.yaml --strict\n" +
			"  capkit verify cloudprofile.yaml --inventory inventory.yaml --unused",
		RunE: func(cmd *cobra.Command, args []string) error { return runVerify(cmd.Context(), c, args, flags) },
	}
	flags.Options.Flags = input.NewFlags(cmd)
	flags.AllowEmptyFlag(cmd)
	command.OutputFlag(cmd, &flags.output, report.Formats())
	flags.Options.Add(cmd, c)
	// These concern Shoots or the landscape's Gardener, which verify ignores. They exist because the settings set them for all commands.
	for _, name := range []string{"domain", "reserved-in-core", "gardener-version", "feature-gates", "webhook"} {
		_ = cmd.Flags().MarkHidden(name)
	}
	flags.Flags.Add(cmd)
	flags.AddAt(cmd)
	f := cmd.Flags()
	f.BoolVar(&flags.all, "all", false, "in text output, print each finding instead of grouping similar ones")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "print only findings: no summary, no notes")
	f.BoolVar(&flags.unused, "unused", false, "list the images that no profile refers to, and the machine types that no profile offers, too")
	cmd.Args = func(_ *cobra.Command, files []string) error { return flags.prepare(files, checks.Catalogue(c)) }
	return cmd
}

// withUnused are the output formats that can list unused images and machine types.
var withUnused = []string{"text", "json", "yaml"}

func (flags *verifyFlags) prepare(files []string, rules []finding.Rule) error {
	if err := flags.Options.Prepare(files, rules); err != nil {
		return err
	}
	err := flags.Flags.Prepare(flags.Files(files))
	if !flags.Flags.Given() {
		err = errors.Join(err, errors.New("no inventory given: name one with --inventory; capkit inventory takes it"))
	}
	if flags.unused && !slices.Contains(withUnused, flags.output) {
		err = errors.Join(err, fmt.Errorf("--unused has no place in -o %s: use text, json or yaml", flags.output))
	}
	return err
}

func runVerify(ctx context.Context, c *command.Call, args []string, flags *verifyFlags) error {
	if flags.quiet {
		c.Terminal = nil
	}
	g, err := input.Load(ctx, c, args, flags.Options.Flags, false)
	if err != nil {
		return err
	}
	shoots := len(g.Shoots.All) // they are not verified
	g.Summary.Objects, g.Summary.Skipped = g.Summary.Objects-shoots, g.Summary.Skipped+shoots
	if g.Summary.Objects+len(g.Findings) == 0 {
		if err := flags.Nothing(g, "CloudProfile or NamespacedCloudProfile"); err != nil {
			return err
		}
	}
	verifying := c.Terminal.Begin("verifying", len(g.Profiles.All)+len(g.Namespaced.All))
	verified, err := flags.Verify(c, g, true, verifying)
	verifying.End()
	if err != nil {
		return err
	}
	found := checks.Counted(c, g, &flags.Options, report.New(g.Findings, g.Summary), inventories.Finds)
	if flags.unused {
		found.Unused = verified.Unused()
	}
	options := report.Options{
		Command: "verify", FailOn: finding.Severity(flags.FailOn), Rules: checks.Catalogue(c), Version: c.Versions().Version, All: flags.all,
	}
	if err := found.Write(c.Stdout, flags.output, options); err != nil {
		return err
	}
	if found.Unused != nil && flags.output == "text" {
		printUnused(c.Stdout, found.Unused)
	}
	if !flags.quiet {
		input.PrintNotes(c, g)
		verified.PrintNotes(c)
		checks.PrintRules(c, found, flags.output)
		report.Printf(c.Stderr, "%s\n", found.Summary)
	}
	return flags.End(c, found)
}

// printUnused lists the unused images and machine types as text, by region.
func printUnused(w io.Writer, unused *report.Unused) {
	last := ""
	printHeading := func(what, provider, region, unlike string) {
		if heading := fmt.Sprintf("%s of %s in region %s that no profile %s:", what, provider, region, unlike); heading != last {
			report.Printf(w, "%s\n", heading)
			last = heading
		}
	}
	for _, image := range unused.Images {
		printHeading("images", image.Provider, image.Region, "refers to")
		report.Printf(w, "%s\n", strings.TrimRight("  "+image.ID+"  "+image.Name, " "))
	}
	for _, t := range unused.MachineTypes {
		printHeading("machine types", t.Provider, t.Region, "offers")
		report.Printf(w, "  %s\n", t.Name)
	}
	if len(unused.Images)+len(unused.MachineTypes) == 0 {
		report.Printf(w, "nothing is unused\n")
	}
}
