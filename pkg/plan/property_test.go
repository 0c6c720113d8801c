// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/plan"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/worker"
)

var (
	vocabulary = []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}},
		{Name: "hypervisor", Values: []string{"virtualized", "baremetal"}},
		{Name: "openstack-trustedLaunch", Values: []string{"enabled", "disabled"}},
	}
	regionNames = []string{"europe", "asia"}
	types       = []string{"type-0", "type-1", "type-2"}
	versions    = []string{"1.0.0", "1.1.0", "1.2.0"}
)

const (
	image    = "gl"
	trusting = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","trustedLaunch":{"enabled":true}}`
)

// world is a profile as it is drawn.
type world struct {
	capabilities bool
	// regions are those that the profile has, of those for which there are images.
	regions  []string
	types    map[string]v1beta1.Capabilities
	versions map[string]version
}

type version struct {
	flavors []v1alpha1.MachineImageFlavor
	inPlace bool
}

// declare draws some capabilities: an architecture, and some of the others.
func declare(t *rapid.T) v1beta1.Capabilities {
	c := v1beta1.Capabilities{"architecture": {rapid.SampledFrom(vocabulary[0].Values).Draw(t, "architecture")}}
	for _, d := range vocabulary[1:] {
		if rapid.Bool().Draw(t, "has "+d.Name) {
			c[d.Name] = v1beta1.CapabilityValues{rapid.SampledFrom(d.Values).Draw(t, d.Name)}
		}
	}
	return c
}

// id draws an image ID, few of which there are.
func id(t *rapid.T) string { return fmt.Sprint("id-", rapid.IntRange(0, 30).Draw(t, "id")) }

func drawVersion(t *rapid.T) version {
	v, seen := version{inPlace: rapid.IntRange(0, 3).Draw(t, "in place") == 0}, map[string]bool{}
	for range rapid.IntRange(1, 4).Draw(t, "flavors") {
		declared := declare(t)
		if seen[fmt.Sprint(full(declared))] {
			continue
		}
		seen[fmt.Sprint(full(declared))] = true
		flavor := v1alpha1.MachineImageFlavor{Capabilities: declared}
		for _, region := range regionNames {
			if rapid.IntRange(0, 4).Draw(t, "is in "+region) > 0 {
				flavor.Regions = append(flavor.Regions, v1alpha1.RegionIDMapping{Name: region, ID: id(t)})
			}
		}
		v.flavors = append(v.flavors, flavor)
	}
	return v
}

// full returns what a flavor supports, but for the worker capability.
func full(declared v1beta1.Capabilities) v1beta1.Capabilities {
	c := maps.Clone(declared)
	if c["hypervisor"] == nil {
		c["hypervisor"] = vocabulary[1].Values
	}
	return c
}

func drawWorld(t *rapid.T) *world {
	w := &world{rapid.IntRange(0, 5).Draw(t, "legacy") > 0, drawRegions(t), map[string]v1beta1.Capabilities{}, map[string]version{}}
	for _, name := range types {
		w.types[name] = declare(t)
	}
	for _, name := range versions {
		w.versions[name] = drawVersion(t)
	}
	return w
}

// drawRegions draws the regions of a profile: all of them as a rule.
func drawRegions(t *rapid.T) []string {
	return rapid.SampledFrom([][]string{regionNames, regionNames, regionNames[:1], regionNames[1:]}).Draw(t, "regions")
}

// changed draws another profile, which is not too different.
func (w *world) changed(t *rapid.T) *world {
	is := &world{w.capabilities, w.regions, maps.Clone(w.types), maps.Clone(w.versions)}
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		name, of := rapid.SampledFrom(versions).Draw(t, "version"), rapid.SampledFrom(types).Draw(t, "machine type")
		v := is.versions[name]
		v.flavors = slices.Clone(v.flavors)
		at := rapid.IntRange(0, 3).Draw(t, "flavor")
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0:
			is.types[of] = declare(t)
		case 1:
			delete(is.types, of)
		case 2:
			delete(is.versions, name)
			continue
		case 3:
			v = drawVersion(t)
		case 4:
			if at < len(v.flavors) {
				v.flavors = slices.Delete(v.flavors, at, at+1)
			}
		case 5:
			if at < len(v.flavors) && len(v.flavors[at].Regions) > 0 {
				v.flavors[at].Regions = slices.Clone(v.flavors[at].Regions)
				v.flavors[at].Regions[0].ID = id(t)
			}
		case 6:
			is.capabilities = rapid.Bool().Draw(t, "legacy")
		case 7:
			is.regions = drawRegions(t)
		default:
			v.flavors = append(v.flavors, slices.DeleteFunc(drawVersion(t).flavors, func(f v1alpha1.MachineImageFlavor) bool {
				return slices.ContainsFunc(v.flavors, func(other v1alpha1.MachineImageFlavor) bool {
					return cmp.Equal(full(f.Capabilities), full(other.Capabilities))
				})
			})...)
		}
		if len(v.flavors) > 0 {
			is.versions[name] = v
		}
	}
	return is
}

