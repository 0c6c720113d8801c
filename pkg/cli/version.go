// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/cli/gardener"
)

// versions is what the command version prints. Its JSON is an interface: a field once published keeps its name and
// meaning.
type versions struct {
	Version string `json:"version"`
	// GardenerVersion is that of the Gardener whose rules the command checks; absent if it is not known, as in tests.
	GardenerVersion string `json:"gardenerVersion,omitempty"`
}

// String is what follows the name of the command, for people.
func (v versions) String() string {
	if v.GardenerVersion == "" {
		return v.Version
	}
	return fmt.Sprintf("%s (with the rules of Gardener %s)", v.Version, v.GardenerVersion)
}

func (c *command) version() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the command, and of the Gardener whose rules it checks",
		Long: `Prints the version of the command, and that of the Gardener whose validation it has compiled in: what lint reports as
gardener-core is what an API server of that version would say.`,
		ValidArgsFunction: cobra.NoFileCompletions,

		Example: "  capkit version\n  capkit version -o json",
		Args:    noFiles("version takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions{Version, gardener.Version()}
			return printAs(c.stdout, output, v, func(w io.Writer) { fmt.Fprintln(w, cmd.Root().DisplayName(), "version", v) })
		},
	}
	outputFlag(cmd, &output, answerFormats)
	return cmd
}
