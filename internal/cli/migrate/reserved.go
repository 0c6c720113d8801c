// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/proof"
	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
)

// Registering the reserved capabilities. A CloudProfile and its NamespacedCloudProfiles are proved as one update: the
// parent's registration changes the meaning of the children's flavors, which cannot declare the capability in core before.

// usesOf returns the reserved capabilities that a CloudProfile or one of its NamespacedCloudProfiles uses.
func (m *migration) usesOf(parent *input.Source[v1beta1.CloudProfile]) []string {
	if m.reservedUses == nil {
		m.reservedUses = map[*input.Source[v1beta1.CloudProfile]][]string{}
		add := func(to *input.Source[v1beta1.CloudProfile], in transform.Input) {
			if cloud := m.Providers[to.Object.Spec.Type]; cloud != nil {
				m.reservedUses[to] = append(m.reservedUses[to], transform.Uses(cloud, in)...)
			}
		}
		for _, s := range m.Profiles.All {
			add(s, transform.Input{Raw: s.Manifest.JSON})
		}
		for _, s := range m.Namespaced.All {
			if of := m.ParentOf(s); of != nil {
				add(of, transform.Input{Raw: s.Manifest.JSON, Parent: &of.Object.Spec})
			}
		}
	}
	var uses []string
	for _, d := range capability.Reserved() {
		if slices.Contains(m.reservedUses[parent], d.Name) {
			uses = append(uses, d.Name)
		}
	}
	return uses
}

// proveReserved reports the effects of the registration, for each CloudProfile together with its
// NamespacedCloudProfiles. It then reports refusals of the individual updates. With --back, children come first:
// Gardener does not allow removing a capability that one of them declares.
func (m *migration) proveReserved() {
	now := proof.CopyOf(m.Given, m.forLater())
	after := proof.After(now)
	together, namespaced := m.profileUpdates(now, after), m.namespacedUpdates(now, after)
	for _, u := range namespaced {
		if _, with := m.becomes[m.ParentOf(m.Namespaced.ByName[u.Name]).Manifest]; !with {
			together = append(together, u)
		}
	}
	for _, u := range together {
		m.report(m.manifestOf(u), slices.DeleteFunc(m.planned(u), isRefused))
	}
	steps := []func(now, after *input.Given) []*changes.Update{m.profileUpdates, m.namespacedUpdates}
	if m.back {
		slices.Reverse(steps)
	}
	for _, updates := range steps {
		after := proof.After(now)
		for _, u := range updates(now, after) {
			m.report(m.manifestOf(u), slices.DeleteFunc(m.planned(u), func(c changes.Change) bool { return !isRefused(c) }))
		}
		now = after
	}
}

func isRefused(c changes.Change) bool { return c.Kind == changes.Refused }

// profileUpdates returns the updates of the migrated CloudProfiles, and adds them all to after.
func (m *migration) profileUpdates(now, after *input.Given) (all []*changes.Update) {
	for _, s := range m.Profiles.All {
		if _, migrated := m.becomes[s.Manifest]; migrated {
			all = append(all, proof.OfProfile(now, after, m.after.Profiles.ByName[s.Name]))
		}
	}
	return all
}

// namespacedUpdates returns the updates of the migrated NamespacedCloudProfiles, and adds them all to after.
func (m *migration) namespacedUpdates(now, after *input.Given) (all []*changes.Update) {
	for _, s := range m.Namespaced.All {
		if _, migrated := m.becomes[s.Manifest]; migrated {
			all = append(all, proof.OfNamespaced(now, after, m.after.Namespaced.ByName[s.Name]))
		}
	}
	return all
}

// manifestOf returns the original manifest of an update's profile.
func (m *migration) manifestOf(u *changes.Update) *manifest.Object {
	if u.Profile != nil {
		return m.Profiles.ByName[u.Name].Manifest
	}
	return m.Namespaced.ByName[u.Name].Manifest
}

// forLater reports whether the profiles are for a Gardener that accepts the registration: they register something now or afterwards.
func (m *migration) forLater() bool { return m.reserved || proof.ForLater(m.Given) }

// reportChange reports that another image is booted, as a warning if the change is accepted.
func (m *migration) reportChange(o *manifest.Object, at string, c *changes.Change, text string) {
	fault := input.Problem(transform.Rule, field.ErrorTypeForbidden, at, nil, "%s", text)
	switch {
	case c.Kind == changes.Locked || !m.reserved:
		m.AddErrors(o, fault)
	case m.accept:
		accepted := &input.Given{}
		accepted.AddWarnings(o, fault)
		m.warnings = append(m.warnings, accepted.Findings...)
	default:
		m.AddErrors(o, fault)
		m.changes++
	}
}

// pathsIn returns the paths of a profile's image versions.
func pathsIn(o *manifest.Object) map[provider.ImageVersion]string {
	var object struct {
		Spec v1beta1.CloudProfileSpec `json:"spec"`
	}
	_ = json.Unmarshal(o.JSON, &object) // the manifest has been decoded before
	paths := map[provider.ImageVersion]string{}
	for v := range entries.Versions(&object.Spec) {
		paths[v.ID] = v.PathIn(field.NewPath("spec")).String()
	}
	return paths
}

// noteReserved adds notes: which Gardener accepts the written files, in which order to apply them, and which profiles
// have nothing to register.
func (m *migration) noteReserved(written bool) {
	if written && !m.back {
		m.Notes = append(m.Notes, fmt.Sprintf("Gardener %s refuses %s names in machineCapabilities: apply it to a Gardener that implements the second "+
			"text of GEP-0054; until then lint it with --reserved-in-core", m.Server.Release, capability.ReservedPrefix))
	}
	order := "apply NamespacedCloudProfile %s right after CloudProfile %s: until then, flavors of it that leave a reserved capability out have all values"
	if m.back {
		order = "apply NamespacedCloudProfile %s right before CloudProfile %s, as Gardener demands: in between, flavors of it that leave a reserved " +
			"capability out have all values"
	}
	for _, s := range m.Namespaced.All {
		_, migrated := m.becomes[s.Manifest]
		if parent := m.ParentOf(s); migrated && parent != nil {
			if _, with := m.becomes[parent.Manifest]; with {
				m.Notes = append(m.Notes, fmt.Sprintf(order, s.Name, parent.Name))
			}
		}
	}
	if m.back {
		return
	}
	for _, s := range m.Profiles.All {
		if !s.Live && len(m.usesOf(s)) == 0 {
			m.Notes = append(m.Notes, fmt.Sprintf("%s: CloudProfile %s uses no capability that GEP-0054 reserves: there is nothing to register", s.Manifest.File, s.Name))
		}
	}
	for _, s := range m.Namespaced.All {
		if parent := m.ParentOf(s); !s.Live && parent.Live && registersLess(parent.Object.Spec.MachineCapabilities, m.usesOf(parent)) {
			m.Notes = append(m.Notes, fmt.Sprintf("%s: NamespacedCloudProfile %s cannot register anything by itself: give the file of CloudProfile %s as well",
				s.Manifest.File, s.Name, parent.Name))
		}
	}
}

// registersLess reports whether a vocabulary lacks one of the capabilities.
func registersLess(capabilities []v1beta1.CapabilityDefinition, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return !slices.ContainsFunc(capabilities, func(c v1beta1.CapabilityDefinition) bool { return c.Name == name })
	})
}
