// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/cli/ask"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/page/html"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

// What a page says about Shoots, of which there may be tens of thousands: a page has a part of it then, and says so.

const (
	// mostNamed is how many of those to which the same happens a page names.
	mostNamed = 20
	// mostPools and mostFindings are how many entries about worker pools and how many findings a page has.
	mostPools, mostFindings = 1000, 2000
)

// pageActions are the actions of maintenance, the worst first, as a page shows them.
var pageActions = []string{ask.ActionFails, ask.ActionStuck, ask.ActionForced, ask.ActionUpdated, ask.ActionStays}

// addMaintenance adds what the next maintenance does to the worker pools of all Shoots, those together to which it does the
// same; and the versions of Kubernetes that change. What is wrong with the Shoots is left to lint. What the pools boot is by
// an order of preference.
func addMaintenance(g *input.Given, r *html.Report, order capability.Order) {
	findings := g.Findings
	defer func() { g.Findings = findings }()
	var all maintainedShoots
	later, asking := ask.Maintainers(0), poolsAsked{order: order, known: map[askedShape]html.Pools{}}
	for _, s := range g.Shoots.All {
		if s.Object != nil && s.Object.DeletionTimestamp != nil {
			continue
		}
		r.Shoots++
		if s.Object == nil {
			r.Unknown++
			continue
		}
		var answer ask.Maintained
		ask.Maintain(g, &answer, s, later, true)
		if len(answer.Pools) < len(s.Object.Spec.Provider.Workers) {
			r.Unknown++
		}
		if len(answer.Pools) > 0 {
			all.add(asking.of(g.ProfileToAsk(s), s, answer.Pools), answer.Kubernetes)
		}
	}
	r.Maintenance = poolsIn(all.pools)
	slices.SortStableFunc(r.Maintenance, func(a, b html.Pools) int {
		return cmp.Compare(slices.Index(pageActions, a.Action), slices.Index(pageActions, b.Action))
	})
	if n := len(r.Maintenance); n > mostPools {
		r.Maintenance, r.More = r.Maintenance[:mostPools], unnamed(r.Maintenance[mostPools:])
		r.Notes = append(r.Notes, fmt.Sprintf("of %d different things that maintenance does, %d are shown, the worst first: "+
			"capkit maintenance says all", n, mostPools))
	}
	for _, k := range all.kubernetes.all {
		names := strings.Join(k.names, "; ")
		if k.count > len(k.names) {
			names += fmt.Sprintf("; and %d more", k.count-len(k.names))
		}
		r.Kubernetes = append(r.Kubernetes, fmt.Sprintf("%s is %s to %s: %s", k.of.From, k.of.Action, k.of.To, names))
	}
}

// maintainedShoots is what maintenance does to worker pools and Kubernetes of Shoots.
type maintainedShoots struct {
	pools      gathered[html.Pools]
	kubernetes gathered[ask.MaintainedKubernetes]
}

// add adds what maintenance does to the worker pools of a Shoot, and to its versions of Kubernetes.
func (m *maintainedShoots) add(pools []html.Pools, kubernetes []ask.MaintainedKubernetes) {
	for _, p := range pools {
		name := p.Shoot + ", worker pool " + p.Pool
		p.Shoot, p.Pool = "", ""
		m.pools.add(p, 1, name)
	}
	for _, k := range kubernetes {
		name := k.Shoot
		if k.Pool != "" {
			name += ", worker pool " + k.Pool
		}
		k.Shoot, k.Pool = "", ""
		m.kubernetes.add(k, 1, name)
	}
}

// askedShape are worker pools of one profile that get the same answer.
type askedShape struct {
	profile *v1beta1.CloudProfileSpec
	shape   provider.Shape
}

// poolsAsked are worker pools that were asked about, by an order of preference. What is known has Asks and Boots alone.
type poolsAsked struct {
	order capability.Order
	known map[askedShape]html.Pools
}

