// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// Diff returns a unified diff of a file for git and patch, which apply it in the folder that name is relative to. In further steps, becomes
// is another file.
func Diff(name, becomes, before, after string) string {
	if name == manifest.Stdin {
		return unified(name, becomes, before, after)
	}
	relative := func(side, name string) string {
		return quotedName(side + strings.TrimPrefix(filepath.ToSlash(followed(name)), "/"))
	}
	return unified(relative("a/", name), relative("b/", becomes), before, after)
}

// followed returns the name of the file to which a name leads through links, because git and patch change no links. It returns the name
// itself if there are none, or if that file is not in or below the working directory.
func followed(name string) string {
	target, err := filepath.EvalSymlinks(name)
	if err == nil && filepath.IsAbs(target) && !filepath.IsAbs(name) {
		var here string
		if here, err = os.Getwd(); err == nil {
			target, err = filepath.Rel(here, target)
		}
	}
	if err != nil || target == filepath.Clean(name) || !filepath.IsAbs(name) && !filepath.IsLocal(target) {
		return name
	}
	return target
}

// quotedName returns a file name as git writes it in a diff, and patch reads it. An unprintable one is quoted, with its bytes as octal
// numbers. A tab follows a name with a space.
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

// PrintDiffs prints diffs for people, git and patch. A diff that must be escaped would give another text, so it becomes a comment. So do
// all diffs of a later step.
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

// exact reports whether the diff is printed unchanged.
func (f *Changed) exact() bool { return report.Harmless(f.Diff) }

// NoteComments prints a note for each diff that is a comment because it is not printable.
func NoteComments(c *command.Call, files []Changed) {
	for _, f := range files {
		if !f.exact() {
			report.Printf(c.Stderr, "note: %s: the diff is a comment, because it has lines that are printed in another way than they are; "+
				"-w changes the file\n", f.File)
		}
	}
}

// unified returns a unified diff of two texts. udiff computes a hunk's line in the new text without the unchanged lines between two changes
// of an earlier hunk, so unified computes it again.
func unified(name, becomes, before, after string) string {
	d, _ := udiff.ToUnifiedDiff(name, becomes, before, edits(before, after), udiff.DefaultContextLines) // cannot fail: no edits overlap
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

// edits returns the edits between two texts. udiff compares only the first and the last 50 different lines, and replaces all lines between
// them, so edits compares these again.
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
