// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// room is the length up to which markdown adds items, in bytes. GitHub takes comments of 65,536 characters. The rest is for the ends of lists.
const room = 60_000

// markdown writes the answer for a merge request: changes that break something are visible, the others are folded. It counts what exceeds
// [room].
func markdown(p *changes.Planned, out io.Writer) {
	w := &bytes.Buffer{}
	fmt.Fprintf(w, "### %s\n", title(p, report.Code(p.Profile), report.Code(p.ComparedWith)))
	if p.WithoutUsers {
		fmt.Fprintf(w, "\n%s\n", withoutUsers)
	}
	if len(p.Changes)+len(others(p)) == 0 {
		fmt.Fprintln(w, "\nNothing changes.")
	}
	if len(p.Changes) > 0 {
		fmt.Fprint(w, "\n| | changes | |\n|---|---:|---|\n")
	}
	sections := sections(p)
	for _, s := range sections {
		fmt.Fprintf(w, "| %s | %d | %s |\n", s.kind, s.count, meaning(p, s.kind))
	}
	for _, s := range sections {
		before, after := fmt.Sprintf("\n**%s** (%d)\n\n", s.kind, s.count), ""
		if !s.breaks {
			before, after = fmt.Sprintf("\n<details><summary>%s (%d)</summary>\n\n", s.kind, s.count), "\n</details>\n"
		}
		fmt.Fprint(w, before)
		list(w, s.items)
		fmt.Fprint(w, after)
	}
	for _, o := range others(p) {
		fmt.Fprintf(w, "\n%s\n", escaped(o.first))
		if len(o.rest) == 0 {
			continue
		}
		fmt.Fprint(w, "\n<details><summary>fields</summary>\n\n")
		list(w, o.rest)
		fmt.Fprint(w, "\n</details>\n")
	}
	if text := sameImages(p); text != "" {
		fmt.Fprintf(w, "\n%s\n", text)
	}
	_, _ = w.WriteTo(out)
}

// list writes a list, and counts the items for which there is no room.
func list(w *bytes.Buffer, items []item) {
	for n, i := range items {
		text := "- " + escaped(joined(i.text, i.pools)) + "\n"
		for _, message := range i.messages {
			text += "  <br>" + escaped(message) + "\n"
		}
		if w.Len()+len(text) > room {
			fmt.Fprintf(w, "- and %d more, which `capkit plan` lists without `-o markdown`\n", len(items)-n)
			return
		}
		w.WriteString(text)
	}
}

// escaped escapes all Markdown and HTML in a text.
func escaped(text string) string { return markup.Replace(words.Printable(text)) }

var markup = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "|", "\\|", "&", "&amp;",
)
