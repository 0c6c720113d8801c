// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli/report"
)

// The commands select and explain, and the question that their flags ask.

func (c *command) selectImage() *cobra.Command {
	var output string
	var flags poolFlags
	cmd := &cobra.Command{
		Use:   "select FILE...",
		Short: "Say which image a worker pool boots",
		Long: `Says which image a worker pool boots: one that the flags describe, or each one of the Shoots in the files.

A worker pool may ask for features that its image must have declared: by its providerConfig, which --worker-config gives to
a question by flags, and by properties like secure boot, which have flags of their own. Whether the profile allows what else a
providerConfig has, such as a server group, is not looked at here: lint checks that, in a Shoot.`,
		Example: "  capkit select --image gardenlinux --version 1877.5.0 --machine-type medium_4_8 --region europe cloudprofile.yaml\n" +
			"  capkit select --image gardenlinux --version 1877.5.0 --machine-type medium_4_8 --region europe --worker-config workerconfig.yaml cloudprofile.yaml\n" +
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
		Long: `Takes what select takes and shows how the choice is made: the vocabulary, what the machine type supports and the worker
pool asks for, what becomes of every flavor of the image version, and the comparisons that decide; then what in the pool's
providerConfig can only be changed at the price of new machines. Whether the profile allows these is not looked at here: lint
checks that, in a Shoot.`,
		Example: "  capkit explain --image ubuntu --version 1.0.0 --machine-type general-medium --region local cloudprofile.yaml\n" +
			"  capkit explain --image ubuntu --version 1.0.0 --machine-type general-medium --region local --secure-boot --update-strategy AutoInPlaceUpdate cloudprofile.yaml",
		Args: needFiles,
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
	if err := flags.check(args); err != nil {
		return err
	}
	g, err := load(args, c.stdin, c.providers)
	if err != nil {
		return err
	}
	answers, one, err := ask(g, flags, c.stdin)
	if err := c.printFindings(g, err); err != nil {
		return err
	}
	for _, note := range g.notes {
		fmt.Fprintf(c.stderr, "note: %s\n", note)
	}
	value, text := show(answers, one)
	switch output {
	case "json":
		err = report.JSON(c.stdout, value)
	case "yaml":
		err = report.YAML(c.stdout, value)
	default:
		text(c.stdout)
	}
	if err != nil {
		return err
	}
	if len(g.findings) > 0 || slices.ContainsFunc(answers, func(a Answer) bool { return a.Refused != nil }) {
		return errWrong
	}
	return nil
}

// question of the command line, as flags: about one worker pool that stands in no manifest.
type poolFlags struct {
	image, version, machineType, region, architecture string
	profile, order                                    string

	// The properties of the pool that ask for capabilities, and the file with its providerConfig.
	secureBoot                        bool
	updateStrategy, gpu, workerConfig string
	// given are the names of those flags that go with a question by flags only, and are no part of what must be asked.
	given []string
}

// updateStrategies are the values of --update-strategy.
var updateStrategies = []string{string(v1beta1.AutoRollingUpdate), string(v1beta1.AutoInPlaceUpdate), string(v1beta1.ManualInPlaceUpdate)}

// besides are the flags that say more about a pool, or where to look, and the reason why a Shoot needs none of them.
var besides = []struct{ name, because string }{
	{"profile", "a Shoot names its profile itself"},
	{"worker-config", "a Shoot's worker pools have a providerConfig"},
	{"secure-boot", "a Shoot's worker pools are taken as they are written"},
	{"update-strategy", "a Shoot's worker pools have an updateStrategy"},
	{"gpu", "a Shoot's worker pools are taken as they are written"},
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
	f.StringVar(&flags.workerConfig, "worker-config", "", "`FILE` with the providerConfig of the worker pool, YAML or JSON; - for standard input")
	f.BoolVar(&flags.secureBoot, "secure-boot", false, "the worker pool asks for secure boot")
	choiceFlag(cmd, &flags.updateStrategy, "update-strategy", "", "update strategy of the worker pool", updateStrategies)
	f.StringVar(&flags.gpu, "gpu", "", "`TYPE` of the worker pool's GPU: nvidia, amd or intel; any other asks for an image without GPU support")
	complete(cmd, "gpu", gpuTypes())
	_ = cmd.MarkFlagFilename("worker-config", "yaml", "yml", "json") // it exists
	outputFlag(cmd, output, answerFormats)
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		for _, flag := range besides {
			if cmd.Flags().Changed(flag.name) {
				flags.given = append(flags.given, flag.name)
			}
		}
	}
}

// check returns what is wrong with the flags, whatever is in the files.
func (f *poolFlags) check(args []string) error {
	switch {
	case slices.Contains(f.given, "update-strategy") && !slices.Contains(updateStrategies, f.updateStrategy):
		return fmt.Errorf("unknown --update-strategy %q: use %s", f.updateStrategy, oneOf(updateStrategies))
	case slices.Contains(f.given, "gpu") && f.gpu == "":
		return errors.New("--gpu is empty: name the type of the GPU, or leave the flag out if the worker pool has none")
	case slices.Contains(f.given, "worker-config") && f.workerConfig == "":
		return errors.New("--worker-config is empty: name a file, or leave the flag out if the worker pool has no providerConfig")
	case f.workerConfig == "-" && slices.Contains(args, "-"):
		return errors.New("--worker-config: standard input is a FILE already, so name a file")
	}
	return nil
}

// set tells whether any flag asks about a pool.
func (f *poolFlags) set() bool {
	return f.image+f.version+f.machineType+f.region+f.architecture != ""
}

// missing returns an error that names the flags without which there is no question.
func (f *poolFlags) missing() error {
	var names []string
	for _, flag := range []struct{ name, value string }{
		{"--image", f.image}, {"--version", f.version}, {"--machine-type", f.machineType}, {"--region", f.region},
	} {
		if flag.value == "" {
			names = append(names, flag.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%s missing: name image, version, machine type and region, or give a Shoot", strings.Join(names, ", "))
}

// outOfPlace returns an error that names the flags which mean nothing without a question by flags; nil if there are none.
func (f *poolFlags) outOfPlace() error {
	var errs []error
	for _, flag := range besides {
		if slices.Contains(f.given, flag.name) {
			errs = append(errs, fmt.Errorf("--%s goes with a question by flags: %s", flag.name, flag.because))
		}
	}
	return errors.Join(errs...)
}

// worker returns the properties of the pool that ask for reserved capabilities.
func (f *poolFlags) worker() capability.Worker {
	w := capability.Worker{SecureBoot: f.secureBoot, UpdateStrategy: v1beta1.MachineUpdateStrategy(f.updateStrategy)}
	if slices.Contains(f.given, "gpu") {
		w.GPU = &f.gpu
	}
	return w
}
