// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/internal/cli/transform/lifecycle"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

type migrateFlags struct {
	output              string
	fold, machineTypes  []string
	write, config, back bool
	core, lifecycle     bool
	reserved, accept    bool
	given               func(flag string) bool
	in                  *input.Flags
}

// Command returns the command migrate.
func Command(c *command.Call) *cobra.Command {
	flags := &migrateFlags{}
	cmd := &cobra.Command{
		Use:   "migrate FILE...",
		Short: "Move CloudProfiles from the legacy format to capabilities, in their files, and back",
		Long: `Changes the files of CloudProfiles and NamespacedCloudProfiles so that they use capabilities. It prints a diff;
-w writes the files. Comments, order, quoting and indentation stay, and no other lines change. Nothing is changed
unless every worker pool boots the same image as before; Shoots among the inputs are checked as well.

Without further flags it takes the smallest step: it registers the architecture. The flavors of core are left to a mutating
webhook: that of capkit's admission component, or of the extension of the cloud; --core-flavors writes them, for a garden
with neither, and for tools like Argo CD that revert the changes of a webhook. --provider-config writes the image versions of provider
configs as flavors. --fold joins image versions that differ in a suffix: 1.2.3-baremetal becomes a flavor of 1.2.3. --back returns to the
legacy format.

--lifecycle does only this: it writes the classification and expiration of image and Kubernetes versions as lifecycles, and with --back as
classification and expirationDate. Each version means the same at every moment.

--reserved registers the capabilities that Gardener has reserved, by the names of the second text of GEP-0054, and with --back reverts
that. As omissions in flavors then mean something else, it writes their previous values. If that cannot keep every answer,
--accept-changes writes it nevertheless.

A version that --fold joins and that a Shoot among the inputs uses is kept, since Gardener refuses to remove it. A second step removes
it once it is no longer used: the diff shows it as comments, and -w writes it beside the file, as FILE.step-2. A worker
pool can move to the version without suffix if that boots the same image for it.`,
		Example: "  capkit migrate cloudprofile.yaml\n" +
			"  capkit migrate --core-flavors cloudprofile.yaml\n" +
			"  capkit migrate -w --provider-config cloudprofile.yaml namespacedcloudprofiles/\n" +
			"  capkit migrate --fold=-baremetal=hypervisor:baremetal,virtualized --machine-types='bare_*' cloudprofile.yaml shoots.yaml\n" +
			"  capkit migrate -A --fold=-gen2=generation:gen2,gen1 cloudprofile.yaml\n" +
			"  capkit migrate --back -w cloudprofile.yaml\n" +
			"  capkit migrate --lifecycle --feature-gates VersionClassificationLifecycle=true cloudprofile.yaml\n" +
			"  capkit migrate --fold=-inplace=gardener-update-type:in-place,rolling cloudprofile.yaml\n" +
			"  capkit migrate --reserved cloudprofile.yaml namespacedcloudprofiles/",
		RunE: func(cmd *cobra.Command, args []string) error { return runMigrate(cmd.Context(), c, args, flags) },
	}
	f := cmd.Flags()
	f.BoolVarP(&flags.write, "write", "w", false, "change the files instead of printing a diff")
	f.BoolVar(&flags.config, "provider-config", false, "write all image versions of provider configs as flavors")
	f.BoolVar(&flags.core, "core-flavors", false, "write the flavors of core, too, for a garden where no mutating webhook fills them in")
	f.StringArrayVar(&flags.fold, "fold", nil,
		"join image versions that a suffix tells apart: `SUFFIX=CAPABILITY:VALUE[,PLAIN]` (PLAIN is "+transform.StandardPlain+
			" by default, and for a reserved capability the value of images that do not declare it)")
	f.StringSliceVar(&flags.machineTypes, "machine-types", nil,
		"with --fold, machine types that support VALUE alone, by `NAME,...`, or by patterns like bare_*; all others support PLAIN alone")
	f.BoolVar(&flags.lifecycle, "lifecycle", false, "write lifecycles for classification and expirationDate, and change nothing else")
	f.BoolVar(&flags.reserved, "reserved", false,
		"register the capabilities that Gardener has reserved and the profile uses, by the names of the second text of GEP-0054")
	f.BoolVar(&flags.accept, "accept-changes", false, "with --reserved, write the files even if worker pools then boot other images")
	f.BoolVar(&flags.back, "back", false,
		"return to the legacy format; with --lifecycle, to classification and expirationDate; with --reserved, to unregistered capabilities of Gardener")
	for _, name := range []string{"fold", "machine-types"} {
		command.Complete(cmd, name, nil) // no files
	}
	flags.given = f.Changed
	command.OutputFlag(cmd, &flags.output, command.AnswerFormats)
	flags.in = input.NewFlags(cmd)
	flags.in.PreparedForGardener(cmd)
	flags.in.Whole = true // files are rewritten, so nothing in them may be lost
	return cmd
}

