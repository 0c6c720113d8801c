// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package ask implements the commands that answer questions about worker pools: select, explain and capabilities.
package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// poolFlags are a question on the command line about a worker pool without a manifest.
type poolFlags struct {
	*input.Flags
	pool provider.Pool
	// gpu is the GPU's type, volume the volume's size, and workerConfig the file with the provider config.
	gpu, volume, workerConfig string
	order, output             string
	// filter selects Shoots and worker pools of the inputs. Its profile is also used for a question by flags.
	filter input.Filter
}

// updateStrategies are the values of --update-strategy.
var updateStrategies = []string{
	string(v1beta1.AutoRollingUpdate), string(v1beta1.AutoInPlaceUpdate), string(v1beta1.ManualInPlaceUpdate),
}

// questionOnly are the flags that only refine a question by flags, each with the reason why it does not apply to Shoots.
var questionOnly = []struct{ name, because string }{
	{"architecture", "a Shoot's worker pools have a machine.architecture"},
	{"worker-config", "a Shoot's worker pools have a providerConfig"},
	{"secure-boot", "a Shoot's worker pools are taken as they are written"},
	{"update-strategy", "a Shoot's worker pools have an updateStrategy"},
	{"gpu", "a Shoot's worker pools are taken as they are written"},
	{"volume", "a Shoot's worker pools have a volume, or none"},
}

// question completes the command select or explain. Only explain prints the reasons.
func question(c *command.Call, cmd *cobra.Command, reasons bool) *cobra.Command {
	flags := &poolFlags{Flags: input.NewFlags(cmd)}
	flags.AllowEmptyFlag(cmd)
	flags.PreparedBySettings(cmd)
	prepared := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		return errors.Join(prepared(cmd, args), flags.checkQuestion(args))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return runQuestion(cmd.Context(), c, args, flags, reasons)
	}
	f, pool, strategy := cmd.Flags(), &flags.pool, (*string)(&flags.pool.Worker.UpdateStrategy)
	f.StringVar(&pool.Image, "image", "", "`NAME` of the machine image")
	f.StringVar(&pool.Version, "version", "", "`VERSION` of the machine image, or of the worker pools to show")
	f.StringVar(&pool.MachineType, "machine-type", "", "`NAME` of the machine type, or that of the worker pools to show")
	f.StringVar(&pool.Region, "region", "", "`REGION` of the Shoot, or of the Shoots to show")
	f.StringVar(&pool.Architecture, "architecture", "",
		"`ARCHITECTURE` of the worker pool, for machine types that name none")
	flags.filter.Flags(cmd)
	command.OrderFlag(cmd, &flags.order)
	f.StringVar(&flags.workerConfig, "worker-config", "",
		"`FILE` with the providerConfig of the worker pool, YAML or JSON; - for standard input")
	f.BoolVar(&pool.Worker.SecureBoot, "secure-boot", false, "the worker pool asks for secure boot")
	command.ChoiceFlag(cmd, strategy, "update-strategy", "", "update `STRATEGY` of the worker pool", updateStrategies)
	f.StringVar(&flags.gpu, "gpu", "",
		"`TYPE` of the worker pool's GPU: nvidia, amd or intel; any other asks for an image without GPU support")
	command.Complete(cmd, "gpu", gpuTypes)
	f.StringVar(&flags.volume, "volume", "", "`SIZE` of the worker pool's volume, such as 50Gi, for clouds on which not every machine type can have one")
	_ = cmd.MarkFlagFilename("worker-config", "yaml", "yml", "json") // it exists
	formats := command.AnswerFormats
	if !reasons {
		formats = command.WithTables
	}
	command.OutputFlag(cmd, &flags.output, formats)
	return cmd
}

