// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/worker"
)

var (
	vocabulary = []v1beta1.CapabilityDefinition{
		{Name: "architecture", Values: []string{"amd64", "arm64"}},
		{Name: "hypervisor", Values: []string{"virtualized", "baremetal"}},
		{Name: "net", Values: []string{"fast", "slow", "none"}},
		{Name: "openstack-trustedLaunch", Values: []string{"enabled", "disabled"}},
	}
	regions = []string{"europe", "asia"}
)

const trusting = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","trustedLaunch":{"enabled":true}}`

// some draws an architecture and some other capabilities.
func some(t *rapid.T, label string) v1beta1.Capabilities {
	c := v1beta1.Capabilities{}
	for i, d := range vocabulary {
		if i > 0 && rapid.Bool().Draw(t, label+" leaves out "+d.Name) {
			continue
		}
		most := len(d.Values)
		if i == 0 {
			most = 1
		}
		c[d.Name] = rapid.SliceOfNDistinct(rapid.SampledFrom(d.Values), 1, most, rapid.ID[string]).Draw(t, label+" "+d.Name)
		slices.Sort(c[d.Name])
	}
	return c
}

// world is a drawn profile with distinct flavors of one image version.
type world struct {
	spec    v1beta1.CloudProfileSpec
	flavors []v1alpha1.MachineImageFlavor
	// uploaded is the suffix of IDs that were uploaded again.
	uploaded string
}

func drawWorld(t *rapid.T) *world {
	w := &world{spec: v1beta1.CloudProfileSpec{Type: "openstack", MachineCapabilities: vocabulary}}
	for _, region := range regions {
		w.spec.Regions = append(w.spec.Regions, v1beta1.Region{Name: region})
	}
	for i := range 4 {
		w.spec.MachineTypes = append(w.spec.MachineTypes, v1beta1.MachineType{
			Name: fmt.Sprint("type-", i), Capabilities: some(t, "machine type"),
		})
	}
	w.add(t, rapid.IntRange(1, 5).Draw(t, "flavors"))
	return w
}

// add adds flavors, all distinct.
func (w *world) add(t *rapid.T, n int) {
	for range n {
		declared := some(t, "flavor")
		known := func(f v1alpha1.MachineImageFlavor) bool { return cmp.Equal(inFull(f.Capabilities), inFull(declared)) }
		if slices.ContainsFunc(w.flavors, known) {
			continue
		}
		flavor := v1alpha1.MachineImageFlavor{Capabilities: declared}
		for _, region := range regions {
			if rapid.IntRange(0, 4).Draw(t, "is not in "+region) > 0 {
				flavor.Regions = append(flavor.Regions, v1alpha1.RegionIDMapping{
					Name: region, ID: fmt.Sprintf("%s-%d", region, len(w.flavors)),
				})
			}
		}
		w.flavors = append(w.flavors, flavor)
	}
}

// inFull returns capabilities with omissions written out, except for the last one, a worker capability.
func inFull(declared v1beta1.Capabilities) v1beta1.Capabilities {
	full := maps.Clone(declared)
	for _, d := range vocabulary[:3] {
		if full[d.Name] == nil {
			full[d.Name] = slices.Sorted(slices.Values(d.Values))
		}
	}
	return full
}

// compile compiles the profile, with or without the image version.
func (w *world) compile(t *rapid.T, listed bool) *profile.Profile[openstack.Image] {
	spec := w.spec.DeepCopy()
	config := v1alpha1.CloudProfileConfig{}
	config.APIVersion, config.Kind = v1alpha1.GroupVersion.String(), "CloudProfileConfig"
	if listed {
		core := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1"}}
		for _, f := range w.flavors {
			core.CapabilityFlavors = append(core.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: f.Capabilities})
		}
		spec.MachineImages = []v1beta1.MachineImage{{Name: "gl", Versions: []v1beta1.MachineImageVersion{core}}}
		versions := []v1alpha1.MachineImageVersion{{Version: "1", CapabilityFlavors: w.flavors}}
		config.MachineImages = []v1alpha1.MachineImages{{Name: "gl", Versions: versions}}
	}
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	p, _ := profile.Compile(openstack.Provider{}, spec, field.NewPath("spec"))
	return p
}

