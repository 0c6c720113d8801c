// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/cluster"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/profile"
)

// What of capkit's admission components is installed in the landscape that the inputs are of.

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

// NoteAdmission notes that an answer depends on what is installed, if that is not known.
func (in *Given) NoteAdmission() {
	const note = "capkit's admission component is assumed not to be installed: if it is, say --webhook=true, or webhook: true in .capkit.yaml"
	if !in.Admission.Said && in.Admission.found == nil && !slices.Contains(in.Notes, note) {
		in.Notes = append(in.Notes, note)
	}
}

// NoteFlavors notes that an update of a CloudProfile needs a webhook that fills in core flavors, if it is not known whether there is
// one: Gardener demands them where several architectures are registered.
func (in *Given) NoteFlavors(s *Source[v1beta1.CloudProfile]) {
	provider := in.Providers[s.Object.Spec.Type]
	if in.Admission.Said || in.Admission.fills != nil || provider == nil {
		return
	}
	if !slices.ContainsFunc(s.Object.Spec.MachineCapabilities, func(c v1beta1.CapabilityDefinition) bool {
		return c.Name == capability.Architecture && len(c.Values) > 1
	}) {
		return
	}
	if n := len(profile.FillCloudProfile(provider, &s.Object.Spec)); n > 0 {
		in.Notes = append(in.Notes, fmt.Sprintf("core has no capabilityFlavors for %s: a mutating webhook is assumed to fill them in, capkit's or "+
			"the cloud extension's; without one, Gardener refuses the update; capkit migrate --core-flavors writes them", report.Count(n, "image version")))
	}
}

// admission is what the flags say is installed.
func (flags *Flags) admission() Admission {
	if !flags.Given("webhook") {
		return Admission{}
	}
	return Admission{Said: true, all: map[string]maintenance.Admission{
		"false": maintenance.GardenerAlone, "validating": maintenance.Validates, "true": maintenance.Corrects,
	}[flags.webhook]}
}

// asksForAdmission reports whether an answer of the command depends on what is installed.
func (flags *Flags) asksForAdmission() bool { return flags.flags.Lookup("webhook") != nil }

// What the names of capkit's mutating webhooks begin with: of the one that corrects Shoots, and of the others.
const mutatesShoots = "mutate-shoot."

var mutatesProfiles = []string{"mutate-cloudprofile.", "mutate-namespacedcloudprofile."}

// findAdmission takes down what the cluster has. With an error nothing is known, which is a note.
func (in *Given) findAdmission(webhooks []cluster.Webhook, err error) {
	if err != nil {
		in.Notes = append(in.Notes, "capkit's admission component is assumed not to be installed: "+err.Error()+"; if it is, say --webhook=true")
		return
	}
	in.Admission.found = map[string]maintenance.Admission{}
	in.Admission.fills = func(provider string) bool {
		return slices.ContainsFunc(webhooks, func(w cluster.Webhook) bool {
			return w.CloudProfiles && (w.Provider == provider || w.Provider == "")
		})
	}
	for _, w := range webhooks {
		does := in.Admission.found[w.Provider]
		switch {
		case w.Provider == "":
			continue
		case strings.HasPrefix(w.Name, mutatesShoots):
			does = maintenance.Corrects
		case slices.ContainsFunc(mutatesProfiles, func(prefix string) bool { return strings.HasPrefix(w.Name, prefix) }):
			does = max(does, maintenance.Validates)
		}
		in.Admission.found[w.Provider] = does
	}
}
