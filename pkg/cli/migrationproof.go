// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/cli/manifest"
	"github.com/capkit/capkit/pkg/cli/migrate"
	"github.com/capkit/capkit/pkg/cli/plan"
	"github.com/capkit/capkit/pkg/cli/report"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// How migrate proves that Gardener accepts what it has made, and that nobody boots anything else: by what plan says.

// prove reports what would be wrong after the migration and is not before, and what the updates would do, which is to be nothing.
// They are looked at one after the other, in the order in which they are to be applied: parents before their children, and back
// the other way round.
func (m *migration) prove() {
	was, is := m.copyOf(m.garden), m.copyOf(m.after)
	m.compare(was.lintProfiles(), is.lintProfiles())
	if len(m.findings) > 0 {
		return
	}
	now := m.copyOf(m.garden)
	if m.back {
		now = m.proveNamespaced(now)
	}
	for _, s := range m.profiles.all {
		if m.becomes[s.manifest] != nil {
			u := &profileUpdate{kind: "CloudProfile", name: s.name}
			u.profile = &change[v1beta1.CloudProfile]{now.profiles.byName[s.name], updateOf(&now.profiles, &m.after.profiles, s.name)}
			after := m.updated(now)
			after.profiles.replace(u.profile.updated)
			now = m.proveUpdate(u, now, after, s.manifest)
		}
	}
	if !m.back {
		m.proveNamespaced(now)
	}
}

// proveNamespaced does so for the NamespacedCloudProfiles, and returns what the garden is then.
func (m *migration) proveNamespaced(now *garden) *garden {
	for _, s := range m.namespaced.all {
		if m.becomes[s.manifest] != nil {
			u := &profileUpdate{kind: "NamespacedCloudProfile", name: s.name}
			u.namespaced = &change[v1beta1.NamespacedCloudProfile]{
				now.namespaced.byName[s.name], updateOf(&now.namespaced, &m.after.namespaced, s.name),
			}
			after := m.updated(now)
			after.namespaced.replace(u.namespaced.updated)
			now = m.proveUpdate(u, now, after, s.manifest)
		}
	}
	return now
}

// updateOf returns an object as it is afterwards, as an update of what it is before.
func updateOf[T any](was, is *objects[T], name string) *source[T] {
	updated := *is.byName[name]
	updated.compiled, updated.old = nil, was.byName[name].object
	return &updated
}

// copyOf returns a garden with the objects of another one, and no findings.
func (m *migration) copyOf(g *garden) *garden {
	copied := &garden{providers: m.providers, namespace: m.namespace}
	takeOver(g, copied, nil)
	return copied
}

// updated returns a garden in which profiles can be replaced.
func (m *migration) updated(now *garden) *garden {
	return &garden{
		providers: m.providers, namespace: m.namespace, shoots: now.shoots,
		profiles: now.profiles.clone(), namespaced: now.namespaced.clone(),
	}
}

// proveUpdate reports what the update of a manifest does, and returns the garden after it.
func (m *migration) proveUpdate(u *profileUpdate, now, after *garden, o *manifest.Object) *garden {
	u.before, u.after = now, after
	u.renamed = func(before, after anyProfile) func(resolve.Combination) (string, bool) {
		return m.options.Formerly(after.Provider(), before.Spec(), after.Spec())
	}
	planned, err := u.plan()
	m.findings = append(m.findings, now.findings...)
	if err != nil {
		m.error(o, problem(migrate.Rule, field.ErrorTypeForbidden, "", nil, "it cannot be told what the migration does: %v", err))
		return after
	}
	others := map[*manifest.Object][]plan.Change{}
	for _, c := range planned.Changes {
		switch {
		case c.Kind == plan.Refused:
			m.reportRefused(o, &c)
		case m.wanted(&c):
		case len(c.Pools) > 0:
			m.reportPools(&c)
		case c.Profile != "":
			child := m.namespaced.byName[c.Profile].manifest
			others[child] = append(others[child], c)
		default:
			others[o] = append(others[o], c)
		}
	}
	for _, about := range append([]*manifest.Object{o}, m.manifests()...) {
		m.reportCombinations(about, others[about])
		delete(others, about)
	}
	return after
}

