// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/inventories"
	"github.com/capkit/capkit/internal/cli/plan"
	"github.com/capkit/capkit/internal/cli/release"
	"github.com/capkit/capkit/internal/cli/release/source"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/words"
)

type importFlags struct {
	inventories.Flags
	in                                            *input.Flags
	output, from, image, version, mapFile, prints string
	classification, expire                        string
	match, profiles                               []string
	keep                                          int
	write, replace                                bool
	given                                         func(flag string) bool

	source  source.Source
	options release.Options
}

// standardImage is the image's name if the source does not name it.
const standardImage = "gardenlinux"

// Command returns the command import.
func Command(c *command.Call) *cobra.Command {
	flags := &importFlags{}
	cmd := &cobra.Command{
		Use:        "import PROFILE... --from SOURCE",
		SuggestFor: []string{"add", "release"},
		Short:      "Add the images of a release to CloudProfiles, in their files",
		Long: `Adds image versions of a release to both halves of CloudProfiles and NamespacedCloudProfiles: to spec.machineImages, and to the provider
config. It prints a diff; -w changes the files. Comments, order, quoting and indentation stay. Nothing is written if lint would find a
new error in the result. Standard error has what plan says about the change.

A SOURCE is one of these:

  gardenlinux:FILE_OR_DIR  the metadata that Garden Linux publishes for each image of a release
  inventory:FILE           images of a cloud, as in an inventory, chosen by --match
  list:FILE                an ImageList, which says which image has which capabilities

A map says which capabilities images have, by their metadata: --print-map prints the one for Garden Linux, --map names another one.
A profile gets the capabilities that it registers, Gardener's own ones on the flavors of its provider config, and its own regions. Notes
name what is left out. What a profile already has stays: the same import twice changes nothing, and nothing is removed because the source
lacks a file or a region. If a profile has a version with other references, that is an error, unless --replace replaces them.

New versions are previews, unless --classification says otherwise. With --keep, older ones are deprecated, unless a Shoot among the inputs
uses them. With --inventory, the profiles are verified as well.`,
		Example: "  capkit import cloudprofile.yaml --from gardenlinux:metadata/\n" +
			"  capkit import -w cloudprofiles/ --from gardenlinux:metadata/ --keep 3 --expire 2027-06-30\n" +
			"  capkit import cloudprofile.yaml --from inventory:inventory.yaml --match name='gardenlinux-1877.3*'\n" +
			"  capkit import cloudprofile.yaml --from list:images.yaml --classification supported\n" +
			"  capkit import --print-map gardenlinux > map.yaml\n" +
			"  capkit import -A cloudprofile.yaml --from gardenlinux:metadata/ --map map.yaml --inventory inventory.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd.Context(), c, args, flags) },
	}
	flags.add(cmd)
	return cmd
}

// classifications are the possible classifications of a new version.
var classifications = []string{"preview", "supported", "deprecated"}

func (flags *importFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&flags.from, "from", "", "read the release from this `SOURCE`: gardenlinux:FILE_OR_DIR, inventory:FILE or list:FILE")
	f.BoolVarP(&flags.write, "write", "w", false, "change the files instead of printing a diff")
	f.StringVar(&flags.image, "image", standardImage, "the `NAME` of the image in the profiles; of an ImageList, the one to choose")
	f.StringVar(&flags.version, "version", "", "the `VERSION`, as x.y.z (default: that of the source); of an ImageList, the one to choose")
	f.StringArrayVar(&flags.match, "match", nil,
		"choose the images of a source by their metadata, name or properties: `KEY=GLOB`; may be repeated, and all must match")
	f.StringVar(&flags.mapFile, "map", "", "use the map in this `FILE` from metadata to capabilities")
	f.StringVar(&flags.prints, "print-map", "", "print the map for sources of this `KIND` and do nothing else: "+source.GardenLinux)
	command.ChoiceFlag(cmd, &flags.classification, "classification", "preview", "the `CLASSIFICATION` of new versions", classifications)
	f.IntVar(&flags.keep, "keep", 0, "deprecate versions that are not among the `N` newest of their x.y, unless a Shoot uses them (default: none)")
	f.StringVar(&flags.expire, "expire", "", "with --keep, the `DATE` on which those versions expire, unless they have one")
	f.BoolVar(&flags.replace, "replace", false, "replace the references of versions that a profile has with other ones")
	f.StringArrayVar(&flags.profiles, "profile", nil, "add images to the profile `[NAMESPACE/]NAME` alone; may be repeated")
	for _, name := range []string{"image", "version", "match", "expire", "profile", "keep"} {
		command.Complete(cmd, name, nil)
	}
	command.Complete(cmd, "print-map", []string{source.GardenLinux})
	flags.given = f.Changed
	command.OutputFlag(cmd, &flags.output, command.AnswerFormats)
	flags.in = input.NewFlags(cmd)
	flags.in.PreparedForGardener(cmd)
	flags.in.Whole = true // files are rewritten, so nothing in them may be lost
	flags.Flags.Add(cmd)
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if flags.given("print-map") {
			return flags.checkPrint(args)
		}
		if err := flags.prepare(time.Now()); err != nil {
			return err
		}
		if err := check(cmd, args); err != nil {
			return err
		}
		return flags.Flags.Prepare(flags.in.Files(args))
	}
}

