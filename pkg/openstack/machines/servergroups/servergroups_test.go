// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package servergroups_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/utils"
	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/testing/fakenova"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack/machines/servergroups"
)

const (
	hard = "anti-affinity"
	soft = "soft-anti-affinity"
)

var (
	s1     = Names{TechnicalID: "shoot--p--s1", UID: "be9f9c04-7053-4bb2-9883-e28ba6ace0ea"}
	s1test = Names{TechnicalID: "shoot--p--s1-test", UID: "11111111-2222-4333-8444-555555555555"}
)

type (
	Names   = servergroups.Names
	Pool    = servergroups.Pool
	Compute = servergroups.Compute
	records = []v1alpha1.ServerGroupDependency
)

// connect logs in to a fake OpenStack.
func connect(t testing.TB, o *fakenova.OpenStack) Compute {
	t.Helper()
	compute, err := servergroups.Connect(t.Context(), servergroups.Credentials{Secret: o.Secret()}, o.Region)
	if err != nil {
		t.Fatal(err)
	}
	return compute
}

func ensure(t testing.TB, compute Compute, pools []Pool, have records) (map[string]string, records) {
	t.Helper()
	ids, record, err := servergroups.Ensure(t.Context(), compute, s1, pools, have)
	if err != nil {
		t.Fatal(err)
	}
	return ids, record
}

