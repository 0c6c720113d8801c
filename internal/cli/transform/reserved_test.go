// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/transform"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
)

// object is a mapping of a manifest.
type object = map[string]any

// drawn draws manifests whose flavors declare reserved capabilities.
type drawn struct {
	*rand.Rand
	// first has names and values of the first text of GEP-0054.
	first        bool
	vocabulary   []v1beta1.CapabilityDefinition
	declarable   []v1beta1.CapabilityDefinition
	architecture []string
}

// name and values are those of the text of which the profile is.
func (d *drawn) named(name string, values ...string) v1beta1.CapabilityDefinition {
	if d.first {
		for i := range values {
			values[i], _ = texts.Translate(name, values[i])
		}
		name = map[string]string{capability.BootType: "gardener-bootType", capability.UpdateType: "gardener-updateType"}[name]
	}
	return v1beta1.CapabilityDefinition{Name: name, Values: values}
}

// some returns some of the values, in a random order.
func (d *drawn) some(values []string) []string {
	values = slices.Clone(values)
	d.Shuffle(len(values), func(i, k int) { values[i], values[k] = values[k], values[i] })
	return values[:1+d.IntN(len(values))]
}

func (d *drawn) one(values ...string) string { return values[d.IntN(len(values))] }

// profile draws a CloudProfile.
func (d *drawn) profile() object {
	d.first, d.architecture = d.IntN(3) == 0, [][]string{{"amd64"}, {"amd64", "arm64"}}[d.IntN(2)]
	legacy := d.IntN(8) == 0
	if legacy {
		d.architecture = []string{"amd64", "arm64"}
	}
	d.vocabulary = []v1beta1.CapabilityDefinition{{Name: "architecture", Values: d.architecture}}
	if d.IntN(2) == 0 {
		d.vocabulary = append(d.vocabulary, v1beta1.CapabilityDefinition{Name: "disk", Values: []string{"fast", "slow"}})
	}
	d.declarable = slices.Clone(d.vocabulary[1:])
	for _, reserved := range capability.Reserved()[:2] {
		def := d.named(reserved.Name, reserved.Values...)
		d.declarable = append(d.declarable, def)
		if d.IntN(6) == 0 {
			values := def.Values
			if d.IntN(3) == 0 {
				values = d.some(values)
			}
			d.vocabulary = slices.Insert(d.vocabulary, d.IntN(len(d.vocabulary)+1), v1beta1.CapabilityDefinition{Name: def.Name, Values: values})
		}
	}
	spec := object{"type": "openstack", "regions": []any{object{"name": "eu"}, object{"name": "us"}}}
	var types []any
	for i := range 1 + d.IntN(2) {
		architecture := d.one(d.architecture...)
		t := object{"name": fmt.Sprintf("m%d", i), "architecture": architecture}
		if !legacy {
			c := v1beta1.Capabilities{"architecture": {architecture}}
			for _, def := range d.vocabulary {
				if def.Name == "disk" && d.IntN(2) == 0 || strings.HasPrefix(def.Name, "gardener-") && d.IntN(4) == 0 {
					c[def.Name] = d.some(def.Values)
				}
			}
			t["capabilities"] = c
		}
		types = append(types, t)
	}
	var core, mapped []any
	for i := range 1 + d.IntN(2) {
		c, m := d.version(fmt.Sprintf("%d.0.0", i), legacy)
		core, mapped = append(core, c), append(mapped, m)
	}
	spec["machineTypes"], spec["machineImages"] = types, []any{object{"name": "linux", "versions": core}}
	spec["providerConfig"] = object{
		"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"keystoneURL":   "https://keystone.example.com/v3/",
		"constraints":   object{"floatingPools": []any{object{"name": "fp"}}, "loadBalancerProviders": []any{object{"name": "haproxy"}}},
		"machineImages": []any{object{"name": "linux", "versions": mapped}},
	}
	if !legacy {
		spec["machineCapabilities"] = d.vocabulary
	}
	return object{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": object{"name": "p"}, "spec": spec}
}

// regions draws where an image is.
func (d *drawn) regions(id string) []any {
	var regions []any
	for _, region := range [][]string{{"eu"}, {"us"}, {"eu", "us"}, {"eu", "us"}}[d.IntN(4)] {
		regions = append(regions, object{"name": region, "id": id + region})
	}
	return regions
}

// version draws an image version, on whose flavors both halves agree.
func (d *drawn) version(name string, legacy bool) (core, mapped object) {
	core, mapped = object{"version": name}, object{"version": name}
	inPlace := d.IntN(3) == 0
	if inPlace {
		core["inPlaceUpdates"] = object{"supported": true}
	}
	if legacy || d.IntN(8) == 0 && len(d.vocabulary) == 1 {
		mapped["regions"] = d.regions(name)
		return core, mapped
	}
	v, _ := capability.Compile(d.vocabulary, nil)
	version := &v1beta1.MachineImageVersion{}
	if inPlace {
		version.InPlaceUpdates = &v1beta1.InPlaceUpdates{Supported: true}
	}
	var flavors, listed []any
	var sets, carried []capability.Set
	for i := range 1 + d.IntN(4) {
		c := v1beta1.Capabilities{"architecture": {d.one(d.architecture...)}}
		for _, def := range d.declarable {
			if d.IntN(2) == 0 {
				c[def.Name] = d.some(def.Values)
			}
		}
		set, errs := v.Flavor(c, profile.Undeclared(version), field.NewPath("flavor"))
		if len(errs) > 0 || slices.Contains(sets, set) {
			continue
		}
		sets = append(sets, set)
		flavors = append(flavors, object{"capabilities": maps.Clone(c), "regions": d.regions(fmt.Sprintf("%s-%d", name, i))})
		maps.DeleteFunc(c, func(name string, _ v1beta1.CapabilityValues) bool {
			return strings.HasPrefix(name, "gardener-") && !v.IsRegistered(name)
		})
		if set, _ = v.Flavor(c, profile.Undeclared(version), nil); !slices.Contains(carried, set) {
			carried, listed = append(carried, set), append(listed, c)
		}
	}
	if len(flavors) == 0 {
		flavors = []any{object{"capabilities": object{"architecture": []any{"amd64"}}, "regions": d.regions(name)}}
		listed = []any{object{"architecture": []any{"amd64"}}}
	}
	mapped["capabilityFlavors"] = flavors
	if d.IntN(2) == 0 { // else admission fills them in
		core["capabilityFlavors"] = listed
	}
	return core, mapped
}

// answers are what every worker pool boots that there could be, by what it is, and the profile that says so.
type answers struct {
	of      map[string]any
	profile *profile.Profile[any]
	// twice is set if there are flavors that are the same, which lint refuses.
	twice bool
}

// ask asks a manifest about every worker pool.
func ask(t *testing.T, raw json.RawMessage) answers {
	t.Helper()
	var p v1beta1.CloudProfile
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	for _, f := range profile.FillCloudProfile(openStack, &p.Spec) {
		p.Spec.MachineImages[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
	}
	compiled, report := profile.Compile(openStack, &p.Spec, field.NewPath("spec"))
	a := answers{of: map[string]any{}, profile: compiled}
	for _, f := range report.Errors {
		if f.Type == field.ErrorTypeDuplicate {
			a.twice = true
		} else if f.Origin != "reserved-capability-incomplete" {
			t.Fatalf("%v in\n%s", report.Errors, raw)
		}
	}
	for _, version := range p.Spec.MachineImages[0].Versions {
		for _, machine := range p.Spec.MachineTypes {
			for _, region := range p.Spec.Regions {
				for asks := range 4 {
					pool := provider.Pool{Image: "linux", Version: version.Version, MachineType: machine.Name, Region: region.Name}
					pool.Worker.SecureBoot = asks&1 > 0
					if asks&2 > 0 {
						pool.Worker.UpdateStrategy = v1beta1.AutoInPlaceUpdate
					}
					a.of[fmt.Sprint(version.Version, machine.Name, region.Name, asks)] = resolve.Pool(compiled, pool).Reference
				}
			}
		}
	}
	return a
}

// planned returns how many changes the proof of a migration finds.
func planned(was, is answers) int {
	changes := update.Of(update.View[any]{Before: was.profile, After: is.profile, All: true, Besides: transform.Together()})
	return len(changes.Choices)
}

// randomProfiles is how many profiles the law is tried with; make test-migration tries more.
var randomProfiles = flag.Uint64("profiles", 1500, "how many random profiles register reserved capabilities")

// Registering the reserved capabilities, and the way back, change no answer to any worker pool; or the plan of the update, by which they
// are proved, says so.
func TestRegisteringChangesNoAnswer(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // or most of the time is spent on what is thrown away
	const parts = 4
	counts := make([]map[string]int, parts)
	t.Run("profiles", func(t *testing.T) {
		for part := range uint64(parts) {
			counts[part] = map[string]int{}
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < *randomProfiles; seed += parts {
					thereAndBack(t, seed, counts[part])
				}
			})
		}
	})
	all := map[string]int{}
	for _, count := range counts {
		for what, n := range count {
			all[what] += n
		}
	}
	t.Log(all)
	for _, what := range []string{"registered, the same: true", "registered, the same: false", "unregistered, the same: true", "unregistered, the same: false"} {
		if uint64(all[what]) < *randomProfiles/50 {
			t.Errorf("%s: %d profiles only", what, all[what])
		}
	}
}