func (flags *importFlags) checkPrint(args []string) error {
	switch {
	case source.MapText(flags.prints) == "":
		return fmt.Errorf("--print-map %q: there is a map for %s%s", flags.prints, source.GardenLinux,
			words.DidYouMean(words.Choice(flags.prints, []string{source.GardenLinux})))
	case len(args) > 0 || flags.from != "":
		return errors.New("--print-map prints a map and does nothing else: leave the files and --from out")
	}
	return nil
}

// prepare parses the flags, and returns the mistakes in them.
func (flags *importFlags) prepare(now time.Time) (err error) {
	if flags.from == "" {
		return errors.New("no source given: name one with --from, gardenlinux:FILE_OR_DIR, inventory:FILE or list:FILE")
	}
	if flags.source, err = source.Parse(flags.from); err != nil {
		return err
	}
	var errs []error
	for _, text := range flags.match {
		m, err := source.ParseMatch(text)
		errs = append(errs, err)
		flags.source.Match = append(flags.source.Match, m)
	}
	flags.source.Version = flags.version
	if flags.source.Image = flags.image; flags.source.Kind == source.List {
		if !flags.given("image") {
			flags.source.Image = ""
		}
		if len(flags.match) > 0 || flags.mapFile != "" {
			errs = append(errs, errors.New("an ImageList says itself what is imported: leave --match and --map out, and choose by --image and --version"))
		}
	}
	if version, is := source.Complete(flags.version); flags.given("version") && (!is || version != flags.version) {
		hint := ""
		if is {
			hint = words.DidYouMean(version)
		}
		errs = append(errs, fmt.Errorf("--version %q is not a semantic version: write it as x.y.z%s", flags.version, hint))
	}
	flags.options = release.Options{Classification: flags.classification, Replace: flags.replace, Keep: flags.keep}
	return errors.Join(append(errs, flags.prepareLifecycle(now)...)...)
}

// prepareLifecycle checks --classification, --keep and --expire, and that --map is not empty.
func (flags *importFlags) prepareLifecycle(now time.Time) (errs []error) {
	if !slices.Contains(classifications, flags.classification) {
		errs = append(errs, fmt.Errorf("unknown --classification %q: use %s%s", flags.classification, words.Or(classifications),
			words.DidYouMean(words.Choice(flags.classification, classifications))))
	}
	if flags.given("keep") && flags.keep < 1 {
		errs = append(errs, fmt.Errorf("--keep %d: at least 1 version of each x.y stays as it is; leave the flag out to deprecate none", flags.keep))
	}
	if flags.given("expire") {
		at, err := command.ParseTime("--expire", flags.expire, now)
		if errs = append(errs, err); !flags.given("keep") {
			errs = append(errs, errors.New("--expire goes with --keep, which says which versions expire"))
		}
		if flags.options.Expire = at.UTC().Format(time.RFC3339); err == nil && !at.After(now) {
			errs = append(errs, fmt.Errorf("--expire %q is in the past: name a date in the future", flags.expire))
		}
	}
	if flags.given("map") && flags.mapFile == "" {
		errs = append(errs, errors.New("--map is empty: name a file, or leave the flag out"))
	}
	return errs
}

// imported is import's output for one profile. Its JSON is an interface: a published field keeps its name and meaning.
type imported struct {
	// Profile is [NAMESPACE/]NAME.
	Profile string `json:"profile"`
	// Versions are the versions of the release.
	Versions []release.Version `json:"versions"`
	// Findings are errors, which prevent any change, and warnings: about the source and the profile, and new ones from lint and verify.
	Findings []report.Finding `json:"findings"`
	// Files are the files that change.
	Files []files.Changed `json:"files"`
	// Plan contains the effects of the change; nil if nothing changes or there are errors.
	Plan *changes.Planned `json:"plan,omitempty"`
}

