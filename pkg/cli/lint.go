// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/consistency"
)

// lint checks everything in the garden, and drops what is not needed any more.
func lint(g *garden) Report {
	for _, name := range g.profileNames {
		g.lintProfile(g.profiles[name])
		if !g.asksForProfiles() {
			delete(g.profiles, name)
		}
	}
	for _, id := range g.namespacedNames {
		g.lintNamespaced(g.namespaced[id])
	}
	for _, shoot := range g.shoots {
		g.lintShoot(shoot)
	}
	sortFindings(g.findings)
	r := Report{Findings: append([]Finding{}, g.findings...), Summary: Summary{Objects: g.objects, Skipped: g.skipped, unread: g.unread}}
	for _, f := range g.findings {
		if f.Severity == consistency.SeverityError {
			r.Summary.Errors++
		} else {
			r.Summary.Warnings++
		}
	}
	return r
}

// asksForProfiles reports whether there are objects that are checked against CloudProfiles.
func (g *garden) asksForProfiles() bool { return len(g.namespaced)+len(g.shoots) > 0 }

// lintProfile checks a CloudProfile. What is being deleted need not be right.
func (g *garden) lintProfile(s *source[v1beta1.CloudProfile]) {
	if s.object == nil || s.object.DeletionTimestamp != nil {
		return
	}
	object, provider := g.stored(s), g.providers[s.object.Spec.Type]
	g.report(s.manifest, consistency.Report{Errors: g.server.validate(object)})
	switch {
	case provider != nil:
		compiled, report := provider.check(object)
		if g.asksForProfiles() {
			g.compiled[object.Name] = compiled
		}
		g.report(s.manifest, report)
	case object.Spec.Type != "": // core reports that one
		g.warning(s.manifest, g.unknownProvider(object.Spec.Type))
	}
}

// lintNamespaced checks a NamespacedCloudProfile, and what it becomes together with its parent.
func (g *garden) lintNamespaced(s *source[v1beta1.NamespacedCloudProfile]) {
	if s.object == nil || s.object.DeletionTimestamp != nil {
		return
	}
	parent, reference := g.parentOf(s), s.object.Spec.Parent
	if parent == nil && reference.Kind == "CloudProfile" && reference.Name != "" {
		g.error(s.manifest, g.missing("CloudProfile", reference.Name, "spec.parent.name"))
	}
	if parent == nil || parent.object == nil {
		g.report(s.manifest, consistency.Report{Errors: g.server.validate(s.object)})
		return
	}
	above := g.stored(parent)
	object := g.storedNamespaced(s, above)
	var report consistency.Report
	if p := g.compile(parent); p != nil {
		report = p.checkNamespaced(object)
	}
	g.report(s.manifest, consistency.Report{Errors: g.server.validateNamespaced(object, above, report.Errors)})
	g.report(s.manifest, report)
}

// lintShoot checks a Shoot, and its worker pools against its profile.
func (g *garden) lintShoot(s *source[v1beta1.Shoot]) {
	if s.object == nil || s.object.DeletionTimestamp != nil {
		return
	}
	g.report(s.manifest, consistency.Report{Errors: validateCore(s.object)})
	switch p, problem := g.profileOf(s.object); {
	case problem != nil && problem.Origin == RuleProfileMissing:
		g.error(s.manifest, problem)
	case problem != nil:
		g.warning(s.manifest, problem)
	case p != nil: // else the reader has been told why already
		g.report(s.manifest, p.CheckShoot(s.object, g.domain))
	}
}
