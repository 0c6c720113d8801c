// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/proof"
	"github.com/capkit/capkit/internal/cli/release"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
)

// How import proves that what it has made is right: by what lint says, and by what plan says, which is shown.

// prove reports errors that there are afterwards and not before, and what is refused of the updates, in the order in which they are to be
// applied: parents before their children.
func (l *inLandscape) prove() error {
	if len(l.becomes) == 0 {
		return nil
	}
	if err := l.compare("lint", linted); err != nil {
		return err
	}
	if l.flags.Flags.Given() {
		if err := l.compare("verify", l.verified); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(l.Findings, isError) {
		return nil
	}
	now := proof.CopyOf(l.Given, l.forLater())
	for _, s := range l.Profiles.All {
		if _, changed := l.becomes[s.Manifest]; changed {
			after := proof.After(now)
			now = l.planned(&changes.Update{Kind: "CloudProfile", Name: s.Name, Profile: proof.Replace(&now.Profiles, &after.Profiles, l.after.Profiles.ByName[s.Name])},
				now, after, s.Manifest)
		}
	}
	for _, s := range l.Namespaced.All {
		if _, changed := l.becomes[s.Manifest]; changed {
			after := proof.After(now)
			now = l.planned(&changes.Update{
				Kind: "NamespacedCloudProfile", Name: s.Name, Namespaced: proof.Replace(&now.Namespaced, &after.Namespaced, l.after.Namespaced.ByName[s.Name]),
			}, now, after, s.Manifest)
		}
	}
	return nil
}

// forLater reports whether the profiles are for a Gardener that accepts its own capabilities, as they register them.
func (l *inLandscape) forLater() bool {
	return slices.ContainsFunc(l.Profiles.All, func(s *input.Source[v1beta1.CloudProfile]) bool {
		return s.Object != nil && release.RegistersReserved(s.Object.Spec.MachineCapabilities)
	})
}

// planned notes what the update of a manifest does, reports what is refused of it, and returns the inputs after it.
func (l *inLandscape) planned(u *changes.Update, now, after *input.Given, o *manifest.Object) *input.Given {
	u.Before, u.After = now, after
	planned, err := u.Plan()
	if err != nil {
		l.AddErrors(o, input.Problem(release.RuleProfile, field.ErrorTypeForbidden, "", nil, "it cannot be told what the import does: %v", err))
		return after
	}
	planned.WithoutUsers = l.withoutUsers()
	l.answers[o].Plan = planned
	for _, c := range planned.Changes {
		if c.Kind != changes.Refused {
			continue
		}
		line, column := o.Position(c.Field)
		l.Findings = append(l.Findings, report.Finding{
			Severity: finding.SeverityError, Rule: c.Rule, Type: field.ErrorTypeForbidden, Field: c.Field, Message: afterwards + c.Message,
			Object: report.Object(o.Identity), File: o.File, Line: line, Column: column,
		})
	}
	return after
}

// afterwards begins messages about what is wrong with the result.
const afterwards = "after the import: "

// judged is what of the result counts: the profiles that change.
func (l *inLandscape) judged(f report.Finding) bool {
	return slices.ContainsFunc(l.order, func(o *manifest.Object) bool { return report.Object(o.Identity) == f.Object })
}

// ruleUncovered is the rule of lint about regions without an image.
const ruleUncovered = "region-uncovered"

// linted returns what lint says about profiles.
func linted(g *input.Given) ([]report.Finding, error) {
	for _, s := range g.Profiles.All {
		checks.Profile(g, s)
	}
	for _, s := range g.Namespaced.All {
		checks.Namespaced(g, s)
	}
	return g.Findings, nil
}

// verified returns what verify says about profiles.
func (l *inLandscape) verified(g *input.Given) ([]report.Finding, error) {
	_, err := l.flags.Flags.Verify(l.call, g, true, nil)
	return g.Findings, err
}

// indices are those in a path, which an import changes.
var indices = regexp.MustCompile(`\[\d+\]`)

// compare takes over what a command finds about the result that it does not find about the inputs, and notes errors that stay. Severity,
// rule, object, and kind of place tell findings apart. That there is no image in a region is said already.
func (l *inLandscape) compare(by string, find func(*input.Given) ([]report.Finding, error)) error {
	type key struct {
		severity finding.Severity
		rule     string
		object   report.Object
		kind     field.ErrorType
		place    string
	}
	keyOf := func(f report.Finding) key {
		return key{f.Severity, f.Rule, f.Object, f.Type, indices.ReplaceAllString(f.Field, "[]")}
	}
	was, err := find(proof.CopyOf(l.Given, l.forLater()))
	if err != nil {
		return err
	}
	is, err := find(proof.CopyOf(l.after, l.forLater()))
	if err != nil {
		return err
	}
	before, stay := map[key]int{}, map[report.Object]int{}
	for _, f := range was {
		before[keyOf(f)]++
	}
	for _, f := range is {
		k := keyOf(f)
		before[k]--
		switch {
		case !l.judged(f):
		case before[k] >= 0 && isError(f):
			stay[f.Object]++
		case before[k] < 0 && f.Rule != ruleUncovered:
			f.Message = afterwards + f.Message
			l.Findings = append(l.Findings, f)
		}
	}
	for _, o := range l.order {
		if n := stay[report.Object(o.Identity)]; n > 0 {
			l.importing.notes = append(l.importing.notes, fmt.Sprintf("%s: %s finds %s that %s there before",
				l.answers[o].Profile, by, report.Count(n, "error"), wasOrWere(n)))
		}
	}
	return nil
}

// uses says who uses which image version of which profile, KIND [NAMESPACE/]NAME.
type uses map[string][]string

// in returns what says who uses an image version of a profile.
func (u uses) in(profile string) func(image, version string) []string {
	return func(image, version string) []string { return u[profile+" "+image+"@"+version] }
}

// uses returns who uses image versions: Shoots, in the order of the inputs.
func (l *inLandscape) uses() uses {
	found := uses{}
	for _, s := range l.Shoots.All {
		shoot := s.Object
		if p, _ := l.ProfileOf(shoot); p != nil {
			shoot, _ = l.FilledIn(p, shoot)
		}
		for _, pool := range provider.PoolsOf(shoot) {
			for _, profile := range l.profilesOf(shoot) {
				key := profile + " " + pool.Image + "@" + pool.Version
				if by := "Shoot " + s.Name; !slices.Contains(found[key], by) {
					found[key] = append(found[key], by)
				}
			}
		}
	}
	return found
}

// withoutUsers reports whether neither Shoots were given nor a cluster asked for them.
func (l *inLandscape) withoutUsers() bool {
	return len(l.Shoots.All) == 0 && !l.flags.in.Given("namespace") && !l.flags.in.Given("all-namespaces")
}

// noteUnseen says of versions that are deprecated who may use them unseen.
func (l *inLandscape) noteUnseen() {
	switch {
	case l.flags.keep == 0 || l.flags.in.Given("all-namespaces"):
	case l.flags.in.Given("namespace"):
		l.importing.notes = append(l.importing.notes, "--keep: Shoots of one namespace alone were asked which versions they use: -A asks all")
	case l.withoutUsers():
		l.importing.notes = append(l.importing.notes, "--keep: no Shoots are among the inputs, so which versions are in use is not known: "+
			"give their files, or -A for those of a garden")
	}
}

// profilesOf returns the profile of a Shoot, and the parent of that.
func (l *inLandscape) profilesOf(shoot *v1beta1.Shoot) []string {
	kind, name, _ := input.ProfileNameOf(shoot)
	if kind != "NamespacedCloudProfile" {
		return []string{"CloudProfile " + name}
	}
	name = shoot.Namespace + "/" + name
	if s := l.Namespaced.ByName[name]; s != nil && s.Object != nil {
		return []string{kind + " " + name, "CloudProfile " + s.Object.Spec.Parent.Name}
	}
	return []string{kind + " " + name}
}

func wasOrWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
