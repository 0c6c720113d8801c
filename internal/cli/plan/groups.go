// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/pkg/words"
)

// group combines changes that differ only in names.
type group struct {
	changes.Change
	names [4][]string // by the following constants
	// compared is set for a comparison of two profiles, which is not an update.
	compared bool
}

const (
	types = iota
	regions
	versions
	profiles // NamespacedCloudProfiles
)

// grouped groups the changes of a kind, in order. It first merges changes that differ only in the machine type, then the resulting groups
// that differ only in the region. Where the rest does not depend on them, it also merges versions and NamespacedCloudProfiles.
func grouped(p *changes.Planned, kind changes.Kind) []*group {
	var groups []*group
	for _, c := range p.Changes {
		if c.Kind == kind && kind != changes.Meaning {
			c.Pools = slices.Clone(c.Pools)
			groups = append(groups, &group{c, [4][]string{{c.MachineType}, {c.Region}, {c.Version}, {c.Profile}}, p.ComparedWith != ""})
		}
	}
	several := []int{types, regions}
	if slices.Contains([]changes.Kind{changes.Locked, changes.New, changes.Gone}, kind) {
		several = append(several, versions, profiles)
	}
	for _, which := range several {
		groups = merged(groups, 1, which)
	}
	if slices.Contains([]changes.Kind{changes.Expires, changes.Kubernetes}, kind) {
		groups = merged(groups, few, versions)
	}
	if slices.Contains([]changes.Kind{changes.OtherImage, changes.New, changes.Gone}, kind) { // each may have machine types of its own
		groups = merged(groups, apart, types, profiles)
	}
	return groups
}

// few is the largest number of versions that change alike and are in lines of their own.
const few = 3

// apart is the number of NamespacedCloudProfiles that are named apart if they have different machine types.
const apart = 3

// merged merges groups that say the same and differ in some sorts of names alone, if they are more than few. It joins their pools.
func merged(groups []*group, few int, which ...int) (order []*group) {
	same := map[string][]*group{}
	ids := make([]string, len(groups))
	for i, g := range groups {
		ids[i] = g.saysBut(which)
		same[ids[i]] = append(same[ids[i]], g)
	}
	for i, g := range groups {
		all := same[ids[i]]
		switch {
		case len(all) <= few:
			order = append(order, g)
		case g == all[0]:
			for _, other := range all[1:] {
				for _, sort := range which {
					g.names[sort] = append(g.names[sort], other.names[sort]...)
				}
				g.Pools = append(g.Pools, other.Pools...)
			}
			order = append(order, g)
			if len(which) == 1 { // each name is in one group, and they stay in the order of the profile
				continue
			}
			for _, sort := range which {
				slices.Sort(g.names[sort])
				g.names[sort] = slices.Compact(g.names[sort])
			}
		}
	}
	return order
}

// saysBut returns what the group says, and its names, but those of some sorts.
func (g *group) saysBut(which []int) string {
	parts := g.says()
	for i, names := range g.names {
		if !slices.Contains(which, i) {
			parts = append(append(parts, ""), names...)
		}
	}
	return strings.Join(parts, "\x00")
}

// says returns what the group says, apart from names and pools. A profile is not merged with its NamespacedCloudProfiles.
func (g *group) says() []string {
	parts := []string{
		string(g.When), strconv.FormatBool(g.Profile == ""), g.Image, g.VolumeType, strconv.FormatBool(g.MachineType == ""),
		changes.Settings(g.Requested), g.Rule, g.Field,
	}
	switch g.Kind {
	case changes.OtherImage:
		parts = append(parts, report.Reference(g.From), report.Reference(g.To))
	case changes.Refused, changes.Locked, changes.Maintenance:
		parts = append(parts, g.Message)
	case changes.Expires, changes.Kubernetes, changes.WillUpdate, changes.Offer:
		parts = append(parts, g.Path, string(g.Change.Change), textOf(g.From), textOf(g.To), string(g.Action))
		if len(g.Pools)+len(g.Then) > 0 { // a version in use is in a line of its own
			parts = append(parts, g.Version)
		}
	}
	return parts
}

// item describes a group in words.
func (g *group) item() item {
	i := item{text: g.subject(), pools: poolsText(g.Pools), messages: g.thenTexts()}
	if g.Kind == changes.Offer { // the text says who uses it
		i.pools = ""
	}
	if g.Message != "" {
		i.messages = append(i.messages, g.Message)
	}
	switch {
	case g.Kind == changes.OtherImage && g.When == changes.Now:
		i.text += fmt.Sprintf(" boots %s instead of %s, from the next machine on", report.Reference(g.To), report.Reference(g.From))
	case g.Kind == changes.OtherImage && g.compared:
		i.text += fmt.Sprintf(" boots %s in NEW, and %s in OLD", report.Reference(g.To), report.Reference(g.From))
	case g.Kind == changes.OtherImage:
		i.text += fmt.Sprintf(" boots %s instead of %s, once machines are replaced", report.Reference(g.To), report.Reference(g.From))
	}
	i.text = through(g.names[profiles]...) + i.text
	return i
}

