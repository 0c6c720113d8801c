// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/ask"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/maintain"
	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// The parts of a page about Shoots. There may be tens of thousands; then a page is truncated and says so.

const (
	// mostNamed is the number of worker pools that every entry may name. mostNames bounds all names on a page, where they can be searched.
	mostNamed, mostNames = 20, 20_000
	// mostPools, mostEvents and mostFindings bound the entries about worker pools, the entries of the calendar and the findings of a
	// page.
	mostPools, mostEvents, mostFindings = 1000, 500, 2000
	// ahead is the number of days in the calendar.
	ahead = 90
)

// pageActions are the actions of maintenance, worst first.
var pageActions = []maintenance.Action{maintenance.Fails, maintenance.Stuck, maintenance.Forced, maintenance.Updated, maintenance.Stays}

// addMaintenance adds the effects of the next maintenance on the worker pools of all Shoots that a filter admits, grouped by effect, and
// on Kubernetes versions. It adds no findings about Shoots, which lint reports.
func addMaintenance(g *input.Given, r *html.Report, filter *input.Filter) {
	findings := g.Findings
	defer func() { g.Findings = findings }()
	pools, kubernetes := gathered{index: map[string]int{}}, gathered{index: map[string]int{}}
	by, known := maintain.Maintainers(r.Made), map[askedShape]html.Pools{}
	for _, s := range g.Shoots.All {
		if s.Object != nil && s.Object.DeletionTimestamp != nil {
			continue
		}
		var answer maintain.Maintained
		if s.Object != nil {
			maintain.Maintain(g, &answer, s, &input.Filter{}, by)
		}
		// admitted contains names of worker pools, and "" for the control plane.
		admitted := map[string]bool{"": !filter.OfPools()}
		if len(answer.Pools) > 0 {
			addPools(g, &pools, g.ProfileToAsk(s), s, answer.Pools, known, filter, admitted)
		}
		countShoot(r, filter, s.Object, len(answer.Pools), admitted[""] || len(admitted) > 1)
		for _, k := range answer.Kubernetes {
			if !admitted[k.Pool] {
				continue
			}
			kubernetes.add(html.Pools{MaintainedPool: maintain.MaintainedPool{From: k.From, To: k.To, Action: k.Action, Reason: k.Reason}}, 1, k.Who())
		}
	}
	r.Maintenance = pools.all
	slices.SortStableFunc(r.Maintenance, func(a, b html.Pools) int { return cmp.Compare(rankOf(&a), rankOf(&b)) })
	if n := len(r.Maintenance); n > mostPools {
		r.Maintenance, r.More = r.Maintenance[:mostPools], unnamed(r.Maintenance[mostPools:])
		r.Notes = append(r.Notes, fmt.Sprintf("of %d different things that maintenance does, %d are shown, the worst first: "+
			"capkit maintenance says all", n, mostPools))
	}
	limitNames(r.Maintenance, mostNames)
	for _, k := range kubernetes.all {
		names := words.JoinFirst(k.Count, k.Names[:min(len(k.Names), mostNamed)], "; ")
		r.Kubernetes = append(r.Kubernetes, maintain.MaintainedKubernetes{From: k.From, To: k.To, Action: k.Action, Reason: k.Reason}.Does()+": "+names)
	}
}

// countShoot counts a Shoot. known is the number of its worker pools for which maintenance is known, and admitted reports whether the
// filter admits one of them or the control plane. shoot is nil if it is unreadable. If maintenance is unknown, the filter is applied to
// the pools as written.
func countShoot(r *html.Report, filter *input.Filter, shoot *v1beta1.Shoot, known int, admitted bool) {
	if shoot != nil && known >= len(shoot.Spec.Provider.Workers) {
		if admitted {
			r.Shoots++
		}
		return
	}
	admits := func(pool provider.Pool) bool { return filter.Admits(&pool) }
	if shoot == nil || !filter.OfPools() || slices.ContainsFunc(provider.PoolsOf(shoot), admits) {
		r.Shoots++
		r.Unknown++
	}
}

// askedShape identifies worker pools of one profile that get the same answer.
type askedShape struct {
	profile *v1beta1.CloudProfileSpec
	shape   provider.Shape
}

// addPools adds the worker pools of a Shoot that a filter admits, and their names to admitted. Asks and Boots are for the image before
// maintenance. known memoizes them.
func addPools(
	g *input.Given, to *gathered, p input.AnyProfile, s *input.Source[v1beta1.Shoot], maintained []maintain.MaintainedPool,
	known map[askedShape]html.Pools, filter *input.Filter, admitted map[string]bool,
) {
	stored, _ := g.StoredShoot(p, s.Object)
	for i, pool := range provider.PoolsOf(stored) {
		if !filter.Admits(&pool) {
			continue
		}
		admitted[pool.Name] = true
		pool.Image, pool.Version = maintained[i].Image, maintained[i].From
		var answer html.Pools
		if ask.DuplicateKey(s.Manifest, &pool, p) == "" {
			answer = memo.Get(known, askedShape{p.Spec(), p.Provider().Workers().ShapeOf(&pool)}, func() html.Pools {
				asks, boots := asksAndBoots(p, pool)
				return html.Pools{Asks: asks, Boots: boots}
			})
		}
		answer.MaintainedPool = maintained[i]
		answer.Profile, answer.MachineType, answer.Region = profileOf(s.Object), pool.MachineType, pool.Region
		to.add(unnamedPool(answer), 1, maintained[i].Who())
	}
}

// unnamedPool returns an entry about a worker pool without its name.
func unnamedPool(e html.Pools) html.Pools {
	e.Breaks = e.MaintainedPool.Boots != nil && e.To != e.From
	e.Shoot, e.Pool, e.MaintainedPool.Boots = "", "", nil
	return e
}

