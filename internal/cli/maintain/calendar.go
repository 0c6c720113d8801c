// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintain

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/command"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/words"
)

// What maintenance does day by day.

// Day is one on which maintenance does something. Its JSON is an interface.
type Day struct {
	// Date as YYYY-MM-DD, in UTC.
	Date string `json:"date"`
	// Entries are what happens, the worst first: never empty.
	Entries []Entry `json:"entries"`
}

// Entry is what maintenance does to a worker pool, a [*MaintainedPool], or to a version of Kubernetes, a [*MaintainedKubernetes].
type Entry interface {
	fmt.Stringer
	// wrong reports whether it is to be prevented.
	wrong() bool
	// severity is an index of severities.
	severity() int
	// row is that of a table.
	row() []string
}

// severities are what entries are sorted and counted by, the worst first. Everything is of the last one at least.
var severities = []struct {
	does string
	is   func(action maintenance.Action, boots bool) bool
}{
	{"stuck", func(a maintenance.Action, _ bool) bool { return a == maintenance.Stuck }},
	{"failing", func(a maintenance.Action, _ bool) bool { return a == maintenance.Fails }},
	{"moved to what boots nothing", func(_ maintenance.Action, boots bool) bool { return !boots }},
	{"forced", func(a maintenance.Action, _ bool) bool { return a == maintenance.Forced }},
	{"updated", func(maintenance.Action, bool) bool { return true }},
}

func severityOf(action maintenance.Action, boots bool) (index int) {
	for !severities[index].is(action, boots) {
		index++
	}
	return index
}

func (p MaintainedPool) severity() int { return severityOf(p.Action, p.Boots == nil) }

func (k MaintainedKubernetes) severity() int { return severityOf(k.Action, true) }

// wrong reports whether there is anything to be prevented on the day.
func (d Day) wrong() bool { return slices.ContainsFunc(d.Entries, Entry.wrong) }

