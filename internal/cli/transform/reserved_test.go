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
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/update"
)

type object = map[string]any

// drawn draws manifests with flavors that declare reserved capabilities.
type drawn struct {
	*rand.Rand
	// first means the names and values of the first text of GEP-0054.
	first        bool
	vocabulary   []v1beta1.CapabilityDefinition
	declarable   []v1beta1.CapabilityDefinition
	architecture []string
}

// named returns a definition with the names and values of the profile's text.
func (d *drawn) named(name string, values ...string) v1beta1.CapabilityDefinition {
	if d.first {
		for i := range values {
			values[i], _ = texts.Translate(name, values[i])
		}
		name = map[string]string{capability.BootType: "gardener-bootType", capability.UpdateType: "gardener-updateType"}[name]
	}
	return v1beta1.CapabilityDefinition{Name: name, Values: values}
}

// some returns some of the values, in random order.
func (d *drawn) some(values []string) []string {
	values = slices.Clone(values)
	d.Shuffle(len(values), func(i, k int) { values[i], values[k] = values[k], values[i] })
	return values[:1+d.IntN(len(values))]
}

func (d *drawn) one(values ...string) string { return values[d.IntN(len(values))] }

// profiles draws a CloudProfile, and sometimes a NamespacedCloudProfile of it.
func (d *drawn) profiles() (parent, child object) {
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
	spec["machineTypes"] = types
	config := d.images(spec, "linux", legacy)
	config["keystoneURL"] = "https://keystone.example.com/v3/"
	config["constraints"] = object{"floatingPools": []any{object{"name": "fp"}}, "loadBalancerProviders": []any{object{"name": "haproxy"}}}
	if !legacy {
		spec["machineCapabilities"] = d.vocabulary
	}
	parent = object{"apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": object{"name": "p"}, "spec": spec}
	if d.IntN(3) == 0 {
		spec := object{"parent": object{"kind": "CloudProfile", "name": "p"}}
		d.images(spec, "own", legacy)
		child = object{
			"apiVersion": "core.gardener.cloud/v1beta1", "kind": "NamespacedCloudProfile",
			"metadata": object{"name": "team", "namespace": "ns"}, "spec": spec,
		}
	}
	return parent, child
}

// images draws the versions of an image, adds them to a spec, and returns its provider config.
func (d *drawn) images(spec object, name string, legacy bool) (config object) {
	var core, mapped []any
	for i := range 1 + d.IntN(2) {
		c, m := d.version(fmt.Sprintf("%d.0.0", i), legacy)
		core, mapped = append(core, c), append(mapped, m)
	}
	config = object{
		"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": []any{object{"name": name, "versions": mapped}},
	}
	spec["machineImages"], spec["providerConfig"] = []any{object{"name": name, "versions": core}}, config
	return config
}

// regions draws the regions of an image.
func (d *drawn) regions(id string) []any {
	var regions []any
	for _, region := range [][]string{{"eu"}, {"us"}, {"eu", "us"}, {"eu", "us"}}[d.IntN(4)] {
		regions = append(regions, object{"name": region, "id": id + region})
	}
	return regions
}

// version draws an image version with the same flavors on both sides.
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
	if d.IntN(2) == 0 { // otherwise admission fills them in
		core["capabilityFlavors"] = listed
	}
	return core, mapped
}

// manifests is a CloudProfile with an optional NamespacedCloudProfile; child may be nil.
type manifests struct{ parent, child json.RawMessage }

func (m manifests) String() string { return fmt.Sprintf("%s\n%s", m.parent, m.child) }

// spec returns the CloudProfile's spec.
func (m manifests) spec(t *testing.T) *v1beta1.CloudProfileSpec {
	t.Helper()
	var p v1beta1.CloudProfile
	if err := json.Unmarshal(m.parent, &p); err != nil {
		t.Fatal(err)
	}
	return &p.Spec
}

// uses returns the reserved capabilities in use.
func (m manifests) uses(t *testing.T) []string {
	t.Helper()
	uses := transform.Uses(openStack, transform.Input{Raw: m.parent})
	if m.child != nil {
		uses = append(uses, transform.Uses(openStack, transform.Input{Raw: m.child, Parent: m.spec(t)})...)
	}
	slices.Sort(uses)
	return slices.Compact(uses)
}

