// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/fakenova"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack/machines/servergroups"
)

// faults are the possible faults of a request.
var faults = map[string]fakenova.Fault{
	"is answered in part":            {},
	"is done and answered in part":   {Done: true},
	"fails":                          {Status: 500, Body: `{"computeFault": {"code": 500, "message": "Unexpected API Error."}}`},
	"is done and fails":              {Status: 503, Done: true},
	"is answered by a proxy":         {Status: 404, Body: "<html>no such page</html>"},
	"is answered with what it isn't": {Status: 200, Body: "<html>welcome</html>"},
	"is too much":                    {Status: 429, Body: `{"overLimit": {"code": 429, "message": "slow down"}}`},
	"is forbidden":                   {Status: 403, Body: `{"forbidden": {"code": 403, "message": "Policy doesn't allow it."}}`},
}

// plan holds a Worker's pools before and after a change.
type plan struct{ before, after []Pool }

var plans = map[string]plan{
	"created":            {nil, []Pool{{Name: "a", Policy: hard}, {Name: "b", Policy: soft}}},
	"pool added":         {[]Pool{{Name: "a", Policy: hard}}, []Pool{{Name: "a", Policy: hard}, {Name: "b", Policy: soft}}},
	"policy changed":     {[]Pool{{Name: "a", Policy: hard}, {Name: "b", Policy: hard}}, []Pool{{Name: "a", Policy: soft}, {Name: "b", Policy: hard}}},
	"pool removed":       {[]Pool{{Name: "a", Policy: hard}, {Name: "b", Policy: soft}}, []Pool{{Name: "b", Policy: soft}}},
	"all removed":        {[]Pool{{Name: "a", Policy: hard}, {Name: "b", Policy: soft}}, nil},
	"taken over":         {nil, []Pool{{Name: "old", Policy: hard}}},
	"many pools changed": {manyPools(hard), manyPools(soft)},
}

func manyPools(policy string) []Pool {
	var pools []Pool
	for i := range 6 {
		pools = append(pools, Pool{Name: fmt.Sprintf("pool-%d", i), Policy: policy})
	}
	return pools
}

// reconcile ensures groups and cleans up, as a worker controller does. It returns the record to be written at the end.
func reconcile(t testing.TB, compute Compute, pools []Pool, have records) (records, error) {
	_, record, err := servergroups.Ensure(t.Context(), compute, s1, pools, have)
	if err != nil {
		return record, err
	}
	return servergroups.CleanUp(t.Context(), compute, s1, pools, record)
}

// begin returns an OpenStack with groups of other owners and the plan's first half done.
func (p plan) begin(t testing.TB) (*fakenova.OpenStack, Compute, records) {
	o := fakenova.New(t, false)
	o.Put("shoot--p--s1-a-0123456789", hard)
	o.Put("shoot--p--s1-test-x-0123456789", hard, o.Boot(server(s1test)))
	o.Put("shoot--p--s1-old-0123456789", hard, o.Boot(server(s1)))
	compute := connect(t, o)
	record, err := reconcile(t, compute, p.before, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Requests()
	return o, compute, record
}

// TestInterrupted lets each request of a change fail in each way. It repeats the change with the record returned by the failed attempt,
// and with the previous one, as if the write had failed. The result must equal that without a fault.
func TestInterrupted(t *testing.T) {
	for name, plan := range plans {
		o, compute, record := plan.begin(t)
		before := record
		want, err := reconcile(t, compute, plan.after, record)
		if err != nil {
			t.Fatal(err)
		}
		wantGroups, requests := summary(o.Groups()), o.Requests()
		for number := range requests {
			for kind, fault := range faults {
				for _, written := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s/%d %s/written %t", name, number+1, kind, written), func(t *testing.T) {
						o, compute, record := plan.begin(t)
						equal(t, "record from before", record, before)
						count := 0
						o.Break(func(_ int, _, _ string) *fakenova.Fault {
							if count++; count == number+1 {
								return &fault
							}
							return nil
						})
						after, err := reconcile(t, compute, plan.after, slices.Clone(record))
						if err == nil {
							t.Error("there is no error")
						}
						wantNoSecret(t, err)
						if written {
							record = after
						}
						o.Break(nil)
						if record, err = reconcile(t, compute, plan.after, record); err != nil {
							t.Fatal(err)
						}
						equal(t, "groups", summary(o.Groups()), wantGroups)
						equal(t, "pools in the record", poolsOf(record), poolsOf(want))
						checkRecord(t, o, record)
					})
				}
			}
		}
	}
}

