// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventories

import (
	"maps"
	"slices"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/report"
)

// Unused returns the images and machine types that no profile uses, by provider, region and name. If some inputs could not be read, it adds
// a note, so call it before [Verified.PrintNotes].
func (v *Verified) Unused() *report.Unused {
	if v.incomplete {
		v.Notes = append(v.Notes, "--unused: inputs that could not be read may use what is listed")
	}
	all := &report.Unused{Images: []report.UnusedImage{}, MachineTypes: []report.UnusedMachineType{}}
	for _, of := range slices.Sorted(maps.Keys(v.usages)) {
		for _, unused := range v.usages[of].Unused() {
			for _, image := range unused.Images {
				all.Images = append(all.Images, report.UnusedImage{Provider: of, Region: unused.Region, ID: image.ID, Name: image.Name})
			}
			for _, t := range unused.MachineTypes {
				all.MachineTypes = append(all.MachineTypes, report.UnusedMachineType{Provider: of, Region: unused.Region, Name: t.Name})
			}
		}
	}
	return all
}

// PrintNotes prints the notes to standard error.
func (v *Verified) PrintNotes(c *command.Call) {
	for _, note := range v.Notes {
		report.Printf(c.Stderr, "note: %s\n", note)
	}
}
