// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli/page"
	"github.com/capkit/capkit/pkg/cli/report"
)

type reportFlags struct {
	checkFlags
	output, order, profile string
}

// reportFormats are those of the command report: a page for people, and its answers for programs.
var reportFormats = []string{"html", "json"}

// reportCells returns the command report.
func (c *command) reportCells() *cobra.Command {
	flags := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Show all answers of CloudProfiles in one page: which machine type boots which image, and why",
		Long: `Answers for each image version, machine type and region of the profiles in the files which image is booted, for worker pools
that ask for nothing special and for each thing that they may ask for.

The answer is one HTML file that needs no network: with what explain says of each combination, what lint finds, and what the
next maintenance does to the Shoots in the files. As JSON it is the answers of select, for programs.

The flags of lint that say what counts are here, too, and so are the comments that silence and .capkit.yaml. The exit status is
that of lint; the report is written in any case.`,
		Example: "  capkit report cloudprofile.yaml > report.html\n" +
			"  capkit report cloudprofile.yaml namespacedcloudprofile.yaml shoots/ > report.html\n" +
			"  capkit report -A > report.html\n" +
			"  capkit report -o json cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return c.runReport(cmd.Context(), args, flags) },
	}
	flags.inputs = inputFlags(cmd)
	flags.allowEmptyFlag(cmd)
	outputFlag(cmd, &flags.output, reportFormats)
	output := cmd.Flags().Lookup("output")
	flags.output, output.DefValue = reportFormats[0], reportFormats[0]
	orderFlag(cmd, &flags.order)
	cmd.Flags().StringVar(&flags.profile, "profile", "", "report on this profile alone, by `[NAMESPACE/]NAME`")
	complete(cmd, "profile", nil) // a name, and no file
	flags.add(cmd, c.catalogue())
	cmd.Args = func(_ *cobra.Command, files []string) error { return flags.prepare(files, c.catalogue()) }
	return cmd
}

// reported is what report prints as JSON, which is an interface: a field once published keeps its name and meaning.
type reported struct {
	Profiles []reportedProfile `json:"profiles"`
}

// reportedProfile has the answers of one profile: by image version, machine type, region and what is requested, each in
// the order of the profile.
type reportedProfile struct {
	// Name as [NAMESPACE/]NAME.
	Name  string `json:"name"`
	Cells []cell `json:"cells"`
}

func (c *command) runReport(ctx context.Context, args []string, flags *reportFlags) error {
	order, err := capability.ParseOrder(flags.order)
	switch {
	case err != nil:
		return err
	case flags.given("profile") && flags.profile == "":
		return errors.New("--profile is empty: name the profile, or leave the flag out to report on all of them")
	}
	g, err := c.loadToLint(ctx, args, &flags.checkFlags)
	if err != nil {
		return err
	}
	profiles, err := g.profilesToReport(flags)
	if err != nil {
		return c.printFindings(g, err)
	}
	if flags.output == "json" {
		return c.reportData(g, profiles, order, flags)
	}
	return c.reportPage(g, profiles, order, flags)
}

// namedProfile is a profile with its name, as [NAMESPACE/]NAME.
type namedProfile struct {
	name     string
	compiled anyProfile
}

// profilesToReport returns the profiles to report on: the one that the flag names or, without it, all but those that are
// only there for others to refer to. One that cannot be asked becomes a note, unless a finding says so. The error says
// that there is none.
func (g *garden) profilesToReport(flags *reportFlags) ([]namedProfile, error) {
	if flags.profile != "" {
		p, err := g.profileNamed(flags.profile)
		name := flags.profile
		if n, notFound := g.namespacedNamed(name); g.profiles.byName[name] == nil && notFound == nil {
			name = n.name
		}
		return []namedProfile{{name, p}}, err
	}
	var profiles []namedProfile
	var errs []error
	for _, name := range g.namesToReport() {
		p, err := g.profileNamed(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		profiles = append(profiles, namedProfile{name, p})
	}
	if len(profiles) == 0 && len(errs)+len(g.findings) > 0 {
		return nil, errors.Join(append(errs, errors.New("there is no profile to report on"))...)
	}
	for _, err := range errs {
		g.notes = append(g.notes, err.Error())
	}
	if len(profiles) == 0 {
		return nil, flags.nothing(g, "CloudProfile or NamespacedCloudProfile")
	}
	return profiles, nil
}

// namesToReport returns the names of the profiles that can be read, in the order of the inputs.
func (g *garden) namesToReport() []string {
	used := map[string]bool{}
	for _, s := range g.shoots.all {
		if s.object == nil {
			continue
		}
		kind, name, _ := profileNameOf(s.object)
		if kind == "NamespacedCloudProfile" {
			name = s.object.Namespace + "/" + name
		}
		used[name] = true
	}
	var names []string
	for _, s := range g.profiles.all {
		if s.object != nil && (!s.aside || used[s.name]) {
			names = append(names, s.name)
		}
	}
	for _, s := range g.namespaced.all {
		if s.object != nil && (!s.aside || used[s.name]) {
			names = append(names, s.name)
		}
	}
	return names
}

// reportData writes the answers for programs, and to standard error what lint finds and the command fails for.
func (c *command) reportData(g *garden, profiles []namedProfile, order capability.Order, flags *reportFlags) error {
	answering := c.terminal.begin("asking about all combinations", 0)
	answer := reported{Profiles: []reportedProfile{}}
	for _, p := range profiles {
		answer.Profiles = append(answer.Profiles, reportedProfile{p.name, slices.AppendSeq([]cell{}, cells(p.compiled, order))})
	}
	found := c.lintAll(g, &flags.checkFlags, nil)
	answering.end()
	if err := report.JSON(c.stdout, answer); err != nil {
		return err
	}
	options := flags.counting()
	if err := report.Text(c.stderr, found.Failing(options)); err != nil {
		return err
	}
	return c.endReport(g, found, options)
}

// endReport says what is to be said besides the report. What it returns ends the command, unless it is nil.
func (c *command) endReport(g *garden, found report.Report, options report.Options) error {
	c.printSilenced(found)
	c.printNotes(g)
	report.Printf(c.stderr, "%s\n", found.Summary)
	if found.Fails(options) {
		return errWrong
	}
	return nil
}

// reportPage writes the page.
func (c *command) reportPage(g *garden, profiles []namedProfile, order capability.Order, flags *reportFlags) error {
	answering := c.terminal.begin("asking about all combinations", 0)
	var texts page.Texts
	r := page.Report{Version: thisVersion().Version, Profiles: []page.Profile{}}
	for _, p := range profiles {
		sheet := sheetOf(p.name, p.compiled, order, &texts)
		sheet.Inputs = g.inputsOf(p.name, flags.inputs)
		r.Profiles = append(r.Profiles, sheet)
	}
	r.Texts, r.Notes = texts.All(), []string{}
	g.addMaintenance(&r, order)
	found := c.lintAll(g, &flags.checkFlags, nil)
	answering.end()
	addFindings(&r, found)
	r.Notes = append(r.Notes, g.notes...)
	if err := page.Write(c.stdout, &r); err != nil {
		return err
	}
	return c.endReport(g, found, flags.counting())
}