// change describes a change of the profile's fields.
func (g *group) change() string {
	aspect := g.Change.Change
	switch {
	case g.Kind == changes.Expires:
		return g.Image + "@" + g.each() + dated(g)
	case g.Kind == changes.WillUpdate && g.Action == maintenance.Stays:
		return fmt.Sprintf("%s@%s is no longer updated", g.Image, textOf(g.From))
	case g.Kind == changes.WillUpdate && g.Action == maintenance.Stuck:
		return fmt.Sprintf("%s@%s is stuck, since nothing replaces it", g.Image, textOf(g.From))
	case g.Kind == changes.WillUpdate:
		return fmt.Sprintf("%s@%s is %s to %s", g.Image, textOf(g.From), g.Action, textOf(g.To))
	case g.Kind == changes.Kubernetes:
		return g.each() + g.kubernetes(aspect)
	}
	text := g.Path
	if text == "spec.machineImages" {
		text = "the default image, the first of " + text + ","
	}
	if g.Unavailable != nil {
		text = g.availability()
	} else {
		text += g.does(aspect)
	}
	switch both := g.From != nil && g.To != nil; {
	case both && g.compared:
		text += fmt.Sprintf(": %v in NEW, and %v in OLD", g.To, g.From)
	case both:
		text += fmt.Sprintf(" from %v to %v", g.From, g.To)
	case g.compared:
	case g.From != nil:
		text += fmt.Sprintf(" from %v to none", g.From)
	case g.To != nil:
		text += fmt.Sprintf(" from none to %v", g.To)
	}
	by := poolsText(g.Pools)
	if by == "" && len(g.Used) > 0 {
		by = fmt.Sprintf("%s %s", words.Plural(g.Used, "Shoot"), words.Few(g.Used))
	}
	if by != "" {
		text += ", and is used by " + by
	}
	return text
}

// each names the versions that change alike, before what is said of each.
func (g *group) each() string {
	text := words.Few(g.names[versions])
	if len(g.names[versions]) > 1 && g.Change.Change != update.NewStages {
		text += ": each"
	}
	return text
}

// refused describes refusals in words. It combines findings with the same message into one item.
func refused(groups []*group) (items []item) {
	of := map[*report.Finding]*group{}
	var findings []*report.Finding
	for _, g := range groups {
		f := &report.Finding{Rule: g.Rule, Field: g.Field, Message: g.Message}
		findings, of[f] = append(findings, f), g
	}
	for _, same := range report.Groups(findings) {
		i := item{text: fmt.Sprintf("%s [%s]", same.Message(), same[0].Rule)}
		var pools []changes.Pool
		for _, f := range same {
			pools = append(pools, of[f].Pools...)
		}
		i.pools = poolsText(pools)
		for _, line := range []string{same[0].Field, same.Others(func(f *report.Finding) string { return f.Field })} {
			if line != "" {
				i.messages = append(i.messages, line)
			}
		}
		items = append(items, i)
	}
	return items
}

// textOf returns a date or a version as text; empty if there is none.
func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case *string:
		if value != nil {
			return strings.TrimSuffix(*value, "T00:00:00Z")
		}
	}
	return ""
}

// from returns word and the value before the update; empty if there is none.
func from(g *group, word string) string {
	if was := textOf(g.From); was != "" {
		return word + was
	}
	return ""
}

// dated describes the change of an expiration date.
func dated(g *group) string {
	to := textOf(g.To)
	switch {
	case to != "" && to == textOf(g.From):
		return " expires on " + to + ", as before"
	case to != "" && g.compared:
		return " expires on " + to + cmp.Or(from(g, ", and in OLD on "), ", and in OLD never")
	case to != "":
		return " expires on " + to + from(g, ", and not on ")
	case g.compared:
		return " does not expire" + from(g, ", and in OLD on ")
	}
	return " does not expire any more" + from(g, "; it would have on ")
}

// does describes an aspect: new, gone or different.
func (g *group) does(aspect update.Aspect) string {
	if g.compared {
		return map[update.Aspect]string{update.IsNew: " is in NEW alone", update.IsGone: " is in OLD alone", update.Differs: " differs"}[aspect]
	}
	return map[update.Aspect]string{update.IsNew: " is new", update.IsGone: " is removed", update.Differs: " changes"}[aspect]
}

