// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/local"
)

// updated compares two specs of CloudProfiles, and renders the warnings.
func updated(t *testing.T, old, update string, shoots ...consistency.Use) []string {
	t.Helper()
	was, report := consistency.Compile(imagesOnly{}, parse(t, old), field.NewPath("spec"))
	is, after := consistency.Compile(imagesOnly{}, parse(t, update), field.NewPath("spec"))
	if len(report.Errors)+len(after.Errors) > 0 {
		t.Fatal(report.Errors, after.Errors)
	}
	warnings := consistency.CompareProfiles(was, is, shoots)
	checkFindings(t, warnings)
	lines := plainly(warnings)
	for i := range lines {
		lines[i] += ": " + warnings[i].Detail
	}
	return lines
}

// choosy has an image version with two flavors, of which most machine types boot either.
const choosy = hypervisors + `
type: openstack
regions: [{name: europe}, {name: asia}]
machineTypes:
- {name: any, capabilities: {architecture: [amd64]}}
- {name: big, capabilities: {architecture: [amd64]}}
- {name: bare, capabilities: {architecture: [amd64], hypervisor: [baremetal]}}
- {name: retired, usable: false, capabilities: {architecture: [amd64]}}
machineImages:
- {name: gl, versions: [{version: "1", capabilityFlavors: [` + amdVirt + `, ` + amdBare + `]}]}
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - version: "1"
      capabilityFlavors:
      - {capabilities: ` + amdVirt + `, regions: [{name: europe, id: virt-eu}, {name: asia, id: virt-asia}]}
      - {capabilities: ` + amdBare + `, regions: [{name: europe, id: bare-eu}, {name: asia, id: bare-asia}]}
`

