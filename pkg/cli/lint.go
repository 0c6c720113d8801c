// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/cli/gardener"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/cli/reserved"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/finding"
)

type lintFlags struct {
	*inputs
	output, failOn, domain string
	reservedInCore         bool
}

func (c *command) lint() *cobra.Command {
	flags := &lintFlags{}
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Report everything that is wrong with CloudProfiles and the objects that use them",
		Long: `Reports what the API server and the admission webhooks would say about the objects in the files, with line and column.
Every rule has a section in docs/rules.md. Objects of a cluster are checked like those of a file, which stands for the one
of its name: what would be wrong if it were applied?

What a Shoot may have can depend on the domain of its credentials. Admission takes it from their Secret; --domain says it
here. Without the flag, what depends on it is reported as not checked.`,
		Example: "  capkit lint cloudprofile.yaml\n" +
			"  capkit lint -o sarif manifests/ > capkit.sarif\n" +
			"  capkit lint --domain demo shoot.yaml cloudprofile.yaml\n" +
			"  capkit lint --reserved-in-core cloudprofile.yaml\n" +
			"  capkit lint -A --context landscape\n" +
			"  capkit lint -n garden-demo shoot.yaml",
		RunE: func(cmd *cobra.Command, args []string) error { return c.runLint(cmd.Context(), args, flags) },
	}
	flags.inputs = inputFlags(cmd)
	flags.allowEmptyFlag(cmd)
	outputFlag(cmd, &flags.output, report.Formats())
	choiceFlag(cmd, &flags.failOn, "fail-on", "error", "severity that makes the exit status 1",
		[]string{"error", "warning"})
	cmd.Flags().StringVar(&flags.domain, "domain", "",
		"`NAME` of the domain of the Shoots' credentials, which admission takes from their Secret")
	complete(cmd, "domain", nil) // a name, and no file
	reservedFlag(cmd, &flags.reservedInCore)
	return cmd
}

func (c *command) runLint(ctx context.Context, args []string, flags *lintFlags) error {
	switch {
	case flags.failOn != "error" && flags.failOn != "warning":
		return fmt.Errorf("unknown --fail-on %q: use error or warning", flags.failOn)
	case flags.given("domain") && flags.domain == "":
		return errors.New("--domain is empty: name the domain, or leave the flag out if it is not known")
	}
	g, err := c.load(ctx, args, flags.inputs, true)
	if err != nil {
		return err
	}
	if g.summary.Objects+len(g.findings) == 0 {
		if err := flags.nothing(g, "CloudProfile, NamespacedCloudProfile or Shoot"); err != nil {
			return err
		}
	}
	g.reservedInCore = flags.reservedInCore
	if flags.given("domain") {
		g.domain = &flags.domain
	}
	found := lint(g)
	options := report.Options{
		FailOn: finding.Severity(flags.failOn), Rules: Rules(byType(c.providers)...), Version: Version,
	}
	if err := found.Write(c.stdout, flags.output, options); err != nil {
		return err
	}
	c.printSkipped(g)
	fmt.Fprintln(c.stderr, found.Summary)
	if found.Fails(options) {
		return errWrong
	}
	return nil
}

// lint checks everything in the garden, and drops what is not needed any more.
func lint(g *garden) report.Report {
	for _, s := range g.profiles.all {
		g.lintProfile(s)
		if len(g.namespaced.all)+len(g.shoots.all) == 0 { // nobody else asks for it
			*s = source[v1beta1.CloudProfile]{}
		}
	}
	for _, s := range g.namespaced.all {
		g.lintNamespaced(s)
	}
	for _, s := range g.shoots.all {
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
	g.error(s.manifest, g.validate(object)...)
	switch {
	case provider != nil:
		compiled, report := provider.check(object)
		s.compiled = compiled
		g.report(s.manifest, report)
	case object.Spec.Type != "": // core reports that one
		g.warning(s.manifest, g.unknownProvider(object.Spec.Type, "spec.type"))
	}
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
		report = p.checkNamespaced(object)
	}
	g.error(s.manifest, g.validateNamespaced(object, inGarden, report.Errors.Errors())...)
	g.report(s.manifest, report)
}

func (g *garden) lintShoot(s *source[v1beta1.Shoot]) {
	if s.object == nil || s.object.DeletionTimestamp != nil {
		return
	}
	g.error(s.manifest, gardener.Validate(s.object)...)
	switch p, fault := g.profileOf(s.object); {
	case fault == nil:
		shoot, fillings := filledIn(p, s.object)
		report := p.ValidateShoot(shoot, g.domain)
		g.error(s.manifest, sayFilledIn(p, shoot, fillings, report.Errors)...)
		g.report(s.manifest, report)
	case fault.Origin == ruleProviderUnknown, fault.Type == field.ErrorTypeRequired: // which has been said already
	case fault.Origin == consistency.RuleProfileMissing:
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
		return reserved.Validate(object)
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
		return o.Origin == consistency.RuleVersionInherited.Name && strings.HasPrefix(o.Field, version+".")
	})
}

// withHints says, where core refuses one of Gardener's own capabilities in an object, where to declare it.
func withHints(object runtime.Object, errs field.ErrorList) field.ErrorList {
	profile, _ := object.(*v1beta1.CloudProfile)
	for _, err := range errs {
		name, _ := err.BadValue.(string)
		hint := "; "
		var i int
		_, other := fmt.Sscanf(err.Field, "spec.machineCapabilities[%d].name", &i)
		if other == nil && profile != nil && err.Type == field.ErrorTypeForbidden { // to register it
			name, hint = profile.Spec.MachineCapabilities[i].Name, "; leave it out: "
		}
		if reserved.Is(name) {
			err.Detail += hint + name + " is known without being registered, and declared on flavors of the provider config only"
		}
	}
	return errs
}