// checkQuestion returns mistakes in the flags, without reading files.
func (f *poolFlags) checkQuestion(args []string) error {
	var errs []error
	if f.Given("update-strategy") && !slices.Contains(updateStrategies, string(f.pool.Worker.UpdateStrategy)) {
		errs = append(errs, fmt.Errorf("unknown --update-strategy %q: use %s", f.pool.Worker.UpdateStrategy, words.Or(updateStrategies)))
	}
	if f.Given("gpu") && f.gpu == "" {
		errs = append(errs, errors.New("--gpu is empty: name the type of the GPU, or leave the flag out if the worker pool has none"))
	}
	if f.Given("volume") && !sized(f.volume) {
		errs = append(errs, fmt.Errorf(
			"--volume is %q, which is not a number of Gi: write a size such as 50Gi, or leave the flag out if the worker pool has no volume", f.volume))
	}
	switch {
	case f.Given("worker-config") && f.workerConfig == "":
		errs = append(errs, errors.New("--worker-config is empty: name a file, or leave the flag out if the worker pool has no providerConfig"))
	case f.workerConfig == "-" && slices.Contains(args, "-"):
		errs = append(errs, errors.New("--worker-config: standard input is a FILE already, so name a file"))
	}
	return errors.Join(errs...)
}

// sized reports whether a text is a volume size in Gi.
func sized(text string) bool {
	number, gi := strings.CutSuffix(text, "Gi")
	return gi && number != "" && strings.Trim(number, "0123456789") == ""
}

// set reports whether flags describe a pool. Without --image, they select pools of the inputs.
func (f *poolFlags) set() bool { return f.pool.Image != "" }

// outOfPlace returns an error that names the flags without effect unless flags describe a pool.
func (f *poolFlags) outOfPlace() error {
	var errs []error
	for _, flag := range questionOnly {
		if f.Given(flag.name) {
			errs = append(errs, fmt.Errorf("--%s goes with a question by flags: %s", flag.name, flag.because))
		}
	}
	return errors.Join(errs...)
}

// screen is the number of answers above which those without an image are counted, since they may have scrolled away.
const screen = 20

// runQuestion runs select or, if reasons is set, explain.
func runQuestion(ctx context.Context, c *command.Call, args []string, flags *poolFlags, reasons bool) error {
	g, err := input.Load(ctx, c, args, flags.Flags, !flags.set())
	if err != nil {
		return err
	}
	all, err := ask(g, flags, c.Stdin)
	if err != nil {
		return input.PrintFindings(c, g, err)
	}
	var boots, refused int
	if all.how == ofShoots && all.none() && len(g.Findings) == 0 { // findings may explain it
		err = flags.filter.NoPool(g)
	}
	if err == nil {
		boots, refused, err = all.print(c.Stdout, flags.output, reasons)
	}
	if err := errors.Join(err, input.PrintFindings(c, g, nil)); err != nil {
		return err
	}
	input.PrintNotes(c, g)
	if pools := boots + refused; all.how == ofShoots && pools > screen && refused > 0 {
		verb := "boot"
		if refused == 1 {
			verb = "boots"
		}
		fmt.Fprintf(c.Stderr, "%d of %d worker pools %s nothing\n", refused, pools, verb)
	}
	if len(g.Findings) > 0 || refused > 0 && (all.how != partial || boots == 0) {
		return command.ErrWrong
	}
	return nil
}

// ask answers the question of the flags, or for each worker pool of the input Shoots. Faults in the inputs become
// findings while the answers are iterated. It fails if there is no answer.
func ask(g *input.Given, flags *poolFlags, stdin io.Reader) (answered, error) {
	var err error
	if g.Order, err = input.Order(flags.order); err != nil {
		return answered{}, err
	}
	if flags.set() || len(g.Shoots.All) == 0 && !flags.AllowEmpty && !flags.Live() {
		return askByFlags(g, flags, stdin)
	}
	err = flags.outOfPlace()
	if err == nil && len(g.Shoots.All)+len(g.Findings) == 0 {
		if err = flags.Nothing(g, "Shoot"); err != nil {
			err = errors.Join(err, errors.New("for a pool without a Shoot, use --image, --version, --machine-type and --region"))
		}
	}
	filter := &flags.filter
	filter.Version, filter.MachineType, filter.Region = flags.pool.Version, flags.pool.MachineType, flags.pool.Region
	return answered{askShoots(g, filter), ofShoots}, errors.Join(err, filter.Shoots(g))
}

