// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/pkg/gardenerrules/releases"
)

// Unversioned is the version of a program that was linked without one.
const Unversioned = "dev"

// Versions is the output of the command version. Its JSON is an interface: published fields keep their names and meanings. Unknown
// values, as in tests, are absent.
type Versions struct {
	Version string `json:"version"`
	// Commit is the source commit, its first twelve characters, followed by -dirty if the sources were modified.
	Commit string `json:"commit,omitempty"`
	// GardenerVersion is the compiled-in version of Gardener.
	GardenerVersion string `json:"gardenerVersion,omitempty"`
	// Oldest and Newest are the minor versions of Gardener whose rules are known. Kubernetes lists the Kubernetes minor versions that the
	// newest one supports, in ascending order.
	Oldest     string   `json:"oldestGardener"`
	Newest     string   `json:"newestGardener"`
	Kubernetes []string `json:"kubernetes"`
	// GoVersion is the compiler's version, and Platform the target, such as linux/amd64.
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// module is the module that contains the command's main package.
const module = "github.com/capkit/capkit/cmd"

// Versions returns the versions of this program.
func (c *Call) Versions() Versions {
	v := Versions{
		Version: c.Linked, GardenerVersion: gardener.Version(),
		Oldest: releases.Oldest.String(), Newest: releases.Newest.String(), Kubernetes: releases.Newest.Kubernetes(),
		GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	_, v.Commit, _ = strings.Cut(v.Version, "+")
	if info, ok := debug.ReadBuildInfo(); ok && c.Linked == Unversioned {
		v.Version, v.Commit = versionOf(info)
	}
	return v
}

// versionOf returns Go's build information about a program that was linked without a version. The version is known if it was installed
// with go install and its path, and the commit if it was built in a clone.
func versionOf(info *debug.BuildInfo) (version, commit string) {
	if info.Main.Path != module || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return Unversioned, ""
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value[:min(len(setting.Value), 12)]
		case setting.Key == "vcs.modified" && setting.Value == "true": // it follows the revision
			commit += "-dirty"
		}
	}
	return strings.TrimPrefix(info.Main.Version, "v"), commit
}

// String returns the version for people, without the command's name.
func (v Versions) String() string {
	if v.GardenerVersion == "" {
		return v.Version
	}
	return fmt.Sprintf("%s (with the rules of Gardener %s)", v.Version, v.GardenerVersion)
}

// print writes the versions for people, after the command's name.
func (v Versions) print(w io.Writer, name string) {
	fmt.Fprintln(w, name, "version", v)
	if v.Commit != "" {
		fmt.Fprintf(w, "  commit:   %s\n", v.Commit)
	}
	fmt.Fprintf(w, "  gardener: %s to %s\n  built by: %s\n  platform: %s\n", v.Oldest, v.Newest, v.GoVersion, v.Platform)
}

// VersionCommand returns the command version. settings reads a settings file, or without a name the one that applies in the working
// directory. It returns the path, or "" if there is none.
func (c *Call) VersionCommand(settings func(file string) (path string, notes []string, err error)) *cobra.Command {
	var output, config string
	var check bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the command, and of the Gardener whose rules it checks",
		Long: `Prints the version of the command, and that of the Gardener whose validation it has compiled in: what lint reports as
gardener-core is what an API server of that version would say. It also prints the oldest and the newest version of Gardener that the
command knows: with --gardener-version, lint and other commands judge as one of these.

With --check-config it checks, instead, whether this version understands the settings in .capkit.yaml, which may be those of an older
release. It prints each key and rule that it does not know, with the line and what to write instead. Nothing else is read. The exit
status is 1 if there is something to change.`,
		ValidArgsFunction: cobra.NoFileCompletions,

		Example: "  capkit version\n  capkit version -o json\n  capkit version --check-config",
		Args:    NoFiles("version takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := c.Versions()
			switch {
			case !check && cmd.Flags().Changed("config"):
				return errors.New("--config goes with --check-config: use both")
			case check && output != "text":
				return errors.New("--check-config has one form of output: leave out -o")
			case check:
				return c.checkSettings(v, config, settings)
			}
			return PrintAs(c.Stdout, output, v, func(w io.Writer) { v.print(w, cmd.Root().DisplayName()) })
		},
	}
	OutputFlag(cmd, &output, AnswerFormats)
	cmd.Flags().BoolVar(&check, "check-config", false, "check whether this version understands the settings")
	cmd.Flags().StringVar(&config, "config", "", "`FILE` with the settings (default: .capkit.yaml here or in a folder above)")
	return cmd
}

// checkSettings reports errors in the settings.
func (c *Call) checkSettings(v Versions, file string, settings func(string) (string, []string, error)) error {
	path, notes, err := settings(file)
	switch {
	case path == "" && err == nil:
		return errors.New("there is no .capkit.yaml here or in a folder above: name a file with --config")
	case path == "":
		return err
	case err != nil:
		fmt.Fprintln(c.Stdout, err)
		return ErrWrong
	}
	for _, note := range notes {
		fmt.Fprintf(c.Stderr, "note: %s\n", note)
	}
	fmt.Fprintf(c.Stdout, "%s: capkit %s understands all of it\n", path, v.Version)
	return nil
}
