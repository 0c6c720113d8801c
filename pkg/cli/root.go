// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/internal/cli/ask"
	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/importer"
	"github.com/capkit/capkit/internal/cli/inventory"
	"github.com/capkit/capkit/internal/cli/lint"
	"github.com/capkit/capkit/internal/cli/lsp"
	"github.com/capkit/capkit/internal/cli/maintain"
	"github.com/capkit/capkit/internal/cli/migrate"
	"github.com/capkit/capkit/internal/cli/page"
	"github.com/capkit/capkit/internal/cli/plan"
	"github.com/capkit/capkit/internal/cli/render"
	"github.com/capkit/capkit/internal/cli/rules"
	"github.com/capkit/capkit/internal/cli/schema"
	"github.com/capkit/capkit/internal/cli/verify"
)

// root returns the command with its subcommands. name is the name by which the user calls it, which may have several words.
func root(c *command.Call, name string) *cobra.Command {
	root := &cobra.Command{
		Use:         strings.ReplaceAll(name, " ", "-"), // cobra uses the first word of Use as the command's name
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: name},
		Short:       "Check the machine images of Gardener CloudProfiles, and find the image of a worker pool",
		Long: `Checks CloudProfiles, and the Shoots that use them, in files or a cluster. It runs Gardener's own validation and the checks of the
admission webhooks, and shows what is wrong in which line, which image a worker pool boots, and why.

A FILE is a YAML or JSON file, a directory of them, or - for standard input. All inputs are checked together: a Shoot finds its
CloudProfile, a NamespacedCloudProfile its parent.

With -A or -n the command reads objects from a garden cluster, and never writes there. A file then replaces the object of the same
name, as if it were applied. With --kubeconfig or --context alone, files find the profiles that they refer to in the cluster.

Exit status: 0 success, 1 negative result, 2 usage or I/O error.`,
		Example:       "  capkit lint manifests/\n  capkit select shoot.yaml cloudprofile.yaml\n  capkit plan -A cloudprofile-new.yaml",
		Version:       c.Versions().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for group, commands := range map[string][]*cobra.Command{
		groupCheck:  {lint.Command(c), verify.Command(c), plan.Command(c), lsp.Command(c)},
		groupAsk:    {ask.Select(c), ask.Explain(c), maintain.Command(c), page.Command(c), ask.Capabilities(c)},
		groupChange: {importer.Command(c), migrate.Command(c)},
		groupLook:   {render.Command(c), inventory.Command(c), rules.List(c), rules.Explain(c), schema.Command(c), c.VersionCommand(checks.Settings(c))},
	} {
		for _, cmd := range commands {
			cmd.GroupID = group
			root.AddCommand(cmd)
		}
	}
	addHelp(root)
	for cmd := range tree(root) {
		cmd.Example = strings.ReplaceAll(cmd.Example, "capkit ", name+" ")
	}
	return root
}
