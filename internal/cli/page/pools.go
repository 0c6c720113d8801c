// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/ask"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/maintain"
	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// What a page says about Shoots, of which there may be tens of thousands: a page has a part of it then, and says so.

const (
	// mostNamed is how many of those to which the same happens a page names.
	mostNamed = 20
	// mostPools and mostFindings are how many entries about worker pools and how many findings a page has.
	mostPools, mostFindings = 1000, 2000
)

// pageActions are the actions of maintenance, the worst first, as a page shows them.
var pageActions = []maintenance.Action{maintenance.Fails, maintenance.Stuck, maintenance.Forced, maintenance.Updated, maintenance.Stays}

// addMaintenance adds what the next maintenance does to the worker pools of all Shoots, those together to which it does the
// same; and the versions of Kubernetes that change. What is wrong with the Shoots is left to lint. What the pools boot is by
// an order of preference.
func addMaintenance(g *input.Given, r *html.Report, order capability.Order) {
	findings := g.Findings
	defer func() { g.Findings = findings }()
	pools, kubernetes := gathered{index: map[string]int{}}, gathered{index: map[string]int{}}
	later, known := maintain.Maintainers(0), map[askedShape]html.Pools{}
	for _, s := range g.Shoots.All {
		if s.Object != nil && s.Object.DeletionTimestamp != nil {
			continue
		}
		r.Shoots++
		var answer maintain.Maintained
		if s.Object != nil {
			maintain.Maintain(g, &answer, s, &input.Filter{}, later)
		}
		if s.Object == nil || len(answer.Pools) < len(s.Object.Spec.Provider.Workers) {
			r.Unknown++
		}
		if len(answer.Pools) > 0 {
			addPools(g, &pools, g.ProfileToAsk(s), s, answer.Pools, order, known)
		}
		for _, k := range answer.Kubernetes {
			kubernetes.add(html.Pools{MaintainedPool: maintain.MaintainedPool{From: k.From, To: k.To, Action: k.Action}}, 1, k.Who())
		}
	}
	r.Maintenance = pools.all
	slices.SortStableFunc(r.Maintenance, func(a, b html.Pools) int {
		return cmp.Compare(slices.Index(pageActions, a.Action), slices.Index(pageActions, b.Action))
	})
	if n := len(r.Maintenance); n > mostPools {
		r.Maintenance, r.More = r.Maintenance[:mostPools], unnamed(r.Maintenance[mostPools:])
		r.Notes = append(r.Notes, fmt.Sprintf("of %d different things that maintenance does, %d are shown, the worst first: "+
			"capkit maintenance says all", n, mostPools))
	}
	for _, k := range kubernetes.all {
		names := words.JoinFirst(k.Count, k.Names, "; ")
		r.Kubernetes = append(r.Kubernetes, fmt.Sprintf("%s is %s to %s: %s", k.From, k.Action, k.To, names))
	}
}

// askedShape are worker pools of one profile that get the same answer.
type askedShape struct {
	profile *v1beta1.CloudProfileSpec
	shape   provider.Shape
}

// addPools adds the worker pools of a Shoot, each with what it asks for and boots with the image that it has before the maintenance.
// What is known of other pools has Asks and Boots alone.
func addPools(
	g *input.Given, to *gathered, p input.AnyProfile, s *input.Source[v1beta1.Shoot], maintained []maintain.MaintainedPool,
	order capability.Order, known map[askedShape]html.Pools,
) {
	stored, _ := g.StoredShoot(p, s.Object)
	for i, pool := range provider.PoolsOf(stored) {
		pool.Image, pool.Version, pool.Order = maintained[i].Image, maintained[i].From, order
		var answer html.Pools
		if ask.DuplicateKey(s.Manifest, &pool, p) == "" {
			answer = memo.Get(known, askedShape{p.Spec(), p.Provider().Workers().ShapeOf(&pool)}, func() html.Pools {
				asks, boots := asksAndBoots(p, pool)
				return html.Pools{Asks: asks, Boots: boots}
			})
		}
		answer.MaintainedPool = maintained[i]
		answer.Profile, answer.MachineType, answer.Region = profileOf(s.Object), pool.MachineType, pool.Region
		answer.Shoot, answer.Pool = "", ""
		to.add(answer, 1, maintained[i].Who())
	}
}

// unnamed returns worker pools as [html.Report].More has them.
func unnamed(entries []html.Pools) []html.Pools {
	found := gathered{index: map[string]int{}}
	for _, e := range entries {
		count := e.Count
		e.Names, e.Count, e.Core, e.Reason, e.To = nil, 0, "", "", e.From
		found.add(e, count)
	}
	return found.all
}

// gathered are worker pools, those together that differ in their names alone, in the order in which they come up first. Each entry
// has the names of the first ones, and how many there are.
type gathered struct {
	all   []html.Pools
	index map[string]int
}

// add adds so many worker pools, with the names of some. The entry has neither Names nor Count.
func (g *gathered) add(entry html.Pools, count int, names ...string) {
	key, _ := json.Marshal(entry) // a struct of texts
	i, found := g.index[string(key)]
	if !found {
		i = len(g.all)
		g.index[string(key)], g.all = i, append(g.all, entry)
	}
	same := &g.all[i]
	same.Count += count
	if len(same.Names) < mostNamed {
		same.Names = append(same.Names, names...)
	}
}

// addFindings adds what lint has found: of too much of it, the first findings of every rule.
func addFindings(r *html.Report, found report.Report) {
	r.Findings, r.Summary = found.Findings, found.Summary.String()
	all := len(r.Findings)
	if all <= mostFindings {
		return
	}
	// byRank are the first findings of every rule, then the second ones, and so on.
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

// kindOf returns what findings are counted by, as [html.Report] has it.
func kindOf(f *report.Finding) string {
	if len(f.Suppressions) > 0 {
		return "silenced " + f.Rule
	}
	return string(f.Severity) + " " + f.Rule
}
