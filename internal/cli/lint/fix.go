// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/checks"
	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/files"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/repair"
	"github.com/capkit/capkit/internal/cli/report"
)

// fix prints the changes of --fix or, with -w, makes them. Without -w, it returns the status of the remaining findings.
func fix(c *command.Call, g *input.Given, flags *lintFlags, text func(file string) (string, error)) error {
	x := &repair.Run{Given: g, Read: text, Disabled: flags.Disabled}
	repairing := c.Terminal.Begin("repairing", 0)
	changed, left, err := x.All()
	repairing.End()
	if err != nil {
		return err
	}
	done := x.Done
	slices.SortStableFunc(done, func(a, b repair.Repair) int {
		return cmp.Or(strings.Compare(a.Finding.File, b.Finding.File), cmp.Compare(a.Finding.Line, b.Finding.Line))
	})
	said := "would repair"
	if flags.write {
		if err := files.Write(changed); err != nil {
			return err
		}
		said = "repaired"
	}
	if !flags.quiet {
		for _, r := range done {
			r.Finding.File = g.NameOf(r.Finding.File)
			report.Printf(c.Stderr, "%s: %s\n", said, r)
		}
		for _, r := range x.Refused {
			r.Finding.File = g.NameOf(r.Finding.File)
			report.Printf(c.Stderr, "cannot repair: %s\n", r)
		}
	}
	if flags.write {
		return nil
	}
	files.PrintDiffs(c.Stdout, changed, false)
	checks.PrintSilenced(c, left)
	if !flags.quiet {
		input.PrintSkipped(c, g)
		files.NoteComments(c, changed)
		fmt.Fprintln(c.Stderr, previewed(done, changed, left.Summary))
	}
	left.Summary.Skipped, left.Summary.Passed = g.Summary.Skipped, g.Summary.Passed
	return flags.End(c, left)
}

// previewed describes what --fix would do with -w, and what would remain.
func previewed(done []repair.Repair, changed []files.Changed, left report.Summary) string {
	remain := fmt.Sprintf("remaining: %s, %s", report.Count(left.Errors, "error"), report.Count(left.Warnings, "warning"))
	if len(done) == 0 {
		return "nothing to repair; " + remain
	}
	return fmt.Sprintf("%s in %s; %s; -w changes the files, and lints them again",
		report.Count(len(done), "repair"), report.Count(len(changed), "file"), remain)
}
