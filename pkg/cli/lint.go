// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
)

// lint checks everything in the garden.
func lint(g *garden, providers map[string]Provider) Report {
	compiled := make(map[string]profile, len(g.profiles))
	for _, name := range g.profileNames {
		compiled[name] = g.lintProfile(g.profiles[name], providers)
	}
	for _, name := range g.namespacedNames {
		g.lintNamespaced(g.namespaced[name])
	}
	for _, shoot := range g.shoots {
		g.lintShoot(shoot, compiled, providers)
	}
	sortFindings(g.findings)
	r := Report{Findings: g.findings, Summary: Summary{Objects: g.objects, Skipped: g.skipped, unread: g.unread}}
	for _, f := range g.findings {
		if f.Severity == consistency.SeverityError {
			r.Summary.Errors++
		} else {
			r.Summary.Warnings++
		}
	}
	return r
}

// lintProfile checks a CloudProfile and returns it compiled, or nil if that is not possible.
func (g *garden) lintProfile(s *source[v1beta1.CloudProfile], providers map[string]Provider) profile {
	if s.object == nil {
		return nil
	}
	provider, found := providers[s.object.Spec.Type]
	switch {
	case s.object.DeletionTimestamp != nil && found: // what is being deleted need not be right
		compiled, _ := provider.compile(&defaulted(s.object).Spec)
		return compiled
	case s.object.DeletionTimestamp != nil:
		return nil
	}
	g.report(s.manifest, consistency.Report{Errors: validateCore(s.object)})
	if !found {
		if s.object.Spec.Type != "" { // core reports that one
			g.warning(s.manifest, unknownProvider(s.object.Spec.Type, providers))
		}
		return nil
	}
	compiled, report := provider.check(defaulted(s.object))
	g.report(s.manifest, report)
	return compiled
}

func unknownProvider(name string, providers map[string]Provider) *field.Error {
	return problem(RuleProviderUnknown, field.ErrorTypeNotSupported, "spec.type", name, fmt.Sprintf(
		"the provider config was not looked at: this command knows %s, not %s", strings.Join(sortedNames(providers), ", "), name))
}

func (g *garden) lintNamespaced(s *source[v1beta1.NamespacedCloudProfile]) {
	if s.object == nil || s.object.DeletionTimestamp != nil {
		return
	}
	g.report(s.manifest, consistency.Report{Errors: validateCore(s.object)})
	parent := s.object.Spec.Parent
	if _, found := g.profiles[parent.Name]; !found && parent.Kind == "CloudProfile" && parent.Name != "" {
		g.error(s.manifest, missing("CloudProfile", parent.Name, "spec.parent.name"))
	}
}

func missing(kind, name, at string) *field.Error {
	return problem(RuleProfileMissing, field.ErrorTypeNotFound, at, name, fmt.Sprintf(
		"%s %s is not among the inputs: give its manifest as well, or correct the name", kind, name))
}

// lintShoot checks a Shoot, and its worker pools against its profile.
func (g *garden) lintShoot(s *source[v1beta1.Shoot], compiled map[string]profile, providers map[string]Provider) {
	if s.object == nil || s.object.DeletionTimestamp != nil {
		return
	}
	g.report(s.manifest, consistency.Report{Errors: validateCore(s.object)})
	p, err := g.profileOf(s, compiled, providers)
	if err != nil {
		if err.Origin == RuleProfileMissing {
			g.error(s.manifest, err)
		} else {
			g.warning(s.manifest, err)
		}
	}
	if p == nil {
		return
	}
	if err := p.CheckRegion(s.object.Spec.Region, regionPath); err != nil {
		g.error(s.manifest, err)
		return // no pool could get an image there
	}
	for _, pool := range poolsOf(s.object) {
		if a := p.resolve(pool); a.err != nil && !a.open {
			g.error(s.manifest, a.err)
		}
	}
}

// regionPath is where a Shoot names its region.
var regionPath = field.NewPath("spec", "region")

func poolsOf(shoot *v1beta1.Shoot) []consistency.Pool {
	at := field.NewPath("spec", "provider", "workers")
	pools := make([]consistency.Pool, 0, len(shoot.Spec.Provider.Workers))
	for i := range shoot.Spec.Provider.Workers {
		pools = append(pools, consistency.PoolOf(&shoot.Spec.Provider.Workers[i], shoot.Spec.Region, at.Index(i)))
	}
	return pools
}

// profileRef is the profile that a Shoot names, in either of the two fields, and the field.
func profileRef(shoot *v1beta1.Shoot) (kind, name, at string) {
	if ref := shoot.Spec.CloudProfile; ref != nil {
		return cmp.Or(ref.Kind, "CloudProfile"), ref.Name, "spec.cloudProfile.name"
	}
	if shoot.Spec.CloudProfileName != nil {
		return "CloudProfile", *shoot.Spec.CloudProfileName, "spec.cloudProfileName"
	}
	return "", "", "spec.cloudProfile"
}

// profileOf returns the compiled profile of a Shoot. It is nil, without an error, if the reader has been told why
// already, or core says it.
func (g *garden) profileOf(s *source[v1beta1.Shoot], compiled map[string]profile, providers map[string]Provider) (profile, *field.Error) {
	kind, name, at := profileRef(s.object)
	switch kind {
	case "CloudProfile":
		source, found := g.profiles[name]
		if !found {
			return nil, missing(kind, name, at)
		}
		if source.object == nil {
			return nil, unreadable(kind, name, at)
		}
		return compiled[name], nil
	case "NamespacedCloudProfile":
		source, found := g.namespaced[types.NamespacedName{Namespace: s.object.Namespace, Name: name}]
		if !found {
			return nil, missing(kind, s.object.Namespace+"/"+name, at)
		}
		if source.object == nil {
			return nil, unreadable(kind, name, at)
		}
		return g.rendered(source.object, at, providers)
	}
	return nil, nil
}

func unreadable(kind, name, at string) *field.Error {
	return problem(RuleProfileUnreached, field.ErrorTypeInvalid, at, name, fmt.Sprintf(
		"the worker pools were not checked, because the manifest of %s %s has errors", kind, name))
}

// rendered compiles the CloudProfile that Gardener has rendered into the status of a NamespacedCloudProfile, once for all
// of its Shoots.
func (g *garden) rendered(object *v1beta1.NamespacedCloudProfile, at string, providers map[string]Provider) (profile, *field.Error) {
	spec := &object.Status.CloudProfileSpec
	if spec.Type == "" {
		return nil, problem(RulePoolNotChecked, field.ErrorTypeInvalid, at, object.Name, fmt.Sprintf(
			"NamespacedCloudProfile %s/%s has no status.cloudProfileSpec, so what its worker pools boot is not known: give it as the garden has it",
			object.Namespace, object.Name))
	}
	provider, found := providers[spec.Type]
	if !found {
		return nil, unknownProvider(spec.Type, providers)
	}
	id := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	if g.compiled[id] == nil {
		g.compiled[id], _ = provider.compile(spec)
	}
	return g.compiled[id], nil
}
