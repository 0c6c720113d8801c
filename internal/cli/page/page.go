// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package page implements the command report. Start reading at [Command]; package html writes the page.
package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/words"
)

type reportFlags struct {
	checks.Options
	output, order, profile string
	// filter selects the worker pools of the page. Its profile is set from the flag once the profile is known.
	filter input.Filter

	// landscapes are the values of --landscape as written, and all the parsed ones. compares is set in a run for one of several
	// landscapes.
	landscapes []string
	all        []landscape
	compares   bool

	byOrder *capability.Order
	// made is the time of the page.
	made time.Time
}

// reportFormats are the output formats: a page for people, and its answers for programs.
var reportFormats = []string{"html", "json"}

// Command returns the command report.
func Command(c *command.Call) *cobra.Command {
	var flags *reportFlags
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Show on one page which image boots on which machine type, and why",
		Long: `Shows which image boots for every combination of image version, machine type and region, with and without special worker
features.

The output is one HTML file that needs no network: with the explanation of each combination, the findings of lint, and the
next maintenance of the Shoots in the files, also day by day for 90 days. As JSON it has the answers of select, for programs.

With --landscape, which can be repeated, the page compares several landscapes side by side, and has a page for each of them. A landscape is
a file or a folder, or the cluster of a context of the kubeconfig. A .capkit.yaml in the folder applies to it.

The flags of lint that select findings work here, too, and so do silencing comments and .capkit.yaml. The exit status is
that of lint. The report is also written if that is 1, unless no profile can be read.`,
		Example: "  capkit report cloudprofile.yaml > report.html\n" +
			"  capkit report cloudprofile.yaml namespacedcloudprofile.yaml shoots/ > report.html\n" +
			"  capkit report -A > report.html\n" +
			"  capkit report --landscape dev=landscapes/dev --landscape live=landscapes/live > report.html\n" +
			"  capkit report -o json cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(flags.all) > 0 {
				return runLandscapes(cmd.Context(), c, cmd, flags)
			}
			return runReport(cmd.Context(), c, args, flags)
		},
	}
	flags = newFlags(c, cmd)
	return cmd
}

// newFlags adds the flags of the command.
func newFlags(c *command.Call, cmd *cobra.Command) *reportFlags {
	flags := &reportFlags{}
	flags.Flags = input.NewFlags(cmd)
	flags.AllowEmptyFlag(cmd)
	command.OutputFlag(cmd, &flags.output, reportFormats)
	output := cmd.Flags().Lookup("output")
	flags.output, output.DefValue = reportFormats[0], reportFormats[0]
	command.OrderFlag(cmd, &flags.order)
	cmd.Flags().StringVar(&flags.profile, "profile", "", "report on the profile `[NAMESPACE/]NAME` alone")
	command.Complete(cmd, "profile", nil) // a name, not a file
	flags.filter.Flags(cmd)
	flags.Add(cmd, c)
	cmd.Flags().StringArrayVar(&flags.landscapes, "landscape", nil,
		"compare landscapes: one for each flag, as `NAME=PATH` with a NAME of your own and its file or folder, or as NAME=context:CONTEXT for a cluster")
	cmd.Args = func(_ *cobra.Command, files []string) error {
		if len(flags.landscapes) > 0 {
			return flags.checkLandscapes(files)
		}
		return flags.Prepare(files, checks.Catalogue(c))
	}
	return flags
}

// reported is the JSON output of report, which is an interface: published fields keep their names and meanings.
type reported struct {
	Profiles []reportedProfile `json:"profiles"`
}

// reportedProfile has the answers of one profile, by image version, machine type, region and request, in the order of the profile.
type reportedProfile struct {
	// Name is [NAMESPACE/]NAME.
	Name  string `json:"name"`
	Cells []cell `json:"cells"`
}

func runReport(ctx context.Context, c *command.Call, args []string, flags *reportFlags) error {
	if err := flags.check(c); err != nil {
		return err
	}
	l, err := look(ctx, c, args, flags)
	if errors.Is(err, command.ErrWrong) {
		report.Printf(c.Stderr, "%s\n", nothingWritten)
	}
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if flags.output == "json" {
		err = report.JSON(&text, reported{l.cells})
	} else {
		err = html.Write(&text, &l.page)
	}
	if err == nil {
		_, err = text.WriteTo(c.Stdout)
	}
	if err != nil {
		return err
	}
	return l.end(c, flags)
}