// spec returns the profile, with lists in the given order, 1 or -1.
func (w *world) spec(order int) *v1beta1.CloudProfileSpec {
	spec := &v1beta1.CloudProfileSpec{Type: "openstack"}
	if w.capabilities {
		spec.MachineCapabilities = vocabulary
	}
	strategy := v1beta1.UpdateStrategyMajor
	core, mapped := v1beta1.MachineImage{Name: image, UpdateStrategy: &strategy}, v1alpha1.MachineImages{Name: image}
	for _, name := range slices.Sorted(maps.Keys(w.versions)) {
		v := w.versions[name]
		c := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: name}}
		c.CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
		c.InPlaceUpdates = &v1beta1.InPlaceUpdates{Supported: v.inPlace}
		p := v1alpha1.MachineImageVersion{Version: name}
		if w.capabilities {
			p.CapabilityFlavors = slices.Clone(v.flavors)
			for _, f := range v.flavors {
				c.CapabilityFlavors = append(c.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: f.Capabilities})
			}
		} else {
			for _, f := range v.flavors {
				architecture := f.Capabilities["architecture"][0]
				if !slices.Contains(c.Architectures, architecture) {
					c.Architectures = append(c.Architectures, architecture)
					for _, r := range f.Regions {
						p.Regions = append(p.Regions, v1alpha1.RegionIDMapping{Name: r.Name, ID: r.ID, Architecture: &architecture})
					}
				}
			}
		}
		core.Versions, mapped.Versions = append(core.Versions, c), append(mapped.Versions, p)
		arrange(order, p.CapabilityFlavors)
	}
	arrange(order, core.Versions)
	arrange(order, mapped.Versions)
	spec.MachineImages = []v1beta1.MachineImage{core}
	for _, name := range slices.Sorted(maps.Keys(w.types)) {
		t := v1beta1.MachineType{Name: name, Architecture: &w.types[name]["architecture"][0]}
		if w.capabilities {
			t.Capabilities = w.types[name]
		}
		spec.MachineTypes = append(spec.MachineTypes, t)
	}
	arrange(order, spec.MachineTypes)
	for _, name := range w.regions {
		spec.Regions = append(spec.Regions, v1beta1.Region{Name: name})
	}
	arrange(order, spec.Regions)
	config := v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{mapped}}
	config.APIVersion, config.Kind = v1alpha1.GroupVersion.String(), "CloudProfileConfig"
	raw, err := json.Marshal(config)
	if err != nil {
		panic(err)
	}
	spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	return spec
}

func arrange[T any](order int, list []T) {
	if order < 0 {
		slices.Reverse(list)
	}
}

func compile(spec *v1beta1.CloudProfileSpec) *consistency.Profile[openstack.Image] {
	p, _ := consistency.Compile(openstack.Provider{}, spec, field.NewPath("spec"))
	return p
}

func viewOf(was, is *v1beta1.CloudProfileSpec, shoots []plan.Shoot) plan.View[openstack.Image] {
	return plan.View[openstack.Image]{Old: compile(was), New: compile(is), OldSpec: was, NewSpec: is, Shoots: shoots}
}

// drawOrder draws the order of preference for a view.
func drawOrder(t *rapid.T, v plan.View[openstack.Image]) plan.View[openstack.Image] {
	v.Order = rapid.SampledFrom([]capability.Order{capability.GEP33, capability.Gardener}).Draw(t, "order")
	return v
}

func planOf(views ...plan.View[openstack.Image]) []plan.Change {
	changes, _ := plan.Of(openstack.Provider{}.Workers(), views)
	return changes
}

