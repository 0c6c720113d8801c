// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/proof"
	"github.com/capkit/capkit/internal/cli/release"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// How import proves its result: with lint and with plan, whose output it prints.

// prove reports errors of the result that did not exist before, old ones for which Gardener refuses the updates, and refusals of the updates.
// Notes count the other old errors. The updates are checked in the order in which they must be applied: parents before their children.
func (l *inLandscape) prove() error {
	if len(l.becomes) == 0 {
		return nil
	}
	old, err := l.compare(func(g *input.Given) ([]report.Finding, error) { return proof.Linted(g), nil })
	if err != nil {
		return err
	}
	var stay []report.Finding
	for _, f := range l.counting(l.Given, old) {
		if f.Rule == gardener.RuleCore { // Gardener compares nothing with the old profile, so it refuses any update
			l.Findings = append(l.Findings, f)
		} else {
			stay = append(stay, f)
		}
	}
	l.noteOld(stay, "lint finds %s, with the import and without it")
	if l.flags.Flags.Given() {
		if old, err = l.compare(l.verified); err != nil {
			return err
		}
		l.importing.notes = append(l.importing.notes, l.unknown...)
		l.noteOld(old, "verify finds %s, with the import and without it")
	}
	if slices.ContainsFunc(l.Findings, isError) {
		return nil
	}
	now := proof.CopyOf(l.Given, proof.ForLater(l.Given))
	for _, s := range l.Profiles.All {
		if _, changed := l.becomes[s.Manifest]; changed {
			now = l.planned(proof.OfProfile(now, proof.After(now), l.after.Profiles.ByName[s.Name]), s.Manifest)
		}
	}
	for _, s := range l.Namespaced.All {
		if _, changed := l.becomes[s.Manifest]; changed {
			now = l.planned(proof.OfNamespaced(now, proof.After(now), l.after.Namespaced.ByName[s.Name]), s.Manifest)
		}
	}
	return nil
}

// planned records the effects of a manifest's update, reports its refusals, and returns the inputs after it.
func (l *inLandscape) planned(u *changes.Update, o *manifest.Object) *input.Given {
	planned, err := u.Plan()
	if err != nil {
		l.AddErrors(o, input.Problem(release.RuleProfile, field.ErrorTypeForbidden, "", nil, "it cannot be told what the import does: %v", err))
		return u.After
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
	return u.After
}

// afterwards begins messages about the result.
const afterwards = "after the import: "

// judged reports whether a finding is about a profile that is being imported into.
func (l *inLandscape) judged(f report.Finding) bool {
	return slices.ContainsFunc(l.order, func(o *manifest.Object) bool { return report.Object(o.Identity) == f.Object })
}

// ruleUncovered is lint's rule about regions without an image.
const ruleUncovered = "region-uncovered"

// verified returns verify's findings about profiles.
func (l *inLandscape) verified(g *input.Given) ([]report.Finding, error) {
	verified, err := l.flags.Flags.Verify(l.call, g, true, nil)
	if err == nil {
		l.unknown = verified.Notes
	}
	return g.Findings, err
}

// indices matches the indices in a path, which an import changes.
var indices = regexp.MustCompile(`\[\d+\]`)

// compare adds a command's findings about the result that it does not have about the inputs. It returns the errors
// that occur in both, as found in the inputs. Findings are identified by severity, rule, object, type, and field
// without indices. Regions without an image are left out, because import reports them itself.
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
	was, err := find(proof.CopyOf(l.Given, proof.ForLater(l.Given)))
	if err != nil {
		return nil, err
	}
	is, err := find(proof.CopyOf(l.after, proof.ForLater(l.Given)))
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

// counting returns the findings about inputs that neither comments in them nor the settings silence.
func (l *inLandscape) counting(g *input.Given, findings []report.Finding) (counting []report.Finding) {
	disabled := map[string]report.Suppression{}
	for rule, reason := range l.flags.in.Settings.Disabled {
		disabled[rule] = report.Suppression{Kind: report.External, Justification: reason}
	}
	found := report.Report{Findings: slices.Clone(findings)}
	checks.Silence(g, &found, disabled, checks.Catalogue(l.call), func(*finding.Rule) bool { return false })
	for _, f := range found.Findings {
		given := slices.ContainsFunc(findings, func(other report.Finding) bool { return other.Rule == f.Rule }) // and not a finding about comments
		if len(f.Suppressions) == 0 && l.judged(f) && (given || isError(f)) {
			counting = append(counting, f)
		}
	}
	return counting
}

// noteOld adds notes with the number of old errors in each profile.
func (l *inLandscape) noteOld(old []report.Finding, format string) {
	counts := map[report.Object]int{}
	for _, f := range old {
		counts[f.Object]++
	}
	for _, o := range l.order {
		if n := counts[report.Object(o.Identity)]; n > 0 {
			l.note(l.answers[o].Profile, fmt.Sprintf(format, report.Count(n, "error")))
		}
	}
}

// withoutUsers reports whether no Shoots were given and none were requested from a cluster.
func (l *inLandscape) withoutUsers() bool {
	return len(l.Shoots.All) == 0 && !l.flags.in.Given("namespace") && !l.flags.in.Given("all-namespaces")
}

// noteUnseen adds a note if deprecated versions may have users outside the inputs.
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