// dayOf returns when the day of a time begins, in UTC.
func dayOf(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// followed is a Shoot as the days before have left it.
type followed struct {
	name     string
	profile  input.AnyProfile
	shoot    *v1beta1.Shoot
	fillings []input.Filling
	// said has what has been said of worker pools and versions that are stuck or fail, and changed is the day after the last change.
	said    map[string]maintenance.Action
	changed time.Time
}

// Calendar returns the days from one to another on which maintenance does something to the Shoots and to those of their worker pools that a filter admits. Each is looked at as it ends. step
// is told of each Shoot that has been read. What is wrong with the Shoots becomes findings.
func Calendar(g *input.Given, filter *input.Filter, from, until time.Time, step func(int)) (days []Day) {
	var all []*followed
	known := map[*v1beta1.CloudProfileSpec]dates{}
	for _, s := range g.Shoots.All {
		step(1)
		if s.Object != nil && s.Object.DeletionTimestamp != nil {
			continue
		}
		p, shoot, fillings := stored(g, s)
		s.Forget()
		if p != nil {
			all = append(all, &followed{s.Name, p, shoot, fillings, map[string]maintenance.Action{}, dayOf(from)})
			memo.Get(known, p.Spec(), func() dates { return datesOf(p.Spec()) })
		}
	}
	for day, found := dayOf(from), true; found && !day.After(dayOf(until)); day, found = nextDay(all, known, day) {
		entries, by := []Entry(nil), Maintainers(day.Add(24*time.Hour-1)) // as it ends: what changes at midnight is of the next one
		for _, f := range all {
			if f.changed.Equal(day) || f.concerned(known[f.profile.Spec()].images(day)) {
				entries = append(entries, f.follow(g, filter, by(f.profile), day)...)
			}
		}
		if len(entries) > 0 {
			slices.SortStableFunc(entries, func(a, b Entry) int { return a.severity() - b.severity() })
			days = append(days, Day{day.Format(time.DateOnly), entries})
		}
	}
	return days
}

// nextDay returns the next day on which anything may happen; false if there is none.
func nextDay(all []*followed, known map[*v1beta1.CloudProfileSpec]dates, after time.Time) (next time.Time, found bool) {
	consider := func(day time.Time) {
		if day.After(after) && (!found || day.Before(next)) {
			next, found = day, true
		}
	}
	for _, f := range all {
		consider(f.changed)
	}
	for _, of := range known {
		for day := range of {
			consider(day)
		}
	}
	return next, found
}

// kubernetes stands for versions of Kubernetes among the names of images.
const kubernetes = ""

// dates are when something about the versions of a profile changes by itself, by their day, with the images that it is about.
type dates map[time.Time]map[time.Time][]string

// images returns the images that change on a day.
func (d dates) images(day time.Time) map[string]bool {
	images := map[string]bool{}
	for _, names := range d[day] {
		for _, name := range names {
			images[name] = true
		}
	}
	return images
}

func datesOf(spec *v1beta1.CloudProfileSpec) dates {
	found := dates{}
	add := func(image string, v v1beta1.ExpirableVersion) {
		at := func(date time.Time) {
			of := memo.Get(found, dayOf(date), func() map[time.Time][]string { return map[time.Time][]string{} })
			of[date] = append(of[date], image)
		}
		if v.ExpirationDate != nil { //nolint:staticcheck // as people write it
			at(v.ExpirationDate.Time) //nolint:staticcheck // as people write it
		}
		for _, stage := range v.Lifecycle {
			if stage.StartTime != nil {
				at(stage.StartTime.Time)
			}
		}
	}
	for _, v := range spec.Kubernetes.Versions {
		add(kubernetes, v)
	}
	for i := range spec.MachineImages {
		for k := range spec.MachineImages[i].Versions {
			add(spec.MachineImages[i].Name, spec.MachineImages[i].Versions[k].ExpirableVersion)
		}
	}
	return found
}

// concerned reports whether something may happen to the Shoot because something about these images changes.
func (f *followed) concerned(images map[string]bool) bool {
	return images[kubernetes] || slices.ContainsFunc(f.shoot.Spec.Provider.Workers, func(w v1beta1.Worker) bool {
		return w.Machine.Image != nil && images[w.Machine.Image.Name]
	})
}

// follow returns what maintenance does to the Shoot on a day, and has it done. Who was stuck before, or failed, is not said to do so again.
func (f *followed) follow(g *input.Given, filter *input.Filter, by *Maintainer, day time.Time) (entries []Entry) {
	m := by.look(g, f.name, f.shoot, f.fillings)
	var answer Maintained
	m.addTo(g, &answer, filter)
	news := func(what string, action maintenance.Action, remains bool) bool {
		known := f.said[what]
		delete(f.said, what)
		if remains {
			f.said[what] = action
		}
		return !remains || known != action
	}
	for i := range answer.Pools {
		p := &answer.Pools[i]
		if p.Action == maintenance.Stays && p.Boots == nil {
			delete(f.said, p.Pool)
		} else if news(p.Pool, p.Action, p.To == p.From) {
			entries = append(entries, p)
			if p.To != p.From && p.Boots != nil { // who boots nothing is stuck the day after, which goes without saying
				f.said[p.Pool] = maintenance.Stuck
			}
		}
	}
	for i := range answer.Kubernetes {
		k := &answer.Kubernetes[i]
		if news("Kubernetes "+k.Pool, k.Action, k.Action == maintenance.Stuck) {
			entries = append(entries, k)
		}
	}
	if m.Rejected < 0 {
		if !reflect.DeepEqual(f.shoot.Spec, m.Written.Shoot.Spec) {
			f.changed = day.Add(24 * time.Hour)
		}
		f.shoot = m.Written.Shoot
	}
	return entries
}

// summary counts what happens: "1 worker pool stuck, 2 forced; Kubernetes: 4 forced".
func summary(days ...Day) string {
	var parts []string
	for _, pools := range []bool{true, false} {
		counts := make([]int, len(severities))
		for _, day := range days {
			for _, e := range day.Entries {
				if _, isPool := e.(*MaintainedPool); isPool == pools {
					counts[e.severity()]++
				}
			}
		}
		var said []string
		for i, s := range severities {
			switch {
			case counts[i] == 0:
			case len(said) == 0 && pools:
				said = append(said, words.Count(counts[i], "worker pool")+" "+s.does)
			default:
				said = append(said, fmt.Sprintf("%d %s", counts[i], s.does))
			}
		}
		switch {
		case len(said) > 0 && pools:
			parts = append(parts, strings.Join(said, ", "))
		case len(said) > 0:
			parts = append(parts, "Kubernetes: "+strings.Join(said, ", "))
		}
	}
	return strings.Join(parts, "; ")
}

// printCalendar prints days of a landscape in a format.
func printCalendar(w io.Writer, format, landscape string, days []Day, until time.Time) error {
	if format == calendarFormat {
		return printICS(w, landscape, days)
	}
	if command.IsTable(format) {
		return command.PrintTable(w, format, append([]string{"date"}, maintainedColumns...), slices.Values(rowsOfDays(days)))
	}
	if days == nil {
		days = []Day{}
	}
	return command.PrintAs(w, format, days, func(w io.Writer) {
		last := until.UTC().Format(time.DateOnly)
		if len(days) == 0 {
			report.Printf(w, "Until %s: nothing happens\n", last)
			return
		}
		for _, day := range days {
			report.Printf(w, "%s: %s\n", day.Date, summary(day))
			for _, e := range day.Entries {
				report.Printf(w, "  %s\n", e)
			}
			fmt.Fprintln(w)
		}
		report.Printf(w, "Until %s: %s\n", last, summary(days...))
	})
}

// rowsOfDays returns days as rows of a table.
func rowsOfDays(days []Day) (rows [][]string) {
	for _, day := range days {
		for _, e := range day.Entries {
			rows = append(rows, append([]string{day.Date}, e.row()...))
		}
	}
	return rows
}

// mostListed is how many entries an event of a calendar lists: programs do not show more than a few kilobytes of one.
const mostListed = 50

// printICS prints days as iCalendar (RFC 5545), each as an event of the whole day. Nothing in it depends on when it is printed, so that
// a calendar of the same landscape that is imported again replaces its events.
func printICS(w io.Writer, landscape string, days []Day) error {
	sum := sha256.Sum256([]byte(landscape))
	calendar := ics.NewCalendarFor("capkit")
	calendar.SetMethod(ics.MethodPublish)
	for _, day := range days {
		date, err := time.Parse(time.DateOnly, day.Date)
		if err != nil {
			return err
		}
		lines := make([]string, 0, len(day.Entries))
		for _, e := range day.Entries {
			lines = append(lines, words.Printable(e.String()))
		}
		event := calendar.AddEvent(fmt.Sprintf("%s-%x@maintenance.capkit", day.Date, sum[:4]))
		event.SetDtStampTime(date)
		event.SetAllDayStartAt(date)
		event.SetAllDayEndAt(date.Add(24 * time.Hour))
		event.SetSummary("Gardener maintenance: " + summary(day))
		event.SetDescription(words.JoinFirst(len(lines), lines[:min(len(lines), mostListed)], "\n"))
	}
	var text bytes.Buffer
	if err := calendar.SerializeTo(&text, ics.WithNewLineWindows); err != nil {
		return err
	}
	_, err := text.WriteTo(w) // whose error is about w, and not about a property
	return err
}