// check completes the flags, and returns an error about them that does not depend on the inputs.
func (flags *reportFlags) check(c *command.Call) (err error) {
	if flags.byOrder, err = input.Order(flags.order); err != nil {
		return err
	}
	if flags.output == "html" && c.Shown {
		return errors.New("-o html writes a page, and standard output is a terminal: write it into a file, as in " +
			c.Name + " report ... > report.html, or say -o json")
	}
	if flags.output == "json" && flags.filter.Said() != "" && !flags.compares {
		return fmt.Errorf("-o json is about what can be asked, and not about worker pools: leave %s out", flags.filter.Said())
	}
	if flags.output == "html" || flags.compares {
		flags.made, err = madeAt(time.Now())
	}
	return err
}

// looked is the result for some inputs.
type looked struct {
	given *input.Given
	// page is for people and for the comparison, cells are for programs. profiles is the source of both.
	page     html.Report
	cells    []reportedProfile
	profiles []namedProfile
	// nobody is the error that the flags select no worker pool, for one of several landscapes.
	nobody error
	// found are the findings of lint.
	found report.Report
}

// look reads the inputs of a command and computes the result for them. The error says why there is none.
func look(ctx context.Context, c *command.Call, args []string, flags *reportFlags) (*looked, error) {
	g, err := checks.Load(ctx, c, args, &flags.Options)
	if err != nil {
		return nil, err
	}
	g.Order = flags.byOrder
	profiles, err := profilesToReport(g, flags)
	if err != nil {
		return nil, input.PrintFindings(c, g, err)
	}
	answering := c.Terminal.Begin("asking about all combinations", 0)
	defer answering.End()
	l := &looked{given: g, cells: []reportedProfile{}, profiles: profiles}
	if flags.output == "json" {
		for _, p := range profiles {
			l.cells = append(l.cells, reportedProfile{p.name, cells(p.compiled)})
		}
	}
	if flags.output == "json" && !flags.compares {
		l.found = checks.Run(c, g, &flags.Options, nil)
		return l, nil
	}
	r := &l.page
	*r = html.Report{Version: c.Versions().Version, Made: flags.made, Source: sourceOf(g, flags.Files(args))}
	for _, p := range profiles {
		sheet := sheetOf(p.name, p.compiled, flags.made)
		sheet.Inputs = inputsOf(g, p.name, flags.Flags)
		r.Profiles = append(r.Profiles, sheet)
	}
	if l.nobody = l.addPools(flags); l.nobody != nil {
		if !flags.compares {
			return nil, l.nobody
		}
		g.Notes = append(g.Notes, l.nobody.Error())
	}
	l.found = checks.Run(c, g, &flags.Options, nil)
	addFindings(r, l.found)
	r.Notes = append(r.Notes, g.Notes...)
	return l, nil
}

// addPools adds the effects of maintenance on the worker pools that the flags select. It returns an error if there are none. The findings
// of lint are about all pools.
func (l *looked) addPools(flags *reportFlags) error {
	g, all := l.given, l.given.Shoots.All
	defer func() { g.Shoots.All = all }()
	chosen, filter := flags.filter.Said(), &flags.filter
	if flags.profile != "" {
		filter.Profile = l.profiles[0].name
	}
	if len(all) > 0 {
		l.page.Filter = filter.Said()
	}
	err := filter.Choose(g)
	if err != nil && chosen == "" { // the profile has answers even without users
		g.Shoots.All = nil
	} else if err != nil {
		return err
	}
	addMaintenance(g, &l.page, filter)
	if l.page.Shoots == 0 && chosen != "" {
		return filter.NoPool(g)
	}
	if flags.output == "json" {
		return nil
	}
	addCalendar(g, &l.page, filter)
	return nil
}

