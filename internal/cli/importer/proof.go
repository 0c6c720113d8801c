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
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/proof"
	"github.com/capkit/capkit/internal/cli/release"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/finding"
)

// How import proves that what it has made is right: by what lint says, and by what plan says, which is shown.

// prove reports errors of the result, but of verify only those that are not there before, and what is refused of the updates, in the order
// in which they are to be applied: parents before their children.
func (l *inLandscape) prove() error {
	if len(l.becomes) == 0 {
		return nil
	}
	old, err := l.compare(func(g *input.Given) ([]report.Finding, error) { return proof.Linted(g), nil })
	if err != nil {
		return err
	}
	old = l.counting(l.Given, old) // which the profiles keep: with them, nothing can be proved
	l.Findings = append(l.Findings, old...)
	l.noteOld(old, "lint finds %s in the profile as it is: correct that before, or silence it")
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

// planned notes what the update of a manifest does, reports what is refused of it, and returns the inputs after it.
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

// afterwards begins messages about what is wrong with the result.
const afterwards = "after the import: "

// judged is what of the result counts: the profiles that change.
func (l *inLandscape) judged(f report.Finding) bool {
	return slices.ContainsFunc(l.order, func(o *manifest.Object) bool { return report.Object(o.Identity) == f.Object })
}

// ruleUncovered is the rule of lint about regions without an image.
const ruleUncovered = "region-uncovered"

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

// noteOld notes how many errors profiles have and keep.
func (l *inLandscape) noteOld(old []report.Finding, format string) {
	counts := map[report.Object]int{}
	for _, f := range old {
		counts[f.Object]++
	}
	for _, o := range l.order {
		if n := counts[report.Object(o.Identity)]; n > 0 {
			l.importing.notes = append(l.importing.notes, l.answers[o].Profile+": "+fmt.Sprintf(format, report.Count(n, "error")))
		}
	}
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