// alone returns an error if flags exclude each other.
func (flags *migrateFlags) alone() error {
	const none = " takes none of --provider-config, --core-flavors, --fold and --machine-types: "
	others := flags.config || flags.core || flags.given("fold") || flags.given("machine-types")
	switch {
	case flags.accept && !flags.reserved:
		return errors.New("--accept-changes goes with --reserved only: no other migration changes what a worker pool boots")
	case flags.reserved && flags.lifecycle:
		return errors.New("--reserved and --lifecycle have nothing to do with each other: run the command once for each")
	case flags.lifecycle && others:
		return errors.New("--lifecycle" + none + "it changes no capabilities; run the command once for each")
	case flags.reserved && others:
		return errors.New("--reserved" + none + "it writes both halves; to fold a suffix, run the command with --fold first")
	case flags.back && others:
		return errors.New("--back" + none + "it writes everything in the legacy format")
	}
	return nil
}

// options converts the flags to options, or returns the mistakes in them.
func (flags *migrateFlags) options() (transform.Options, error) {
	options := transform.Options{ProviderConfig: flags.config, CoreFlavors: flags.core}
	if err := flags.alone(); err != nil {
		return options, err
	}
	switch {
	case flags.given("machine-types") && !flags.given("fold"):
		return options, errors.New("--machine-types says which machine types support the value of --fold: give that as well")
	case flags.given("machine-types") && len(flags.machineTypes) == 0:
		return options, errors.New("--machine-types is empty: name machine types, or leave the flag out")
	case len(flags.fold) > 1:
		return options, errors.New("--fold is given twice: fold one suffix, with -w, and run the command again for the next one")
	}
	if flags.given("fold") {
		fold, err := transform.ParseFold(flags.fold[0])
		if err != nil {
			return options, fmt.Errorf("--fold %w", err)
		}
		options.Fold = fold
		if fold.IsReserved() && flags.given("machine-types") {
			return options, fmt.Errorf("--machine-types does not go with %s: worker pools ask for it, and a machine type that says nothing supports all values",
				fold.Capability)
		}
	}
	options.MachineTypes = flags.machineTypes
	for _, pattern := range flags.machineTypes {
		if _, err := path.Match(pattern, ""); err != nil {
			return options, fmt.Errorf("--machine-types %q is not a pattern: * stands for any text, ? for one character, [ab] for one "+
				"of several", pattern)
		}
	}
	return options, nil
}

// migrated is migrate's output. Its JSON is an interface: a published field keeps its name and meaning.
type migrated struct {
	// Files are the files that change.
	Files []files.Changed `json:"files"`
	// Kept are image versions that are folded but stay because they are in use.
	Kept []keptVersion `json:"kept"`
	// Steps are the further steps, once the kept versions are no longer used. The first one has number 2.
	Steps []migratedStep `json:"steps"`
	// Findings are the errors that prevent any change; otherwise lint's warnings that exist only after the migration.
	Findings []report.Finding `json:"findings"`
}

// migratedStep is a further step.
type migratedStep struct {
	Step int `json:"step"`
	// Moves must happen before the step.
	Moves []move          `json:"moves"`
	Files []files.Changed `json:"files"`
	// goes are the keys of the versions that the step removes.
	goes map[string]bool
}

// move moves a worker pool to another version of its image, with the same booted image.
type move struct {
	Shoot string `json:"shoot"`
	Pool  string `json:"pool"`
	Image string `json:"image"`
	From  string `json:"from"`
	To    string `json:"to"`
}

type keptVersion struct {
	// Profile is [NAMESPACE/]NAME.
	Profile string `json:"profile"`
	Image   string `json:"image"`
	Version string `json:"version"`
	// UsedBy lists Shoots and NamespacedCloudProfiles as KIND NAMESPACE/NAME.
	UsedBy []string `json:"usedBy"`
	File   string   `json:"file"`
	Line   int      `json:"line"`
	// overridden is set if --lifecycle leaves the version as it is.
	overridden bool
	// use is the version's key in uses.
	use string
	// step names the file of the further step that removes the version; empty if there is none.
	step string
	// stays explains why there is no such step; empty if unknown.
	stays string
}