func poolsOf(record records) []string {
	var pools []string
	for _, entry := range record {
		pools = append(pools, entry.PoolName)
	}
	return pools
}

// fatal is the common part of testing.TB and rapid.T.
type fatal interface {
	Helper()
	Errorf(format string, args ...any)
}

// checkRecord checks that a record's groups exist under their names.
func checkRecord(t fatal, o *fakenova.OpenStack, record records) {
	t.Helper()
	names := map[string]string{}
	for _, g := range o.Groups() {
		names[g.ID] = g.Name
	}
	for _, entry := range record {
		if names[entry.ID] != entry.Name {
			t.Errorf("recorded %v; there is %q", entry, names[entry.ID])
		}
	}
}

// world is an OpenStack with the groups of two Workers, whose Shoots' names have a common prefix, and groups of others.
type world struct {
	o       *fakenova.OpenStack
	compute Compute
	// foreign are the groups of neither Worker.
	foreign []string
	workers [2]*workerState
	// remaining is the number of requests until one fails with fault; negative if none does.
	remaining int
	fault     fakenova.Fault
}

type workerState struct {
	names  Names
	pools  map[string]Pool
	record records
	ids    map[string]string
	// servers maps a group to its machines.
	servers map[string][]string
}

func (w *workerState) wanted() []Pool { return slices.Collect(maps.Values(w.pools)) }

// TestRandom changes two Workers at random, with faults, lost records, and changing machines. Foreign groups are never touched. A pool's
// group is replaced only if the pool requires it, and deleting both Workers leaves nothing.
func TestRandom(t *testing.T) {
	server := fakenova.New(t, false)
	compute := connect(t, server)
	rapid.Check(t, func(t *rapid.T) {
		w := &world{o: server, compute: compute, remaining: -1}
		for _, g := range server.Groups() {
			server.Remove(g.ID)
		}
		for i, names := range []Names{s1, s1test} {
			w.workers[i] = &workerState{names: names, pools: map[string]Pool{}, servers: map[string][]string{}}
		}
		for _, name := range []string{"shoot--p--s1-test-x-0123456789", "shoot--p--s1-x-0123456789", "by hand", "shoot--p--s1-test-x-aaaaaaaaaa"} {
			members := rapid.SliceOfN(rapid.Just(server.Boot(nil)), 0, 1).Draw(t, "members of "+name)
			w.foreign = append(w.foreign, server.Put(name, hard, members...))
		}
		server.Break(w.next)
		defer server.Break(nil)
		t.Repeat(map[string]func(*rapid.T){
			"change":    w.change,
			"reconcile": func(t *rapid.T) { w.reconcile(t, w.draw(t)) },
			"fault": func(t *rapid.T) {
				w.remaining = rapid.IntRange(0, 8).Draw(t, "after")
				w.fault = faults[rapid.SampledFrom(slices.Sorted(maps.Keys(faults))).Draw(t, "fault")]
			},
			"machines": w.machines,
			"":         w.check,
		})
		w.remaining = -1
		for _, worker := range w.workers {
			if rapid.Bool().Draw(t, "record lost at the end") && !worker.hasOld() {
				worker.record = nil
			}
			left, err := servergroups.Delete(t.Context(), compute, worker.names, worker.record)
			if err != nil || len(left) > 0 {
				t.Fatalf("record %v, %v", left, err)
			}
		}
		var left []string
		for _, g := range server.Groups() {
			left = append(left, g.ID)
		}
		if diff := cmp.Diff(w.foreign, left); diff != "" {
			t.Fatalf("groups at the end (-want +got):\n%s", diff)
		}
	})
}

// hasOld reports whether only the record shows that some group belongs to the Worker.
func (w *workerState) hasOld() bool {
	return slices.ContainsFunc(w.record, func(e v1alpha1.ServerGroupDependency) bool { return e.Name[:5] == "shoot" })
}

func (w *world) draw(t *rapid.T) *workerState {
	return w.workers[rapid.IntRange(0, 1).Draw(t, "worker")]
}

// next is called with the fake's lock held, during a request.
func (w *world) next(int, string, string) *fakenova.Fault {
	if w.remaining--; w.remaining == -1 {
		return &w.fault
	}
	w.remaining = max(w.remaining, -1)
	return nil
}

