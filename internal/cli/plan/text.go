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

// How plan is printed as text; Markdown shares it.

// meanings explains the kinds of changes.
var meanings = map[changes.Kind]string{
	changes.Refused:     "Gardener or admission would refuse the update",
	changes.Locked:      "Gardener would reject all later updates of these Shoots",
	changes.NoMachines:  "worker pools can no longer create machines",
	changes.Kept:        "worker pools keep an image that the profile no longer has for them, and new ones are refused",
	changes.Maintenance: "maintenance would pick a version that these pools cannot boot or have",
	changes.Expires:     "an image version gets another expiration date, or worker pools get stuck on the one that it has",
	changes.Kubernetes:  "Kubernetes versions",
	changes.WillUpdate:  "the next maintenance leaves worker pools with another version than it would have, or stuck",
	changes.OtherImage:  "another image is booted",
	changes.Meaning:     "the values of flavors that leave out a reserved capability",
	changes.Offer:       "what owners of Shoots can choose",
	changes.New:         "boots now, and did not before",
	changes.Gone:        "no longer boots, and no worker pool among the inputs uses it",
}

// compared explains the kinds if OLD and NEW are two profiles and not an update.
var compared = map[changes.Kind]string{
	changes.Expires:    "image versions expire on another date in NEW",
	changes.Kubernetes: "Kubernetes versions in NEW",
	changes.OtherImage: "another image is booted in NEW",
	changes.Meaning:    "the values in NEW of flavors that leave out a reserved capability",
	changes.Offer:      "what owners of Shoots can choose in NEW",
	changes.New:        "boots in NEW alone",
	changes.Gone:       "boots in OLD alone",
}

// meaning explains a kind.
func meaning(p *changes.Planned, kind changes.Kind) string {
	switch {
	case p.ComparedWith != "":
		return compared[kind]
	case p.Some && kind == changes.Gone:
		return "no longer boots, and no selected worker pool uses it"
	}
	return meanings[kind]
}

// withoutUsers is printed if users of the profile may be missing from the inputs.
const withoutUsers = "No Shoots are among the inputs: what the update does to worker pools was not looked at."

// section is the output for one kind.
type section struct {
	kind  changes.Kind
	count int
	// breaks is set if one of the changes breaks something.
	breaks bool
	items  []item
}

// item describes a [group], refusals with the same message, or differing paths.
type item struct {
	text string
	// pools counts the affected worker pools and names their Shoots; empty if there are none.
	pools string
	// messages give the reasons and the consequences.
	messages []string
}

