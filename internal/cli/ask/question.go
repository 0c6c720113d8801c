// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package ask is the commands that answer questions about worker pools: select, explain, maintenance and capabilities.
package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

// poolFlags are a question of the command line: about one worker pool that stands in no manifest.
type poolFlags struct {
	*input.Flags
	pool provider.Pool
	// The type of its GPU, and the file with its providerConfig.
	gpu, workerConfig      string
	profile, order, output string
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

// question completes select or explain, which differ in whether they give their reasons.
func question(c *command.Call, cmd *cobra.Command, reasons bool) *cobra.Command {
	flags := &poolFlags{Flags: input.NewFlags(cmd)}
	flags.AllowEmptyFlag(cmd)
	flags.PreparedBySettings(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return runQuestion(cmd.Context(), c, args, flags, reasons)
	}
	f, pool, strategy := cmd.Flags(), &flags.pool, (*string)(&flags.pool.Worker.UpdateStrategy)
	f.StringVar(&pool.Image, "image", "", "`NAME` of the machine image")
	f.StringVar(&pool.Version, "version", "", "`VERSION` of the machine image")
	f.StringVar(&pool.MachineType, "machine-type", "", "`NAME` of the machine type")
	f.StringVar(&pool.Region, "region", "", "`REGION` of the Shoot")
	f.StringVar(&pool.Architecture, "architecture", "",
		"`ARCHITECTURE` of the worker pool, for machine types that name none")
	f.StringVar(&flags.profile, "profile", "", "ask this profile, by `[NAMESPACE/]NAME`, if the inputs have several")
	command.OrderFlag(cmd, &flags.order)
	f.StringVar(&flags.workerConfig, "worker-config", "",
		"`FILE` with the providerConfig of the worker pool, YAML or JSON; - for standard input")
	f.BoolVar(&pool.Worker.SecureBoot, "secure-boot", false, "the worker pool asks for secure boot")
	command.ChoiceFlag(cmd, strategy, "update-strategy", "", "update `STRATEGY` of the worker pool", updateStrategies)
	f.StringVar(&flags.gpu, "gpu", "",
		"`TYPE` of the worker pool's GPU: nvidia, amd or intel; any other asks for an image without GPU support")
	command.Complete(cmd, "gpu", gpuTypes)
	_ = cmd.MarkFlagFilename("worker-config", "yaml", "yml", "json") // it exists
	command.OutputFlag(cmd, &flags.output, command.AnswerFormats)
	return cmd
}

// checkQuestion returns what is wrong with the flags, whatever is in the files.
func (f *poolFlags) checkQuestion(args []string) error {
	switch {
	case f.Given("update-strategy") && !slices.Contains(updateStrategies, string(f.pool.Worker.UpdateStrategy)):
		return fmt.Errorf("unknown --update-strategy %q: use %s", f.pool.Worker.UpdateStrategy, words.Or(updateStrategies))
	case f.Given("gpu") && f.gpu == "":
		return errors.New("--gpu is empty: name the type of the GPU, or leave the flag out if the worker pool has none")
	case f.Given("worker-config") && f.workerConfig == "":
		return errors.New("--worker-config is empty: name a file, or leave the flag out if the worker pool has no providerConfig")
	case f.workerConfig == "-" && slices.Contains(args, "-"):
		return errors.New("--worker-config: standard input is a FILE already, so name a file")
	}
	return nil
}

// set reports whether any flag asks about a pool.
func (f *poolFlags) set() bool {
	p := &f.pool
	return p.Image+p.Version+p.MachineType+p.Region+p.Architecture != ""
}

// missing returns an error that names the flags without which there is no question.
func (f *poolFlags) missing() error {
	var names []string
	for _, flag := range []struct{ name, value string }{
		{"--image", f.pool.Image}, {"--version", f.pool.Version},
		{"--machine-type", f.pool.MachineType}, {"--region", f.pool.Region},
	} {
		if flag.value == "" {
			names = append(names, flag.name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%s missing: name image, version, machine type and region, or give a Shoot; report shows all of them", strings.Join(names, ", "))
}

// outOfPlace returns an error that names the flags which mean nothing without a question by flags.
func (f *poolFlags) outOfPlace() error {
	var errs []error
	for _, flag := range questionOnly {
		if f.Given(flag.name) {
			errs = append(errs, fmt.Errorf("--%s goes with a question by flags: %s", flag.name, flag.because))
		}
	}
	return errors.Join(errs...)
}

// runQuestion runs select, or explain if it is to give its reasons.
func runQuestion(ctx context.Context, c *command.Call, args []string, flags *poolFlags, reasons bool) error {
	if err := flags.checkQuestion(args); err != nil {
		return err
	}
	g, err := input.Load(ctx, c, args, flags.Flags, !flags.set())
	if err != nil {
		return err
	}
	answers, single, err := ask(g, flags, c.Stdin)
	if err != nil {
		return input.PrintFindings(c, g, err)
	}
	refused := false
	wanted := func(yield func(Answer) bool) {
		for a := range answers {
			refused = refused || a.refused != nil
			if !reasons {
				a.reasoning = nil
			}
			if !yield(a) {
				return
			}
		}
	}
	if single {
		for a := range wanted {
			err = command.PrintAs(c.Stdout, flags.output, a, func(w io.Writer) { printNextAnswer(w, 0, a) })
		}
	} else {
		err = command.PrintEach(c.Stdout, flags.output, "pools", wanted, printNextAnswer)
	}
	if err := errors.Join(err, input.PrintFindings(c, g, nil)); err != nil {
		return err
	}
	input.PrintNotes(c, g)
	if len(g.Findings) > 0 || refused {
		return command.ErrWrong
	}
	return nil
}

// ask answers the question of the flags, which is a single one, or that of each worker pool of the Shoots among the
// inputs, with its reasons. What it finds wrong with the inputs becomes findings, by the time that the answers have been asked
// for; the error says why there is no answer.
func ask(g *input.Given, flags *poolFlags, stdin io.Reader) (answers iter.Seq[Answer], single bool, err error) {
	order, err := capability.ParseOrder(flags.order)
	if err != nil {
		return nil, false, err
	}
	if flags.set() || len(g.Shoots.All) == 0 && !flags.AllowEmpty && !flags.Live() {
		a, err := askByFlags(g, flags, order, stdin)
		return slices.Values([]Answer{a}), true, err
	}
	err = flags.outOfPlace()
	if err == nil && len(g.Shoots.All)+len(g.Findings) == 0 {
		if err = flags.Nothing(g, "Shoot"); err != nil {
			err = errors.Join(err, errors.New("a pool without a Shoot is asked about by --image, --version, --machine-type and --region"))
		}
	}
	return askShoots(g, order), false, err
}

// askByFlags answers the question of the flags. What it finds wrong, and the error, are as those of ask.
func askByFlags(g *input.Given, flags *poolFlags, order capability.Order, stdin io.Reader) (a Answer, err error) {
	if err := flags.missing(); err != nil {
		return a, err
	}
	p, err := g.ProfileNamed(flags.profile)
	if err != nil {
		return a, err
	}
	pool := flags.pool
	pool.Order = order
	noteNoLongerOffered(g, p.Spec(), &pool)
	if flags.Given("gpu") {
		pool.Worker.GPU = &flags.gpu
		if !slices.Contains(gpuTypes, flags.gpu) {
			g.Notes = append(g.Notes, fmt.Sprintf(
				"images support GPUs of the types %s, so %s asks for one without GPU support%s",
				strings.Join(gpuTypes, ", "), flags.gpu, words.DidYouMean(words.InCase(flags.gpu, gpuTypes))))
		}
	}
	config, fault, err := workerConfig(g, flags, stdin, p.Provider())
	if err != nil {
		return a, err
	}
	if config != nil {
		pool.Config = &runtime.RawExtension{Raw: config.JSON}
	}
	a = answerTo(p, pool, "the worker's providerConfig (--worker-config "+flags.workerConfig+")", fault)
	noteFurther(g, config, a.resolution.Further.Errors())
	if unknown := resolve.Region(p, pool.Region, nil); unknown != nil {
		if a.refused != nil && len(a.Suggestions) == 0 && flags.output == "text" {
			a.mistake = "The " + unknown.Detail
		} else {
			g.Notes = append(g.Notes, unknown.Detail)
		}
	}
	return a, nil
}

// noteNoLongerOffered adds notes about what a new worker pool cannot have any more, although it boots.
func noteNoLongerOffered(g *input.Given, profile *v1beta1.CloudProfileSpec, pool *provider.Pool) {
	machineType := v1beta1helper.FindMachineTypeByName(profile.MachineTypes, pool.MachineType)
	if machineType != nil && !ptr.Deref(machineType.Usable, true) {
		g.Notes = append(g.Notes, fmt.Sprintf("machine type %s is not usable for new worker pools (usable: false)", pool.MachineType))
	}
	version, found := v1beta1helper.FindMachineImageVersion(profile.MachineImages, pool.Image, pool.Version)
	if found && v1beta1helper.VersionIsExpired(version.ExpirableVersion) {
		g.Notes = append(g.Notes, fmt.Sprintf("%s@%s has expired, so new worker pools cannot have it", pool.Image, pool.Version))
	}
}

// askShoots answers for every worker pool of every Shoot. A Shoot that has no profile to ask, or is for a region that
// its profile does not have, is a finding.
func askShoots(g *input.Given, order capability.Order) iter.Seq[Answer] {
	return func(yield func(Answer) bool) {
		for _, s := range g.Shoots.All {
			if p := g.ProfileToAsk(s); p != nil && !askShoot(g, p, s, order, yield) {
				return
			}
			s.Forget()
		}
	}
}

// askShoot yields the answers for the worker pools of a Shoot, and reports whether more are wanted.
func askShoot(
	g *input.Given, p input.AnyProfile, s *input.Source[v1beta1.Shoot], order capability.Order, yield func(Answer) bool,
) bool {
	shoot, fillings := g.FilledIn(p, s.Object)
	for i, pool := range provider.PoolsOf(shoot) {
		pool.Order = order
		a := answerTo(p, pool, "the worker's providerConfig", DuplicateKey(s.Manifest, &pool, p))
		a.Shoot, a.filling = s.Name, fillings[i]
		a.Defaulted = fillings[i].By
		if a.resolution.Reason != reasonWorkerConfig && a.refused != nil {
			a.explain(fillings[i])
		}
		if fillings[i].Instead != (maintenance.Image{}) {
			g.NoteAdmission()
		}
		g.AddErrors(s.Manifest, a.resolution.Further.Errors()...)
		if !yield(a) {
			return false
		}
	}
	return true
}

// DuplicateKey says that a worker pool's providerConfig has a key twice; empty if workers ask for nothing by it.
func DuplicateKey(o *manifest.Object, pool *provider.Pool, p input.AnyProfile) string {
	if len(p.Provider().Workers().Settings()) == 0 {
		return ""
	}
	return o.DuplicateKey(pool.Path.Child("providerConfig").String())
}

// workerConfig reads the file of the flag --worker-config; it returns nil without the flag. What is wrong in the file
// becomes findings, of which fault is the first. The error says that there is no config to ask with.
func workerConfig(g *input.Given,
	flags *poolFlags, stdin io.Reader, provider command.Provider,
) (config *manifest.Object, fault string, err error) {
	if !flags.Given("worker-config") {
		return nil, "", nil
	}
	file := flags.workerConfig
	if len(provider.Workers().Settings()) == 0 {
		return nil, "", fmt.Errorf("--worker-config changes nothing: worker pools of provider %s ask for no image by their "+
			"providerConfig; leave the flag out", provider.Type())
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return nil, "", fmt.Errorf("--worker-config: %s is a directory, and a worker pool has one config: name a file", file)
	}
	objects, problems, err := manifest.Load([]string{file}, stdin)
	if err != nil {
		return nil, "", fmt.Errorf("--worker-config: %w", err)
	}
	for i := range problems {
		if problems[i].Rule == manifest.RuleNotAnObject {
			kind := provider.Workers().Kind()
			problems[i].Message += "; write apiVersion: " + kind.GroupVersion().String() + ", write kind: " + kind.Kind
		}
	}
	if len(objects)+len(problems) == 0 {
		if file == "-" {
			file = manifest.Stdin
		}
		problems = []manifest.Problem{{
			File: file, Line: 1, Column: 1, Rule: manifest.RuleNotAnObject,
			Message: "there is no worker config in here: write it, or leave out --worker-config",
		}}
	}
	before := len(g.Findings)
	g.AddProblems(problems)
	if len(objects) == 0 {
		return nil, "", errors.New("--worker-config: nothing to read")
	}
	for _, more := range objects[1:] {
		line, _ := objects[0].Position("")
		g.AddErrors(more, input.Problem(input.RuleObjectDuplicate, field.ErrorTypeDuplicate, "", nil,
			"a worker pool has one config, and there is one in line %d already; remove one of the two", line))
	}
	if len(g.Findings) > before {
		fault = g.Findings[before].Message
	}
	return objects[0], fault, nil
}

// noteFurther adds the errors of a question by flags that its answer is not about: as findings those at a place in the
// worker config, as notes those about flags.
func noteFurther(g *input.Given, config *manifest.Object, errs field.ErrorList) {
	for _, err := range errs {
		if config == nil || err.Origin == resolve.RuleRequestUnregistered.Name && config.Value(err.Field) == nil {
			g.Notes = append(g.Notes, err.Detail)
			continue
		}
		g.AddErrors(config, err)
	}
}
