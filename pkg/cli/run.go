// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/consistency"
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
// to stderr. It knows the given providers, one for each type; of two for one type the later counts.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer, providers ...Provider) int {
	c := &command{stdin: stdin, stdout: stdout, stderr: stderr, providers: map[string]Provider{}}
	for _, p := range providers {
		c.providers[p.providerType()] = p
	}
	name := programName(args)
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
		for line := range strings.Lines(err.Error()) {
			if line = strings.TrimSpace(line); line != "" {
				fmt.Fprintf(stderr, "%s: %s\n", name, line)
			}
		}
		return exitFailed
	}
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
	root.AddCommand(c.lint(), c.selectImage(), c.explain(), c.render())
	for _, cmd := range root.Commands() {
		cmd.Example = strings.ReplaceAll(cmd.Example, "capkit ", name+" ")
	}
	return root
}

func (c *command) lint() *cobra.Command {
	var output, failOn string
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Report everything that is wrong with CloudProfiles and the objects that use them",
		Long: `Reports what the API server and the admission webhooks would say about the objects in the files, with line and column.
Every rule has a section in docs/rules.md.`,
		Example: "  capkit lint cloudprofile.yaml\n  capkit lint -o sarif manifests/ > capkit.sarif\n  kubectl get cloudprofiles -o yaml | capkit lint -",
		Args:    needFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			format, found := reportFormats[output]
			switch {
			case !found:
				return unknownFormat(output, slices.Sorted(maps.Keys(reportFormats)))
			case failOn != "error" && failOn != "warning":
				return fmt.Errorf("unknown --fail-on %q: use error or warning", failOn)
			}
			g, err := load(args, c.stdin, c.providers)
			if err != nil {
				return err
			}
			report := lint(g)
			report.failOn = consistency.Severity(failOn)
			if err := format(c.stdout, report); err != nil {
				return err
			}
			fmt.Fprintln(c.stderr, summaryLine(report.Summary))
			if slices.ContainsFunc(report.Findings, func(f Finding) bool { return report.fails(f.Severity) }) {
				return errWrong
			}
			return nil
		},
	}
	outputFlag(cmd, &output, slices.Sorted(maps.Keys(reportFormats)))
	choiceFlag(cmd, &failOn, "fail-on", "error", "severity that makes the exit status 1", []string{"error", "warning"})
	return cmd
}

func (c *command) selectImage() *cobra.Command {
	var output string
	var flags poolFlags
	cmd := &cobra.Command{
		Use:   "select FILE...",
		Short: "Say which image a worker pool boots",
		Example: "  capkit select --image gardenlinux --version 1877.5.0 --machine-type medium_4_8 --region europe cloudprofile.yaml\n" +
			"  capkit select shoot.yaml cloudprofile.yaml namespacedcloudprofile.yaml",
		Args: needFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.answer(args, flags, output, func(answers []Answer, one bool) (any, func(io.Writer)) {
				return wrap(answers, one), func(w io.Writer) {
					for _, a := range answers {
						printAnswer(w, a)
					}
				}
			})
		},
	}
	questionFlags(cmd, &flags, &output)
	return cmd
}

func (c *command) explain() *cobra.Command {
	var output string
	var flags poolFlags
	cmd := &cobra.Command{
		Use:   "explain FILE...",
		Short: "Show why a worker pool boots the image that it boots, or none",
		Long: `Takes what select takes and shows how the choice is made: the vocabulary, what the machine type supports, what becomes of
every flavor of the image version, and the comparisons that decide.`,
		Example: "  capkit explain --image ubuntu --version 1.0.0 --machine-type general-medium --region local cloudprofile.yaml",
		Args:    needFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.answer(args, flags, output, func(answers []Answer, one bool) (any, func(io.Writer)) {
				explanations := make([]Explanation, 0, len(answers))
				for _, a := range answers {
					explanations = append(explanations, Explanation{Answer: a, Reasoning: a.reasoning})
				}
				return wrap(explanations, one), func(w io.Writer) {
					for i, e := range explanations {
						if i > 0 {
							fmt.Fprintln(w)
						}
						printExplanation(w, e)
					}
				}
			})
		},
	}
	questionFlags(cmd, &flags, &output)
	return cmd
}