// register registers the reserved capabilities in use.
func (m manifests) register(t *testing.T) (is manifests, errs field.ErrorList) {
	t.Helper()
	was, uses := m.spec(t), m.uses(t)
	r, errs, err := transform.Register(openStack, transform.Input{Raw: m.parent}, uses, was.MachineCapabilities)
	if is.parent = r.Raw; m.child != nil && err == nil {
		var more field.ErrorList
		r, more, err = transform.Register(openStack, transform.Input{Raw: m.child, Parent: is.spec(t)}, uses, was.MachineCapabilities)
		is.child, errs = r.Raw, append(errs, more...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return is, errs
}

// unregister reverts register.
func (m manifests) unregister(t *testing.T) (is manifests, errs field.ErrorList) {
	t.Helper()
	r, errs, err := transform.Unregister(openStack, transform.Input{Raw: m.parent})
	if is.parent = r.Raw; m.child != nil && err == nil {
		var more field.ErrorList
		r, more, err = transform.Unregister(openStack, transform.Input{Raw: m.child, Parent: m.spec(t)})
		is.child, errs = r.Raw, append(errs, more...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return is, errs
}

// answers holds the images of all possible worker pools, by pool, and the compiled profiles.
type answers struct {
	of    map[string]any
	views []*profile.Profile[any]
	// twice means that there are duplicate flavors, which lint refuses.
	twice bool
}

// ask resolves every possible worker pool.
func ask(t *testing.T, m manifests) answers {
	t.Helper()
	parent := v1beta1.CloudProfile{Spec: *m.spec(t)}
	spec := &parent.Spec
	for _, f := range profile.FillCloudProfile(openStack, spec) {
		spec.MachineImages[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
	}
	a := answers{of: map[string]any{}}
	a.ask(t, m, spec)
	if m.child == nil {
		return a
	}
	var child v1beta1.NamespacedCloudProfile
	if err := json.Unmarshal(m.child, &child); err != nil {
		t.Fatal(err)
	}
	for _, f := range profile.FillNamespacedCloudProfile(openStack, &child, spec) {
		child.Spec.MachineImages[f.Image].Versions[f.Version].CapabilityFlavors = f.Flavors
	}
	rendered, err := namespaced.Render(openStack, &child, &parent)
	if err != nil {
		t.Fatal(err)
	}
	a.ask(t, m, rendered)
	return a
}

// ask adds the answers of one profile.
func (a *answers) ask(t *testing.T, m manifests, spec *v1beta1.CloudProfileSpec) {
	t.Helper()
	compiled, report := profile.Compile(openStack, spec, field.NewPath("spec"))
	for _, f := range report.Errors {
		if f.Type == field.ErrorTypeDuplicate {
			a.twice = true
		} else if f.Origin != "reserved-capability-incomplete" {
			t.Fatalf("%v in\n%s", report.Errors, m)
		}
	}
	for v := range entries.Versions(spec) {
		for _, machine := range spec.MachineTypes {
			for _, region := range spec.Regions {
				for asks := range 4 {
					pool := provider.Pool{Image: v.ID.Image, Version: v.ID.Version, MachineType: machine.Name, Region: region.Name}
					pool.Worker.SecureBoot = asks&1 > 0
					if asks&2 > 0 {
						pool.Worker.UpdateStrategy = v1beta1.AutoInPlaceUpdate
					}
					a.of[fmt.Sprint(len(a.views), v.ID, machine.Name, region.Name, asks)] = resolve.Pool(compiled, pool).Reference
				}
			}
		}
	}
	a.views = append(a.views, compiled)
}

// planned returns the number of changes that the proof of a migration finds.
func planned(was, is answers) int {
	var views []update.View[any]
	for i := range was.views {
		views = append(views, update.View[any]{
			Name: fmt.Sprint(i), Before: was.views[i], After: is.views[i], All: true, Besides: transform.Together(),
		})
	}
	changes := update.Of(gardenerlib.Library{}, views...)
	return len(changes.Choices)
}

// randomProfiles is the number of random profiles; make test-migration tries more.
var randomProfiles = flag.Uint64("profiles", 1500, "how many random profiles register reserved capabilities")

// Registering the reserved capabilities, or reverting that, changes no answer to any worker pool, unless the plan that proves the update
// reports it.
func TestRegisteringChangesNoAnswer(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // otherwise garbage collection would take most of the time
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

// thereAndBack registers the reserved capabilities in drawn profiles, and reverts that.
func thereAndBack(t *testing.T, seed uint64, count map[string]int) {
	t.Helper()
	d := &drawn{Rand: rand.New(rand.NewPCG(seed, 54))}
	parent, child := d.profiles()
	were := manifests{parent: encoded(t, parent)}
	if child != nil {
		were.child = encoded(t, child)
		count["with a NamespacedCloudProfile"]++
	}
	before, uses := ask(t, were), were.uses(t)
	are, errs := were.register(t)
	if len(errs) > 0 {
		t.Fatalf("seed %d: %v\n%s", seed, errs, were)
	}
	registered := ask(t, are)
	if registered.twice {
		count["the same flavor twice"]++
		return
	}
	count[fmt.Sprintf("registered, the same: %t", sameAs(t, seed, before, registered, were, are))]++
	for _, name := range uses {
		if len(registered.views[0].Vocabulary().Registered(name)) < 2 {
			t.Fatalf("seed %d: %s is not registered\n%s", seed, name, are)
		}
	}
	if strings.Contains(are.String(), "Type\"") && len(uses) > 0 {
		t.Fatalf("seed %d: a name of the first text is left in\n%s", seed, are)
	}
	if again, _ := are.register(t); again.String() != are.String() {
		t.Fatalf("seed %d: once more\n%s\nbecomes\n%s", seed, are, again)
	}
	back, errs := are.unregister(t)
	if len(errs) > 0 { // about machine types
		count["no way back"]++
		return
	}
	unregistered := ask(t, back)
	if unregistered.twice {
		count["back, the same flavor twice"]++
		return
	}
	count[fmt.Sprintf("unregistered, the same: %t", sameAs(t, seed, registered, unregistered, are, back))]++
	if !strings.Contains(were.String(), `"name":"gardener-`) && !reflect.DeepEqual(before.of, unregistered.of) { // regardless of changes on the way
		t.Fatalf("seed %d, there and back:\n%s\nis\n%s", seed, were, back)
	}
	if strings.Contains(back.String(), `"name":"gardener-`) {
		t.Fatalf("seed %d, back: registered is\n%s", seed, back)
	}
}

func encoded(t *testing.T, value any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// sameAs reports whether all answers are equal, and requires that the plan agrees.
func sameAs(t *testing.T, seed uint64, was, is answers, before, after manifests) bool {
	t.Helper()
	same := reflect.DeepEqual(was.of, is.of)
	if found := planned(was, is); same != (found == 0) {
		t.Fatalf("seed %d: the plan has %d changes; the same: %t\n%v\n%v\n%s\nbecomes\n%s", seed, found, same, was.of, is.of, before, after)
	}
	return same
}
