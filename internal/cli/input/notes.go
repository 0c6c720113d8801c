// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package input

import (
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
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
		if in.stdin != "" && findings[i].File == manifest.Stdin {
			findings[i].File = in.stdin
		}
	}
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