func cleanUp(t testing.TB, compute Compute, pools []Pool, have records) records {
	t.Helper()
	record, err := servergroups.CleanUp(t.Context(), compute, s1, pools, have)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// summary returns sorted lines about groups, without their IDs.
func summary(groups []fakenova.Group) []string {
	lines := make([]string, 0, len(groups))
	for _, g := range groups {
		lines = append(lines, fmt.Sprintf("%s %s %d", g.Name, g.Policy, len(g.Members)))
	}
	slices.Sort(lines)
	return lines
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func server(names Names) map[string]string {
	return map[string]string{"kubernetes.io-cluster-" + names.TechnicalID: "1", "kubernetes.io-role-node": "1"}
}

func TestLife(t *testing.T) {
	o := fakenova.New(t, false)
	compute := connect(t, o)
	pools := []Pool{{Name: "b", Policy: soft}, {Name: "group", Policy: hard}}

	ids, record := ensure(t, compute, pools, nil)
	equal(t, "groups", summary(o.Groups()), []string{
		"be9f9c04-7053-4bb2-9581362a soft-anti-affinity 0", "be9f9c04-7053-4bb2-fe22442c anti-affinity 0",
	})
	first := o.Groups()
	equal(t, "IDs", ids, map[string]string{"b": first[0].ID, "group": first[1].ID})
	equal(t, "record", record, records{
		{PoolName: "b", ID: first[0].ID, Name: first[0].Name}, {PoolName: "group", ID: first[1].ID, Name: first[1].Name},
	})
	equal(t, "requests", o.Requests(), []string{
		"GET /os-server-groups", "POST /os-server-groups", "POST /os-server-groups",
	})

	again, same := ensure(t, compute, pools, record)
	equal(t, "IDs of the second time", again, ids)
	equal(t, "record of the second time", same, record)
	equal(t, "requests of the second time", o.Requests(), []string{
		"GET /os-server-groups/" + first[0].ID, "GET /os-server-groups/" + first[1].ID,
	})
	equal(t, "record after nothing to clean up", cleanUp(t, compute, pools, record), record)
	equal(t, "groups after nothing to clean up", o.Groups(), first)

	// Another policy: both groups exist until the machines have moved.
	machine := o.Boot(server(s1))
	o.Join(ids["group"], machine)
	pools[1].Policy = soft
	moved, both := ensure(t, compute, pools, record)
	if moved["group"] == ids["group"] || moved["b"] != ids["b"] {
		t.Errorf("IDs: %v, before: %v", moved, ids)
	}
	if len(both) != 3 || both[1].ID != moved["group"] || both[2].ID != ids["group"] {
		t.Errorf("record: %v", both)
	}
	equal(t, "record while there is a machine", cleanUp(t, compute, pools, both), both)
	o.Kill(machine)
	left := cleanUp(t, compute, pools, both)
	equal(t, "record without machine", left, records{both[0], both[1]})

	// A pool that no longer requests a group.
	left = cleanUp(t, compute, pools[:1], left)
	equal(t, "record without pool", left, records{both[0]})
	equal(t, "groups without pool", len(o.Groups()), 1)

	o.Requests()
	left, err := servergroups.Delete(t.Context(), compute, s1, left)
	equal(t, "requests of the deletion", o.Requests(), []string{
		"GET /os-server-groups", "GET /os-server-groups", "DELETE /os-server-groups/" + ids["b"],
	})
	if err != nil || len(left) > 0 || len(o.Groups()) > 0 {
		t.Errorf("after deletion: %v, record %v, groups %v", err, left, o.Groups())
	}
}

func TestNothing(t *testing.T) {
	ids, record, err := servergroups.Ensure(t.Context(), nil, Names{}, nil, nil)
	if err != nil || ids == nil || len(ids) > 0 || len(record) > 0 {
		t.Errorf("%v, %v, %v", ids, record, err)
	}
	if record, err = servergroups.CleanUp(t.Context(), nil, Names{}, nil, nil); err != nil || len(record) > 0 {
		t.Errorf("%v, %v", record, err)
	}
}

// TestRecorded covers recorded groups: they are kept under any name, and given up if they do not match the pool.
func TestRecorded(t *testing.T) {
	pool := Pool{Name: "group", Policy: hard}
	for name, c := range map[string]struct {
		name, policy, recorded string
		keeps                  bool
	}{
		"old name":          {"shoot--p--s1-group-0123456789", hard, "shoot--p--s1-group-0123456789", true},
		"any name":          {"by hand", hard, "by hand", true},
		"new name":          {"be9f9c04-7053-4bb2-fe22442c", hard, "be9f9c04-7053-4bb2-fe22442c", true},
		"another policy":    {"shoot--p--s1-group-0123456789", soft, "shoot--p--s1-group-0123456789", false},
		"another name":      {"of somebody else", hard, "shoot--p--s1-group-0123456789", false},
		"there is none":     {"", "", "shoot--p--s1-group-0123456789", false},
		"no name recorded":  {"shoot--p--s1-group-0123456789", hard, "", false},
		"of another policy": {"be9f9c04-7053-4bb2-fe22442c", soft, "be9f9c04-7053-4bb2-fe22442c", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := fakenova.New(t, false)
			id := "99999999-0000-4000-8000-000000000000"
			if c.name != "" {
				id = o.Put(c.name, c.policy)
			}
			have := records{{PoolName: "group", ID: id, Name: c.recorded}}
			compute := connect(t, o)
			ids, record := ensure(t, compute, []Pool{pool}, slices.Clone(have))
			if kept := ids["group"] == id; kept != c.keeps {
				t.Fatalf("keeps: %t, want %t; %v", kept, c.keeps, o.Groups())
			}
			left := cleanUp(t, compute, []Pool{pool}, record)
			if len(left) != 1 || left[0].ID != ids["group"] {
				t.Errorf("record: %v", left)
			}
			others := slices.DeleteFunc(o.Groups(), func(g fakenova.Group) bool { return g.ID == ids["group"] })
			switch foreign := c.name != "" && c.name != c.recorded; {
			case foreign && (len(others) != 1 || others[0].ID != id):
				t.Errorf("the group of somebody else is gone")
			case !foreign && len(others) > 0:
				t.Errorf("left over: %v", others)
			}
		})
	}
}

// TestAdoption covers groups that are not recorded.
func TestAdoption(t *testing.T) {
	const testX = "shoot--p--s1-test-x-0123456789" // of s1's pool test-x, or of s1-test's pool x
	for name, c := range map[string]struct {
		pool    Pool
		prepare func(o *fakenova.OpenStack) string
		adopts  bool
	}{
		"new name": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("be9f9c04-7053-4bb2-fe22442c", hard)
		}, true},
		"new name, the one with machines first": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			o.Put("be9f9c04-7053-4bb2-fe22442c", hard)
			return o.Put("be9f9c04-7053-4bb2-fe22442c", hard, o.Boot(server(s1)))
		}, true},
		"new name, another policy": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("be9f9c04-7053-4bb2-fe22442c", soft)
		}, false},
		"new name of another pool": {Pool{Name: "other", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("be9f9c04-7053-4bb2-fe22442c", hard)
		}, false},
		"old name without members": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("shoot--p--s1-group-0123456789", hard)
		}, false},
		"old name with own members": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("shoot--p--s1-group-0123456789", hard, o.Boot(server(s1)), o.Boot(server(s1)))
		}, true},
		"old name with another policy": {Pool{Name: "group", Policy: soft}, func(o *fakenova.OpenStack) string {
			return o.Put("shoot--p--s1-group-0123456789", hard, o.Boot(server(s1)))
		}, false},
		"old name with a member that is gone": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("shoot--p--s1-group-0123456789", hard, "gone")
		}, false},
		"old name with a member that is gone, and one that is not": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("shoot--p--s1-group-0123456789", hard, "gone", o.Boot(server(s1)))
		}, true},
		"old name with members of two": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("shoot--p--s1-group-0123456789", hard, o.Boot(server(s1)), o.Boot(server(s1test)))
		}, false},
		"old name with servers by hand": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("shoot--p--s1-group-0123456789", hard, o.Boot(nil))
		}, false},
		"old name of the neighbour": {Pool{Name: "test-x", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put(testX, hard, o.Boot(server(s1test)))
		}, false},
		"old name that could be the neighbour's": {Pool{Name: "test-x", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put(testX, hard, o.Boot(server(s1)))
		}, true},
		"old name of a longer pool": {Pool{Name: "test", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put(testX, hard, o.Boot(server(s1)))
		}, false},
		"old name with capital letters": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("shoot--p--s1-group-0bQxV7PzKa", hard, o.Boot(server(s1)))
		}, true},
		"old name with other characters at the end": {Pool{Name: "group", Policy: hard}, func(o *fakenova.OpenStack) string {
			return o.Put("shoot--p--s1-group-012345678_", hard, o.Boot(server(s1)))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := fakenova.New(t, false)
			id := c.prepare(o)
			compute := connect(t, o)
			ids, record := ensure(t, compute, []Pool{c.pool}, nil)
			if adopted := ids[c.pool.Name] == id; adopted != c.adopts {
				t.Errorf("adopts: %t, want %t", adopted, c.adopts)
			}
			if len(record) != 1 || record[0].ID != ids[c.pool.Name] || record[0].PoolName != c.pool.Name {
				t.Errorf("record: %v", record)
			}
			again, same := ensure(t, compute, []Pool{c.pool}, record)
			equal(t, "IDs of the second time", again, ids)
			equal(t, "record of the second time", same, record)
		})
	}
}