// askByFlags answers the question of the flags. Its findings and errors are as in ask.
func askByFlags(g *input.Given, flags *poolFlags, stdin io.Reader) (answered, error) {
	if err := flags.filter.OutOfPlace(); err != nil {
		return answered{}, err
	}
	if flags.pool.Image == "" {
		return answered{}, errors.New("--image missing: name an image, and a version, a machine type and a region unless you ask about all of them; " +
			"or give a Shoot")
	}
	p, err := g.ProfileNamed(flags.filter.Profile, flags.pool.Architecture != "")
	if err != nil {
		return answered{}, err
	}
	flags.describe(g)
	config, fault, err := workerConfig(g, flags, stdin, p.Provider())
	if err != nil {
		return answered{}, err
	}
	if config != nil {
		flags.pool.Config = &runtime.RawExtension{Raw: config.JSON}
	}
	pools, err := flags.possible(p.Spec())
	if err != nil {
		return answered{}, err
	}
	how := single
	if flags.pool.Version == "" || flags.pool.MachineType == "" || flags.pool.Region == "" {
		how = partial
	}
	return answered{func(yield func(Answer) bool) {
		for i, pool := range pools {
			a := answerTo(p, pool, "the worker's providerConfig (--worker-config "+flags.workerConfig+")", fault)
			if i == 0 {
				noteFurther(g, config, a.resolution.Further.Errors())
			}
			noteInPlace(g, &a)
			noteNoLongerOffered(g, p.Spec(), &a.resolution.Pool)
			noteRegion(g, p, &a, flags.output)
			if !yield(a) {
				return
			}
		}
	}, how}, nil
}

// describe sets the pool's GPU and volume from their flags.
func (f *poolFlags) describe(g *input.Given) {
	if f.Given("gpu") {
		f.pool.Worker.GPU = &f.gpu
		noteGPU(g, f.gpu)
	}
	if f.Given("volume") {
		f.pool.Volume = &v1beta1.Volume{VolumeSize: f.volume}
	}
}

// noteGPU adds a note if images do not support the GPU type.
func noteGPU(g *input.Given, gpu string) {
	if !slices.Contains(gpuTypes, gpu) {
		g.Notes = append(g.Notes, fmt.Sprintf("images support GPUs of the types %s, so %s asks for one without GPU support%s",
			strings.Join(gpuTypes, ", "), gpu, words.DidYouMean(words.InCase(gpu, gpuTypes))))
	}
}

// noteRegion reports that the profile lacks an answer's region: in the answer if it has no suggestions, otherwise in a note.
func noteRegion(g *input.Given, p input.AnyProfile, a *Answer, format string) {
	unknown := resolve.Region(p, a.Region, nil)
	switch {
	case unknown == nil:
	case a.refused != nil && len(a.Suggestions) == 0 && format == "text":
		a.mistake = "The " + unknown.Detail
	case !slices.Contains(g.Notes, unknown.Detail):
		g.Notes = append(g.Notes, unknown.Detail)
	}
}

// possible returns the flags' pool, combined with each version, machine type and region of the profile that the flags leave
// open, in the profile's order. It fails if the version is open and the profile has no image of that name or no version of it.
func (f *poolFlags) possible(profile *v1beta1.CloudProfileSpec) (pools []provider.Pool, err error) {
	var listed []string
	for v := range entries.Versions(profile) {
		if v.ID.Image == f.pool.Image {
			listed = append(listed, v.Version)
		}
	}
	if f.pool.Version == "" && len(listed) == 0 {
		images := resolve.Distinct(entries.Images(profile))
		if slices.Contains(images, f.pool.Image) {
			return nil, fmt.Errorf("image %s has no versions in the profile", f.pool.Image)
		}
		return nil, fmt.Errorf("the profile has no image %s%s", f.pool.Image,
			cmp.Or(words.DidYouMean(words.Closest(f.pool.Image, images)), "; it has "+words.Few(images)))
	}
	types, regions := entries.MachineTypes(profile), entries.RegionsOf(profile)
	for _, version := range choices(f.pool.Version, listed) {
		for _, machineType := range choices(f.pool.MachineType, types) {
			for _, region := range choices(f.pool.Region, regions) {
				pool := f.pool
				pool.Version, pool.MachineType, pool.Region = version, machineType, region
				pools = append(pools, pool)
			}
		}
	}
	return pools, nil
}

// choices returns named or, if it is empty, all values once each; never none.
func choices(named string, all []string) []string {
	if named != "" || len(all) == 0 {
		return []string{named}
	}
	return resolve.Distinct(all)
}