// wanted reports whether a change is what the fold is for: a worker pool that asks for its capability, and has booted nothing so
// far, boots what the version with the suffix has.
func (m *migration) wanted(c *plan.Change) bool {
	return c.Kind == plan.New && m.options.Fold != nil && slices.ContainsFunc(c.Requested, func(r capability.Requirement) bool {
		return r.Capability == m.options.Fold.Capability
	})
}

// manifests returns those of NamespacedCloudProfiles.
func (m *migration) manifests() []*manifest.Object {
	all := make([]*manifest.Object, 0, len(m.namespaced.all))
	for _, s := range m.namespaced.all {
		all = append(all, s.manifest)
	}
	return all
}

// reportRefused reports what would refuse the update of a manifest.
func (m *migration) reportRefused(o *manifest.Object, c *plan.Change) {
	line, column := o.Position(c.Field)
	m.findings = append(m.findings, report.Finding{
		Severity: finding.SeverityError, Rule: c.Rule, Type: field.ErrorTypeForbidden, Field: c.Field, Message: "after the migration: " + c.Message,
		Object: report.Object(o.Identity), File: o.File, Line: line, Column: column,
	})
}

// reportPools reports a change for each of the worker pools that it concerns.
func (m *migration) reportPools(c *plan.Change) {
	for _, pool := range c.Pools {
		s := m.shoots.byName[pool.Shoot]
		pools := provider.PoolsOf(s.object)
		i := slices.IndexFunc(pools, func(p provider.Pool) bool { return p.Name == pool.Name })
		m.error(s.manifest, problem(migrate.Rule, field.ErrorTypeForbidden, pools[i].Path.Child("machine").String(), nil,
			"worker pool %s: %s", pool.Name, changeText(c)))
	}
}

// reportCombinations reports the first of some changes that concern no worker pool, and tells how many there are.
func (m *migration) reportCombinations(o *manifest.Object, changes []plan.Change) {
	if len(changes) == 0 {
		return
	}
	text := changeText(&changes[0])
	if len(changes) > 1 {
		text += fmt.Sprintf(" (and %d more)", len(changes)-1)
	}
	m.error(o, problem(migrate.Rule, field.ErrorTypeForbidden, "spec.machineImages", nil, "%s", text))
}

// changeText puts a change into words.
func changeText(c *plan.Change) string {
	if c.Kind == plan.Locked || c.Kind == plan.Maintenance {
		return "after the migration: " + c.Message
	}
	asked := ""
	if len(c.Requested) > 0 {
		asked = " with " + settings(c.Requested)
	}
	return fmt.Sprintf("%s@%s on %s in %s%s would not boot what it boots, %s, but %s",
		c.Image, c.Version, c.MachineType, c.Region, asked, booted(c.From), booted(c.To))
}

// booted prints a reference, or says that there is none.
func booted(reference any) string {
	if reference == nil {
		return "nothing"
	}
	raw, err := json.Marshal(reference)
	if err != nil {
		return fmt.Sprint(reference)
	}
	return string(raw)
}

// lintProfiles returns what lint says about profiles.
func (g *garden) lintProfiles() []report.Finding {
	for _, s := range g.profiles.all {
		g.lintProfile(s)
	}
	for _, s := range g.namespaced.all {
		g.lintNamespaced(s)
	}
	return g.findings
}

// compare takes over the errors that there are afterwards and not before, and notes such warnings. The rule and the object tell
// them apart, since a migration changes paths and texts.
func (m *migration) compare(was, is []report.Finding) {
	type key struct {
		severity finding.Severity
		rule     string
		object   report.Object
	}
	counts := map[key]int{}
	for _, f := range was {
		counts[key{f.Severity, f.Rule, f.Object}]++
	}
	for _, f := range is {
		k := key{f.Severity, f.Rule, f.Object}
		if counts[k]--; counts[k] >= 0 {
			continue
		}
		f.Message = "after the migration: " + f.Message
		if f.Severity == finding.SeverityError {
			m.findings = append(m.findings, f)
		} else {
			m.warnings = append(m.warnings, f)
		}
	}
}