// print writes the diff. Further steps are comments in it, so that applying the diff performs only the first step.
func (m migrated) print(w io.Writer) {
	if len(m.Steps) > 0 {
		fmt.Fprintf(w, "# Step 1 of %d, now:\n", 1+len(m.Steps))
		if len(m.Files) == 0 {
			fmt.Fprintln(w, "# done already")
		}
	}
	files.PrintDiffs(w, m.Files, false)
	for _, s := range m.Steps {
		report.Printf(w, "# Step %d of %d, %s:\n", s.Step, 1+len(m.Steps), s.when())
		files.PrintDiffs(w, s.Files, true)
	}
}

// when describes the condition for a step.
func (s *migratedStep) when() string {
	var versions []string
	for _, m := range s.Moves {
		if text := m.Image + "@" + m.From; !slices.Contains(versions, text) {
			versions = append(versions, text)
		}
	}
	return "once nobody uses " + words.Few(versions) + " any more"
}

func runMigrate(ctx context.Context, c *command.Call, args []string, flags *migrateFlags) error {
	options, err := flags.options()
	if err != nil {
		return err
	}
	text := files.TextOf(c)
	g, err := input.Load(ctx, c, args, flags.in, true)
	if err != nil {
		return err
	}
	m := &migration{Given: g, options: options, back: flags.back, lifecycle: flags.lifecycle, reserved: flags.reserved, accept: flags.accept,
		text: text, input: firstInput(flags.in.Files(args))}
	answer, err := m.run()
	switch {
	case err != nil:
		return err
	case len(g.Findings) > 0:
		return refuseToMigrate(c, m, flags.output)
	}
	if err := report.Text(c.Stderr, m.warnings); err != nil {
		return err
	}
	input.PrintNotes(c, g)
	if flags.write {
		if err := files.Write(answer.written()); err != nil {
			return err
		}
	}
	printKept(c, &answer)
	switch {
	case len(answer.written()) == 0:
		fmt.Fprintln(c.Stderr, "nothing to migrate")
	case flags.write:
		for _, f := range answer.written() {
			report.Printf(c.Stderr, "written: %s\n", f.File)
		}
	}
	if flags.output == "text" {
		if flags.write {
			return nil
		}
		files.NoteComments(c, answer.Files)
	}
	return command.PrintAs(c.Stdout, flags.output, answer, answer.print)
}

// refuseToMigrate prints the findings. It always returns an error.
func refuseToMigrate(c *command.Call, m *migration, output string) error {
	if err := input.PrintFindings(c, m.Given, nil); err != nil {
		return err
	}
	input.PrintSkipped(c, m.Given)
	instead := ""
	if m.changes > 0 && m.changes == len(m.Findings) {
		instead = "; --accept-changes writes it anyway"
	}
	report.Printf(c.Stderr, "nothing is changed%s\n", instead)
	refused := migrated{Files: []files.Changed{}, Kept: []keptVersion{}, Steps: []migratedStep{}, Findings: m.Findings}
	if err := command.PrintAs(c.Stdout, output, refused, func(io.Writer) {}); err != nil {
		return err
	}
	return command.ErrWrong
}

// firstInput returns the first argument as findings name it, or the cluster if there is none.
func firstInput(args []string) string {
	switch {
	case len(args) == 0:
		return input.ClusterFile
	case args[0] == "-":
		return manifest.Stdin
	}
	return args[0]
}

// written returns the files that -w writes, including those of further steps.
func (m *migrated) written() []files.Changed {
	files := slices.Clone(m.Files)
	for _, s := range m.Steps {
		files = append(files, s.Files...)
	}
	return files
}

// printKept names the versions that are kept, and the next action for each.
func printKept(c *command.Call, m *migrated) {
	for _, k := range m.Kept {
		if k.overridden {
			of := lifecycle.Named(provider.ImageVersion{Image: k.Image, Version: k.Version})
			report.Printf(c.Stderr, "note: %s:%d: %s keeps its classification and expirationDate, because its expirationDate is another one in %s, "+
				"and would be ignored beside a lifecycle; run the command again once it is not\n", k.File, k.Line, of, words.Few(k.UsedBy))
			continue
		}
		then := "run the command again once it is not"
		switch {
		case k.step != "":
			then = "step 2, " + k.step + ", leaves it out: apply that once it is not"
		case k.stays != "":
			then += "; " + k.stays
		}
		report.Printf(c.Stderr, "note: %s:%d: %s@%s is kept, because it is used by %s; %s\n",
			k.File, k.Line, k.Image, k.Version, words.Few(k.UsedBy), then)
	}
}
