// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintain

import (
	"bytes"
	"cmp"
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

// The effects of maintenance, day by day.

// Day is a day on which maintenance changes something. Its JSON is an interface.
type Day struct {
	// Date is YYYY-MM-DD, in UTC.
	Date string `json:"date"`
	// Entries are the effects, the worst first; never empty.
	Entries []Entry `json:"entries"`
}

// Entry is the effect of maintenance on a worker pool, [*MaintainedPool], or on a Kubernetes version, [*MaintainedKubernetes].
type Entry interface {
	fmt.Stringer
	// Who names the Shoot, and the worker pool if there is one; says describes the effect on them.
	Who() string
	says() string
	// kind identifies the effect among the entries of a text.
	kind() string
	// wrong reports whether the user should prevent it.
	wrong() bool
	// severity returns an index into severities.
	severity() int
	// row returns the entry as a table row.
	row() []string
}

// severities sort and count the entries, the worst first. An entry has the first one that matches; the last matches every entry.
var severities = []struct {
	does string
	is   func(action maintenance.Action, boots bool) bool
}{
	{"stuck", func(a maintenance.Action, _ bool) bool { return a == maintenance.Stuck }},
	{"failing", func(a maintenance.Action, _ bool) bool { return a == maintenance.Fails }},
	{"moved to what boots nothing", func(_ maintenance.Action, boots bool) bool { return !boots }},
	{"forced", func(a maintenance.Action, _ bool) bool { return a == maintenance.Forced }},
	{"updated", func(a maintenance.Action, _ bool) bool { return a != maintenance.Stays }},
	{"kept", func(maintenance.Action, bool) bool { return true }},
}

func severityOf(action maintenance.Action, boots bool) (index int) {
	for !severities[index].is(action, boots) {
		index++
	}
	return index
}

func (p MaintainedPool) severity() int { return severityOf(p.Action, p.Boots == nil) }

func (k MaintainedKubernetes) severity() int { return severityOf(k.Action, true) }

// wrong reports whether an entry of the day should be prevented.
func (d Day) wrong() bool { return slices.ContainsFunc(d.Entries, Entry.wrong) }

// dayOf returns the beginning of a time's day, in UTC.
func dayOf(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// followed is a Shoot after the maintenance of the days before.
type followed struct {
	name     string
	profile  input.AnyProfile
	shoot    *v1beta1.Shoot
	fillings []input.Filling
	// said records the worker pools and versions already reported as stuck or failing. changed is the day after the last change.
	said    map[string]maintenance.Action
	changed time.Time
}

// Calendar returns the days from one date to another on which maintenance changes something about the Shoots and the
// worker pools that the filter admits. It evaluates each day at its end, in UTC. It calls step for each Shoot it
// reads, and adds faults of the Shoots to the findings.
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
		entries, by := []Entry(nil), Maintainers(day.Add(24*time.Hour-1)) // a change at midnight belongs to the next day
		for _, f := range all {
			if f.changed.Equal(day) || f.concerned(known[f.profile.Spec()][day]) {
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

// nextDay returns the next day on which something may change; false if there is none.
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

// kubernetes marks Kubernetes versions among image names.
const kubernetes = ""

// dates are the days on which a profile's versions change by themselves, with the images concerned.
type dates map[time.Time]map[string]bool

func datesOf(spec *v1beta1.CloudProfileSpec) dates {
	found := dates{}
	add := func(image string, v v1beta1.ExpirableVersion) {
		at := func(date time.Time) {
			memo.Get(found, dayOf(date), func() map[string]bool { return map[string]bool{} })[image] = true
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

// concerned reports whether a change of these images may affect the Shoot.
func (f *followed) concerned(images map[string]bool) bool {
	return images[kubernetes] || slices.ContainsFunc(f.shoot.Spec.Provider.Workers, func(w v1beta1.Worker) bool {
		return w.Machine.Image != nil && images[w.Machine.Image.Name]
	})
}

// follow returns the effects of a day's maintenance on the Shoot, and applies them. It does not repeat that something is stuck or fails.
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
			if p.To != p.From && p.Boots != nil { // a pool that boots nothing is stuck the next day, which is not reported again
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

// summary counts the effects: "1 worker pool stuck, 2 forced; Kubernetes: 4 forced".
func summary(entries []Entry) string {
	var parts []string
	for _, pools := range []bool{true, false} {
		counts := make([]int, len(severities))
		for _, e := range entries {
			if _, isPool := e.(*MaintainedPool); isPool == pools {
				counts[e.severity()]++
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

// printCalendar prints a landscape's days in a format. The text says so if some Shoots could not be followed.
func printCalendar(w io.Writer, format, landscape string, days []Day, until time.Time, complete bool) error {
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
		var all []Entry
		for _, day := range days {
			all = append(all, day.Entries...)
		}
		sum := cmp.Or(summary(all), "nothing happens")
		if !complete {
			sum += ", as far as the Shoots could be checked"
		}
		for _, day := range days {
			report.Printf(w, "%s: %s\n", day.Date, summary(day.Entries))
			for _, line := range linesOf(day.Entries) {
				report.Printf(w, "  %s\n", line)
			}
			fmt.Fprintln(w)
		}
		report.Printf(w, "Until %s: %s\n", until.UTC().Format(time.DateOnly), sum)
	})
}

// rowsOfDays returns days as table rows.
func rowsOfDays(days []Day) (rows [][]string) {
	for _, day := range days {
		for _, e := range day.Entries {
			rows = append(rows, append([]string{day.Date}, e.row()...))
		}
	}
	return rows
}

// mostListed limits the lines in a calendar event: calendar programs show only a few kilobytes of one.
const mostListed = 50

// printICS prints days as iCalendar (RFC 5545), each as an all-day event. The output does not depend on the current
// time, so importing a landscape's calendar again replaces its events.
func printICS(w io.Writer, landscape string, days []Day) error {
	sum := sha256.Sum256([]byte(landscape))
	calendar := ics.NewCalendarFor("capkit")
	calendar.SetMethod(ics.MethodPublish)
	for _, day := range days {
		date, err := time.Parse(time.DateOnly, day.Date)
		if err != nil {
			return err
		}
		lines := linesOf(day.Entries)
		for i := range lines {
			lines[i] = words.Printable(lines[i])
		}
		event := calendar.AddEvent(fmt.Sprintf("%s-%x@maintenance.capkit", day.Date, sum[:4]))
		event.SetDtStampTime(date)
		event.SetAllDayStartAt(date)
		event.SetAllDayEndAt(date.Add(24 * time.Hour))
		event.SetSummary("Gardener maintenance: " + summary(day.Entries))
		event.SetDescription(words.JoinFirst(len(lines), lines[:min(len(lines), mostListed)], "\n"))
	}
	var text bytes.Buffer
	if err := calendar.SerializeTo(&text, ics.WithNewLineWindows); err != nil {
		return err
	}
	_, err := text.WriteTo(w) // its error is about w, not about a property
	return err
}