func TestChangedChoices(t *testing.T) {
	const virtualized, baremetal = "values: [virtualized, baremetal]", "values: [baremetal, virtualized]"
	changed := func(types string) []string {
		return []string{"Invalid spec.machineImages[0].versions[0] image-choice-changed: gl@1: new machines of machine " + types + " boot another flavor than the existing ones, which would still do"}
	}
	withoutBare := strings.NewReplacer(", "+amdBare+"]}", "]}", "      - {capabilities: "+amdBare+", regions: [{name: europe, id: bare-eu}, {name: asia, id: bare-asia}]}\n", "").Replace(choosy)
	for name, tc := range map[string]struct {
		old, new string
		want     []string
	}{
		"nothing":             {choosy, choosy, nil},
		"an image ID":         {choosy, strings.ReplaceAll(choosy, "virt-eu", "new"), nil},
		"flavors reordered":   {choosy, strings.NewReplacer(amdVirt+", "+amdBare, amdBare+", "+amdVirt).Replace(choosy), nil},
		"values reordered":    {choosy, strings.Replace(choosy, virtualized, baremetal, 1), changed("types any, big")},
		"a better flavor":     {strings.Replace(withoutBare, virtualized, baremetal, 1), strings.Replace(choosy, virtualized, baremetal, 1), changed("types any, big")},
		"a worse flavor":      {withoutBare, choosy, nil},
		"a flavor less":       {choosy, withoutBare, nil},
		"the better one less": {strings.Replace(choosy, virtualized, baremetal, 1), strings.Replace(withoutBare, virtualized, baremetal, 1), nil},
		"a machine type that was narrowed, so that the flavor does no longer fit": {
			choosy, strings.Replace(choosy, "{name: big, capabilities: {architecture: [amd64]}}", "{name: big, capabilities: "+amdBare+"}", 1), nil,
		},
		"a new machine type": {choosy, strings.Replace(choosy, "- {name: bare,", "- {name: new, capabilities: {architecture: [amd64]}}\n- {name: bare,", 1), nil},
		"values reordered, and the machine type retired": {
			choosy, strings.NewReplacer(virtualized, baremetal, "name: big", "name: big, usable: false").Replace(choosy), changed("type any"),
		},
		"values reordered, and the version expired": {
			choosy, strings.NewReplacer(virtualized, baremetal, `"1", capabilityFlavors: [{architecture: [amd64], hypervisor`, `"1", expirationDate: "2020-01-01T00:00:00Z", capabilityFlavors: [{architecture: [amd64], hypervisor`).Replace(choosy), nil,
		},
		"the reference of the flavor moved to another region": {choosy, strings.NewReplacer("{name: europe, id: virt-eu}, ", "").Replace(choosy), nil},
		"one that is better in one region only": {
			strings.Replace(strings.Replace(choosy, "{name: europe, id: bare-eu}, ", "", 1), virtualized, baremetal, 1), strings.Replace(choosy, virtualized, baremetal, 1), changed("types any, big"),
		},
		"values reordered, and the flavors written anew": {
			choosy, strings.NewReplacer(virtualized, baremetal, "hypervisor: [virtualized]", "hypervisor: [virtualized, virtualized]").Replace(choosy), changed("types any, big"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, updated(t, tc.old, tc.new)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// ofStorage has one image version in the flavors given, below a vocabulary.
func ofStorage(capabilities string, flavors ...string) string {
	var mapped []string
	for i, flavor := range flavors {
		mapped = append(mapped, "{capabilities: "+flavor+", regions: [{name: europe, id: a"+string(rune('0'+i))+"}]}")
	}
	return "machineCapabilities: [{name: architecture, values: [amd64]}, " + capabilities + "]\n" +
		"type: openstack\nregions: [{name: europe}]\nmachineTypes: [{name: m}]\n" +
		"machineImages: [{name: gl, versions: [{version: \"1\", capabilityFlavors: [" + strings.Join(flavors, ", ") + "]}]}]\n" +
		"providerConfig: " + openstackConfig + "machineImages: [{name: gl, versions: [{version: \"1\", capabilityFlavors: [" + strings.Join(mapped, ", ") + "]}]}]}\n"
}

func TestChangedChoicesBetweenVocabularies(t *testing.T) {
	const (
		storage = "{name: storage, values: [NVMe, SCSI]}"
		net     = "{name: net, values: [fast, basic]}"
		slow    = "{storage: [NVMe], net: [basic]}"
		fast    = "{storage: [SCSI], net: [fast]}"
		best    = "{storage: [NVMe], net: [fast]}"
	)
	for name, tc := range map[string]struct {
		old, new string
		changed  bool
	}{
		"priorities exchanged":                 {ofStorage(storage+", "+net, slow, fast), ofStorage(net+", "+storage, slow, fast), true},
		"a better flavor":                      {ofStorage(storage+", "+net, "{net: [basic]}"), ofStorage(storage+", "+net, "{net: [basic]}", best), true},
		"a better flavor, omissions filled in": {ofStorage(storage+", "+net, "{net: [basic]}"), ofStorage(storage+", "+net, "{storage: [SCSI, NVMe], net: [basic]}", best), true},
		"a better flavor, and a new value":     {ofStorage(storage+", "+net, "{net: [basic]}"), ofStorage("{name: storage, values: [NVMe, SCSI, SATA]}, "+net, "{net: [basic]}", best), true},
		"omissions filled in":                  {ofStorage(storage+", "+net, "{net: [basic]}", fast), ofStorage(storage+", "+net, "{storage: [SCSI, NVMe], net: [basic]}", fast), false},
		"a capability registered":              {ofStorage(storage, "{storage: [SCSI]}", "{storage: [NVMe]}"), ofStorage(storage+", "+net, "{storage: [SCSI]}", "{storage: [NVMe]}"), false},
		"another flavor instead":               {ofStorage(storage+", "+net, slow), ofStorage(storage+", "+net, fast, best), false},
	} {
		t.Run(name, func(t *testing.T) {
			got := updated(t, tc.old, tc.new)
			if (len(got) == 1) != tc.changed || tc.changed && !strings.Contains(got[0], "machine type m boot another flavor") {
				t.Error(got)
			}
		})
	}
}

// use is a Shoot with one pool for each machine type, of gl@1 in europe.
func use(name string, types ...string) consistency.Use {
	use := consistency.Use{Namespace: "garden-a", Name: name}
	for _, t := range types {
		use.Pools = append(use.Pools, consistency.Pool{MachineType: t, Image: "gl", Version: "1", Region: "europe"})
	}
	return use
}

func TestUsesThatBreak(t *testing.T) {
	const bare = "- {name: bare, capabilities: {architecture: [amd64], hypervisor: [baremetal]}}\n"
	withoutBare := strings.Replace(choosy, bare, "", 1)
	gone := func(who string) string {
		return "Forbidden spec.machineTypes machine-type-in-use: machine type bare is removed and still used by " + who + ": later updates of them can fail; put it back with usable: false until nobody uses it"
	}
	lost := func(who string) string {
		return "Forbidden spec.providerConfig.machineImages mapping-in-use: gl@1: no image is left for worker pools of " + who + ": they get no new machines; put the flavor or the reference back until nobody uses it"
	}
	replaced := func(who string) string {
		return "Forbidden spec.providerConfig.machineImages mapping-in-use: gl@1: the image that worker pools of " + who + " boot is removed, and new machines boot another one; put the flavor or the reference back until nobody uses it"
	}
	for name, tc := range map[string]struct {
		new    string
		shoots []consistency.Use
		want   []string
	}{
		"nothing":                              {choosy, []consistency.Use{use("s", "any", "bare")}, nil},
		"a machine type that nobody uses":      {withoutBare, []consistency.Use{use("s", "any", "big")}, nil},
		"a machine type in use":                {withoutBare, []consistency.Use{use("s", "any", "bare", "bare")}, []string{gone("Shoot garden-a/s")}},
		"a machine type in use by several":     {withoutBare, []consistency.Use{use("t", "bare"), use("s", "bare")}, []string{gone("Shoots garden-a/s, garden-a/t")}},
		"a machine type that is retired":       {strings.Replace(choosy, "name: bare,", "name: bare, usable: false,", 1), []consistency.Use{use("s", "bare")}, nil},
		"a machine type that was never there":  {choosy, []consistency.Use{use("s", "unknown")}, nil},
		"a reference that nobody uses":         {strings.Replace(choosy, "{name: asia, id: virt-asia}", "", 1), []consistency.Use{use("s", "any", "bare")}, nil},
		"a reference, but another flavor does": {strings.Replace(choosy, "{name: europe, id: bare-eu}, ", "", 1), []consistency.Use{use("s", "any")}, nil},
		"a reference in use":                   {strings.Replace(choosy, "{name: europe, id: bare-eu}, ", "", 1), []consistency.Use{use("s", "any", "bare")}, []string{lost("Shoot garden-a/s")}},
		"a version, on both sides":             {strings.ReplaceAll(choosy, `version: "1"`, `version: "2"`), []consistency.Use{use("s", "any"), use("t", "bare")}, []string{lost("Shoots garden-a/s, garden-a/t")}},
		"a machine type, and a reference": {
			strings.Replace(strings.Replace(choosy, bare, "", 1), "{name: europe, id: virt-eu}, ", "", 1),
			[]consistency.Use{use("s", "bare"), use("t", "any")}, []string{gone("Shoot garden-a/s"), replaced("Shoot garden-a/t")}, // any boots the other flavor
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, updated(t, choosy, tc.new, tc.shoots...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A pool that had no image, or leaves it to Gardener, loses none.
func TestUsesThatWereBroken(t *testing.T) {
	broken := use("s", "any")
	broken.Pools[0].Version = "9"
	open := use("t", "any")
	open.Pools[0].Image, open.Pools[0].Version = "", ""
	other := use("u", "bare")
	other.Pools[0].Architecture = "arm64"
	if got := updated(t, choosy, strings.ReplaceAll(choosy, `version: "1"`, `version: "2"`), broken, open, other); len(got) > 0 {
		t.Error(got)
	}
}

// The same update says the same, in whatever order the Shoots come, which are not changed.
func TestOrderOfShootsDoesNotMatter(t *testing.T) {
	var shoots []consistency.Use
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		shoots = append(shoots, use(name, "bare", "any", "big"))
	}
	shoots[3].Namespace, shoots[4].Namespace = "garden-b", "garden-0"
	fewer := hypervisors + "type: openstack\nregions: [{name: europe}]\nmachineTypes: [{name: retired, capabilities: {architecture: [amd64]}}]\nproviderConfig: " + openstackConfig + "}\n"
	want := updated(t, choosy, fewer, shoots...)
	if len(want) != 3 || !strings.Contains(want[0], "garden-0/e, garden-a/a, garden-a/b, garden-a/c, garden-a/f, and 3 more") {
		t.Error(want)
	}
	for range 20 {
		shuffled := slices.Clone(shoots)
		rand.Shuffle(len(shuffled), func(i, k int) { shuffled[i], shuffled[k] = shuffled[k], shuffled[i] })
		given := slices.Clone(shuffled)
		if diff := cmp.Diff(want, updated(t, choosy, fewer, shuffled...)); diff != "" {
			t.Fatal(diff)
		}
		if !slices.EqualFunc(given, shuffled, func(a, b consistency.Use) bool { return a.Namespace == b.Namespace && a.Name == b.Name }) {
			t.Fatal("the Shoots were reordered")
		}
	}
}

func TestAnUpdateOfNothingSaysNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		p, _ := consistency.Compile(local.Provider{}, spec, field.NewPath("spec"))
		again, _ := consistency.Compile(local.Provider{}, spec.DeepCopy(), field.NewPath("spec"))
		var shoots []consistency.Use
		for _, image := range spec.MachineImages {
			for _, version := range image.Versions {
				for _, machine := range []string{"m0", "m1", "m2", "none"} {
					shoots = append(shoots, consistency.Use{Name: machine, Pools: []consistency.Pool{{MachineType: machine, Image: image.Name, Version: version.Version, Region: "local"}}})
				}
			}
		}
		if warnings := consistency.CompareProfiles(p, again, shoots); len(warnings) > 0 {
			t.Fatal(warnings)
		}
	})
}