// thereAndBack registers the reserved capabilities in a profile that is drawn, and takes that back.
func thereAndBack(t *testing.T, seed uint64, count map[string]int) {
	t.Helper()
	d := &drawn{Rand: rand.New(rand.NewPCG(seed, 54))}
	raw, err := json.Marshal(d.profile())
	if err != nil {
		t.Fatal(err)
	}
	before := ask(t, raw)
	var is v1beta1.CloudProfile
	if err := json.Unmarshal(raw, &is); err != nil {
		t.Fatal(err)
	}
	uses := transform.Uses(openStack, transform.Input{Raw: raw})
	r, errs, err := transform.Register(openStack, transform.Input{Raw: raw}, uses, is.Spec.MachineCapabilities)
	if err != nil || len(errs) > 0 {
		t.Fatalf("seed %d: %v, %v\n%s", seed, err, errs, raw)
	}
	registered := ask(t, r.Raw)
	if registered.twice {
		count["the same flavor twice"]++
		return
	}
	count[fmt.Sprintf("registered, the same: %t", sameAs(t, seed, before, registered, raw, r.Raw))]++
	for _, name := range uses {
		if len(registered.profile.Vocabulary().Registered(name)) < 2 {
			t.Fatalf("seed %d: %s is not registered\n%s", seed, name, r.Raw)
		}
	}
	if strings.Contains(string(r.Raw), "Type\"") && len(uses) > 0 {
		t.Fatalf("seed %d: a name of the first text is left in\n%s", seed, r.Raw)
	}
	again, _, _ := transform.Register(openStack, transform.Input{Raw: r.Raw}, uses, registered.profile.Vocabulary().Definitions())
	if string(again.Raw) != string(r.Raw) {
		t.Fatalf("seed %d: once more\n%s\nbecomes\n%s", seed, r.Raw, again.Raw)
	}
	back, errs, err := transform.Unregister(openStack, transform.Input{Raw: r.Raw})
	if err != nil {
		t.Fatal(err)
	}
	if len(errs) > 0 { // of machine types
		count["no way back"]++
		return
	}
	unregistered := ask(t, back.Raw)
	if unregistered.twice {
		count["back, the same flavor twice"]++
		return
	}
	count[fmt.Sprintf("unregistered, the same: %t", sameAs(t, seed, registered, unregistered, r.Raw, back.Raw))]++
	if !strings.Contains(string(raw), `"name":"gardener-`) && !reflect.DeepEqual(before.of, unregistered.of) { // whatever changed on the way
		t.Fatalf("seed %d, there and back:\n%s\nis\n%s", seed, raw, back.Raw)
	}
	if strings.Contains(string(back.Raw), `"name":"gardener-`) {
		t.Fatalf("seed %d, back: registered is\n%s", seed, back.Raw)
	}
}

// sameAs reports whether all answers are the same, and demands that the plan says the same.
func sameAs(t *testing.T, seed uint64, was, is answers, before, after json.RawMessage) bool {
	t.Helper()
	same := reflect.DeepEqual(was.of, is.of)
	if found := planned(was, is); same != (found == 0) {
		t.Fatalf("seed %d: the plan has %d changes; the same: %t\n%v\n%v\n%s\nbecomes\n%s", seed, found, same, was.of, is.of, before, after)
	}
	return same
}
