// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package ratchet compares the errors that profile updates may keep with a model that records which faults it has put where.
package ratchet

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/openstack"
)

// landscape is a CloudProfile with faults. Everything in it has a name, so that order does not matter.
type landscape struct {
	// reduced means that the vocabulary lacks the value baremetal.
	reduced bool
	// versions has the image versions by name@version.
	versions map[string]*version
	// unknown are the unknown fields in the provider config.
	unknown map[string]bool
	// machineTypes is a number of machine types without any faults.
	machineTypes int
}

// version is an image version.
type version struct {
	// core has the flavors in core.
	core map[string]bool
	// mapped means that the provider config has an entry for the version.
	mapped bool
	// flavors has the flavors in the provider config.
	flavors map[string]*flavor
	// unknown are the unknown fields in the entry.
	unknown map[string]bool
}

// flavor is a flavor of the provider config.
type flavor struct {
	// image has the image IDs by region. An empty ID is a fault.
	image map[string]string
	// twice means that the second region is listed twice.
	twice bool
	// again means that the flavor is listed twice.
	again bool
	// unknown are the unknown fields in the flavor.
	unknown map[string]bool
	// garbled replaces the list of regions, unless it is empty.
	garbled string
	// unregistered are capabilities that the vocabulary lacks.
	unregistered map[string]bool
}

var (
	names   = []string{"debian@1.0.0", "debian@2.0.0", "suse@1.0.0"}
	flavors = []string{"amd64/virtualized", "amd64/baremetal", "arm64/virtualized"}
	regions = []string{"north", "south"}
	words   = []string{"colour", "flavour"}
)

func split(id string) (string, string) {
	first, second, _ := strings.Cut(strings.ReplaceAll(id, "/", "@"), "@")
	return first, second
}

// some draws a subset. Each item is chosen with a probability of likely in ten.
func some(t *rapid.T, of []string, label string, likely int) map[string]bool {
	chosen := map[string]bool{}
	for _, name := range of {
		if rapid.IntRange(0, 9).Draw(t, label+" "+name) < likely {
			chosen[name] = true
		}
	}
	return chosen
}

func drawLandscape(t *rapid.T) *landscape {
	l := &landscape{versions: map[string]*version{}, unknown: some(t, words, "config", 1), machineTypes: 1}
	for _, id := range names {
		l.versions[id] = drawVersion(t, id)
	}
	return l
}

func drawVersion(t *rapid.T, id string) *version {
	v := &version{core: some(t, flavors, id+" core", 6), flavors: map[string]*flavor{}, unknown: some(t, words, id, 1)}
	v.core[flavors[0]] = true
	v.mapped = rapid.IntRange(0, 3).Draw(t, id+" mapped") > 0
	for _, name := range slices.Sorted(maps.Keys(v.core)) {
		if rapid.IntRange(0, 5).Draw(t, id+" has "+name) > 0 {
			v.flavors[name] = drawFlavor(t, id+" "+name)
		}
	}
	if len(v.flavors) == 0 {
		v.flavors[flavors[0]] = drawFlavor(t, id+" "+flavors[0])
	}
	return v
}

func drawFlavor(t *rapid.T, at string) *flavor {
	f := &flavor{
		image: map[string]string{}, unknown: some(t, words, at, 1), unregistered: some(t, []string{"warp"}, at, 1),
		twice: rapid.IntRange(0, 9).Draw(t, at+" twice") == 0, again: rapid.IntRange(0, 9).Draw(t, at+" again") == 0,
	}
	for _, region := range regions {
		f.image[region] = rapid.SampledFrom([]string{"1", "1", "1", "1", ""}).Draw(t, at+" in "+region)
	}
	if rapid.IntRange(0, 9).Draw(t, at+" garbled") == 0 {
		f.garbled = "north"
	}
	return f
}

// faults returns the faults of a landscape, with their numbers. Versions that are not mapped, or whose entries are
// unreadable, have the faults that they would have if everything else were right.
func (l *landscape) faults() map[string]int {
	found := map[string]int{}
	for name := range l.unknown {
		found["config: unknown "+name]++
	}
	for id, v := range l.versions {
		if len(v.core) == 0 {
			continue
		}
		if !v.mapped {
			found[id+": not mapped"]++
			continue
		}
		for name := range v.unknown {
			found[id+": unknown "+name]++
		}
		for name := range v.core {
			if v.flavors[name] == nil {
				found[id+": missing "+name]++
			}
		}
		for name, f := range v.flavors {
			for text, n := range f.faults(id+" "+name, v.core[name]) {
				found[text] += n
			}
			if l.reduced && strings.HasSuffix(name, "baremetal") {
				found[id+" "+name+": unregistered baremetal"]++
			}
		}
	}
	return found
}