// availability describes a type that becomes unavailable in a zone, or available again.
func (g *group) availability() string {
	u, what := g.Unavailable, "machine type "
	if u.OfVolumes {
		what = "volume type "
	}
	does := map[update.Aspect]string{update.IsNew: "becomes unavailable", update.IsGone: "is available again"}
	if g.compared {
		does = map[update.Aspect]string{update.IsNew: "is unavailable in NEW alone,", update.IsGone: "is unavailable in OLD alone,"}
	}
	return fmt.Sprintf("%s%s %s in zone %s of region %s", what, u.Type, does[g.Change.Change], u.Zone, u.Region)
}

// kubernetes describes the change of a Kubernetes version.
func (g *group) kubernetes(aspect update.Aspect) string {
	switch aspect {
	case update.NewDate:
		return dated(g)
	case update.NewClassification:
		was := ", and was "
		if g.compared {
			was = ", and in OLD "
		}
		return " is " + textOf(g.To) + was + textOf(g.From)
	case update.NewStages:
		was := "before"
		if g.compared {
			was = "in OLD"
		}
		return fmt.Sprintf(": %s (%s: %s)", textOf(g.To), was, textOf(g.From))
	case update.IsNew:
		return g.does(aspect) + " (" + textOf(g.To) + ")"
	case update.ChosenInstead: // only its use by maintenance changes
		return " is unchanged"
	}
	return g.does(aspect)
}

// thenTexts describe the fates of worker pools and Shoots, the worst first.
func (g *group) thenTexts() []string {
	var texts []string
	for _, action := range []maintenance.Action{maintenance.Stuck, maintenance.Fails, maintenance.Forced, maintenance.Updated} {
		var versions []string
		of := map[string][]changes.Fate{}
		for _, f := range g.Then {
			if f.Action == action {
				to := f.To
				if f.Boots != nil {
					to += ", which boots nothing for them"
				}
				if of[to] == nil {
					versions = append(versions, to)
				}
				of[to] = append(of[to], f)
			}
		}
		for _, to := range versions {
			texts = append(texts, g.thenText(action, to, of[to]))
		}
	}
	return texts
}

// thenText describes worker pools and control planes with the same fate. A fate that no date brings comes with the next maintenance.
func (g *group) thenText(action maintenance.Action, to string, fates []changes.Fate) string {
	var shoots []string
	pools := 0
	for _, f := range fates {
		if f.Pool != "" {
			pools++
		}
		shoots = append(shoots, f.Shoot)
	}
	slices.Sort(shoots)
	shoots = slices.Compact(shoots)
	who := words.Plural(shoots, "Shoot") + " " + words.Few(shoots)
	switch {
	case pools > 1 && pools == len(g.Pools): // they have just been named
		who = "all of them"
	case pools > 0:
		who = words.Count(pools, "pool") + " of " + who
	}
	the, by := "the", ""
	if g.Kind == changes.Kubernetes && g.Change.Change != update.NewDate {
		the, by = "the next", " by the next maintenance"
	}
	does := map[maintenance.Action]string{
		maintenance.Stuck: "stuck, since nothing replaces it", maintenance.Fails: the + " maintenance fails as a whole",
		maintenance.Forced: "forced to " + to + by, maintenance.Updated: "updated to " + to + by,
	}[action]
	return does + ": " + who
}

// subject names the subject of a group.
func (g *group) subject() string {
	if slices.Contains([]changes.Kind{changes.Expires, changes.Kubernetes, changes.WillUpdate, changes.Offer}, g.Kind) {
		return g.change()
	}
	text := g.Image + "@" + words.Few(g.names[versions])
	on := words.Few(g.names[types])
	switch {
	case g.VolumeType != "" && on != "":
		return fmt.Sprintf("volume type %s of %s %s", g.VolumeType, words.Plural(g.names[types], "machine type"), on)
	case g.VolumeType != "":
		return "volume type " + g.VolumeType
	case g.Image == "":
		return words.Plural(g.names[types], "machine type") + " " + on
	case on != "":
		text += " on " + on
	}
	if in := words.Few(g.names[regions]); in != "" {
		text += " in " + in
	}
	if asked := changes.Settings(g.Requested); asked != "" {
		text += " (" + asked + ")"
	}
	return text
}

// poolsText counts worker pools and names their Shoots; empty if there are none. It sorts the pools.
func poolsText(pools []changes.Pool) string {
	if len(pools) == 0 {
		return ""
	}
	changes.SortPools(pools)
	shoots := changes.ShootsOf(pools)
	return fmt.Sprintf("%s of %s %s", words.Count(len(pools), "pool"), words.Plural(shoots, "Shoot"), words.Few(shoots))
}
