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

// prove reports errors of the result, but of verify only those that are not there before, and what is refused of the updates, in the order
// in which they are to be applied: parents before their children.
func (l *inLandscape) prove() error {
	if len(l.becomes) == 0 {
		return nil
	}
	old, err := l.compare(linted)
	if err != nil {
		return err
	}
	l.reportOld(old)
	if l.flags.Flags.Given() {
		if old, err = l.compare(l.verified); err != nil {
			return err
		}
		counts := map[report.Object]int{}
		for _, f := range old {
			counts[f.Object]++
		}
		l.importing.notes = append(l.importing.notes, l.unknown...)
		l.noteOld(counts, "verify finds %s, with the import and without it")
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
	verified, err := l.flags.Flags.Verify(l.call, g, true, nil)
	if err == nil {
		l.unknown = verified.Notes
	}
	return g.Findings, err
}

// indices are those in a path, which an import changes.
var indices = regexp.MustCompile(`\[\d+\]`)

// compare takes over what a command finds about the result that it does not find about the inputs, and returns the errors that it finds in
// both, as they are in the inputs. Severity, rule, object, and kind of place tell findings apart. That there is no image in a region is
// said already.
func (l *inLandscape) compare(find func(*input.Given) ([]report.Finding, error)) (old []report.Finding, err error) {
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
		return nil, err
	}
	is, err := find(proof.CopyOf(l.after, l.forLater()))
	if err != nil {
		return nil, err
	}
	before, stays := map[key]int{}, map[key]int{}
	for _, f := range was {
		before[keyOf(f)]++
	}
	var fresh []report.Finding
	for _, f := range is {
		k := keyOf(f)
		if before[k]--; before[k] >= 0 {
			stays[k]++
		} else if f.Rule != ruleUncovered {
			fresh = append(fresh, f)
		}
	}
	for _, f := range l.counting(l.after, fresh) {
		f.Message = afterwards + f.Message
		l.Findings = append(l.Findings, f)
	}
	for _, f := range was {
		k := keyOf(f)
		if stays[k]--; stays[k] >= 0 && l.judged(f) && isError(f) {
			old = append(old, f)
		}
	}
	return old, nil
}

// reportOld reports the errors that profiles have already and keep. With them, nothing can be proved.
func (l *inLandscape) reportOld(old []report.Finding) {
	counts := map[report.Object]int{}
	for _, f := range l.counting(l.Given, old) {
		counts[f.Object]++
		l.Findings = append(l.Findings, f)
	}
	l.noteOld(counts, "lint finds %s in the profile as it is: correct that before, or silence it")
}

// counting returns findings about inputs without those that comments in them or the settings silence.
func (l *inLandscape) counting(g *input.Given, findings []report.Finding) (counting []report.Finding) {
	disabled := map[string]report.Suppression{}
	for rule, reason := range l.flags.in.Settings.Disabled {
		disabled[rule] = report.Suppression{Kind: report.External, Justification: reason}
	}
	found := report.Report{Findings: slices.Clone(findings)}
	checks.Silence(g, &found, disabled, checks.Catalogue(l.call), func(*finding.Rule) bool { return false })
	for _, f := range found.Findings {
		given := slices.ContainsFunc(findings, func(other report.Finding) bool { return other.Rule == f.Rule }) // and nothing about comments
		if len(f.Suppressions) == 0 && l.judged(f) && (given || isError(f)) {
			counting = append(counting, f)
		}
	}
	return counting
}

// noteOld notes how many errors profiles have.
func (l *inLandscape) noteOld(counts map[report.Object]int, format string) {
	for _, o := range l.order {
		if n := counts[report.Object(o.Identity)]; n > 0 {
			l.importing.notes = append(l.importing.notes, l.answers[o].Profile+": "+fmt.Sprintf(format, report.Count(n, "error")))
		}
	}
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