func drawShoots(t *rapid.T) []plan.Shoot {
	var shoots []plan.Shoot
	for i := range rapid.IntRange(0, 4).Draw(t, "shoots") {
		s := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-x", Name: fmt.Sprint("shoot-", i)}}
		s.Spec.Region = rapid.SampledFrom(regionNames).Draw(t, "region")
		s.Spec.Kubernetes.Version = "1.33.2"
		for k := range rapid.IntRange(1, 3).Draw(t, "pools") {
			w := v1beta1.Worker{Name: fmt.Sprint("pool-", k), CRI: &v1beta1.CRI{Name: v1beta1.CRINameContainerD}}
			w.Machine.Type = rapid.SampledFrom(types).Draw(t, "machine type")
			version := rapid.SampledFrom(versions).Draw(t, "version")
			w.Machine.Image = &v1beta1.ShootMachineImage{Name: image, Version: &version}
			if rapid.IntRange(0, 3).Draw(t, "asks") == 0 {
				w.ProviderConfig = &runtime.RawExtension{Raw: []byte(trusting)}
			}
			if rapid.IntRange(0, 4).Draw(t, "in place") == 0 {
				w.UpdateStrategy = new(v1beta1.AutoInPlaceUpdate)
			}
			s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, w)
		}
		shoots = append(shoots, plan.Shoot{Name: "garden-x/" + s.Name, Object: s})
	}
	return shoots
}

// entry is a change without what is only text.
type entry struct {
	kind                                   plan.Kind
	when                                   plan.When
	version, machineType, region, requests string
	from, to, pools                        string
}

func entryOf(c *plan.Change) entry {
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

// naive finds out what changes by asking package consistency twice about every pool that there is or could be, and the worker
// controller about pools that exist. A region that a profile lacks counts for those that there could be.
func naive(t *rapid.T, v plan.View[openstack.Image]) []entry {
	cells, users := map[string]provider.Pool{}, map[string][]plan.Pool{}
	add := func(pool provider.Pool) string {
		pool.Order = v.Order
		r := v.New.ExplainPool(pool)
		key := strings.Join([]string{pool.Version, pool.MachineType, pool.Region, requestsOf(r.Requirements)}, "/")
		if _, found := cells[key]; !found {
			cells[key] = pool
		}
		return key
	}
	coming := map[string]bool{} // what boots as soon as there is the region
	for _, pool := range possible(v) {
		key := add(pool)
		_, had := bootsOf(v.Old, pool, false)
		_, has := bootsOf(v.New, pool, false)
		coming[key] = !had && has
	}
	for _, s := range v.Shoots {
		for _, pool := range provider.PoolsOf(s.Object) {
			key := add(pool)
			users[key] = append(users[key], plan.Pool{Shoot: s.Name, Name: pool.Name})
		}
	}
	var found []entry
	for key, pool := range cells {
		was, had := bootsOf(v.Old, pool, len(users[key]) > 0)
		is, has := bootsOf(v.New, pool, len(users[key]) > 0)
		e := entry{version: pool.Version, machineType: pool.MachineType, region: pool.Region, pools: text(append([]plan.Pool{}, users[key]...))}
		e.requests = requestsOf(v.New.ExplainPool(pool).Requirements)
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
			e.kind = plan.New
			found = append(found, e)
		case has:
			found = append(found, otherImages(t, v, pool, e)...)
			if coming[key] {
				e.kind, e.from, e.pools = plan.New, text(nil), text([]plan.Pool{})
				found = append(found, e)
			}
		case len(users[key]) > 0:
			e.kind = plan.NoMachines
			found = append(found, e)
		default:
			e.kind = plan.Gone
			found = append(found, e)
		}
	}
	return found
}

// bootsOf returns what a pool boots, and whether it boots anything: nothing if it has yet to be created, in a region that the
// profile lacks.
func bootsOf(p *consistency.Profile[openstack.Image], pool provider.Pool, exists bool) (openstack.Image, bool) {
	r := p.ResolvePool(pool)
	return r.Reference, r.Err == nil && (exists || p.CheckRegion(pool.Region, nil) == nil)
}

// possible are the pools that there could be, asking for nothing or for one thing that is offered.
func possible(v plan.View[openstack.Image]) []provider.Pool {
	asks := []provider.Pool{{}}
	registered := len(v.OldSpec.MachineCapabilities)+len(v.NewSpec.MachineCapabilities) > 0
	if registered {
		asks = append(asks, provider.Pool{Config: &runtime.RawExtension{Raw: []byte(trusting)}})
	}
	inPlace := func(spec *v1beta1.CloudProfileSpec) bool {
		return slices.ContainsFunc(spec.MachineImages[0].Versions, func(v v1beta1.MachineImageVersion) bool { return v.InPlaceUpdates.Supported })
	}
	if inPlace(v.OldSpec) || inPlace(v.NewSpec) {
		asks = append(asks, provider.Pool{Worker: capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate}})
	}
	var pools []provider.Pool
	for _, pool := range asks {
		pool.Image = image
		for _, pool.MachineType = range types {
			for _, pool.Version = range versions {
				for _, pool.Region = range regionNames {
					pools = append(pools, pool)
				}
			}
		}
	}
	return pools
}

