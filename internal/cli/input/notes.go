// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/profile"
)

// mostSkipped is how many things that were skipped are named.
const mostSkipped = 20

// PrintSkipped writes what was not read of folders.
func PrintSkipped(c *command.Call, in *Given) {
	for i, s := range in.skipped {
		if i == mostSkipped {
			report.Printf(c.Stderr, "skipped: %d more\n", len(in.skipped)-i)
			return
		}
		report.Printf(c.Stderr, "skipped: %s\n", s)
	}
}

// PrintNotes writes the remarks about the profiles that answers come from.
func PrintNotes(c *command.Call, in *Given) {
	PrintSkipped(c, in)
	for _, note := range in.Notes {
		report.Printf(c.Stderr, "note: %s\n", note)
	}
}

// NameStdin gives findings in standard input the name that the user has for that, if there is one.
func (in *Given) NameStdin(findings []report.Finding) {
	for i := range findings {
		findings[i].File = in.NameOf(findings[i].File)
	}
}

// NameOf returns the name of a file for people, which [Given.NameStdin] gives to findings.
func (in *Given) NameOf(file string) string {
	if in.stdin != "" && file == manifest.Stdin {
		return in.stdin
	}
	return file
}

// PrintFindings writes what was found wrong on the way to a result. err is the reason why there is none; nil if there
// is one. What it returns ends the command, unless it is nil.
func PrintFindings(c *command.Call, in *Given, err error) error {
	if len(in.Findings) == 0 {
		return err
	}
	in.NameStdin(in.Findings)
	report.Sort(in.Findings)
	if failed := report.Text(c.Stderr, in.Findings); failed != nil {
		return failed
	}
	if err != nil {
		return command.ErrWrong
	}
	return nil
}

// NoteAdmission notes that an answer depends on what is installed, if that is not known.
func (in *Given) NoteAdmission() {
	const note = "capkit's admission component is assumed not to be installed: if it is, use --webhook=true, or webhook: true in .capkit.yaml"
	if !in.Admission.Known() && !slices.Contains(in.Notes, note) {
		in.Notes = append(in.Notes, note)
	}
}

// NoteFlavors notes that an update of a CloudProfile needs a webhook that fills in core flavors, if it is not known whether there is
// one: Gardener demands them where several architectures are registered.
func (in *Given) NoteFlavors(s *Source[v1beta1.CloudProfile]) {
	provider := in.Providers[s.Object.Spec.Type]
	if in.Admission.Known() || provider == nil {
		return
	}
	if !slices.ContainsFunc(s.Object.Spec.MachineCapabilities, func(c v1beta1.CapabilityDefinition) bool {
		return c.Name == capability.Architecture && len(c.Values) > 1
	}) {
		return
	}
	missing := slices.DeleteFunc(profile.FillCloudProfile(provider, &s.Object.Spec), func(f profile.Filled) bool {
		return len(s.Object.Spec.MachineImages[f.Image].Versions[f.Version].CapabilityFlavors) > 0
	})
	if n := len(missing); n > 0 {
		in.Notes = append(in.Notes, fmt.Sprintf("core has no capabilityFlavors for %s: a mutating webhook is assumed to fill them in, capkit's or "+
			"the cloud extension's; without one, Gardener refuses the update; capkit migrate --core-flavors writes them", report.Count(n, "image version")))
	}
}