// TestOldNames covers the names that provider-openstack generated with this function.
func TestOldNames(t *testing.T) {
	o := fakenova.New(t, false)
	compute, machine := connect(t, o), o.Boot(server(s1))
	for range 50 {
		random, err := utils.GenerateRandomString(10)
		if err != nil {
			t.Fatal(err)
		}
		id := o.Put("shoot--p--s1-group-"+random, hard, machine)
		if ids, _ := ensure(t, compute, []Pool{{Name: "group", Policy: hard}}, nil); ids["group"] != id {
			t.Errorf("shoot--p--s1-group-%s is not recognised", random)
		}
		o.Remove(id)
	}
}

// TestReferredTo covers groups that are not recorded, but that a pool's machine classes refer to: another one would replace its machines.
func TestReferredTo(t *testing.T) {
	for name, c := range map[string]struct {
		group, policy string
		has           bool
	}{
		"old name without members": {"shoot--p--s1-group-0bQxV7PzKa", hard, true},
		"any name":                 {"by hand", hard, true},
		"another policy":           {"shoot--p--s1-group-0bQxV7PzKa", soft, false},
		"there is none":            {"", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := fakenova.New(t, false)
			compute, id := connect(t, o), "99999999-0000-4000-8000-000000000000"
			if c.group != "" {
				id = o.Put(c.group, c.policy)
			}
			o.Put("be9f9c04-7053-4bb2-fe22442c", hard) // a leftover, ignored if there is a group
			pools := []Pool{{Name: "group", Policy: hard, Refers: []string{"98888888-0000-4000-8000-000000000000", id}}}
			ids, record := ensure(t, compute, pools, nil)
			if has := ids["group"] == id; has != c.has {
				t.Errorf("has %s, of %v", ids["group"], o.Groups())
			}
			if len(record) != 1 || record[0].ID != ids["group"] {
				t.Errorf("record: %v", record)
			}
			pools[0].Refers = nil // the machine classes are gone, but the group is recorded
			again, _ := ensure(t, compute, pools, record)
			equal(t, "IDs", again, ids)
		})
	}
}

