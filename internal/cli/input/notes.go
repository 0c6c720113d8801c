// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"maps"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/report"
)

// mostSkipped is how many things that were skipped are named.
const mostSkipped = 20

// PrintSkipped writes what was not read of folders.
func PrintSkipped(c *command.Call, g *Given) {
	for i, s := range g.skipped {
		if i == mostSkipped {
			report.Printf(c.Stderr, "skipped: %d more\n", len(g.skipped)-i)
			return
		}
		report.Printf(c.Stderr, "skipped: %s\n", s)
	}
}

// PrintNotes writes the remarks about the profiles that answers come from, and about what was left out.
func PrintNotes(c *command.Call, g *Given) {
	PrintSkipped(c, g)
	for _, note := range g.Notes {
		report.Printf(c.Stderr, "note: %s\n", note)
	}
	for _, name := range slices.Sorted(maps.Keys(g.leftOut)) {
		report.Printf(c.Stderr, "note: %s of provider %s left out: this command knows %s\n",
			report.Count(g.leftOut[name], "Shoot"), name, strings.Join(slices.Sorted(maps.Keys(g.Providers)), ", "))
	}
}

// PrintFindings writes what was found wrong on the way to a result. err is the reason why there is none; nil if there
// is one. What it returns ends the command, unless it is nil.
func PrintFindings(c *command.Call, g *Given, err error) error {
	if len(g.Findings) == 0 {
		return err
	}
	report.Sort(g.Findings)
	if failed := report.Text(c.Stderr, g.Findings); failed != nil {
		return failed
	}
	if err != nil {
		return command.ErrWrong
	}
	return nil
}
