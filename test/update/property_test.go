// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/cli/changes"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/internal/testing/worlds"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/pkg/worker"
)

func compile(spec *v1beta1.CloudProfileSpec) *profile.Profile[openstack.Image] {
	p, _ := profile.Compile(openstack.Provider{}, spec, field.NewPath("spec"))
	return p
}

func viewOf(was, is *v1beta1.CloudProfileSpec, users []update.User) update.View[openstack.Image] {
	return update.View[openstack.Image]{Before: compile(was), After: compile(is), Users: users, All: true}
}

// viewBy is viewOf with a policy for undecided pools.
func viewBy(chosen policy.Undecided, was, is *v1beta1.CloudProfileSpec, users []update.User) update.View[openstack.Image] {
	v, cloud := viewOf(was, is, users), given.Deciding{Chosen: policy.Policies{Undecided: chosen}}
	v.Before, _ = profile.Compile(cloud, was, field.NewPath("spec"))
	v.After, _ = profile.Compile(cloud, is, field.NewPath("spec"))
	return v
}

// drawOrder draws the preference order of a view.
func drawOrder(t *rapid.T, v update.View[openstack.Image]) update.View[openstack.Image] {
	order := given.DrawOrder(t)
	v.Before, v.After = v.Before.ByOrder(order), v.After.ByOrder(order)
	return v
}

func planOf(views ...update.View[openstack.Image]) []changes.Change {
	return changes.Of(views...)
}

func drawShoots(t *rapid.T) []update.User {
	var users []update.User
	for _, s := range worlds.Shoots(t, 4, 3, worlds.OfProfile) {
		users = append(users, update.User{Shoot: s, Pools: provider.PoolsOf(s)})
	}
	return users
}

// entry is a change without its texts.
type entry struct {
	kind                                   changes.Kind
	when                                   changes.When
	version, machineType, region, requests string
	from, to, pools                        string
}

func entryOf(c *changes.Change) entry {
	return entry{c.Kind, c.When, c.Version, c.MachineType, c.Region, requestsOf(c.Requested), text(c.From), text(c.To), text(c.Pools)}
}

func requestsOf(requirements []capability.Requirement) string {
	var settings []string
	for _, q := range requirements {
		if !q.Implied {
			settings = append(settings, q.Setting)
		}
	}
	return strings.Join(settings, ", ")
}

func text(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// naive determines the changes by calling package resolve twice for every existing and possible pool, and the worker controller for
// existing ones. For possible pools, a region that a profile lacks is an obstacle.
func naive(t *rapid.T, v update.View[openstack.Image]) []entry {
	cells, users := map[string]provider.Pool{}, map[string][]changes.Pool{}
	add := func(pool provider.Pool) string {
		r := resolve.Explain(v.After, pool)
		key := strings.Join([]string{pool.Version, pool.MachineType, pool.Region, requestsOf(r.Requirements)}, "/")
		if _, found := cells[key]; !found {
			cells[key] = pool
		}
		return key
	}
	coming := map[string]bool{} // possible pools that boot only once the region is added
	for _, pool := range possible(v) {
		key := add(pool)
		_, had := bootsOf(v.Before, pool, false)
		_, has := bootsOf(v.After, pool, false)
		coming[key] = !had && has
	}
	for _, s := range v.Users {
		for _, pool := range s.Pools {
			key := add(pool)
			users[key] = append(users[key], changes.Pool{Shoot: s.Name(), Name: pool.Name})
		}
	}
	var found []entry
	for key, pool := range cells {
		was, had := bootsOf(v.Before, pool, len(users[key]) > 0)
		is, has := bootsOf(v.After, pool, len(users[key]) > 0)
		e := entry{version: pool.Version, machineType: pool.MachineType, region: pool.Region, pools: text(append([]changes.Pool{}, users[key]...))}
		e.requests = requestsOf(resolve.Explain(v.After, pool).Requirements)
		e.from, e.to = text(nil), text(nil)
		if had {
			e.from = text(was)
		}
		if has {
			e.to = text(is)
		}
		switch {
		case !had && !has:
		case !had:
			e.kind = changes.New
			found = append(found, e)
		case has:
			found = append(found, otherImages(t, v, pool, e)...)
			if coming[key] {
				e.kind, e.from, e.pools = changes.New, text(nil), text([]changes.Pool{})
				found = append(found, e)
			}
		case len(users[key]) > 0:
			e.kind = goesOn(t, v, pool)
			found = append(found, e)
		default:
			e.kind = changes.Gone
			found = append(found, e)
		}
	}
	return found
}

// bootsOf returns the image of a pool, and whether there is one. A pool that does not exist yet boots nothing in a region that the
// profile lacks.
func bootsOf(p *profile.Profile[openstack.Image], pool provider.Pool, exists bool) (openstack.Image, bool) {
	r := resolve.Pool(p, pool)
	return r.Reference, r.Err == nil && (exists || resolve.Region(p, pool.Region, nil) == nil)
}

// possible returns the pools that could exist, each with no request or a single available one.
func possible(v update.View[openstack.Image]) []provider.Pool {
	asks := []provider.Pool{{}}
	registered := len(v.Before.Spec().MachineCapabilities)+len(v.After.Spec().MachineCapabilities) > 0
	if registered {
		asks = append(asks, provider.Pool{Config: &runtime.RawExtension{Raw: []byte(worlds.Trusting)}})
	}
	inPlace := func(spec *v1beta1.CloudProfileSpec) bool {
		return slices.ContainsFunc(spec.MachineImages[0].Versions, func(v v1beta1.MachineImageVersion) bool { return v.InPlaceUpdates.Supported })
	}
	says := func(name string) bool { return says(v.Before.Spec(), name) || says(v.After.Spec(), name) }
	if says(`"gardener-boot`) {
		asks = append(asks, provider.Pool{Worker: capability.Worker{SecureBoot: true}})
	}
	if inPlace(v.Before.Spec()) || inPlace(v.After.Spec()) || says(`"gardener-update`) {
		asks = append(asks, provider.Pool{Worker: capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate}})
	}
	var pools []provider.Pool
	for _, pool := range asks {
		pool.Image = worlds.Image
		for _, pool.MachineType = range worlds.OfProfile.Types {
			for _, pool.Version = range worlds.OfProfile.Versions {
				for _, pool.Region = range worlds.RegionNames {
					pools = append(pools, pool)
				}
			}
		}
	}
	return pools
}