func (f *flavor) faults(at string, inCore bool) map[string]int {
	found, times := map[string]int{}, 1
	if f.again {
		found[at+": again"]++
		times = 2
	}
	if !inCore {
		found[at+": unexpected"]++
	}
	for name := range f.unknown {
		found[at+": unknown "+name] += times
	}
	for name := range f.unregistered {
		found[at+": unregistered "+name] += times
	}
	if f.garbled != "" {
		found[at+": garbled "+f.garbled] += times
		return found
	}
	for region, image := range f.image {
		if image == "" {
			found[at+": empty "+region] += times
		}
	}
	if f.twice {
		found[at+": twice"] += times
	}
	return found
}

// profile converts the landscape to a CloudProfile in Gardener's format.
func (l *landscape) profile(t *rapid.T) *v1beta1.CloudProfile {
	hypervisors := []string{"virtualized", "baremetal"}
	if l.reduced {
		hypervisors = []string{"virtualized", "container"}
	}
	spec := v1beta1.CloudProfileSpec{
		Type: "openstack", Regions: []v1beta1.Region{{Name: regions[0]}, {Name: regions[1]}},
		MachineCapabilities: []v1beta1.CapabilityDefinition{
			{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "hypervisor", Values: hypervisors},
		},
	}
	for i := range l.machineTypes {
		spec.MachineTypes = append(spec.MachineTypes, v1beta1.MachineType{
			Name: fmt.Sprintf("type-%d", i), Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}},
		})
	}
	config := map[string]any{
		"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"keystoneURL": "https://identity.example.com/v3",
		"constraints": map[string]any{
			"floatingPools":         []any{map[string]any{"name": "public"}},
			"loadBalancerProviders": []any{map[string]any{"name": "octavia"}},
		},
	}
	mark(config, l.unknown)
	images := map[string][]any{}
	order := rapid.Permutation(slices.Sorted(maps.Keys(l.versions))).Draw(t, "order")
	for _, id := range order {
		v := l.versions[id]
		name, number := split(id)
		if len(v.core) > 0 {
			add(&spec, name, v.write(number))
		}
		if v.mapped {
			images[name] = append(images[name], v.writeEntry(number))
		}
	}
	var list []any
	for _, name := range slices.Sorted(maps.Keys(images)) {
		list = append(list, map[string]any{"name": name, "versions": images[name]})
	}
	if len(list) > 0 {
		config["machineImages"] = list
	}
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	profile := &v1beta1.CloudProfile{Spec: spec}
	profile.Name = "model"
	return profile
}

func add(spec *v1beta1.CloudProfileSpec, name string, version v1beta1.MachineImageVersion) {
	i := slices.IndexFunc(spec.MachineImages, func(image v1beta1.MachineImage) bool { return image.Name == name })
	if i < 0 {
		i = len(spec.MachineImages)
		spec.MachineImages = append(spec.MachineImages, v1beta1.MachineImage{Name: name})
	}
	spec.MachineImages[i].Versions = append(spec.MachineImages[i].Versions, version)
}

func mark(object map[string]any, unknown map[string]bool) {
	for name := range unknown {
		object[name] = true
	}
}

func (v *version) write(number string) v1beta1.MachineImageVersion {
	written := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: number}}
	for _, name := range slices.Sorted(maps.Keys(v.core)) {
		architecture, hypervisor := split(name)
		written.CapabilityFlavors = append(written.CapabilityFlavors, v1beta1.MachineImageFlavor{
			Capabilities: v1beta1.Capabilities{"architecture": {architecture}, "hypervisor": {hypervisor}},
		})
	}
	return written
}

func (v *version) writeEntry(number string) map[string]any {
	entry := map[string]any{"version": number}
	mark(entry, v.unknown)
	var list []any
	for _, name := range slices.Sorted(maps.Keys(v.flavors)) {
		list = append(list, v.flavors[name].write(name))
		if v.flavors[name].again {
			list = append(list, v.flavors[name].write(name))
		}
	}
	entry["capabilityFlavors"] = list
	return entry
}