// of returns the worker pools of a Shoot, each with what it asks for and boots with the image that it has before the maintenance.
func (a poolsAsked) of(p input.AnyProfile, s *input.Source[v1beta1.Shoot], maintained []ask.MaintainedPool) []html.Pools {
	all := make([]html.Pools, 0, len(maintained))
	stored, _ := input.StoredShoot(p, s.Object, true)
	for i, pool := range provider.PoolsOf(stored) {
		pool.Image, pool.Version, pool.Order = maintained[i].Image, maintained[i].From, a.order
		var answer html.Pools
		if ask.DuplicateKey(s.Manifest, &pool, p) == "" {
			answer = a.answer(p, pool)
		}
		answer.MaintainedPool = maintained[i]
		answer.Profile, answer.MachineType, answer.Region = profileOf(s.Object), pool.MachineType, pool.Region
		all = append(all, answer)
	}
	return all
}

// answer returns what a worker pool asks for and boots.
func (a poolsAsked) answer(p input.AnyProfile, pool provider.Pool) html.Pools {
	key := askedShape{p.Spec(), p.Provider().Workers().ShapeOf(&pool)}
	known, found := a.known[key]
	if !found {
		known.Asks, known.Boots = asksAndBoots(p, pool)
		a.known[key] = known
	}
	return known
}

// poolsIn returns worker pools with the names of some, and how many there are.
func poolsIn(found gathered[html.Pools]) []html.Pools {
	all := make([]html.Pools, 0, len(found.all))
	for _, p := range found.all {
		p.of.Names, p.of.Count = p.names, p.count
		all = append(all, p.of)
	}
	return all
}

// unnamed returns worker pools as [html.Report].More has them.
func unnamed(entries []html.Pools) []html.Pools {
	var found gathered[html.Pools]
	for _, e := range entries {
		count := e.Count
		e.Names, e.Count, e.Core, e.Reason, e.To = nil, 0, "", "", e.From
		found.add(e, count)
	}
	return poolsIn(found)
}

// gathered are those to which the same happens, in the order in which that comes up first.
type gathered[T any] struct {
	all   []*gathering[T]
	index map[string]*gathering[T]
}

// gathering is what happens to some, the names of the first of them, and how many there are.
type gathering[T any] struct {
	of    T
	names []string
	count int
}

// add adds so many of those to which something happens, with the names of some.
func (g *gathered[T]) add(of T, count int, names ...string) {
	key, _ := json.Marshal(of) // a struct of texts
	entry := g.index[string(key)]
	if entry == nil {
		if g.index == nil {
			g.index = map[string]*gathering[T]{}
		}
		entry = &gathering[T]{of: of}
		g.index[string(key)], g.all = entry, append(g.all, entry)
	}
	entry.count += count
	if len(entry.names) < mostNamed {
		entry.names = append(entry.names, names...)
	}
}

// addFindings adds what lint has found: of too much of it, the first findings of every rule.
func addFindings(r *html.Report, found report.Report) {
	r.Findings, r.Summary = found.Findings, found.Summary.String()
	all := len(r.Findings)
	if all <= mostFindings {
		return
	}
	order := make([]int, all)
	nth, total := make([]int, all), map[string]int{}
	for i := range r.Findings {
		kind := kindOf(&r.Findings[i])
		order[i], nth[i] = i, total[kind]
		total[kind]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(nth[a], nth[b]) })
	order = order[:mostFindings]
	slices.Sort(order)
	r.Findings, r.Totals = make([]report.Finding, 0, mostFindings), total
	for _, i := range order {
		r.Findings = append(r.Findings, found.Findings[i])
	}
	r.Notes = append(r.Notes, fmt.Sprintf("of %d findings %d are shown, some of every rule: capkit lint says all", all, mostFindings))
}

// kindOf returns what findings are counted by, as [html.Report] has it.
func kindOf(f *report.Finding) string {
	if len(f.Suppressions) > 0 {
		return "silenced " + f.Rule
	}
	return string(f.Severity) + " " + f.Rule
}
