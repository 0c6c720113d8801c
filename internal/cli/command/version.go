// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command

import (
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

// Versions is what the command version prints. Its JSON is an interface: a field once published keeps its name and
// meaning. What is not known, as in tests, is absent.
type Versions struct {
	Version string `json:"version"`
	// Commit is that of the sources, its first twelve characters, followed by -dirty if they were changed after it.
	Commit string `json:"commit,omitempty"`
	// GardenerVersion is that of the Gardener whose rules the command checks.
	GardenerVersion string `json:"gardenerVersion,omitempty"`
	// Oldest and Newest are the minor versions of Gardener whose rules are known, and Kubernetes the minor versions of Kubernetes that
	// the newest of them runs, from the oldest.
	Oldest     string   `json:"oldestGardener"`
	Newest     string   `json:"newestGardener"`
	Kubernetes []string `json:"kubernetes"`
	// GoVersion is that of the compiler, and Platform what the program is for: linux/amd64.
	GoVersion string `json:"goVersion"`
	Platform  string `json:"platform"`
}

// module is where the sources are.
const module = "github.com/capkit/capkit"

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

// versionOf returns what Go knows of a program that was linked without a version: that of the module if it was installed as
// one, by go install and its path; and the commit if it was built in a clone.
func versionOf(info *debug.BuildInfo) (version, commit string) {
	if info.Main.Path != module || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return Unversioned, ""
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value[:min(len(setting.Value), 12)]
		case setting.Key == "vcs.modified" && setting.Value == "true": // which follows the revision
			commit += "-dirty"
		}
	}
	return strings.TrimPrefix(info.Main.Version, "v"), commit
}

// String is what follows the name of the command, for people.
func (v Versions) String() string {
	if v.GardenerVersion == "" {
		return v.Version
	}
	return fmt.Sprintf("%s (with the rules of Gardener %s)", v.Version, v.GardenerVersion)
}

// print writes the versions for people, below the name of the command.
func (v Versions) print(w io.Writer, name string) {
	fmt.Fprintln(w, name, "version", v)
	if v.Commit != "" {
		fmt.Fprintf(w, "  commit:   %s\n", v.Commit)
	}
	fmt.Fprintf(w, "  gardener: %s to %s\n  built by: %s\n  platform: %s\n", v.Oldest, v.Newest, v.GoVersion, v.Platform)
}

// VersionCommand returns the command version.
func (c *Call) VersionCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the command, and of the Gardener whose rules it checks",
		Long: `Prints the version of the command, and that of the Gardener whose validation is compiled in: lint reports errors of an API server
of that version as gardener-core. It also knows the rules of other versions of Gardener, from the oldest to the newest that it
prints: choose one with --gardener-version.`,
		ValidArgsFunction: cobra.NoFileCompletions,

		Example: "  capkit version\n  capkit version -o json",
		Args:    NoFiles("version takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := c.Versions()
			return PrintAs(c.Stdout, output, v, func(w io.Writer) { v.print(w, cmd.Root().DisplayName()) })
		},
	}
	OutputFlag(cmd, &output, AnswerFormats)
	return cmd
}
