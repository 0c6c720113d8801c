// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/cli/reserved"
	"github.com/capkit/capkit/pkg/finding"
)

type lintFlags struct {
	checkFlags
	output                 string
	all, quiet, fix, write bool
}

func (c *command) lint() *cobra.Command {
	flags := &lintFlags{}
	cmd := &cobra.Command{
		Use:        "lint FILE...",
		SuggestFor: []string{"check", "validate", "verify"},
		Short:      "Report everything that is wrong with CloudProfiles and the objects that use them",
		Long: `Reports what the API server and the admission webhooks would say about the objects in the files, with line and column.
The name of its rule stands behind each finding, in brackets: explain-rule says what it means. Objects of a cluster are
checked like those of a file, which stands for the one of its name: what would be wrong if it were applied?

What a Shoot may have can depend on the domain of its credentials. Admission takes it from their Secret; --domain says it
here. Without the flag, what depends on it is reported as not checked.

A comment silences a finding, in its line or in the line above; above an object it does so for the whole object:

  # capkit:ignore region-unknown: the region opens in May

--disable does so for all objects, and so does the file .capkit.yaml, with reasons. Admission knows nothing of either.

--fix repairs what can be meant in one way only, like a text where a list belongs: it prints a diff, and with -w it changes
the files and lints them then. With and without -w, the exit status is that of what remains.`,
		Example: "  capkit lint cloudprofile.yaml\n" +
			"  capkit lint -o sarif manifests/ > capkit.sarif\n" +
			"  capkit lint --fix cloudprofile.yaml\n" +
			"  capkit lint --domain demo shoot.yaml cloudprofile.yaml\n" +
			"  capkit lint --reserved-in-core cloudprofile.yaml\n" +
			"  capkit lint -A --context landscape\n" +
			"  capkit lint -n garden-demo shoot.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return c.runLint(cmd.Context(), args, flags) },
	}
	flags.inputs = inputFlags(cmd)
	flags.allowEmptyFlag(cmd)
	outputFlag(cmd, &flags.output, report.Formats())
	flags.add(cmd, c.catalogue())
	f := cmd.Flags()
	f.BoolVar(&flags.all, "all", false, "as text, show each finding, where many that say the same would be one")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "print findings alone: no summary, no notes")
	f.BoolVar(&flags.fix, "fix", false, "repair what can be repaired in one way only, and print how the files change")
	f.BoolVarP(&flags.write, "write", "w", false, "with --fix, change the files, and lint them then")
	cmd.Args = func(_ *cobra.Command, files []string) error { return flags.prepare(files, c.catalogue()) }
	return cmd
}

// prepare returns what is wrong with the flags, the settings and the FILE arguments.
func (flags *lintFlags) prepare(files []string, rules []finding.Rule) error {
	switch {
	case flags.write && !flags.fix:
		return errors.New("-w goes with --fix: lint changes nothing by itself")
	case flags.fix && !flags.write && flags.given("output"):
		return errors.New("--fix prints a diff: -o goes with --fix -w, which lints the files then")
	}
	if err := flags.checkFlags.prepare(files, rules); err != nil {
		return err
	}
	if flags.write && slices.Contains(flags.files(files), "-") {
		return errors.New("standard input cannot be changed: leave -w out, or name a file")
	}
	return nil
}

func (c *command) runLint(ctx context.Context, args []string, flags *lintFlags) error {
	if flags.quiet {
		c.terminal = nil
	}
	var stdin strings.Builder
	if flags.fix && c.stdin != nil {
		c.stdin = io.TeeReader(c.stdin, &stdin)
	}
	g, err := c.loadToLint(ctx, args, &flags.checkFlags)
	if err != nil {
		return err
	}
	if g.summary.Objects+len(g.findings) == 0 {
		if err := flags.nothing(g, "CloudProfile, NamespacedCloudProfile or Shoot"); err != nil {
			return err
		}
	}
	if flags.fix {
		if err := c.fix(g, flags, stdin.String); err != nil || !flags.write {
			return err
		}
		flags.fix = false
		return c.runLint(ctx, args, flags)
	}
	checking := c.terminal.begin("checking", len(g.profiles.all)+len(g.namespaced.all)+len(g.shoots.all))
	found := c.lintAll(g, &flags.checkFlags, checking)
	checking.end()
	options := report.Options{
		FailOn: finding.Severity(flags.failOn), Rules: c.catalogue(), Version: thisVersion().Version, All: flags.all,
	}
	if err := found.Write(c.stdout, flags.output, options); err != nil {
		return err
	}
	c.printSilenced(found)
	if !flags.quiet {
		c.printSkipped(g)
		c.printRules(found, flags.output)
		report.Printf(c.stderr, "%s\n", found.Summary)
	}
	if found.Fails(options) {
		return errWrong
	}
	return nil
}

