// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/cli/report"
)

// Version of the command; set when it is linked.
var Version = "dev"

// The exit statuses.
const (
	exitOK     = 0 // done, and nothing found wrong
	exitWrong  = 1 // something found wrong
	exitFailed = 2 // the command could not do its work
)

// errWrong ends a command that has printed what is wrong.
var errWrong = errors.New("something was found wrong")

// command is one run.
type command struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	providers      map[string]Provider
}

// Run runs the command with its arguments, args[0] being the name by which it was called, and returns its exit status: 0
// if all is well, 1 if something was found wrong, 2 if it could not do its work. Results go to stdout, everything else
// to stderr. It knows the given providers, one for each type; of two for one type the later counts. A provider with faults,
// see [consistency.CheckProvider], is a reason to do nothing.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, providers ...Provider) int {
	c := &command{stdin: stdin, stdout: stdout, stderr: stderr, providers: map[string]Provider{}}
	var faults []error
	for _, p := range providers {
		c.providers[p.providerType()] = p
		faults = append(faults, p.faults())
	}
	name := programName(args)
	if err := errors.Join(faults...); err != nil {
		return c.fail(name, err)
	}
	root := c.root(name)
	root.SetArgs(args[min(1, len(args)):])
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	switch err := root.Execute(); {
	case err == nil:
		return exitOK
	case errors.Is(err, errWrong):
		return exitWrong
	default:
		return c.fail(name, err)
	}
}

// fail says why the command could not do its work, and returns its status.
func (c *command) fail(name string, err error) int {
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintf(c.stderr, "%s: %s\n", name, line)
		}
	}
	return exitFailed
}

// programName is how the user calls the command; as a kubectl plugin it is installed as kubectl-capkit.
func programName(args []string) string {
	if len(args) == 0 || args[0] == "" {
		return "capkit"
	}
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	if plugin, found := strings.CutPrefix(name, "kubectl-"); found {
		return "kubectl " + strings.ReplaceAll(plugin, "_", "-")
	}
	return name
}

func (c *command) root(name string) *cobra.Command {
	use := strings.ReplaceAll(name, " ", "\u00a0") // cobra takes the first word of Use as the command's name
	root := &cobra.Command{
		Use:   use,
		Short: "Check the machine images of Gardener CloudProfiles, and find the image of a worker pool",
		Long: `Checks CloudProfiles, and the Shoots that use them, offline: with Gardener's own validation and the very checks of the
admission webhooks, it says what is wrong in which line, which image a worker pool boots, and why.

A FILE is a YAML or JSON file, a directory of them, or - for standard input. Objects that are given together see each
other: a Shoot finds its CloudProfile, a NamespacedCloudProfile its parent.

Exit status: 0 nothing found wrong, 1 something found wrong, 2 the command could not do its work.`,
		Version:       Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(c.lint(), c.selectImage(), c.explain(), c.render(), c.capabilities())
	for _, cmd := range root.Commands() {
		cmd.Example = strings.ReplaceAll(cmd.Example, "capkit ", name+" ")
	}
	return root
}

func (c *command) render() *cobra.Command {
	var output, profile string
	var api gardenerAPI
	cmd := &cobra.Command{
		Use:   "render FILE...",
		Short: "Print the CloudProfile that a NamespacedCloudProfile results in",
		Long: `Prints what becomes of a NamespacedCloudProfile and its parent, which are both among the files: the spec that Gardener and
the admission webhooks write into status.cloudProfileSpec. It is printed as a CloudProfile with the name of the
NamespacedCloudProfile, so that lint, select and explain take it as a file. It is there to be read, not to be applied.

If admission would refuse one of the two, the errors are printed instead.`,
		Example: "  capkit render namespacedcloudprofile.yaml cloudprofile.yaml\n  capkit render --profile garden-demo/team manifests/ > rendered.yaml",
		Args:    needFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			g, err := load(args, c.stdin, c.providers)
			if err != nil {
				return err
			}
			g.gardener = api
			rendered, err := g.renderNamed(profile)
			switch failed := c.printFindings(g, err); {
			case failed != nil:
				return failed
			case rendered == nil:
				return errWrong
			case output == "json":
				return report.JSON(c.stdout, rendered)
			}
			return report.YAML(c.stdout, rendered)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "the NamespacedCloudProfile to render, as [NAMESPACE/]NAME, if several are among the inputs")
	outputFlag(cmd, &output, answerFormats)
	gardenerFlag(cmd, &api)
	return cmd
}

// printFindings tells what was found wrong on the way to a result, which err kept from being found. It returns how the
// command ends because of that: nil if there is a result.
func (c *command) printFindings(g *garden, err error) error {
	if len(g.findings) == 0 {
		return err
	}
	report.Sort(g.findings)
	if failed := report.Text(c.stderr, g.findings); failed != nil {
		return failed
	}
	if err != nil {
		return errWrong
	}
	return nil
}