// says reports whether a profile contains a name with this prefix.
func says(spec *v1beta1.CloudProfileSpec, name string) bool {
	return strings.Contains(text(spec), name)
}

// otherImages returns the worker controller's choice for an existing pool, and for a pool whose machines are replaced.
func otherImages(t *rapid.T, v update.View[openstack.Image], pool provider.Pool, e entry) []entry {
	pool.Name = "w"
	before, err := worker.NewImages(v.Before, nil).Of(worker.Question[openstack.Image]{Pool: pool, Names: []string{"class"}})
	if err != nil {
		t.Fatal(err)
	}
	class := worker.Class[openstack.Image]{Name: "class", Image: pool.Image, Version: pool.Version, Reference: before.Reference}
	after, err := worker.NewImages(v.After, []worker.Record[openstack.Image]{before.Record}).Of(worker.Question[openstack.Image]{
		Pool: pool, Names: []string{"class"}, Classes: []worker.Class[openstack.Image]{class},
	})
	if err != nil {
		t.Fatal(err)
	}
	var found []entry
	e.kind = changes.OtherImage
	roll, now := e, e
	if now.when, now.to = changes.Now, text(after.Reference); now.to != now.from {
		found = append(found, now)
	}
	if roll.when = changes.NextRoll; roll.to != now.to {
		found = append(found, roll)
	}
	return found
}

// goesOn returns the kind of change for a running pool without a decision, according to the worker controller.
func goesOn(t *rapid.T, v update.View[openstack.Image], pool provider.Pool) changes.Kind {
	pool.Name = "w"
	before, err := worker.NewImages(v.Before, nil).Of(worker.Question[openstack.Image]{Pool: pool, Names: []string{"class"}})
	if err != nil {
		t.Fatal(err)
	}
	class := worker.Class[openstack.Image]{Name: "class", Image: pool.Image, Version: pool.Version, Reference: before.Reference}
	after, err := worker.NewImages(v.After, []worker.Record[openstack.Image]{before.Record}).Of(worker.Question[openstack.Image]{
		Pool: pool, Names: []string{"class"}, Classes: []worker.Class[openstack.Image]{class},
	})
	if err != nil {
		return changes.NoMachines
	}
	if after.Reference != before.Reference {
		t.Fatalf("%+v booted %v, and has %v of no flavor", pool, before.Reference, after.Reference)
	}
	return changes.Kept
}

// A plan equals the difference of two runs of select over everything, and agrees with the worker controller, even if an update registers
// or unregisters reserved capabilities. Each check looks at several profiles, because some kinds of changes are rare.
func TestPlanIsTwoRunsOfSelect(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 6 {
			old := worlds.Draw(t)
			if rapid.Bool().Draw(t, "reserved") {
				old.Reserve(t)
			}
			updated := old.Changed(t)
			if rapid.IntRange(0, 2).Draw(t, "registers") == 0 {
				updated.Register(t)
			}
			policy := rapid.SampledFrom([]policy.Undecided{policy.GoesOn, policy.Recalls, policy.Fails}).Draw(t, "policy")
			compareWithSelect(t, drawOrder(t, viewBy(policy, old.Spec(1), updated.Spec(1), drawShoots(t))), seen)
		}
	})
	for _, kind := range []string{"locked", "kept", "no-machines", "maintenance", "other-imagenow", "other-imagenext-roll", "meaning", "new", "gone"} {
		if seen[kind] == 0 {
			t.Errorf("never seen: %s", kind)
		}
	}
}

// compareWithSelect compares a plan with naive, and counts the kinds in seen.
func compareWithSelect(t *rapid.T, v update.View[openstack.Image], seen map[string]int) {
	var got []entry
	for _, c := range planOf(v) {
		seen[string(c.Kind)+string(c.When)]++
		if c.Count != len(c.Pools) {
			t.Fatalf("count %d of %v", c.Count, c.Pools)
		}
		if slices.Contains([]changes.Kind{changes.NoMachines, changes.Kept, changes.OtherImage, changes.New, changes.Gone}, c.Kind) {
			got = append(got, entryOf(&c))
		}
	}
	want := naive(t, v)
	order := func(a, b entry) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(entry{})); diff != "" {
		t.Fatalf("-want +got: %s", diff)
	}
}

// A different order is not a change.
func TestOrderIsNoChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := worlds.Draw(t)
		if changes := planOf(viewOf(w.Spec(1), w.Spec(-1), drawShoots(t))); len(changes) > 0 {
			t.Fatalf("%+v", changes)
		}
	})
}