// otherImages returns what a worker controller does for a pool that exists, and for one whose machines are replaced.
func otherImages(t *rapid.T, v plan.View[openstack.Image], pool provider.Pool, e entry) []entry {
	pool.Name = "w"
	before, err := worker.NewImages(v.Old, nil).Of(worker.Question[openstack.Image]{Pool: pool, Names: []string{"class"}})
	if err != nil {
		t.Fatal(err)
	}
	class := worker.Class[openstack.Image]{Name: "class", Image: pool.Image, Version: pool.Version, Reference: before.Reference}
	after, err := worker.NewImages(v.New, []worker.Record[openstack.Image]{before.Record}).Of(worker.Question[openstack.Image]{
		Pool: pool, Names: []string{"class"}, Classes: []worker.Class[openstack.Image]{class},
	})
	if err != nil {
		t.Fatal(err)
	}
	var found []entry
	e.kind = plan.OtherImage
	roll, now := e, e
	if now.when, now.to = plan.Now, text(after.Reference); now.to != now.from {
		found = append(found, now)
	}
	if roll.when = plan.NextRoll; roll.to != now.to {
		found = append(found, roll)
	}
	return found
}

// A plan says what two runs of select over everything say, and what the worker controller does. Some kinds are rare, so that
// each check looks at several profiles.
func TestPlanIsTwoRunsOfSelect(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 6 {
			old := drawWorld(t)
			compareWithSelect(t, drawOrder(t, viewOf(old.spec(1), old.changed(t).spec(1), drawShoots(t))), seen)
		}
	})
	for _, kind := range []string{"locked", "no-machines", "maintenance", "other-imagenow", "other-imagenext-roll", "new", "gone"} {
		if seen[kind] == 0 {
			t.Errorf("never seen: %s", kind)
		}
	}
}

// compareWithSelect counts the kinds that it has seen.
func compareWithSelect(t *rapid.T, v plan.View[openstack.Image], seen map[string]int) {
	var got []entry
	for _, c := range planOf(v) {
		seen[string(c.Kind)+string(c.When)]++
		if c.Count != len(c.Pools) {
			t.Fatalf("count %d of %v", c.Count, c.Pools)
		}
		if c.Kind != plan.Locked && c.Kind != plan.Maintenance {
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

// What is merely ordered in another way changes nothing.
func TestOrderIsNoChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		if changes := planOf(viewOf(w.spec(1), w.spec(-1), drawShoots(t))); len(changes) > 0 {
			t.Fatalf("%+v", changes)
		}
	})
}

// Admission warns about locks and about what maintenance chooses in the same cases, of the same Shoots.
func TestPlanAgreesWithAdmission(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := drawWorld(t)
		v := viewOf(old.spec(1), old.changed(t).spec(1), drawShoots(t))
		var uses []consistency.Use
		for _, s := range v.Shoots {
			uses = append(uses, consistency.Use{Namespace: s.Object.Namespace, Name: s.Object.Name, Pools: provider.PoolsOf(s.Object)})
		}
		warned := map[string]bool{}
		for _, w := range v.Old.Compare(v.New, uses) {
			for _, s := range v.Shoots {
				if strings.Contains(w.Detail, "deletion") && strings.Contains(w.Detail, s.Name) {
					warned[s.Name] = true
				}
			}
		}
		locked, blocked := map[string]bool{}, map[string]bool{}
		for _, c := range planOf(v) {
			for _, name := range plan.ShootsOf(c.Pools) {
				switch c.Kind {
				case plan.Locked:
					locked[name] = true
				case plan.Maintenance:
					blocked[name] = true
				}
			}
		}
		if diff := cmp.Diff(warned, locked); diff != "" {
			t.Fatalf("locked: -admission +plan: %s", diff)
		}
		if diff := cmp.Diff(blockedShoots(v), blocked); diff != "" {
			t.Fatalf("maintenance: -want +got: %s", diff)
		}
	})
}

// blockedShoots are those with a worker pool for which maintenance chooses a version that it does not boot, and did not so
// before.
func blockedShoots(v plan.View[openstack.Image]) map[string]bool {
	was := maintenance.NewForecast(v.OldSpec, openstack.Provider{}.Workers(), v.Old.Boots)
	is := maintenance.NewForecast(v.NewSpec, openstack.Provider{}.Workers(), v.New.Boots)
	blocked := map[string]bool{}
	for _, s := range v.Shoots {
		pools := provider.PoolsOf(s.Object)
		before, now := was.Blocked(s.Object, pools), is.Blocked(s.Object, pools)
		for i := range now {
			if now[i] != before[i] && now[i] != (maintenance.Blocked{}) {
				blocked[s.Name] = true
			}
		}
	}
	return blocked
}