// change adds a pool, removes it or changes its policy. A new pool may have a group recorded under an old name.
func (w *world) change(t *rapid.T) {
	worker := w.draw(t)
	name := rapid.SampledFrom([]string{"x", "test-x", "y"}).Draw(t, "pool")
	policy := rapid.SampledFrom([]string{"", hard, soft}).Draw(t, "policy")
	if policy == "" {
		delete(worker.pools, name)
		return
	}
	if _, exists := worker.pools[name]; !exists && rapid.Bool().Draw(t, "taken over") {
		old := worker.names.TechnicalID + "-" + name + "-" + rapid.StringMatching("[0-9A-Za-z]{10}").Draw(t, "random")
		id := w.o.Put(old, policy)
		worker.record = append(worker.record, v1alpha1.ServerGroupDependency{PoolName: name, ID: id, Name: old})
	}
	worker.pools[name] = Pool{Name: name, Policy: policy}
}

// machines adds a machine to a pool's group, or removes the group's machines.
func (w *world) machines(t *rapid.T) {
	worker := w.draw(t)
	if len(worker.ids) == 0 {
		return
	}
	id := worker.ids[rapid.SampledFrom(slices.Sorted(maps.Keys(worker.ids))).Draw(t, "pool")]
	if rapid.Bool().Draw(t, "boot") {
		machine := w.o.Boot(server(worker.names))
		w.o.Join(id, machine)
		worker.servers[id] = append(worker.servers[id], machine)
		return
	}
	for _, machine := range worker.servers[id] {
		w.o.Kill(machine)
	}
	delete(worker.servers, id)
}

// reconcile acts like a worker controller. Old machines are gone before it cleans up. The record may be lost, unless only the record
// knows one of its groups.
func (w *world) reconcile(t *rapid.T, worker *workerState) {
	pools := worker.wanted()
	keep := w.kept(worker)
	ids, record, err := servergroups.Ensure(t.Context(), w.compute, worker.names, pools, worker.record)
	for pool, id := range keep {
		if got, has := ids[pool]; has && got != id {
			t.Fatalf("pool %s had %s and has %s", pool, id, got)
		}
	}
	if err != nil {
		if !rapid.Bool().Draw(t, "record lost") || worker.hasOld() {
			worker.record = record
		}
		return
	}
	worker.record, worker.ids = record, ids
	if len(ids) != len(pools) {
		t.Fatalf("pools %v have %v", pools, ids)
	}
	for group, machines := range worker.servers {
		if slices.Contains(slices.Collect(maps.Values(ids)), group) {
			continue
		}
		for _, machine := range machines {
			w.o.Kill(machine)
		}
		delete(worker.servers, group)
	}
	record, err = servergroups.CleanUp(t.Context(), w.compute, worker.names, pools, worker.record)
	worker.record = record
	if err == nil && len(record) != len(pools) {
		t.Fatalf("pools %v, record %v", pools, record)
	}
	for pool, id := range ids {
		if !slices.ContainsFunc(record, func(e v1alpha1.ServerGroupDependency) bool { return e.PoolName == pool && e.ID == id }) {
			t.Fatalf("pool %s has %s, which is not in %v", pool, id, record)
		}
	}
}

// kept returns the groups that pools must keep: for each pool the first recorded group that exists and has the right policy.
func (w *world) kept(worker *workerState) map[string]string {
	keep := map[string]string{}
	for _, entry := range slices.Backward(worker.record) {
		for _, g := range w.o.Groups() {
			if pool, asks := worker.pools[entry.PoolName]; asks && g.ID == entry.ID && g.Policy == pool.Policy && worker.ids[pool.Name] == g.ID {
				keep[entry.PoolName] = entry.ID
			}
		}
	}
	return keep
}

// check checks that foreign and recorded groups exist.
func (w *world) check(t *rapid.T) {
	there := map[string]bool{}
	for _, g := range w.o.Groups() {
		there[g.ID] = true
	}
	for _, id := range w.foreign {
		if !there[id] {
			t.Fatalf("the group %s of somebody else is gone", id)
		}
	}
	for _, worker := range w.workers {
		for pool, id := range worker.ids {
			if _, asks := worker.pools[pool]; asks && !there[id] {
				t.Fatalf("the group %s of pool %s is gone", id, pool)
			}
		}
	}
}
