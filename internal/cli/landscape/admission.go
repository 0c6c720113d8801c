// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package landscape

import (
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/cluster"
	"github.com/capkit/capkit/pkg/maintenance"
)

// Admission says which admission components are installed. The zero value is the default: none of capkit's, and another component that
// fills in core flavors, as the admission components of Gardener's extensions do.
type Admission struct {
	// Said is set if a flag or the settings determine it. Then all applies to every provider, and core flavors are filled in if anything is
	// installed.
	Said bool
	all  maintenance.Admission
	// found is the content of the cluster by provider type, and fills reports whether it fills in core flavors; both are nil if it was not
	// read.
	found map[string]maintenance.Admission
	fills func(provider string) bool
}

// Of returns the parts that are installed for a provider.
func (a *Admission) Of(provider string) maintenance.Admission {
	if found, known := a.found[provider]; known {
		return found
	}
	return a.all
}

// Fills reports whether a component fills in the core flavors of a provider's profiles.
func (a *Admission) Fills(provider string) bool {
	switch {
	case a.Said:
		return a.all != maintenance.GardenerAlone
	case a.fills != nil:
		return a.fills(provider)
	}
	return true
}

// Corrects reports whether mutate-shoot is installed for a provider.
func (a *Admission) Corrects(provider string) bool { return a.Of(provider) == maintenance.Corrects }

// Known reports whether a flag, the settings or the cluster determine what is installed.
func (a *Admission) Known() bool { return a.Said || a.found != nil }

// The prefixes of the names of capkit's mutating webhooks: the one that corrects Shoots, and the others.
const mutatesShoots = "mutate-shoot."

var mutatesProfiles = []string{"mutate-cloudprofile.", "mutate-namespacedcloudprofile."}

// installed returns what a cluster with these webhooks has.
func installed(webhooks []cluster.Webhook) Admission {
	a := Admission{found: map[string]maintenance.Admission{}}
	a.fills = func(provider string) bool {
		return slices.ContainsFunc(webhooks, func(w cluster.Webhook) bool {
			return w.CloudProfiles && (w.Provider == provider || w.Provider == "")
		})
	}
	for _, w := range webhooks {
		does := a.found[w.Provider]
		switch {
		case w.Provider == "":
			continue
		case strings.HasPrefix(w.Name, mutatesShoots):
			does = maintenance.Corrects
		case slices.ContainsFunc(mutatesProfiles, func(prefix string) bool { return strings.HasPrefix(w.Name, prefix) }):
			does = max(does, maintenance.Validates)
		}
		a.found[w.Provider] = does
	}
	return a
}
