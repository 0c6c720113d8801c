// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/words"
)

// How plan is printed for people, as text and as Markdown.

// meanings say what the kinds mean.
var meanings = map[changes.Kind]string{
	changes.Refused:     "Gardener or admission would refuse the update",
	changes.Locked:      "no later update of these Shoots would pass Gardener",
	changes.NoMachines:  "worker pools get no new machines any more",
	changes.Maintenance: "maintenance would choose what worker pools do not boot",
	changes.OtherImage:  "another image is booted",
	changes.New:         "boots now, and did not before",
	changes.Gone:        "does not boot any more, and no worker pool among the inputs uses it",
}

// withoutUsers is said where users of a profile may be missing from an answer.
const withoutUsers = "No Shoots are among the inputs: what the update does to worker pools was not looked at."

// section is what there is to say of one kind.
type section struct {
	kind  changes.Kind
	count int
	items []item
}

// item is about changes that differ in machine types and regions only.
type item struct {
	text string
	// pools names the Shoots that are concerned; empty if there are none.
	pools string
	// message says why; empty if there is nothing to say.
	message string
}

// sections returns what is printed, in order.
func sections(p *changes.Planned) []section {
	var sections []section
	for _, kind := range changes.Kinds() {
		s := section{kind: kind, count: p.Summary.Of(kind)}
		for _, g := range grouped(p.Changes, kind) {
			s.items = append(s.items, g.item())
		}
		if s.count > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

// print writes the answer as text.
func printText(p *changes.Planned, w io.Writer) {
	report.Printf(w, "%s\n", headline(p))
	if p.WithoutUsers {
		fmt.Fprintln(w, withoutUsers)
	}
	for _, s := range sections(p) {
		report.Printf(w, "\n%s (%d): %s\n", s.kind, s.count, meanings[s.kind])
		for _, i := range s.items {
			report.Printf(w, "  %s\n", joined(i.text, i.pools))
			if i.message != "" {
				report.Printf(w, "    %s\n", i.message)
			}
		}
	}
}

func joined(text, pools string) string {
	if pools == "" {
		return text
	}
	return text + ": " + pools
}

// headline counts the changes.
func headline(p *changes.Planned) string {
	var counts []string
	for _, kind := range changes.Kinds() {
		if n := p.Summary.Of(kind); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(counts) == 0 {
		counts = []string{"nothing changes"}
	}
	return fmt.Sprintf("%s %s: %s", p.Kind, p.Profile, strings.Join(counts, ", "))
}

// markdown writes the answer for a merge request: what breaks in the open, the rest to be unfolded.
func markdown(p *changes.Planned, w io.Writer) {
	fmt.Fprintf(w, "### %s %s\n", p.Kind, code(p.Profile))
	if p.WithoutUsers {
		fmt.Fprintf(w, "\n%s\n", withoutUsers)
	}
	if len(p.Changes) == 0 {
		fmt.Fprintln(w, "\nNothing changes for images and worker pools.")
		return
	}
	fmt.Fprint(w, "\n| | changes | |\n|---|---:|---|\n")
	sections := sections(p)
	for _, s := range sections {
		fmt.Fprintf(w, "| %s | %d | %s |\n", s.kind, s.count, meanings[s.kind])
	}
	for _, s := range sections {
		before, after := fmt.Sprintf("\n**%s** (%d)\n\n", s.kind, s.count), ""
		if !s.kind.Breaks() {
			before, after = fmt.Sprintf("\n<details><summary>%s (%d)</summary>\n\n", s.kind, s.count), "\n</details>\n"
		}
		fmt.Fprint(w, before)
		for _, i := range s.items {
			fmt.Fprintf(w, "- %s\n", escaped(joined(i.text, i.pools)))
			if i.message != "" {
				fmt.Fprintf(w, "  <br>%s\n", escaped(i.message))
			}
		}
		fmt.Fprint(w, after)
	}
}

// escaped returns text in which nothing is markup.
func escaped(text string) string { return markup.Replace(words.Printable(text)) }

var markup = strings.NewReplacer(
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "|", "\\|", "&", "&amp;",
)

func code(name string) string {
	return "`" + strings.ReplaceAll(words.Printable(name), "`", "'") + "`"
}

// group is changes that differ in machine types and regions only.
type group struct {
	changes.Change
	types, regions []string
}

// grouped returns the changes of a kind in groups, in order: first those that differ in the machine type alone, and of these
// groups those that differ in the region alone.
func grouped(changes []changes.Change, kind changes.Kind) []*group {
	var groups []*group
	for _, c := range changes {
		if c.Kind == kind {
			c.Pools = slices.Clone(c.Pools)
			groups = append(groups, &group{c, []string{c.MachineType}, []string{c.Region}})
		}
	}
	groups = merged(groups, func(g *group) string { return g.Region },
		func(g, other *group) { g.types = append(g.types, other.types...) })
	return merged(groups, func(g *group) string { return strings.Join(g.types, "\x00") },
		func(g, other *group) { g.regions = append(g.regions, other.regions...) })
}

// merged puts groups together which say the same, and have the same key: their pools, and what add adds.
func merged(groups []*group, key func(*group) string, add func(g, other *group)) []*group {
	var order []*group
	known := map[string]*group{}
	for _, g := range groups {
		id := g.says() + "\x00" + key(g)
		first := known[id]
		if first == nil {
			known[id] = g
			order = append(order, g)
			continue
		}
		add(first, g)
		first.Pools = append(first.Pools, g.Pools...)
	}
	return order
}

// says returns what a group says, apart from machine types, regions and pools.
func (g *group) says() string {
	parts := []string{string(g.When), g.Profile, g.Image, g.Version, changes.Settings(g.Requested), g.Rule, g.Field}
	switch g.Kind {
	case changes.OtherImage:
		parts = append(parts, report.Reference(g.From), report.Reference(g.To))
	case changes.Refused, changes.Locked, changes.Maintenance:
		parts = append(parts, g.Message)
	}
	return strings.Join(parts, "\x00")
}

// item puts a group into words.
func (g *group) item() item {
	i := item{text: g.subject(), pools: poolsText(g.Pools), message: g.Message}
	switch {
	case g.Kind == changes.Refused:
		i.text, i.message = fmt.Sprintf("%s [%s]", g.Message, g.Rule), g.Field
	case g.Kind == changes.OtherImage && g.When == changes.Now:
		i.text += fmt.Sprintf(" boots %s instead of %s, from the next machine on", report.Reference(g.To), report.Reference(g.From))
	case g.Kind == changes.OtherImage:
		i.text += fmt.Sprintf(" boots %s instead of %s, once machines are replaced", report.Reference(g.To), report.Reference(g.From))
	}
	if g.Profile != "" {
		i.text = "through NamespacedCloudProfile " + g.Profile + ": " + i.text
	}
	return i
}

// subject names what a group is about.
func (g *group) subject() string {
	text := g.Image + "@" + g.Version
	types := words.Few(g.types)
	switch {
	case g.Image == "":
		return words.Plural(g.types, "machine type") + " " + types
	case types != "":
		text += " on " + types
	}
	if regions := words.Few(g.regions); regions != "" {
		text += " in " + regions
	}
	if asked := changes.Settings(g.Requested); asked != "" {
		text += " (" + asked + ")"
	}
	return text
}

// poolsText counts worker pools, and names their Shoots; empty if there are none.
func poolsText(pools []changes.Pool) string {
	if len(pools) == 0 {
		return ""
	}
	changes.SortPools(pools)
	shoots := changes.ShootsOf(pools)
	return fmt.Sprintf("%s of %s %s", words.Count(len(pools), "pool"), words.Plural(shoots, "Shoot"), words.Few(shoots))
}