// pools returns all kinds of pools for the profile.
func (w *world) pools() []provider.Pool {
	var pools []provider.Pool
	for _, machineType := range w.spec.MachineTypes {
		for _, region := range regions {
			for _, config := range []string{"", trusting} {
				pool := poolOn(machineType.Name)
				pool.Region, pool.Name = region, fmt.Sprint("pool-", len(pools))
				if config != "" {
					pool.Config = &runtime.RawExtension{Raw: []byte(config)}
				}
				pools = append(pools, pool)
			}
		}
	}
	return pools
}

// ask asks about a pool whose next class has this name.
func ask(
	p *profile.Profile[openstack.Image], records []record, pool provider.Pool, classes []class, name string,
) (worker.Image[openstack.Image], error) {
	return worker.NewImages(p, records).Of(worker.Question[openstack.Image]{Pool: pool, Classes: classes, Names: []string{name}})
}

// A new pool gets the same image as in the command and admission. A pool keeps its flavor while it exists, after additions, reordering or
// new uploads. It carries on if the version is delisted.
func TestImagesOfRandomPools(t *testing.T) {
	pools, booted, otherwise := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 7 {
			w := drawWorld(t)
			p, gone, later := w.compile(t, true), w.compile(t, false), drawLater(t, w)
			then := later.compile(t, true)
			var records []record
			for _, pool := range w.pools() {
				pools++
				resolution := resolve.Pool(p, pool)
				got, err := ask(p, nil, pool, nil, "class")
				if (err == nil) != (resolution.Err == nil) || got.Reference != resolution.Reference || got.Replaced != "" {
					t.Fatalf("%+v: got %v, %v instead of %v, %v", pool, got, err, resolution.Reference, resolution.Err)
				}
				if err != nil {
					continue
				}
				booted++
				records = append(records, got.Record)
				if later.goesOn(t, then, pool, got) {
					otherwise++
				}
				for _, name := range []string{"class", "other"} {
					still, err := ask(gone, []record{got.Record}, pool, named("class", got.Reference), name)
					if err != nil || still.Reference != got.Reference || !cmp.Equal(still.Record, got.Record) {
						t.Fatalf("%+v had %v, and has %v of a version that is delisted, %v", pool, got, still, err)
					}
				}
			}
			for _, pool := range w.pools() { // new pools get an image of the others if it fits
				got, err := ask(gone, records, pool, nil, "class")
				if want := resolve.Pool(p, pool); want.Err == nil && err != nil {
					t.Fatalf("%+v booted %v, and gets nothing: %v", pool, want.Reference, err)
				}
				if err == nil && !slices.ContainsFunc(records, func(r record) bool { return cmp.Equal(r, got.Record) }) {
					t.Fatalf("%+v gets %v, which there is no record of", pool, got)
				}
			}
		}
	})
	t.Logf("%d pools, %d boot, %d of them would get another image with another class", pools, booted, otherwise)
	if min(booted, otherwise) == 0 {
		t.Error("that is too few")
	}
}

// drawLater draws a later state of a profile, in which the images may have been uploaded again.
func drawLater(t *rapid.T, w *world) *world {
	later := &world{spec: w.spec, flavors: slices.Clone(w.flavors)}
	later.add(t, rapid.IntRange(0, 3).Draw(t, "further flavors"))
	later.flavors = rapid.Permutation(later.flavors).Draw(t, "order")
	if !rapid.Bool().Draw(t, "uploaded again") {
		return later
	}
	later.uploaded = "-new"
	for i := range later.flavors {
		later.flavors[i].Regions = slices.Clone(later.flavors[i].Regions)
		for k := range later.flavors[i].Regions {
			later.flavors[i].Regions[k].ID += later.uploaded
		}
	}
	return later
}

// goesOn asks about a pool that has booted an image, and reports whether another class would change its image.
func (w *world) goesOn(
	t *rapid.T, p *profile.Profile[openstack.Image], pool provider.Pool, had worker.Image[openstack.Image],
) bool {
	classes, want := named("class", had.Reference), had.Reference
	want.ID += w.uploaded
	kept, err := ask(p, []record{had.Record}, pool, classes, "class")
	if err != nil || kept.Reference != want || kept.Replaced != "" {
		t.Fatalf("%+v had %v, and has %v, %v", pool, had, kept, err)
	}
	replaced, err := ask(p, []record{had.Record}, pool, classes, "other")
	fresh := resolve.Pool(p, pool)
	if err != nil || replaced.Reference != fresh.Reference {
		t.Fatalf("%+v gets another class and %v, not %v; %v", pool, replaced, fresh.Reference, err)
	}
	return replaced.Reference != kept.Reference
}