// answer is import's output for several profiles.
type answer struct {
	Profiles []*imported `json:"profiles"`
}

func runImport(ctx context.Context, c *command.Call, args []string, flags *importFlags) error {
	if flags.given("print-map") {
		_, err := io.WriteString(c.Stdout, source.MapText(flags.prints))
		return err
	}
	text := files.TextOf(c)
	landscapes, err := flags.load(ctx, c, args)
	if err != nil {
		return err
	}
	for _, g := range landscapes {
		input.PrintSkipped(c, g)
	}
	if err := flags.find(landscapes, args); err != nil {
		return err
	}
	contents, faults, err := source.Read(flags.source)
	if err != nil {
		return err
	}
	if flags.mapFile != "" {
		given, wrong, err := source.ReadMap(flags.mapFile, flags.source.Kind)
		if err != nil {
			return err
		}
		flags.options.Map, faults = given, append(faults, wrong...)
	}
	run := &importing{flags: flags, call: c, contents: contents, notes: contents.Notes, noted: map[string][]string{}, text: text}
	for _, f := range faults {
		run.faults = append(run.faults, ofFault(f))
	}
	run.findings = slices.Clone(run.faults)
	for _, g := range landscapes {
		if err := run.landscape(g); err != nil {
			return err
		}
	}
	return run.finish()
}

// finish writes the files and prints the results.
func (run *importing) finish() error {
	c, flags := run.call, run.flags
	report.Sort(run.findings)
	if err := report.Text(c.Stderr, run.findings); err != nil {
		return err
	}
	wrong := slices.ContainsFunc(run.findings, isError)
	for _, note := range run.notes {
		about := ""
		if of := run.noted[note]; len(of) > 0 {
			about = words.Few(of) + ": "
		}
		report.Printf(c.Stderr, "note: %s%s\n", about, note)
	}
	changed := run.files
	if wrong {
		changed = nil
		for _, p := range run.profiles {
			p.Files, p.Plan = []files.Changed{}, nil
		}
	}
	if flags.write && len(changed) > 0 {
		if err := files.Write(changed); err != nil {
			return err
		}
	}
	run.say(changed, wrong)
	if flags.output == "text" && flags.write {
		changed = nil
	} else if flags.output == "text" {
		files.NoteComments(c, changed)
	}
	if err := command.PrintAs(c.Stdout, flags.output, run.answer(), func(w io.Writer) { files.PrintDiffs(w, changed, false) }); err != nil {
		return err
	}
	if wrong {
		return command.ErrWrong
	}
	return nil
}

// answer returns the value to print as JSON: a single profile, or a list of them.
func (run *importing) answer() any {
	if len(run.profiles) == 1 {
		return run.profiles[0]
	}
	if len(run.profiles) == 0 {
		return &imported{Versions: []release.Version{}, Findings: run.findings, Files: []files.Changed{}}
	}
	return &answer{run.profiles}
}

// say prints a summary for each profile. Profiles that do not change share a line if it says the same.
func (run *importing) say(changed []files.Changed, wrong bool) {
	w := run.call.Stderr
	text := func(v release.Version) string {
		return fmt.Sprintf("%s@%s: %s, %s in %s", v.Image, v.Version, v.Action, report.Count(v.Flavors, "flavor"), report.Count(v.Regions, "region"))
	}
	unchanged := map[string][]string{}
	for _, p := range run.profiles {
		for _, v := range p.Versions {
			if p.Plan == nil {
				unchanged[text(v)] = append(unchanged[text(v)], p.Profile)
			}
		}
	}
	for _, p := range run.profiles {
		for _, v := range p.Versions {
			names := []string{p.Profile}
			if p.Plan == nil {
				names = unchanged[text(v)]
				delete(unchanged, text(v))
			}
			if len(names) > 0 {
				report.Printf(w, "%s: %s\n", words.Few(names), text(v))
			}
		}
		if p.Plan != nil {
			plan.Print(p.Plan, w)
		}
	}
	switch {
	case wrong:
		report.Printf(w, "nothing is changed\n")
	case len(changed) == 0:
		report.Printf(w, "nothing to import\n")
	case run.flags.write:
		for _, f := range changed {
			report.Printf(w, "written: %s\n", f.File)
		}
	}
}

func isError(f report.Finding) bool { return f.Severity == finding.SeverityError }