func (f *flavor) write(name string) map[string]any {
	architecture, hypervisor := split(name)
	capabilities := map[string]any{"architecture": []any{architecture}, "hypervisor": []any{hypervisor}}
	for name := range f.unregistered {
		capabilities[name] = []any{"on"}
	}
	written := map[string]any{"capabilities": capabilities}
	mark(written, f.unknown)
	if f.garbled != "" {
		written["regions"] = f.garbled
		return written
	}
	var list []any
	for _, region := range regions {
		list = append(list, map[string]any{"name": region, "id": f.image[region]})
	}
	if f.twice {
		list = append(list, map[string]any{"name": regions[1], "id": f.image[regions[1]]})
	}
	written["regions"] = list
	return written
}

func (l *landscape) clone() *landscape {
	c := &landscape{reduced: l.reduced, unknown: maps.Clone(l.unknown), machineTypes: l.machineTypes, versions: map[string]*version{}}
	for id, v := range l.versions {
		copied := &version{core: maps.Clone(v.core), mapped: v.mapped, unknown: maps.Clone(v.unknown), flavors: map[string]*flavor{}}
		for name, f := range v.flavors {
			copied.flavors[name] = f.clone()
		}
		c.versions[id] = copied
	}
	return c
}

func (f *flavor) clone() *flavor {
	c := *f
	c.image, c.unknown, c.unregistered = maps.Clone(f.image), maps.Clone(f.unknown), maps.Clone(f.unregistered)
	return &c
}

// change makes one random change, for better or worse.
func (l *landscape) change(t *rapid.T) {
	toggle := func(set map[string]bool, name string) {
		if set[name] {
			delete(set, name)
		} else {
			set[name] = true
		}
	}
	id := rapid.SampledFrom(names).Draw(t, "version")
	v, name := l.versions[id], rapid.SampledFrom(flavors).Draw(t, "flavor")
	f, word, region := v.flavors[name], rapid.SampledFrom(words).Draw(t, "word"), rapid.SampledFrom(regions).Draw(t, "region")
	what := rapid.SampledFrom([]string{"machine type", "vocabulary", "config", "mapping", "entry", "core", "drop", "flavor",
		"image", "field", "twice", "again", "garble", "unregistered"}).Draw(t, "what")
	switch {
	case what == "machine type":
		l.machineTypes++
	case what == "vocabulary":
		l.reduced = !l.reduced
	case what == "config":
		toggle(l.unknown, word)
	case what == "mapping":
		v.mapped = !v.mapped
	case what == "entry":
		toggle(v.unknown, word)
	case what == "core":
		if toggle(v.core, name); len(v.core) == 0 {
			v.core[name] = true
		}
	case what == "drop" && f != nil && len(v.flavors) > 1:
		delete(v.flavors, name)
	case f == nil:
		v.flavors[name] = drawFlavor(t, "new")
	case what == "image":
		f.image[region] = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "image")
	case what == "field":
		toggle(f.unknown, word)
	case what == "twice":
		f.twice = !f.twice
	case what == "again":
		f.again = !f.again
	case what == "garble":
		f.garbled = rapid.SampledFrom([]string{"", "north", "south"}).Draw(t, "garbled")
	case what == "unregistered":
		toggle(f.unregistered, "warp")
	}
}

// An update passes exactly if the new object has no fault that the old one did not have.
func TestUpdatesOfCloudProfiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := drawLandscape(t)
		updated := old.clone()
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			updated.change(t)
		}
		was, is := old.faults(), updated.faults()
		var added []string
		for text, n := range is {
			if n > was[text] {
				added = append(added, text)
			}
		}
		slices.Sort(added)
		before, after := old.profile(t), updated.profile(t)
		stored, _ := check.CloudProfile(openstack.Provider{}, before)
		_, report := check.CloudProfileUpdate(stored, after, before)
		if (len(report.Errors) == 0) != (len(added) == 0) {
			t.Fatalf("new faults: %q\nerrors: %v\nwas %s\nis %s", added, report.Errors.Errors(), before.Spec.ProviderConfig.Raw, after.Spec.ProviderConfig.Raw)
		}
	})
}
