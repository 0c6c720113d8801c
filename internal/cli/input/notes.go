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

// mostSkipped bounds the skipped files and documents that are named.
const mostSkipped = 20

// notRead returns a line for each file or document that was not read in folders. Of many, it names the first, and counts the others.
func (in *Given) notRead() (lines []string) {
	for i, s := range in.skipped {
		if i == mostSkipped {
			return append(lines, fmt.Sprintf("skipped: %d more", len(in.skipped)-i))
		}
		lines = append(lines, fmt.Sprintf("skipped: %s", s))
	}
	return lines
}

// PrintSkipped prints what was not read in folders.
func PrintSkipped(c *command.Call, in *Given) {
	for _, line := range in.notRead() {
		report.Printf(c.Stderr, "%s\n", line)
	}
}

// PrintNotes prints skipped files and the remarks about the profiles behind the answers.
func PrintNotes(c *command.Call, in *Given) {
	PrintSkipped(c, in)
	report.Notes(c.Stderr, in.Notes)
}

// NameStdin replaces the file name of findings in standard input by the user's name for it, if there is one.
func (in *Given) NameStdin(findings []report.Finding) {
	for i := range findings {
		findings[i].File = in.NameOf(findings[i].File)
	}
}

// NameOf returns the name of a file for people, as in [Given.NameStdin].
func (in *Given) NameOf(file string) string {
	if in.stdin != "" && file == manifest.Stdin {
		return in.stdin
	}
	return file
}

// PrintFindings prints the findings made on the way to a result. err is the reason why there is no result, or nil. The command ends with
// the returned error, unless it is nil.
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

// NoteAdmission adds a note if it is unknown whether the admission component is installed, on which an answer depends.
func (in *Given) NoteAdmission() {
	const note = "capkit's admission component is assumed not to be installed: if it is, use --webhook=true, or webhook: true in .capkit.yaml"
	if !in.Admission.Known() && !slices.Contains(in.Notes, note) {
		in.Notes = append(in.Notes, note)
	}
}

// NoteFlavors adds a note that an update of a CloudProfile needs a webhook that fills in core flavors, if it is unknown whether one
// exists. Gardener requires core flavors if several architectures are registered.
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
