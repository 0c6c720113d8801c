// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/proof"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// How migrate proves with plan that Gardener accepts the result, and that no worker pool boots another image.

// prove reports problems that exist only after the migration, and effects of the updates, which must have none. It applies the updates
// one after the other, in the order in which they must be applied: parents before their children, and the reverse with --back.
func (m *migration) prove() {
	was, is := proof.CopyOf(m.Given, m.forLater()), proof.CopyOf(m.after, m.forLater())
	is.ReservedInCore = is.ReservedInCore && (!m.reserved || !m.back)
	m.was = proof.Linted(was)
	m.compare(proof.Linted(is))
	if m.lifecycle {
		m.proveLifecycles()
	}
	if len(m.Findings) > 0 {
		return
	}
	if m.reserved {
		m.proveReserved()
		return
	}
	now := proof.CopyOf(m.Given, m.forLater())
	if m.back {
		now = m.proveNamespaced(now)
	}
	for _, s := range m.Profiles.All {
		if _, migrated := m.becomes[s.Manifest]; migrated && m.Providers[s.Object.Spec.Type] != nil {
			now = m.proveUpdate(proof.OfProfile(now, proof.After(now), m.after.Profiles.ByName[s.Name]))
		}
	}
	if !m.back {
		m.proveNamespaced(now)
	}
}

// proveNamespaced proves the updates of the NamespacedCloudProfiles, and returns the inputs after them.
func (m *migration) proveNamespaced(now *input.Given) *input.Given {
	for _, s := range m.Namespaced.All {
		if _, migrated := m.becomes[s.Manifest]; migrated && m.Providers[m.ParentOf(s).Object.Spec.Type] != nil {
			now = m.proveUpdate(proof.OfNamespaced(now, proof.After(now), m.after.Namespaced.ByName[s.Name]))
		}
	}
	return now
}

// proveUpdate reports the effects of an update, and returns the inputs after it.
func (m *migration) proveUpdate(u *changes.Update) *input.Given {
	m.report(m.manifestOf(u), m.planned(u))
	return u.After
}

// report reports the changes that a manifest's update causes.
func (m *migration) report(o *manifest.Object, all []changes.Change) {
	others, hint := map[*manifest.Object][]changes.Change{}, m.preferred(o)
	for _, c := range all {
		switch {
		case c.Kind == changes.Refused:
			m.refuse(o, &c)
		case m.wanted(&c), c.Kind == changes.Offer: // the folded versions
		case c.Kind == changes.Meaning: // only the booted images matter
		case len(c.Pools) > 0:
			m.reportPools(&c, hint)
		case c.Profile != "":
			child := m.Namespaced.ByName[c.Profile].Manifest
			others[child] = append(others[child], c)
		default:
			others[o] = append(others[o], c)
		}
	}
	m.reportCombinations(o, others[o], hint)
	for _, s := range m.Namespaced.All {
		if s.Manifest != o {
			m.reportCombinations(s.Manifest, others[s.Manifest], hint)
		}
	}
}

// preferred returns a hint if a CloudProfile prefers the fold's value to the plain one, and machine types may have
// both; otherwise it is empty.
func (m *migration) preferred(o *manifest.Object) string {
	f := m.options.Fold
	for _, s := range m.Profiles.All {
		if f == nil || m.options.MachineTypes != nil || s.Manifest != o {
			continue
		}
		for i, c := range s.Object.Spec.MachineCapabilities {
			if value := slices.Index(c.Values, f.Value); c.Name == f.Capability && value >= 0 && slices.Index(c.Values, f.Plain) > value {
				return fmt.Sprintf("; %s is preferred: write %s before it in spec.machineCapabilities[%d].values, or add --machine-types", f.Value, f.Plain, i)
			}
		}
	}
	return ""
}

// planned returns the effects of an update. If plan fails, it reports that.
func (m *migration) planned(u *changes.Update) []changes.Change {
	u.Renamed = func(before, after input.AnyProfile) func(resolve.Combination) (string, bool) {
		return m.options.Formerly(after.Provider(), before.Spec(), after.Spec())
	}
	if m.reserved || m.options.Fold != nil && m.options.Fold.IsReserved() {
		u.Besides = transform.Together()
	}
	planned, err := u.Plan()
	m.Findings = append(m.Findings, u.Before.Findings...)
	if err != nil {
		m.AddErrors(m.manifestOf(u), input.Problem(transform.Rule, field.ErrorTypeForbidden, "", nil, "it cannot be told what the migration does: %v", err))
		return nil
	}
	return planned.Changes
}

// refuse reports a refusal.
func (m *migration) refuse(o *manifest.Object, c *changes.Change) {
	line, column := o.Position(c.Field)
	text := m.afterwards(c.Rule, report.Object(o.Identity), c.Message)
	if m.reserved && m.back && o.Kind == "NamespacedCloudProfile" {
		text = "in between: " + c.Message + "; a NamespacedCloudProfile goes back before its CloudProfile, as Gardener demands"
	}
	m.Findings = append(m.Findings, report.Finding{
		Severity: finding.SeverityError, Rule: c.Rule, Type: field.ErrorTypeForbidden, Field: c.Field, Message: text,
		Object: report.Object(o.Identity), File: o.File, Line: line, Column: column,
	})
}

