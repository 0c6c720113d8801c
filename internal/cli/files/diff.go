// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package files

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// Diff returns a unified diff of a file, which git and patch take from the folder that the name is relative to.
// It becomes another file in further steps.
func Diff(name, becomes, before, after string) string {
	if name == manifest.Stdin {
		return unified(name, becomes, before, after)
	}
	relative := func(side, name string) string {
		return quotedName(side + strings.TrimPrefix(filepath.ToSlash(name), "/"))
	}
	return unified(relative("a/", name), relative("b/", becomes), before, after)
}

// quotedName returns the name of a file as git writes it in a diff, and patch reads it: one that is not printable in quotes, with
// its bytes as octal numbers, and a tab behind one with a space.
func quotedName(name string) string {
	end := ""
	if strings.Contains(name, " ") {
		end = "\t"
	}
	if words.Printable(name) == name {
		return name + end
	}
	var quoted strings.Builder
	for _, b := range []byte(name) {
		if b < ' ' || b > '~' || b == '"' || b == '\\' {
			fmt.Fprintf(&quoted, `\%03o`, b)
			continue
		}
		quoted.WriteByte(b)
	}
	return `"` + quoted.String() + `"` + end
}

// PrintDiffs writes diffs for people, and for git and patch. One that has to be quoted would change a file into something else: it
// becomes a comment, and so does each one of a later step.
func PrintDiffs(w io.Writer, files []Changed, later bool) {
	for _, f := range files {
		if !later && f.exact() {
			fmt.Fprint(w, f.Diff)
			continue
		}
		for line := range strings.Lines(f.Diff) {
			fmt.Fprint(w, "# "+line)
		}
	}
}

// exact reports whether the diff is printed as it is.
func (f *Changed) exact() bool { return report.Harmless(f.Diff) }

// NoteComments says which diffs are comments because they are not printable.
func NoteComments(c *command.Call, files []Changed) {
	for _, f := range files {
		if !f.exact() {
			report.Printf(c.Stderr, "note: %s: the diff is a comment, because it has lines that are printed in another way than they are; "+
				"-w changes the file\n", f.File)
		}
	}
}

// unified returns a unified diff of two texts. udiff counts where a hunk begins in the text afterwards without the lines that stay
// between two changes of an earlier hunk, so this counts anew.
func unified(name, becomes, before, after string) string {
	d, _ := udiff.ToUnifiedDiff(name, becomes, before, edits(before, after), udiff.DefaultContextLines) // no edits overlap
	more := 0
	for _, h := range d.Hunks {
		h.ToLine = h.FromLine + more
		for _, line := range h.Lines {
			switch line.Kind {
			case udiff.Insert:
				more++
			case udiff.Delete:
				more--
			}
		}
	}
	return d.String()
}

// edits returns the edits between two texts. udiff gives up after the first and the last 50 lines that differ, and replaces all between
// them, so this goes on there.
func edits(before, after string) []udiff.Edit {
	var all []udiff.Edit
	for _, e := range udiff.Lines(before, after) {
		if e.Start == e.End || e.New == "" || e.End-e.Start == len(before) {
			all = append(all, e)
			continue
		}
		for _, part := range edits(before[e.Start:e.End], e.New) {
			all = append(all, udiff.Edit{Start: e.Start + part.Start, End: e.Start + part.End, New: part.New})
		}
	}
	return all
}
