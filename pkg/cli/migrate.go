// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/migrate"
)

type migrateFlags struct {
	fold, output        string
	machineTypes        []string
	write, config, back bool
	given               func(flag string) bool
	in                  *inputs
}

func (c *command) migrate() *cobra.Command {
	flags := &migrateFlags{}
	cmd := &cobra.Command{
		Use:   "migrate FILE...",
		Short: "Move CloudProfiles from the legacy format to capabilities, in their files, and back",
		Long: `Prints how the files of CloudProfiles and NamespacedCloudProfiles have to change so that they use capabilities, as a diff;
-w changes them. Comments, order, quoting and indentation stay: only lines that must change change. Nothing is changed
unless every worker pool boots the same image as before; Shoots among the inputs are looked at as well.

Without further flags it is the smallest step that Gardener accepts: the architecture is registered, and admission fills in
the rest. --provider-config writes the image versions of provider configs as flavors. --fold joins image versions that are
told apart by a suffix: 1.2.3-baremetal becomes a flavor of 1.2.3. A version that a Shoot among the inputs uses is kept; run the
command again once nobody uses it. --back goes back to the legacy format.`,
		Example: "  capkit migrate cloudprofile.yaml\n" +
			"  capkit migrate -w --provider-config cloudprofile.yaml namespacedcloudprofiles/\n" +
			"  capkit migrate --fold=-baremetal=hypervisor:baremetal,virtualized --machine-types='bare_*' cloudprofile.yaml shoots.yaml\n" +
			"  capkit migrate -A --fold=-gen2=generation:gen2,gen1 cloudprofile.yaml\n" +
			"  capkit migrate --back -w cloudprofile.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return c.runMigrate(cmd.Context(), args, flags) },
	}
	f := cmd.Flags()
	f.BoolVarP(&flags.write, "write", "w", false, "change the files instead of printing a diff")
	f.BoolVar(&flags.config, "provider-config", false, "write all image versions of provider configs as flavors")
	f.StringVar(&flags.fold, "fold", "",
		"join image versions that a suffix tells apart: `SUFFIX=CAPABILITY:VALUE[,PLAIN]` (PLAIN is "+migrate.StandardPlain+" if it is not said)")
	f.StringSliceVar(&flags.machineTypes, "machine-types", nil,
		"with --fold, the machine types that support VALUE alone, all others PLAIN alone: names or patterns like `bare_*`")
	f.BoolVar(&flags.back, "back", false, "go back to the legacy format")
	for _, name := range []string{"fold", "machine-types"} {
		complete(cmd, name, nil) // no files
	}
	flags.given = f.Changed
	outputFlag(cmd, &flags.output, answerFormats)
	flags.in = inputFlags(cmd)
	return cmd
}

// options returns what the flags ask for, or what is wrong with them.
func (flags *migrateFlags) options() (migrate.Options, error) {
	options := migrate.Options{ProviderConfig: flags.config}
	switch {
	case flags.back && (flags.config || flags.given("fold") || flags.given("machine-types")):
		return options, errors.New("--back takes none of --provider-config, --fold and --machine-types: it writes everything in the legacy format")
	case flags.given("machine-types") && !flags.given("fold"):
		return options, errors.New("--machine-types says which machine types support the value of --fold: give that as well")
	}
	if flags.given("fold") {
		fold, err := migrate.ParseFold(flags.fold)
		if err != nil {
			return options, fmt.Errorf("--fold %w", err)
		}
		options.Fold = fold
	}
	if flags.given("machine-types") {
		options.MachineTypes = append([]string{}, flags.machineTypes...)
	}
	for _, pattern := range flags.machineTypes {
		if _, err := path.Match(pattern, ""); err != nil {
			return options, fmt.Errorf("--machine-types %q is no pattern: * stands for any text, ? for one character, [ab] for one of several", pattern)
		}
	}
	return options, nil
}

// migrated is what migrate prints. Its JSON is an interface: a field once published keeps its name and meaning.
type migrated struct {
	// Files are those that change.
	Files []migratedFile `json:"files"`
	// Kept are image versions that are folded, and stay because they are used.
	Kept []keptVersion `json:"kept"`
}

type migratedFile struct {
	File string `json:"file"`
	// Diff is a unified diff.
	Diff string `json:"diff"`
	text string
}

type keptVersion struct {
	// Profile is [NAMESPACE/]NAME.
	Profile string `json:"profile"`
	Image   string `json:"image"`
	Version string `json:"version"`
	// UsedBy are Shoots and NamespacedCloudProfiles, as KIND NAMESPACE/NAME.
	UsedBy []string `json:"usedBy"`
	File   string   `json:"file"`
	Line   int      `json:"line"`
}

func (m migrated) print(w io.Writer) {
	for _, f := range m.Files {
		fmt.Fprint(w, f.Diff)
	}
}

func (c *command) runMigrate(ctx context.Context, args []string, flags *migrateFlags) error {
	options, err := flags.options()
	if err != nil {
		return err
	}
	var stdin strings.Builder
	if c.stdin != nil {
		c.stdin = io.TeeReader(c.stdin, &stdin)
	}
	g, err := c.load(ctx, args, flags.in, true)
	if err != nil {
		return err
	}
	m := &migration{garden: g, options: options, back: flags.back, stdin: stdin.String}
	answer, err := m.run()
	switch {
	case err != nil:
		return err
	case len(g.findings) > 0:
		if err := c.printFindings(g, nil); err != nil {
			return err
		}
		fmt.Fprintln(c.stderr, "nothing is changed")
		return errWrong
	case m.nothing:
		fmt.Fprintln(c.stderr, "no CloudProfile or NamespacedCloudProfile among the files: name those to migrate")
		return errWrong
	}
	if err := report.Text(c.stderr, m.warnings); err != nil {
		return err
	}
	c.printNotes(g)
	for _, k := range answer.Kept {
		fmt.Fprintf(c.stderr, "note: %s:%d: %s@%s is kept, because it is used by %s; run the command again once it is not\n",
			k.File, k.Line, k.Image, k.Version, strings.Join(k.UsedBy, ", "))
	}
	if flags.write {
		if err := writeFiles(answer.Files); err != nil {
			return err
		}
		if flags.output == "text" {
			return nil
		}
	}
	return printAs(c.stdout, flags.output, answer, answer.print)
}

// diff returns a unified diff of a file, which git and patch take from the folder that the name is relative to.
func diff(name, before, after string) string {
	name = strings.TrimPrefix(filepath.ToSlash(name), "/")
	if name == manifest.Stdin {
		return udiff.Unified(name, name, before, after)
	}
	return udiff.Unified("a/"+name, "b/"+name, before, after)
}