// TestTaken assigns no group to two pools, even if the record is wrong.
func TestTaken(t *testing.T) {
	o := fakenova.New(t, false)
	compute := connect(t, o)
	id := o.Put("shoot--p--s1-group-0123456789", hard, o.Boot(server(s1)))
	own := o.Put("be9f9c04-7053-4bb2-fe22442c", hard)
	have := records{
		{PoolName: "a", ID: id, Name: "shoot--p--s1-group-0123456789"}, {PoolName: "b", ID: id, Name: "shoot--p--s1-group-0123456789"},
		{PoolName: "c", ID: own, Name: "be9f9c04-7053-4bb2-fe22442c"},
	}
	ids, _ := ensure(t, compute, []Pool{{Name: "a", Policy: hard}, {Name: "b", Policy: hard}, {Name: "c", Policy: hard}, {Name: "group", Policy: hard}}, have)
	if ids["a"] != id || ids["c"] != own || ids["b"] == id || ids["group"] == id || ids["group"] == own || len(o.Groups()) != 4 {
		t.Errorf("%v", ids)
	}
}

// TestNeighbours deletes a Worker beside another one whose Shoot's name has the same prefix.
func TestNeighbours(t *testing.T) {
	o := fakenova.New(t, false)
	compute := connect(t, o)
	pools := []Pool{{Name: "x", Policy: hard}, {Name: "test-x", Policy: hard}}
	_, mine, err := servergroups.Ensure(t.Context(), compute, s1, pools, nil)
	if err != nil {
		t.Fatal(err)
	}
	mine = append(mine, v1alpha1.ServerGroupDependency{
		PoolName: "x", ID: o.Put("shoot--p--s1-x-aaaaaaaaaa", hard), Name: "shoot--p--s1-x-aaaaaaaaaa",
	})
	_, theirs, err := servergroups.Ensure(t.Context(), compute, s1test, pools, nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs = append(theirs, v1alpha1.ServerGroupDependency{
		PoolName: "x", ID: o.Put("shoot--p--s1-test-x-bbbbbbbbbb", hard), Name: "shoot--p--s1-test-x-bbbbbbbbbb",
	})
	foreign := o.Put("shoot--p--s1-test-x-cccccccccc", hard)

	left, err := servergroups.Delete(t.Context(), compute, s1, mine)
	if err != nil || len(left) > 0 {
		t.Fatalf("record %v, %v", left, err)
	}
	want := []string{foreign}
	for _, entry := range theirs {
		want = append(want, entry.ID)
	}
	var got []string
	for _, g := range o.Groups() {
		got = append(got, g.ID)
	}
	slices.Sort(want)
	slices.Sort(got)
	equal(t, "groups that are left", got, want)
}

// TestCleanUpUnrecorded removes groups that were created before the record was lost.
func TestCleanUpUnrecorded(t *testing.T) {
	o := fakenova.New(t, false)
	compute := connect(t, o)
	pool := Pool{Name: "group", Policy: hard}
	_, record := ensure(t, compute, []Pool{pool}, nil)
	o.Put("be9f9c04-7053-4bb2-00000000", soft)                       // left behind
	o.Put("be9f9c04-7053-4bb2-fe22442c", hard)                       // a duplicate
	stays := o.Put("be9f9c04-7053-4bb2-11111111", soft, o.Boot(nil)) // has a member
	foreign := o.Put("be9f9c04-7053-4bb2-0000000g", hard)            // not a valid name
	another := o.Put("be9f9c04-7053-4bb2-000000000", hard)           // not valid either
	old := o.Put("shoot--p--s1-group-0123456789", hard)              // of an unknown owner
	equal(t, "record", cleanUp(t, compute, []Pool{pool}, record), record)
	var got []string
	for _, g := range o.Groups() {
		got = append(got, g.ID)
	}
	equal(t, "groups", got, []string{record[0].ID, stays, foreign, another, old})
	if left, err := servergroups.Delete(t.Context(), compute, s1, nil); err != nil || len(left) > 0 {
		t.Fatalf("record %v, %v", left, err)
	}
	equal(t, "groups after deletion", len(o.Groups()), 3)
}

// TestNameOfSomebodyElse does not touch groups without a certain owner.
func TestNameOfSomebodyElse(t *testing.T) {
	o := fakenova.New(t, false)
	compute := connect(t, o)
	o.Requests()
	for _, names := range []Names{{TechnicalID: "", UID: s1.UID}, {TechnicalID: "shoot--p--s1", UID: "be9f9c04"}, {}} {
		have := records{{PoolName: "group", ID: "1", Name: "n"}}
		_, record, err := servergroups.Ensure(t.Context(), compute, names, []Pool{{Name: "group", Policy: hard}}, have)
		wantCode(t, err, v1beta1.ErrorConfigurationProblem)
		equal(t, "record", record, have)
		record, err = servergroups.Delete(t.Context(), compute, names, have)
		wantCode(t, err, v1beta1.ErrorConfigurationProblem)
		equal(t, "record", record, have)
	}
	equal(t, "requests", o.Requests(), []string(nil))
}

func TestEmptyPolicy(t *testing.T) {
	o := fakenova.New(t, false)
	ids, record, err := servergroups.Ensure(t.Context(), connect(t, o), s1, []Pool{{Name: "a\x1b\n", Policy: ""}, {Name: "b", Policy: hard}}, nil)
	wantCode(t, err, v1beta1.ErrorConfigurationProblem)
	if !strings.HasPrefix(err.Error(), `worker pool a\x1b\n: serverGroup.policy of its providerConfig is empty`) {
		t.Error(err)
	}
	if len(ids) != 1 || len(record) != 1 || len(o.Groups()) != 1 {
		t.Errorf("the other pool: %v, %v", ids, record)
	}
}

// TestManyPools has more pools than are looked up one by one, more groups than a page holds, and groups that disappear between two pages.
func TestManyPools(t *testing.T) {
	o := fakenova.New(t, false)
	o.Page = 7
	var others []string
	for i := range 10 {
		others = append(others, o.Put(fmt.Sprintf("other-%d", i), hard))
	}
	var pools []Pool
	for i := range 20 {
		pools = append(pools, Pool{Name: fmt.Sprintf("pool-%02d", i), Policy: soft})
	}
	compute := connect(t, o)
	ids, record := ensure(t, compute, pools, nil)
	o.Requests()
	again, same := ensure(t, compute, pools, record)
	equal(t, "IDs", again, ids)
	equal(t, "record", same, record)
	if requests := o.Requests(); len(requests) != 6 { // 30 groups are 5 pages, followed by an empty one
		t.Errorf("requests: %v", requests)
	}

	o.Break(func(_ int, method, path string) *fakenova.Fault {
		if method+" "+path == "GET /os-server-groups" && len(others) > 0 {
			go o.Remove(others[0])
			others = others[1:]
		}
		return nil
	})
	again, same = ensure(t, compute, pools, record)
	equal(t, "IDs while others remove groups", again, ids)
	equal(t, "record while others remove groups", same, record)
	equal(t, "record after clean up while others remove groups", cleanUp(t, compute, pools, record), record)
}

// TestOrder sends the same requests in any order of pools and records.
func TestOrder(t *testing.T) {
	pools := []Pool{{Name: "c", Policy: hard}, {Name: "a", Policy: soft}, {Name: "b", Policy: hard}}
	var want []string
	for range 2 {
		o := fakenova.New(t, false)
		compute := connect(t, o)
		given := slices.Clone(pools)
		_, record := ensure(t, compute, pools, nil)
		equal(t, "pools", pools, given)
		slices.Reverse(record)
		have := slices.Clone(record)
		ensure(t, compute, pools, record)
		equal(t, "have", record, have)
		if _, err := servergroups.Delete(context.Background(), compute, s1, record); err != nil {
			t.Fatal(err)
		}
		equal(t, "have", record, have)
		requests := o.Requests()
		if want != nil {
			equal(t, "requests", requests, want)
		}
		want = requests
		slices.Reverse(pools)
	}
}