// printSilenced names the rules of errors that do not count: admission does not know that somebody has silenced them.
func (c *command) printSilenced(found report.Report) {
	if errs := found.SilencedErrors(); len(errs) > 0 {
		report.Printf(c.stderr, "note: silenced, and refused by admission all the same: %s\n", countsOf(errs))
	}
}

// countsOf prints how many findings rules have.
func countsOf(counts []report.RuleCount) string {
	all := make([]string, 0, len(counts))
	for _, r := range counts {
		all = append(all, fmt.Sprintf("%s %d", r.Rule, r.Findings))
	}
	return strings.Join(all, ", ")
}

// printRules says for people how many findings each rule has, and where there is more about it.
func (c *command) printRules(found report.Report, format string) {
	counts := found.ByRule()
	switch {
	case len(counts) == 0 || format != "text" && format != "github":
	case len(counts) == 1:
		report.Printf(c.stderr, "%s explain-rule %s says what that means\n", c.name, counts[0].Rule)
	default:
		report.Printf(c.stderr, "rules: %s; %s explain-rule RULE says what one means\n", countsOf(counts), c.name)
	}
}

// lint checks everything in the garden, and drops what is not needed any more. Each object is a step of the work.
func lint(g *garden, checking *work) report.Report {
	for _, s := range g.profiles.all {
		checking.steps(1)
		g.lintProfile(s)
		if len(g.namespaced.all)+len(g.shoots.all) == 0 { // nobody else asks for it
			*s = source[v1beta1.CloudProfile]{}
		}
	}
	for _, s := range g.namespaced.all {
		checking.steps(1)
		g.lintNamespaced(s)
	}
	for _, s := range g.shoots.all {
		checking.steps(1)
		g.lintShoot(s)
		s.forget()
	}
	return report.New(g.findings, g.summary)
}

// lintProfile checks a CloudProfile. What is being deleted need not be right.
func (g *garden) lintProfile(s *source[v1beta1.CloudProfile]) {
	if s.object == nil || s.aside || s.object.DeletionTimestamp != nil {
		return
	}
	object, provider := g.stored(s), g.providers[s.object.Spec.Type]
	errs := g.validate(object)
	g.error(s.manifest, errs...)
	switch {
	case provider != nil:
		compiled, report := check.CloudProfile(provider, object)
		s.compiled = compiled.WithFaults(errs)
		g.report(s.manifest, withSize(report, object))
	case object.Spec.Type != "": // core reports that one
		fault := g.unknownProvider(object.Spec.Type, "spec.type")
		if g.differsInCase(object.Spec.Type) { // no extension has such a type beside the other
			g.error(s.manifest, fault)
			return
		}
		g.warning(s.manifest, fault)
	}
}

// withSize makes an error of the warning that a CloudProfile is too large to be stored: the API server would refuse it, unless the
// limit of its etcd was raised.
func withSize(report finding.Report, object *v1beta1.CloudProfile) finding.Report {
	if object.Size() <= check.SizeLimit {
		return report
	}
	isSize := func(f finding.Finding) bool { return f.Origin == check.RuleSize.Name }
	i := slices.IndexFunc(report.Warnings, isSize)
	report.Errors = append(slices.Clip(report.Errors), report.Warnings[i])
	report.Warnings = slices.DeleteFunc(slices.Clone(report.Warnings), isSize)
	return report
}

// lintNamespaced checks a NamespacedCloudProfile, and what it becomes together with its parent.
func (g *garden) lintNamespaced(s *source[v1beta1.NamespacedCloudProfile]) {
	if s.object == nil || s.aside || s.object.DeletionTimestamp != nil {
		return
	}
	parent, reference := g.parentOf(s), s.object.Spec.Parent
	if parent == nil && reference.Kind == "CloudProfile" && reference.Name != "" {
		g.error(s.manifest, g.missing("CloudProfile", reference.Name, "spec.parent.name"))
	}
	if parent == nil || parent.object == nil {
		g.error(s.manifest, g.validate(s.object)...)
		return
	}
	inGarden := g.stored(parent)
	object := g.storedNamespaced(s, inGarden)
	var report finding.Report
	if p, _ := g.compile(parent, ""); p != nil {
		_, report = check.NamespacedCloudProfile(p, object)
	}
	g.error(s.manifest, g.validateNamespaced(object, inGarden, report.Errors.Errors())...)
	g.report(s.manifest, report)
}