// wrap makes the value that is printed as JSON: the answer to the flags itself, or the pools of the Shoots.
func wrap[T any](answers []T, one bool) any {
	if one {
		return answers[0]
	}
	return map[string][]T{"pools": answers}
}

// answer runs select and explain, which differ in what they show.
func (c *command) answer(args []string, flags poolFlags, output string, show func([]Answer, bool) (any, func(io.Writer))) error {
	if err := checkOutput(output); err != nil {
		return err
	}
	g, err := load(args, c.stdin, c.providers)
	if err != nil {
		return err
	}
	answers, one, err := ask(g, flags)
	if err := c.printFindings(g, err); err != nil {
		return err
	}
	for _, note := range g.notes {
		fmt.Fprintf(c.stderr, "note: %s\n", note)
	}
	value, text := show(answers, one)
	switch output {
	case "json":
		err = printJSON(c.stdout, value)
	case "yaml":
		err = printYAML(c.stdout, value)
	default:
		text(c.stdout)
	}
	if err != nil {
		return err
	}
	if len(g.findings) > 0 || slices.ContainsFunc(answers, func(a Answer) bool { return a.err != nil }) {
		return errWrong
	}
	return nil
}

func (c *command) render() *cobra.Command {
	var output, profile string
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
			rendered, err := g.renderNamed(profile)
			switch failed := c.printFindings(g, err); {
			case failed != nil:
				return failed
			case rendered == nil:
				return errWrong
			case output == "json":
				return printJSON(c.stdout, rendered)
			}
			return printYAML(c.stdout, rendered)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "", "the NamespacedCloudProfile to render, as [NAMESPACE/]NAME, if several are among the inputs")
	outputFlag(cmd, &output, answerFormats)
	return cmd
}

// printFindings tells what was found wrong on the way to a result, which err kept from being found. It returns how the
// command ends because of that: nil if there is a result.
func (c *command) printFindings(g *garden, err error) error {
	if len(g.findings) == 0 {
		return err
	}
	sortFindings(g.findings)
	if failed := printReportText(c.stderr, Report{Findings: g.findings}); failed != nil {
		return failed
	}
	if err != nil {
		return errWrong
	}
	return nil
}

func questionFlags(cmd *cobra.Command, flags *poolFlags, output *string) {
	f := cmd.Flags()
	f.StringVar(&flags.image, "image", "", "name of the machine image")
	f.StringVar(&flags.version, "version", "", "version of the machine image")
	f.StringVar(&flags.machineType, "machine-type", "", "name of the machine type")
	f.StringVar(&flags.region, "region", "", "region of the Shoot")
	f.StringVar(&flags.architecture, "architecture", "", "architecture of the worker pool, for machine types that name none")
	f.StringVar(&flags.profile, "profile", "", "the profile to ask, as [NAMESPACE/]NAME, if several are among the inputs")
	choiceFlag(cmd, &flags.order, "order", "gep33", "preference order among the images that fit", []string{"gep33", "gardener"})
	outputFlag(cmd, output, answerFormats)
}

func outputFlag(cmd *cobra.Command, value *string, formats []string) {
	cmd.Flags().StringVarP(value, "output", "o", "text", "output format: "+strings.Join(formats, ", "))
	complete(cmd, "output", formats)
}

func choiceFlag(cmd *cobra.Command, value *string, name, standard, usage string, choices []string) {
	cmd.Flags().StringVar(value, name, standard, usage+": "+strings.Join(choices, " or "))
	complete(cmd, name, choices)
}

func complete(cmd *cobra.Command, flag string, choices []string) {
	// The only error there can be is that the flag does not exist.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

func needFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no FILE given: name files or directories, or - for standard input")
	}
	return nil
}

// answerFormats are the formats of all commands but lint. What render prints as text is YAML.
var answerFormats = []string{"json", "text", "yaml"}

func checkOutput(format string) error {
	if !slices.Contains(answerFormats, format) {
		return unknownFormat(format, answerFormats)
	}
	return nil
}

func unknownFormat(name string, formats []string) error {
	return fmt.Errorf("unknown output format %q: use one of %s", name, strings.Join(formats, ", "))
}
