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

// Admission says what is installed. The zero value is what is taken for granted without a word: nothing of capkit's, and somebody who
// fills in core flavors, as the admission components of Gardener's extensions do as well.
type Admission struct {
	// Said is set if a flag or the settings say it: all, for every provider. Core flavors are filled in then if anything is installed.
	Said bool
	all  maintenance.Admission
	// found is what the cluster has, by the type of the provider, and fills who fills in core flavors; nil if it was not read.
	found map[string]maintenance.Admission
	fills func(provider string) bool
}

// Of returns what is installed for the objects of a provider.
func (a *Admission) Of(provider string) maintenance.Admission {
	if found, known := a.found[provider]; known {
		return found
	}
	return a.all
}

// Fills reports whether somebody fills in the core flavors of the profiles of a provider.
func (a *Admission) Fills(provider string) bool {
	switch {
	case a.Said:
		return a.all != maintenance.GardenerAlone
	case a.fills != nil:
		return a.fills(provider)
	}
	return true
}

// Corrects reports whether mutate-shoot is installed for a cloud.
func (a *Admission) Corrects(provider string) bool { return a.Of(provider) == maintenance.Corrects }

// Known reports whether it is known what is installed: because somebody says so, or the cluster was read.
func (a *Admission) Known() bool { return a.Said || a.found != nil }

// What the names of capkit's mutating webhooks begin with: of the one that corrects Shoots, and of the others.
const mutatesShoots = "mutate-shoot."

var mutatesProfiles = []string{"mutate-cloudprofile.", "mutate-namespacedcloudprofile."}

// installed is what a cluster has, by its webhooks.
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
