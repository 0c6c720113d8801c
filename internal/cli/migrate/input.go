// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/words"
)

// The required inputs of migrate: profiles to migrate, the profiles of all Shoots, and the objects that flags name.

// checkReferences reports if there is no profile to migrate. Otherwise it reports Shoots whose images are unknown, because their profile
// cannot be read, or is a NamespacedCloudProfile with an unknown parent. It ignores missing CloudProfiles, which are not migrated.
func (m *migration) checkReferences() {
	if len(m.specs()) == 0 {
		m.Findings = append(m.Findings, m.noProfile())
		return
	}
	for _, s := range m.Shoots.All {
		kind, _, _ := input.ProfileNameOf(s.Object)
		_, fault := m.ProfileOf(s.Object)
		switch {
		case fault == nil, fault.Origin == input.RuleProviderUnknown: // reported for the profile
		case kind == "CloudProfile" && fault.Origin == check.RuleProfileMissing:
		default:
			m.AddErrors(s.Manifest, fault)
		}
	}
}

// noProfile returns the finding that there is no profile to migrate.
func (m *migration) noProfile() report.Finding {
	f := report.Finding{
		Severity: finding.SeverityError, Rule: transform.Rule, Type: field.ErrorTypeRequired, File: m.input,
		Message: "no CloudProfile or NamespacedCloudProfile among the files" + m.EmptyInputs() + ": name those to migrate",
	}
	if f.File != input.ClusterFile {
		f.Line, f.Column = 1, 1
	}
	return f
}

// obstacles adds what prevents the migration of the profiles that were read, if other inputs were not. It leaves out NamespacedCloudProfiles
// whose parent was not read, and removes all of these from the inputs.
func (m *migration) obstacles() {
	keep(&m.Namespaced, func(s *input.Source[v1beta1.NamespacedCloudProfile]) bool {
		if s.Object == nil {
			return false
		}
		if parent := m.ParentOf(s); parent != nil {
			return parent.Object != nil
		}
		return m.Missing("CloudProfile", s.Object.Spec.Parent.Name, "spec.parent.name").Type == field.ErrorTypeNotFound
	})
	keep(&m.Profiles, func(s *input.Source[v1beta1.CloudProfile]) bool { return s.Object != nil })
	keep(&m.Shoots, func(s *input.Source[v1beta1.Shoot]) bool { return s.Object != nil })
	m.used, m.becomes = m.uses(), map[*manifest.Object]files.Edit{}
	m.migrateAll()
}

// keep removes the other objects.
func keep[T any](objects *input.Objects[T], kept func(*input.Source[T]) bool) {
	objects.All = slices.DeleteFunc(objects.All, func(s *input.Source[T]) bool { return !kept(s) })
	maps.DeleteFunc(objects.ByName, func(_ string, s *input.Source[T]) bool { return !slices.Contains(objects.All, s) })
}

// specs returns the specs of the profiles in files. The spec of a NamespacedCloudProfile includes its parent's
// capabilities and machine types.
func (m *migration) specs() []v1beta1.CloudProfileSpec {
	var specs []v1beta1.CloudProfileSpec
	for _, s := range m.Profiles.All {
		if !s.Live {
			specs = append(specs, s.Object.Spec)
		}
	}
	for _, s := range m.Namespaced.All {
		if s.Live {
			continue
		}
		spec := v1beta1.CloudProfileSpec{MachineImages: s.Object.Spec.MachineImages, MachineTypes: s.Object.Spec.MachineTypes}
		if parent := m.ParentOf(s); parent != nil {
			spec.MachineCapabilities = parent.Object.Spec.MachineCapabilities
			spec.MachineTypes = slices.Concat(spec.MachineTypes, parent.Object.Spec.MachineTypes)
		}
		specs = append(specs, spec)
	}
	return specs
}

// checkFlags returns an error if no version has the fold's suffix, unless all are folded already, or if a pattern
// matches no machine type.
func (m *migration) checkFlags() error {
	if m.options.Fold == nil {
		return nil
	}
	specs := m.specs()
	if !m.foldsReserved() {
		if err := checkSuffix(specs, m.options.Fold); err != nil {
			return err
		}
	}
	var types []string
	for _, spec := range specs {
		for i := range spec.MachineTypes {
			if name := spec.MachineTypes[i].Name; !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
	}
	for _, pattern := range m.options.MachineTypes {
		if !slices.ContainsFunc(types, func(name string) bool { return transform.Matches(pattern, name) }) {
			return fmt.Errorf("--machine-types: %q matches no machine type; there are %s", pattern, words.JoinFew(types, ", "))
		}
	}
	return nil
}

// foldsReserved reports whether a fold declares a reserved capability that some flavor declares already. The
// registration cannot show that all versions are folded, because a reserved capability is not registered.
func (m *migration) foldsReserved() bool {
	fold := m.options.Fold
	declared := func(providerType string, raw json.RawMessage) bool {
		cloud := m.Providers[providerType]
		return cloud != nil && fold.Declared(cloud, transform.Input{Raw: raw})
	}
	return fold.IsReserved() && (slices.ContainsFunc(m.Profiles.All, func(s *input.Source[v1beta1.CloudProfile]) bool {
		return !s.Live && declared(s.Object.Spec.Type, s.Manifest.JSON)
	}) || slices.ContainsFunc(m.Namespaced.All, func(s *input.Source[v1beta1.NamespacedCloudProfile]) bool {
		parent := m.ParentOf(s)
		return !s.Live && parent != nil && declared(parent.Object.Spec.Type, s.Manifest.JSON)
	}))
}

// checkSuffix returns an error if no version of the profiles has the fold's suffix, and the fold's value is not
// registered. It is registered once all versions are folded.
func checkSuffix(specs []v1beta1.CloudProfileSpec, fold *transform.Fold) error {
	var suffixes []string
	for _, spec := range specs {
		if registers(spec.MachineCapabilities, fold) {
			return nil
		}
		for v := range entries.Versions(&spec) {
			if _, folds := fold.Folds(v.ID.Version); folds {
				return nil
			}
			if _, suffix, has := strings.Cut(v.ID.Version, "-"); has {
				suffixes = append(suffixes, "-"+suffix)
			}
		}
	}
	slices.Sort(suffixes)
	suffixes = slices.Compact(suffixes)
	hint := "; no version has a suffix"
	if len(suffixes) > 0 {
		hint = cmp.Or(words.DidYouMean(words.Closest(fold.Suffix, suffixes)), "; versions end in "+words.JoinFew(suffixes, ", "))
	}
	return fmt.Errorf("--fold: no version ends in %s%s", fold.Suffix, hint)
}

// registers reports whether a vocabulary contains the fold's value.
func registers(capabilities []v1beta1.CapabilityDefinition, fold *transform.Fold) bool {
	return slices.ContainsFunc(capabilities, func(c v1beta1.CapabilityDefinition) bool {
		return c.Name == fold.Capability && slices.Contains(c.Values, fold.Value)
	})
}