func (g *garden) lintShoot(s *source[v1beta1.Shoot]) {
	if s.object == nil || s.object.DeletionTimestamp != nil {
		return
	}
	g.error(s.manifest, gardener.Validate(s.object)...)
	p, fault := g.profileOf(s.object)
	spec := &v1beta1.CloudProfileSpec{}
	if fault == nil {
		spec = p.Spec()
	}
	errs, warnings := gardener.ValidateShootIn(s.object, spec)
	g.error(s.manifest, errs...)
	g.warning(s.manifest, warnings...)
	switch {
	case fault == nil:
		shoot, fillings := filledIn(p, s.object)
		report := check.Shoot(p, shoot, g.domain)
		g.error(s.manifest, sayFilledIn(p, shoot, fillings, report.Errors)...)
		g.report(s.manifest, report)
	case fault.Origin == ruleProviderUnknown, fault.Type == field.ErrorTypeRequired: // which has been said already
	case fault.Origin == check.RuleProfileMissing:
		g.error(s.manifest, fault)
	default:
		g.warning(s.manifest, fault)
	}
}

// reservedFlag adds the flag of the commands that run Gardener's own validation.
func reservedFlag(cmd *cobra.Command, reservedInCore *bool) {
	cmd.Flags().BoolVar(reservedInCore, "reserved-in-core", false,
		"check as a Gardener would that accepts the reserved gardener- capabilities of GEP-0054 in machineCapabilities, "+
			"machine types and core flavors; v1.150 refuses them")
}

// validate returns what Gardener's API server says about a CloudProfile, or a NamespacedCloudProfile by itself.
func (g *garden) validate(object runtime.Object) field.ErrorList {
	if g.reservedInCore {
		return withRepairs(object, reserved.Validate(object))
	}
	return withHints(object, gardener.Validate(object))
}

// validateNamespaced returns what it says about a NamespacedCloudProfile and its parent. own is what our rules say
// about the object; what says the same is left out.
func (g *garden) validateNamespaced(
	object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, own field.ErrorList,
) field.ErrorList {
	repeated := func(err *field.Error) bool { return repeats(err, own) }
	if g.reservedInCore {
		return reserved.ValidateNamespaced(object, parent, repeated)
	}
	return withHints(object, gardener.ValidateNamespaced(object, parent, repeated))
}

// repeats reports whether an error of Gardener's says about an inherited version what one of ours says.
func repeats(err *field.Error, own field.ErrorList) bool {
	version, overridden := strings.CutSuffix(err.Field, ".capabilityFlavors")
	if !overridden {
		version, overridden = strings.CutSuffix(err.Field, ".architectures")
	}
	return overridden && slices.ContainsFunc(own, func(o *field.Error) bool {
		return o.Origin == check.RuleVersionInherited.Name && strings.HasPrefix(o.Field, version+".")
	})
}

// withRepairs says how to repair what core says about the capabilities of a CloudProfile.
func withRepairs(object runtime.Object, errs field.ErrorList) field.ErrorList {
	if profile, _ := object.(*v1beta1.CloudProfile); profile != nil {
		for _, err := range errs {
			err.Detail += capabilityHint(profile, err)
		}
	}
	return errs
}

// withHints says so, too, and where core refuses one of Gardener's own capabilities in an object it says where to declare it.
func withHints(object runtime.Object, errs field.ErrorList) field.ErrorList {
	profile, _ := object.(*v1beta1.CloudProfile)
	for _, err := range errs {
		name, _ := err.BadValue.(string)
		hint, tail := "; ", " is known without being registered, and declared on flavors of the provider config only"
		var i int
		_, other := fmt.Sscanf(err.Field, "spec.machineCapabilities[%d].name", &i)
		if other == nil && profile != nil && err.Type == field.ErrorTypeForbidden { // to register it
			name, hint = profile.Spec.MachineCapabilities[i].Name, "; remove this entry: "
			tail = " needs no registration; declare it on flavors of the provider config only"
		}
		if reserved.Is(name) {
			err.Detail += hint + name + tail
			continue
		}
		if profile != nil {
			err.Detail += capabilityHint(profile, err)
		}
	}
	return errs
}