// end prints findings and notes after the report. The error determines how the command ends.
func (l *looked) end(c *command.Call, flags *reportFlags) error {
	if flags.output == "json" {
		if err := report.Text(c.Stderr, l.found.Failing(flags.Counting())); err != nil {
			return err
		}
	}
	checks.PrintSilenced(c, l.found)
	input.PrintNotes(c, l.given)
	report.Printf(c.Stderr, "%s\n", l.found.Summary)
	return flags.End(c, l.found)
}

// epoch is the environment variable of reproducible builds. It sets the time of the page, in seconds.
const epoch = "SOURCE_DATE_EPOCH"

// madeAt returns the time of the page.
func madeAt(now time.Time) (time.Time, error) {
	text := os.Getenv(epoch)
	if text == "" {
		return now, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if made := time.Unix(seconds, 0); err == nil && seconds >= 0 && seconds <= latest {
		return made, nil
	}
	return now, fmt.Errorf("invalid %s %q: use the seconds since 1970-01-01, or unset it", epoch, text)
}

// latest is the latest time of a page, in the year 2242: later ones are mistakes, such as milliseconds.
const latest = 1 << 33

// sourceOf describes the subject of the answers: the files and the cluster.
func sourceOf(g *input.Given, files []string) string {
	const most = 10
	var named []string
	for _, file := range files[:min(len(files), most)] {
		if file == manifest.Stdin {
			file = "standard input"
		}
		named = append(named, file)
	}
	source := words.JoinFirst(len(files), named, ", ")
	if g.Cluster == "" {
		return source
	}
	return strings.TrimPrefix(source+" and "+g.Cluster, " and ")
}

// namedProfile is a profile with its [NAMESPACE/]NAME.
type namedProfile struct {
	name     string
	compiled input.AnyProfile
}

// nothingWritten follows the findings if there is no profile to report on.
const nothingWritten = "there is no profile to report on, and nothing is written: repair these first"

// profilesToReport returns the profiles to report on: the one that the flag names, or all except those that are only there for
// references. A profile without answers becomes a note, unless a finding explains it. It returns an error if there is none.
func profilesToReport(g *input.Given, flags *reportFlags) ([]namedProfile, error) {
	if flags.profile != "" {
		p, err := g.ProfileNamed(flags.profile, false)
		name := flags.profile
		if n, notFound := g.NamespacedNamed(name); g.Profiles.ByName[name] == nil && notFound == nil {
			name = n.Name
		}
		return []namedProfile{{name, p}}, err
	}
	var profiles []namedProfile
	var errs []error
	for _, name := range namesToReport(g) {
		if p, err := g.ProfileNamed(name, false); err == nil {
			profiles = append(profiles, namedProfile{name, p})
		} else {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	if len(profiles) == 0 && len(errs)+len(g.Findings) > 0 {
		return nil, errors.Join(append(errs, errors.New("there is no profile to report on"))...)
	}
	for _, err := range errs {
		g.Notes = append(g.Notes, err.Error())
	}
	if len(profiles) == 0 {
		return nil, flags.Nothing(g, "CloudProfile or NamespacedCloudProfile")
	}
	return profiles, nil
}

// namesToReport returns the names of the readable profiles, in the order of the inputs.
func namesToReport(g *input.Given) []string {
	used := map[string]bool{}
	for _, s := range g.Shoots.All {
		if s.Object != nil {
			used[profileOf(s.Object)] = true
		}
	}
	return append(readable(&g.Profiles, used), readable(&g.Namespaced, used)...)
}

// readable returns the names of the readable profiles, except unused ones that are only there for references.
func readable[T any](profiles *input.Objects[T], used map[string]bool) []string {
	var names []string
	for _, s := range profiles.All {
		if s.Object != nil && (!s.Aside || used[s.Name]) {
			names = append(names, s.Name)
		}
	}
	return names
}

// profileOf returns the [NAMESPACE/]NAME of a Shoot's profile.
func profileOf(shoot *v1beta1.Shoot) string {
	kind, name, _ := input.ProfileNameOf(shoot)
	if kind == "NamespacedCloudProfile" {
		return shoot.Namespace + "/" + name
	}
	return name
}
