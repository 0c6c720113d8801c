// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// poolFlags are a question of the command line: about one worker pool that stands in no manifest.
type poolFlags struct {
	image, version, machineType, region, architecture string
	profile, order                                    string

	// The properties of the pool that ask for capabilities, and the file with its providerConfig.
	secureBoot                        bool
	updateStrategy, gpu, workerConfig string
	// given are the names of those questionOnly flags that were given.
	given []string
}

// updateStrategies are the values of --update-strategy.
var updateStrategies = []string{
	string(v1beta1.AutoRollingUpdate), string(v1beta1.AutoInPlaceUpdate), string(v1beta1.ManualInPlaceUpdate),
}

// questionOnly are the flags that make no question by themselves but say more about its pool, or which profile to ask;
// each with the reason why it goes with no Shoot.
var questionOnly = []struct{ name, because string }{
	{"profile", "a Shoot names its profile itself"},
	{"worker-config", "a Shoot's worker pools have a providerConfig"},
	{"secure-boot", "a Shoot's worker pools are taken as they are written"},
	{"update-strategy", "a Shoot's worker pools have an updateStrategy"},
	{"gpu", "a Shoot's worker pools are taken as they are written"},
}

// questionFlags adds the flags of select and explain.
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
		for _, flag := range questionOnly {
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

// set reports whether any flag asks about a pool.
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

// outOfPlace returns an error that names the flags which mean nothing without a question by flags; nil if there are
// none.
func (f *poolFlags) outOfPlace() error {
	var errs []error
	for _, flag := range questionOnly {
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

// answer runs select and explain, which differ in what they show: show returns the value that is printed as JSON or
// YAML, and what prints it as text. Its second argument is as one of ask.
func (c *command) answer(
	args []string, flags poolFlags, output string, show func([]Answer, bool) (any, func(io.Writer)),
) error {
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
	if err := printAs(c.stdout, output, value, text); err != nil {
		return err
	}
	if len(g.findings) > 0 || slices.ContainsFunc(answers, func(a Answer) bool { return a.Refused != nil }) {
		return errWrong
	}
	return nil
}

// ask answers the question of the flags, or that of each worker pool of the Shoots among the inputs. one is true
// for the single answer to the flags. What it finds wrong with the inputs becomes findings; the error says why there is no answer.
func ask(g *garden, flags poolFlags, stdin io.Reader) (answers []Answer, one bool, err error) {
	order, err := capability.ParseOrder(flags.order)
	if err != nil {
		return nil, false, err
	}
	if len(g.shoots) > 0 && !flags.set() {
		if err := flags.outOfPlace(); err != nil {
			return nil, false, err
		}
		return g.askShoots(order), false, nil
	}
	if err := flags.missing(); err != nil {
		return nil, false, err
	}
	p, err := g.profileNamed(flags.profile)
	if err != nil {
		return nil, false, err
	}
	if unknown := p.CheckRegion(flags.region, nil); unknown != nil {
		g.notes = append(g.notes, unknown.Detail)
	}
	if slices.Contains(flags.given, "gpu") && !slices.Contains(gpuTypes(), flags.gpu) {
		g.notes = append(g.notes, unknownGPU(flags.gpu))
	}
	config, fault, err := g.workerConfig(flags, stdin, p.madeBy())
	if err != nil {
		return nil, false, err
	}
	a := p.resolve(provider.Pool{
		Image: flags.image, Version: flags.version, MachineType: flags.machineType, Architecture: flags.architecture,
		Region: flags.region, Order: order, Worker: flags.worker(), Config: rawConfig(config),
	})
	g.noteFurther(config, a.further.Errors())
	a.refuseFor(cmp.Or(fault, first(a.further.Errors())), p.madeBy().workers())
	return []Answer{a}, true, nil
}

// first returns what the first of some errors says; empty if there is none.
func first(errs field.ErrorList) string {
	if len(errs) == 0 {
		return ""
	}
	return message(errs[0].Origin, errs[0])
}

// unknownGPU is the note about a type of GPU that no image supports.
func unknownGPU(gpu string) string {
	note := fmt.Sprintf("images support GPUs of the types %s, so %s asks for one without GPU support", strings.Join(gpuTypes(), ", "), gpu)
	for _, known := range gpuTypes() {
		if strings.EqualFold(known, gpu) {
			note += "; did you mean " + known + "?"
		}
	}
	return note
}

// askShoots answers for every worker pool of every Shoot. A Shoot that has no profile to ask, or is for a region that
// its profile does not have, is a finding.
func (g *garden) askShoots(order capability.Order) []Answer {
	answers := []Answer{}
	for _, s := range g.shoots {
		if s.object == nil {
			continue // a finding says why
		}
		p, problem := g.profileOf(s.object)
		switch {
		case problem != nil:
		case p == nil:
			problem = g.noAnswer(s.object)
		default:
			if unknown := p.CheckRegion(s.object.Spec.Region, field.NewPath("spec", "region")); unknown != nil {
				problem = unknown.Error
			}
		}
		if problem != nil {
			g.error(s.manifest, problem)
			continue
		}
		for _, pool := range provider.PoolsOf(s.object) {
			pool.Order = order
			a := p.resolve(pool)
			a.Shoot = s.object.Namespace + "/" + s.object.Name
			g.report(s.manifest, finding.Report{Errors: a.further})
			a.refuseFor(cmp.Or(duplicateKey(s.manifest, &pool, p), first(a.further.Errors())), p.madeBy().workers())
			answers = append(answers, a)
		}
	}
	return answers
}

// duplicateKey says of a worker pool in a manifest that its providerConfig has a key twice; empty if it has none, or if
// workers ask for nothing by their providerConfig.
func duplicateKey(o *manifest.Object, pool *provider.Pool, p profile) string {
	if len(p.madeBy().workers().Settings()) == 0 {
		return ""
	}
	return o.DuplicateKey(pool.Path.Child("providerConfig").String())
}

// wrap returns the value that is printed as JSON: the answer to the flags itself, or the pools of the Shoots.
func wrap[T any](answers []T, one bool) any {
	if one {
		return answers[0]
	}
	return map[string][]T{"pools": answers}
}