// noteNoLongerOffered adds notes, each once, if new worker pools cannot use the machine type or version, although it boots.
func noteNoLongerOffered(g *input.Given, profile *v1beta1.CloudProfileSpec, pool *provider.Pool) {
	note := func(text string) {
		if !slices.Contains(g.Notes, text) {
			g.Notes = append(g.Notes, text)
		}
	}
	machineType := v1beta1helper.FindMachineTypeByName(profile.MachineTypes, pool.MachineType)
	if machineType != nil && !ptr.Deref(machineType.Usable, true) {
		note(fmt.Sprintf("machine type %s is not usable for new worker pools (usable: false)", pool.MachineType))
	}
	version, found := v1beta1helper.FindMachineImageVersion(profile.MachineImages, pool.Image, pool.Version)
	if found && !versions.Active(version.ExpirableVersion) {
		is := "has expired"
		if next, coming := versions.Available(version.ExpirableVersion, time.Now()); coming {
			is = fmt.Sprintf("is unavailable, and becomes %s", next)
		}
		note(fmt.Sprintf("%s@%s %s, so new worker pools cannot have it", pool.Image, pool.Version, is))
	}
}

// noteInPlace adds a note, once, if an image boots but Gardener refuses a new worker pool, because the version in
// core does not support updates in place.
func noteInPlace(g *input.Given, a *Answer) {
	pool := &a.resolution.Pool
	if a.selected == nil || !v1beta1helper.IsUpdateStrategyInPlace(&pool.Worker.UpdateStrategy) {
		return
	}
	version, found := v1beta1helper.FindMachineImageVersion(a.profile.Spec().MachineImages, pool.Image, pool.Version)
	note := fmt.Sprintf("%s@%s does not support updates in place in core (inPlaceUpdates.supported), so new worker pools with the update "+
		"strategy %s cannot have it", pool.Image, pool.Version, pool.Worker.UpdateStrategy)
	if found && (version.InPlaceUpdates == nil || !version.InPlaceUpdates.Supported) && !slices.Contains(g.Notes, note) {
		g.Notes = append(g.Notes, note)
	}
}

// askShoots answers for every worker pool of every Shoot that the filter admits. A Shoot without a usable profile, or
// in a region that its profile lacks, becomes a finding.
func askShoots(g *input.Given, filter *input.Filter) iter.Seq[Answer] {
	return func(yield func(Answer) bool) {
		for _, s := range g.Shoots.All {
			if p := g.ProfileToAsk(s); p != nil && !askShoot(g, p, s, filter, yield) {
				return
			}
			s.Forget()
		}
	}
}

// askShoot yields the answers for a Shoot's worker pools, and reports whether the caller wants more.
func askShoot(
	g *input.Given, p input.AnyProfile, s *input.Source[v1beta1.Shoot], filter *input.Filter, yield func(Answer) bool,
) bool {
	shoot, fillings := g.FilledIn(p, s.Object)
	for i, pool := range provider.PoolsOf(shoot) {
		if !filter.Admits(&pool) {
			continue
		}
		a := answerTo(p, pool, "the worker's providerConfig", DuplicateKey(s.Manifest, &pool, p))
		a.Shoot, a.filling = s.Name, fillings[i]
		a.Defaulted = fillings[i].By
		noteInPlace(g, &a)
		if s.Object.UID == "" {
			noteNoLongerOffered(g, p.Spec(), &a.resolution.Pool)
		}
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

// DuplicateKey describes a duplicate key in a worker pool's provider config; empty if the provider reads no requests from it.
func DuplicateKey(o *manifest.Object, pool *provider.Pool, p input.AnyProfile) string {
	if len(p.Provider().Workers().Settings()) == 0 {
		return ""
	}
	return o.DuplicateKey(pool.Path.Child("providerConfig").String())
}

// workerConfig reads the file of --worker-config; it returns nil without the flag. Faults in the file become
// findings, and fault is the first one. It fails if the file contains no config.
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
			Message: "the file has no worker config: write it, or leave out --worker-config",
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

// noteFurther adds the errors of a question by flags that its answer does not cover: as findings if they have a place
// in the worker config, as notes if they are about flags.
func noteFurther(g *input.Given, config *manifest.Object, errs field.ErrorList) {
	for _, err := range errs {
		if config == nil || err.Origin == resolve.RuleRequestUnregistered.Name && config.Value(err.Field) == nil {
			g.Notes = append(g.Notes, err.Detail)
			continue
		}
		g.AddErrors(config, err)
	}
}