// afterwards says that a message applies after the migration, unless lint finds the same before.
func (m *migration) afterwards(rule string, object report.Object, message string) string {
	if slices.ContainsFunc(m.was, func(f report.Finding) bool { return f.Rule == rule && f.Object == object && f.Message == message }) {
		return message
	}
	return "after the migration: " + message
}

// wanted reports whether a change is the purpose of the fold. Worker pools that request its capability, and have booted
// nothing so far, then boot images of the version with the suffix. Maintenance then has fewer versions to choose from.
func (m *migration) wanted(c *changes.Change) bool {
	if c.Kind == changes.WillUpdate {
		return m.options.Fold != nil
	}
	return c.Kind == changes.New && m.options.Fold != nil && slices.ContainsFunc(c.Requested, func(r capability.Requirement) bool {
		return r.Capability == m.options.Fold.Capability
	})
}

// reportPools reports a change for each affected worker pool.
func (m *migration) reportPools(c *changes.Change, hint string) {
	for _, pool := range c.Pools {
		s := m.Shoots.ByName[pool.Shoot]
		pools := provider.PoolsOf(s.Object)
		i := slices.IndexFunc(pools, func(p provider.Pool) bool { return p.Name == pool.Name })
		m.reportChange(s.Manifest, pools[i].Path.Child("machine").String(), c, fmt.Sprintf("worker pool %s: %s%s", pool.Name, m.changeText(c), hint))
	}
}

// reportCombinations reports the first change that affects no worker pool, with the number of the others. For
// reserved capabilities, it does so for each image version.
func (m *migration) reportCombinations(o *manifest.Object, all []changes.Change, hint string) {
	var order []provider.ImageVersion
	of := map[provider.ImageVersion][]*changes.Change{}
	for i := range all {
		var id provider.ImageVersion
		if m.reserved {
			id = provider.ImageVersion{Image: all[i].Image, Version: all[i].Version}
		}
		if of[id] == nil {
			order = append(order, id)
		}
		of[id] = append(of[id], &all[i])
	}
	paths := pathsIn(o)
	for _, id := range order {
		first, text := of[id][0], m.changeText(of[id][0])
		if more := len(of[id]) - 1; more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		m.reportChange(o, cmp.Or(paths[id], "spec.machineImages"), first, text+hint)
	}
}

// changeText describes a change.
func (m *migration) changeText(c *changes.Change) string {
	if c.Kind == changes.Locked || c.Kind == changes.Maintenance {
		return "after the migration: " + c.Message
	}
	if c.Kind == changes.WillUpdate && c.To == nil {
		return fmt.Sprintf("after the migration, maintenance no longer updates it from %s", c.From)
	}
	if c.Kind == changes.WillUpdate {
		return fmt.Sprintf("after the migration, maintenance moves it from %s to %s", c.From, c.To)
	}
	asked := ""
	if len(c.Requested) > 0 {
		asked = " with " + changes.Settings(c.Requested)
	}
	boots := "would boot"
	if m.accept {
		boots = "then boots"
	}
	return fmt.Sprintf("%s@%s on %s in %s%s %s %s instead of %s",
		c.Image, c.Version, c.MachineType, c.Region, asked, boots, booted(c.To), booted(c.From))
}

// booted prints a reference, or "nothing" if there is none.
func booted(reference any) string {
	if reference == nil {
		return "nothing"
	}
	return report.Reference(reference)
}

// compare adds errors that exist only after the migration, and records warnings of that kind. It first matches findings
// with the same text. It then matches the rest by severity, rule and object, because a migration changes paths and texts.
func (m *migration) compare(is []report.Finding) {
	type key struct {
		severity      finding.Severity
		rule, message string
		object        report.Object
	}
	keys := func(f *report.Finding) (alike, same key) {
		return key{f.Severity, f.Rule, "", f.Object}, key{f.Severity, f.Rule, f.Message, f.Object}
	}
	counts := map[key]int{}
	for i := range m.was {
		alike, same := keys(&m.was[i])
		counts[alike]++
		counts[same]++
	}
	is = slices.DeleteFunc(slices.Clone(is), func(f report.Finding) bool {
		alike, same := keys(&f)
		if counts[same] == 0 {
			return false
		}
		counts[alike]--
		counts[same]--
		return true
	})
	for _, f := range is {
		alike, _ := keys(&f)
		if counts[alike]--; counts[alike] >= 0 {
			continue
		}
		f.Message = m.afterwards(f.Rule, f.Object, f.Message)
		if f.Severity == finding.SeverityError {
			m.Findings = append(m.Findings, f)
		} else {
			m.warnings = append(m.warnings, f)
		}
	}
}