// rankOf returns a lower rank for a worse entry. Worker pools that get no machines now have the lowest.
func rankOf(e *html.Pools) int {
	rank := slices.Index(pageActions, e.Action)
	switch {
	case e.Asks != nil && e.Boots == "":
		return rank - 2*len(pageActions)
	case e.Breaks:
		return rank - len(pageActions)
	}
	return rank
}

// limitNames truncates the names of entries to most in total, but keeps up to mostNamed in each.
func limitNames(entries []html.Pools, most int) {
	for i := range entries {
		e := &entries[i]
		e.Names = e.Names[:min(len(e.Names), max(most, mostNamed))]
		most -= len(e.Names)
	}
}

// addCalendar adds the effects of maintenance day by day, from the page's time, on worker pools that a filter admits, grouped by effect.
func addCalendar(g *input.Given, r *html.Report, filter *input.Filter) {
	all := g.Shoots.All
	findings := g.Findings
	defer func() { g.Shoots.All, g.Findings = all, findings }()
	g.Shoots.All = make([]*input.Source[v1beta1.Shoot], 0, len(all))
	for _, s := range all { // Calendar forgets Shoots that lint still needs
		other := *s
		g.Shoots.All = append(g.Shoots.All, &other)
	}
	until := r.Made.AddDate(0, 0, ahead)
	r.Until = until.UTC().Format(time.DateOnly)
	total := 0
	for _, day := range maintain.Calendar(g, filter, r.Made, until, func(int) {}) {
		events := gathered{index: map[string]int{}}
		for _, e := range day.Entries {
			switch e := e.(type) {
			case *maintain.MaintainedPool:
				events.add(unnamedPool(html.Pools{MaintainedPool: *e}), 1, e.Who())
			case *maintain.MaintainedKubernetes:
				events.add(html.Pools{MaintainedPool: maintain.MaintainedPool{Image: "Kubernetes", From: e.From, To: e.To, Action: e.Action, Reason: e.Reason}}, 1, e.Who())
			}
		}
		total += len(events.all)
		r.Calendar = append(r.Calendar, html.Day{Date: day.Date, Events: events.all})
	}
	if total > mostEvents {
		r.Calendar = worstOf(r.Calendar, mostEvents)
		r.Notes = append(r.Notes, fmt.Sprintf("of %d different things that maintenance does within %d days, %d are shown, the worst first: "+
			"capkit maintenance --until +%dd says all", total, ahead, mostEvents, ahead))
	}
	for _, day := range r.Calendar {
		limitNames(day.Events, 0)
	}
}

// worstOf truncates the events of days. It keeps the worst, and of equally bad events the earliest.
func worstOf(days []html.Day, most int) []html.Day {
	left := map[int]int{}
	for _, day := range days {
		for i := range day.Events {
			left[rankOf(&day.Events[i])]++
		}
	}
	for _, rank := range slices.Sorted(maps.Keys(left)) {
		left[rank] = min(left[rank], most)
		most -= left[rank]
	}
	var kept []html.Day
	for _, day := range days {
		events := slices.DeleteFunc(slices.Clone(day.Events), func(e html.Pools) bool {
			left[rankOf(&e)]--
			return left[rankOf(&e)] < 0
		})
		if len(events) > 0 {
			kept = append(kept, html.Day{Date: day.Date, Events: events})
		}
	}
	return kept
}

// unnamed returns worker pools in the form of [html.Report].More.
func unnamed(entries []html.Pools) []html.Pools {
	found := gathered{index: map[string]int{}}
	for _, e := range entries {
		count := e.Count
		e.Names, e.Count, e.Core, e.Reason, e.To, e.Breaks = nil, 0, "", "", e.From, false
		found.add(e, count)
	}
	return found.all
}

// gathered groups worker pools that differ only in their names, in the order of their first appearance. Each entry has the first names,
// and the count.
type gathered struct {
	all   []html.Pools
	index map[string]int
}

// add adds count worker pools, with the names of some. entry has neither Names nor Count.
func (g *gathered) add(entry html.Pools, count int, names ...string) {
	key, _ := json.Marshal(entry) // a struct of texts
	i, found := g.index[string(key)]
	if !found {
		i = len(g.all)
		g.index[string(key)], g.all = i, append(g.all, entry)
	}
	same := &g.all[i]
	same.Count += count
	if len(same.Names) < mostNames {
		same.Names = append(same.Names, names...)
	}
}

// addFindings adds the findings of lint. If there are too many, it adds the first of every rule.
func addFindings(r *html.Report, found report.Report) {
	r.Findings, r.Summary = found.Findings, found.Summary.String()
	all := len(r.Findings)
	if all <= mostFindings {
		return
	}
	// byRank contains the first finding of every rule, then the second ones, and so on.
	r.Totals = map[string]int{}
	byRank := make([][]report.Finding, all)
	for i := range r.Findings {
		kind := kindOf(&r.Findings[i])
		rank := r.Totals[kind]
		byRank[rank], r.Totals[kind] = append(byRank[rank], r.Findings[i]), rank+1
	}
	r.Findings = slices.Concat(byRank...)[:mostFindings]
	report.Sort(r.Findings)
	r.Notes = append(r.Notes, fmt.Sprintf("of %d findings %d are shown, some of every rule: capkit lint says all", all, mostFindings))
}

// kindOf returns the key of a finding in [html.Report].Totals.
func kindOf(f *report.Finding) string {
	if len(f.Suppressions) > 0 {
		return "silenced " + f.Rule
	}
	return string(f.Severity) + " " + f.Rule
}