// sections returns the sections to print, in the order of the kinds. Kinds without changes are left out.
func sections(p *changes.Planned) []section {
	var sections []section
	for _, kind := range changes.Kinds() {
		s := section{kind: kind, count: p.Summary[kind]}
		if kind == changes.Meaning {
			s.items = meaningItems(p)
		}
		groups := grouped(p, kind)
		if kind == changes.Refused {
			s.items, s.breaks, groups = refused(groups), true, nil
		}
		for _, g := range groups {
			s.items = append(s.items, g.item())
			s.breaks = s.breaks || g.Breaks()
		}
		if kind == changes.Offer {
			s.items = folded(s.items)
		}
		if s.count > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

// Print writes the effects of an update as text.
func Print(p *changes.Planned, w io.Writer) {
	report.Printf(w, "%s\n", headline(p))
	others := others(p)
	if len(p.Changes) == 0 && len(others) > 0 { // the headline is others[0].first
		printItems(w, others[0].rest)
		others = others[1:]
	}
	if p.WithoutUsers {
		fmt.Fprintln(w, withoutUsers)
	}
	for _, s := range sections(p) {
		report.Printf(w, "\n%s (%d): %s\n", s.kind, s.count, meaning(p, s.kind))
		printItems(w, s.items)
	}
	for _, o := range others {
		report.Printf(w, "\n%s\n", o.first)
		printItems(w, o.rest)
	}
	if text := sameImages(p); text != "" {
		report.Printf(w, "\n%s\n", text)
	}
}

func printItems(w io.Writer, items []item) {
	for _, i := range items {
		report.Printf(w, "  %s\n", joined(i.text, i.pools))
		for _, message := range i.messages {
			report.Printf(w, "    %s\n", message)
		}
	}
}

// sameImages says that no image changes, if an update changes fields that could change it; otherwise it is empty.
func sameImages(p *changes.Planned) string {
	could := func(path string) bool {
		return strings.Contains(path, "machineCapabilities[") || strings.Contains(path, "machineImages[") || strings.HasSuffix(path, ".capabilities")
	}
	does := func(c changes.Change) bool {
		return slices.Contains([]changes.Kind{changes.NoMachines, changes.Kept, changes.OtherImage, changes.New, changes.Gone}, c.Kind)
	}
	if p.Same == 0 || p.ComparedWith != "" || !slices.ContainsFunc(p.Others, could) || slices.ContainsFunc(p.Changes, does) {
		return ""
	}
	return fmt.Sprintf("The same images boot as before, in %s of image version, machine type and region.", words.Count(p.Same, "combination"))
}

// other lists differing paths that belong to no change: a single path is in the first line, several follow it.
type other struct {
	first string
	rest  []item
}

// others returns the differing fields that belong to no kind, and the fields rewritten without a change in meaning.
func others(p *changes.Planned) (all []other) {
	name := func(paths []string, one, several string) {
		switch len(paths) {
		case 0:
		case 1:
			all = append(all, other{"1 " + one + ": " + paths[0], nil})
		default:
			items := make([]item, len(paths))
			for i, path := range paths {
				items[i].text = path
			}
			all = append(all, other{fmt.Sprintf("%d %s:", len(paths), several), folded(items)})
		}
	}
	name(p.Others, "other field differs", "other fields differ")
	one, several := "version is", "versions are"
	if slices.ContainsFunc(p.Rewritten, func(path string) bool { return !strings.Contains(path, ".versions[") }) {
		one, several = "place is", "places are"
	}
	name(p.Rewritten, one+" written in another way, and means the same", several+" written in another way, and mean the same")
	return all
}

// folded combines items that differ only in the last text in brackets, the name of a list entry.
func folded(items []item) []item {
	var order []item
	at := map[string]int{}
	var keys [][]string
	for _, i := range items {
		start, end := strings.LastIndexByte(i.text, '[')+1, strings.LastIndexByte(i.text, ']')
		if start > end || strings.Contains(i.text[start:end], ",") { // several fields identify the entry
			start, end = 0, 0
		}
		key := i.text[start:end]
		i.text = i.text[:start] + "\x00" + i.text[end:]
		id := strings.Join(append([]string{i.text, i.pools}, i.messages...), "\x00")
		if _, known := at[id]; !known {
			at[id] = len(order)
			order, keys = append(order, i), append(keys, nil)
		}
		keys[at[id]] = append(keys[at[id]], key)
	}
	for i := range order {
		order[i].text = strings.Replace(order[i].text, "\x00", words.Few(keys[i]), 1)
	}
	return order
}

func joined(text, pools string) string {
	if pools == "" {
		return text
	}
	return text + ": " + pools
}

// headline counts the changes of each kind.
func headline(p *changes.Planned) string {
	var counts []string
	for _, kind := range changes.Kinds() {
		if n := p.Summary[kind]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(counts) == 0 {
		nothing := "nothing changes"
		if p.ComparedWith != "" {
			nothing = "they are equal"
		}
		if all := others(p); len(all) > 0 {
			nothing = all[0].first
		}
		counts = []string{nothing}
	}
	return fmt.Sprintf("%s: %s", title(p, p.Profile, p.ComparedWith), strings.Join(counts, ", "))
}

// title names the compared profiles.
func title(p *changes.Planned, name, other string) string {
	if p.ComparedWith != "" {
		other = " compared with " + other
	} else {
		other = ""
	}
	return p.Kind + " " + name + other
}
