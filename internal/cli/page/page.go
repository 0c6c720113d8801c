// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package page is the command report.
package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

	// made is the time that the page is of, and after how far from now that is.
	made  time.Time
	after time.Duration
}

// reportFormats are those of the command report: a page for people, and its answers for programs.
var reportFormats = []string{"html", "json"}

// Command returns the command report.
func Command(c *command.Call) *cobra.Command {
	flags := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Show all answers of CloudProfiles in one page: which machine type boots which image, and why",
		Long: `Shows which image boots for every combination of image version, machine type and region, with and without special worker
features.

The answer is one HTML file that needs no network: with what explain says of each combination, what lint finds, and what
maintenance does to the Shoots in the files, the next one and those of 90 days. As JSON it is the answers of select, for programs.

The flags of lint that say what counts are here, too, and so are the comments that silence and .capkit.yaml. The exit status is
that of lint; the report is written in any case.`,
		Example: "  capkit report cloudprofile.yaml > report.html\n" +
			"  capkit report cloudprofile.yaml namespacedcloudprofile.yaml shoots/ > report.html\n" +
			"  capkit report -A > report.html\n" +
			"  capkit report -o json cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return runReport(cmd.Context(), c, args, flags) },
	}
	flags.Flags = input.NewFlags(cmd)
	flags.AllowEmptyFlag(cmd)
	command.OutputFlag(cmd, &flags.output, reportFormats)
	output := cmd.Flags().Lookup("output")
	flags.output, output.DefValue = reportFormats[0], reportFormats[0]
	command.OrderFlag(cmd, &flags.order)
	cmd.Flags().StringVar(&flags.profile, "profile", "", "report on this profile alone, by `[NAMESPACE/]NAME`")
	command.Complete(cmd, "profile", nil) // a name, and no file
	flags.Add(cmd, checks.Catalogue(c))
	cmd.Args = func(_ *cobra.Command, files []string) error { return flags.Prepare(files, checks.Catalogue(c)) }
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

func runReport(ctx context.Context, c *command.Call, args []string, flags *reportFlags) error {
	order, err := capability.ParseOrder(flags.order)
	switch {
	case err != nil:
		return err
	case flags.Given("profile") && flags.profile == "":
		return errors.New("--profile is empty: name the profile, or leave the flag out to report on all of them")
	}
	if flags.output == "html" {
		if flags.made, flags.after, err = madeAt(time.Now()); err != nil {
			return err
		}
	}
	g, err := checks.Load(ctx, c, args, &flags.Options)
	if err != nil {
		return err
	}
	profiles, err := profilesToReport(g, flags)
	if err != nil {
		return input.PrintFindings(c, g, err)
	}
	answering := c.Terminal.Begin("asking about all combinations", 0)
	var text bytes.Buffer
	r := html.Report{Version: c.Versions().Version, Made: flags.made, Source: sourceOf(g, flags.Files(args))}
	found, err := writeReport(&text, c, g, &r, profiles, order, flags)
	answering.End()
	if err == nil {
		_, err = text.WriteTo(c.Stdout)
	}
	options := flags.Counting()
	if err == nil && flags.output == "json" {
		err = report.Text(c.Stderr, found.Failing(options))
	}
	if err != nil {
		return err
	}
	checks.PrintSilenced(c, found)
	input.PrintNotes(c, g)
	report.Printf(c.Stderr, "%s\n", found.Summary)
	if found.Fails(options) {
		return command.ErrWrong
	}
	return nil
}

// epoch is the environment variable that reproducible builds set: the time that the page is of, in seconds.
const epoch = "SOURCE_DATE_EPOCH"

// madeAt returns the time that the page is of, and how far from now that is.
func madeAt(now time.Time) (time.Time, time.Duration, error) {
	text := os.Getenv(epoch)
	if text == "" {
		return now, 0, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if made := time.Unix(seconds, 0); err == nil && seconds >= 0 && seconds <= latest {
		return made, made.Sub(now), nil
	}
	return now, 0, fmt.Errorf("invalid %s %q: use the seconds since 1970-01-01, or unset it", epoch, text)
}

// latest is the last time that a page can be of, in the year 2242: a duration is no longer than three centuries.
const latest = 1 << 33

// sourceOf says what the answers are about: the files, and the cluster.
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

// writeReport writes the answers for programs, or the page. It returns what lint finds.
func writeReport(
	w io.Writer, c *command.Call, g *input.Given, r *html.Report, profiles []namedProfile, order capability.Order, flags *reportFlags,
) (report.Report, error) {
	if flags.output == "json" {
		answer := reported{Profiles: []reportedProfile{}}
		for _, p := range profiles {
			answer.Profiles = append(answer.Profiles, reportedProfile{p.name, cells(p.compiled, order)})
		}
		return checks.Run(c, g, &flags.Options, nil), report.JSON(w, answer)
	}
	for _, p := range profiles {
		sheet := sheetOf(p.name, p.compiled, order, flags.after)
		sheet.Inputs = inputsOf(g, p.name, flags.Flags)
		r.Profiles = append(r.Profiles, sheet)
	}
	addMaintenance(g, r, order, flags.after)
	addCalendar(g, r, flags.after)
	found := checks.Run(c, g, &flags.Options, nil)
	addFindings(r, found)
	r.Notes = append(r.Notes, g.Notes...)
	return found, html.Write(w, r)
}

// namedProfile is a profile with its name, as [NAMESPACE/]NAME.
type namedProfile struct {
	name     string
	compiled input.AnyProfile
}

// profilesToReport returns the profiles to report on: the one that the flag names or, without it, all but those that are
// only there for others to refer to. One that cannot be asked becomes a note, unless a finding says so. The error says
// that there is none.
func profilesToReport(g *input.Given, flags *reportFlags) ([]namedProfile, error) {
	if flags.profile != "" {
		p, err := g.ProfileNamed(flags.profile)
		name := flags.profile
		if n, notFound := g.NamespacedNamed(name); g.Profiles.ByName[name] == nil && notFound == nil {
			name = n.Name
		}
		return []namedProfile{{name, p}}, err
	}
	var profiles []namedProfile
	var errs []error
	for _, name := range namesToReport(g) {
		if p, err := g.ProfileNamed(name); err == nil {
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

// namesToReport returns the names of the profiles that can be read, in the order of the inputs.
func namesToReport(g *input.Given) []string {
	used := map[string]bool{}
	for _, s := range g.Shoots.All {
		if s.Object != nil {
			used[profileOf(s.Object)] = true
		}
	}
	return append(readable(&g.Profiles, used), readable(&g.Namespaced, used)...)
}

// readable returns the names of the profiles that can be read, but for those that are only there for others and that nobody uses.
func readable[T any](profiles *input.Objects[T], used map[string]bool) []string {
	var names []string
	for _, s := range profiles.All {
		if s.Object != nil && (!s.Aside || used[s.Name]) {
			names = append(names, s.Name)
		}
	}
	return names
}

// profileOf returns the name of the profile that a Shoot uses, as [NAMESPACE/]NAME.
func profileOf(shoot *v1beta1.Shoot) string {
	kind, name, _ := input.ProfileNameOf(shoot)
	if kind == "NamespacedCloudProfile" {
		return shoot.Namespace + "/" + name
	}
	return name
}
