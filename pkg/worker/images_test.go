// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
	"github.com/capkit/capkit/pkg/worker"
)

type (
	record = worker.Record[openstack.Image]
	class  = worker.Class[openstack.Image]
)

// capabilities and legacy are profiles in the two formats, each with one image version for both architectures. Tests can insert a line
// into the flavors of the first, and into the version of the second.
const (
	capabilities = `
type: openstack
machineCapabilities:
- {name: architecture, values: [amd64, arm64]}
- {name: hypervisor, values: [virtualized, baremetal]}
machineTypes:
- {name: amd, capabilities: {architecture: [amd64]}}
- {name: arm, capabilities: {architecture: [arm64]}}
regions: [{name: europe}, {name: asia}]
machineImages:
- name: gl
  versions:
  - version: "1"
    capabilityFlavors:
    - {architecture: [arm64]}
    - {architecture: [amd64], hypervisor: [virtualized]}
    - {architecture: [amd64], hypervisor: [baremetal]}
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  keystoneURL: https://keystone.example.com/v3/
  constraints: {floatingPools: [{name: fp}], loadBalancerProviders: [{name: amphora}]}
  machineImages:
  - name: gl
    versions:
    - version: "1"
      capabilityFlavors:
      - {capabilities: {architecture: [arm64]}, regions: [{name: europe, id: arm-1}]}
      - {capabilities: {architecture: [amd64], hypervisor: [virtualized]}, regions: [{name: europe, id: virt-1}]}
      - {capabilities: {architecture: [amd64], hypervisor: [baremetal]}, regions: [{name: europe, id: bare-1}]}
`
	legacy = `
type: openstack
machineTypes:
- {name: amd, architecture: amd64}
- {name: arm, architecture: arm64}
regions: [{name: europe}, {name: asia}]
machineImages:
- name: gl
  versions:
  - {version: "1", architectures: [arm64, amd64]}
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  keystoneURL: https://keystone.example.com/v3/
  constraints: {floatingPools: [{name: fp}], loadBalancerProviders: [{name: amphora}]}
  machineImages:
  - name: gl
    versions:
    - version: "1"
      regions:
      - {name: europe, id: arm-0, architecture: arm64}
      - {name: europe, id: amd-0, architecture: amd64}
`
)

// profileOf compiles a profile after replacing texts: old, new, old, new.
func profileOf(t testing.TB, spec string, replace ...string) *profile.Profile[openstack.Image] {
	t.Helper()
	var s v1beta1.CloudProfileSpec
	if err := yaml.UnmarshalStrict([]byte(strings.NewReplacer(replace...).Replace(spec)), &s); err != nil {
		t.Fatal(err)
	}
	p, report := profile.Compile(openstack.Provider{}, &s, field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	return p
}

func id(id string) openstack.Image { return openstack.Image{ID: id} }

func poolOn(machineType string) provider.Pool {
	return provider.Pool{
		Name: "pool", MachineType: machineType, Image: "gl", Version: "1", Region: "europe", Path: field.NewPath("spec", "pools").Index(0),
	}
}

// named returns a class of a pool on gl@1. The pool keeps its class if name is class.
func named(name string, ref openstack.Image) []class {
	return []class{{Name: name, Image: "gl", Version: "1", Reference: ref}}
}

const delisted = `version: "1"`

// ofARM turns the first profile into one for arm64, with a single flavor that declares nothing.
var ofARM = []string{
	"[amd64, arm64]", "[arm64]", "- {name: amd, capabilities: {architecture: [amd64]}}\n", "",
	"    - {architecture: [arm64]}\n    - {architecture: [amd64], hypervisor: [virtualized]}\n    - {architecture: [amd64], hypervisor: [baremetal]}\n",
	"    - {}\n",
	"{capabilities: {architecture: [arm64]}, regions", "{regions",
	"      - {capabilities: {architecture: [amd64], hypervisor: [virtualized]}, regions: [{name: europe, id: virt-1}]}\n", "",
	"      - {capabilities: {architecture: [amd64], hypervisor: [baremetal]}, regions: [{name: europe, id: bare-1}]}\n", "",
}

// TestOf covers the possible changes of a pool between two reconciliations.
func TestOf(t *testing.T) {
	of := func(arch, id string) record {
		return record{Image: "gl", Version: "1", Architecture: arch, Reference: openstack.Image{ID: id}}
	}
	with := func(capabilities v1beta1.Capabilities, ref openstack.Image) record {
		return record{Image: "gl", Version: "1", Capabilities: capabilities, Reference: ref}
	}
	virtualized := v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}}
	baremetal := v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"baremetal"}}
	arm := v1beta1.Capabilities{"architecture": {"arm64"}}
	both := []record{with(arm, id("arm-1")), with(virtualized, id("virt-1")), with(baremetal, id("bare-1"))}
	for name, tc := range map[string]struct {
		profile  *profile.Profile[openstack.Image]
		records  []record
		machine  string
		classes  []class
		want     openstack.Image
		record   record
		replaced string
	}{
		"a new pool": {
			profileOf(t, capabilities), nil, "amd", nil, id("virt-1"), with(virtualized, id("virt-1")), "",
		},
		"a new pool, legacy": {profileOf(t, legacy), nil, "arm", nil, id("arm-0"), of("arm64", "arm-0"), ""},
		"the class has a flavor that is not the best": {
			profileOf(t, capabilities), both, "amd", named("class", id("bare-1")), id("bare-1"), with(baremetal, id("bare-1")), "",
		},
		"and the class is going to be another": {
			profileOf(t, capabilities), both, "amd", named("before", id("bare-1")), id("virt-1"), with(virtualized, id("virt-1")), "",
		},
		"and the image has another ID": {
			profileOf(t, capabilities, "bare-1", "bare-2"), both, "amd", named("class", id("bare-1")),
			id("bare-2"), with(baremetal, id("bare-2")), "",
		},
		"and that cannot be told, without a record": {
			profileOf(t, capabilities, "bare-1", "bare-2"), nil, "amd", named("class", id("bare-1")),
			id("virt-1"), with(virtualized, id("virt-1")),
			"worker pool pool: new machines boot another flavor than the existing ones, {architecture: [amd64], hypervisor: [virtualized]}: " +
				"the one that these boot is not in the profile any more",
		},
		"and it fits no more": {
			profileOf(t, capabilities, "{name: amd, capabilities: {architecture: [amd64]}}",
				"{name: amd, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}"),
			both, "amd", named("class", id("bare-1")), id("virt-1"), with(virtualized, id("virt-1")),
			"worker pool pool: new machines boot another flavor than the existing ones, {architecture: [amd64], hypervisor: [virtualized]}: " +
				"{architecture: [amd64], hypervisor: [baremetal]} does not fit the worker pool any more",
		},
		"and it is not in the region any more": {
			profileOf(t, capabilities, "{name: europe, id: bare-1}", "{name: asia, id: bare-1}"),
			both, "amd", named("class", id("bare-1")), id("virt-1"), with(virtualized, id("virt-1")),
			"worker pool pool: new machines boot another flavor than the existing ones, {architecture: [amd64], hypervisor: [virtualized]}: " +
				"{architecture: [amd64], hypervisor: [baremetal]} has no image in region europe any more",
		},
		"the profile gets capabilities, and other IDs": {
			profileOf(t, capabilities), []record{of("arm64", "arm-0"), of("", "amd-0")}, "amd", named("class", id("amd-0")),
			id("virt-1"), with(virtualized, id("virt-1")), "",
		},
		"the profile loses its capabilities, and other IDs": {
			profileOf(t, legacy), both, "arm", named("class", id("arm-1")), id("arm-0"), of("arm64", "arm-0"), "",
		},

		"two flavors have the image": {
			profileOf(t, capabilities, "virt-1", "same", "bare-1", "same", "[virtualized, baremetal]}\nmachine", "[baremetal, virtualized]}\nmachine"),
			nil, "amd", named("class", id("same")), id("same"), with(baremetal, id("same")), "",
		},
		"another version had the image, too": {
			profileOf(t, capabilities), []record{
				{Image: "gl", Version: "0", Capabilities: baremetal, Reference: id("virt-0")}, with(virtualized, id("virt-0")),
			}, "amd", named("class", id("virt-0")), id("virt-1"), with(virtualized, id("virt-1")), "",
		},

		// A pool on a delisted version keeps its image.
		"delisted": {
			profileOf(t, capabilities, delisted, `version: "2"`), both, "amd", named("class", id("bare-1")),
			id("bare-1"), with(baremetal, id("bare-1")), "",
		},
		"delisted, with one image for both architectures": {
			profileOf(t, capabilities, delisted, `version: "2"`), []record{with(arm, id("same")), with(virtualized, id("same")), with(arm, id("other"))},
			"amd", named("class", id("same")), id("same"), with(virtualized, id("same")), "",
		},
		"delisted, with an image found by name": {
			profileOf(t, capabilities, delisted, `version: "2"`), []record{with(virtualized, openstack.Image{Name: "gl-1"})}, "amd",
			nil, openstack.Image{Name: "gl-1"}, with(virtualized, openstack.Image{Name: "gl-1"}), "",
		},
		"delisted, without a record": {
			profileOf(t, capabilities, delisted, `version: "2"`), nil, "arm", named("class", id("arm-1")), id("arm-1"), of("", "arm-1"), "",
		},
		"delisted, and the class is going to be another": {
			profileOf(t, capabilities, delisted, `version: "2"`), both, "amd", named("before", id("bare-1")),
			id("bare-1"), with(baremetal, id("bare-1")), "",
		},
		"delisted, and the class is of another version": {
			profileOf(t, capabilities, delisted, `version: "2"`), both, "amd",
			[]class{{Name: "before", Image: "gl", Version: "0", Reference: id("old")}}, id("virt-1"), with(virtualized, id("virt-1")), "",
		},
		"delisted, a new pool gets the best of what there is": {
			profileOf(t, capabilities, delisted, `version: "2"`), []record{both[2], both[0], both[1]}, "amd", nil,
			id("virt-1"), with(virtualized, id("virt-1")), "",
		},
		"delisted, and the profile has no capabilities any more": {
			profileOf(t, legacy, delisted, `version: "2"`), both, "arm", nil, id("arm-1"), with(arm, id("arm-1")), "",
		},
		"delisted, and the profile has capabilities now": {
			profileOf(t, capabilities, delisted, `version: "2"`), []record{of("arm64", "arm-0"), of("amd64", "amd-0")}, "amd", nil,
			id("amd-0"), of("amd64", "amd-0"), "",
		},

		// A record that declares nothing is of an image for all machines, unless there is one for amd64.
		"of the only architecture, and another ID": {
			profileOf(t, capabilities, append(ofARM, "id: arm-1", "id: arm-2")...), []record{of("", "arm-1")}, "arm", named("class", id("arm-1")),
			id("arm-2"), of("", "arm-2"), "",
		},
		"of the only architecture, delisted": {
			profileOf(t, capabilities, append(ofARM, delisted, `version: "2"`)...), []record{of("", "arm-1")}, "arm", nil,
			id("arm-1"), of("", "arm-1"), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			records, classes := tc.records, tc.classes
			for range 2 { // the result is the input of the next round
				q := worker.Question[openstack.Image]{Pool: poolOn(tc.machine), Classes: classes, Names: []string{"class"}}
				got, err := worker.NewImages(tc.profile, records).Of(q)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got.Reference); diff != "" {
					t.Error("reference", diff)
				}
				if diff := cmp.Diff(tc.record, got.Record); diff != "" {
					t.Error("record", diff)
				}
				if diff := cmp.Diff(tc.replaced, got.Replaced); diff != "" {
					t.Error("replaced", diff)
				}
				tc.replaced = ""
				records = append(worker.Records([]worker.Image[openstack.Image]{got}), records...)
				classes = named("class", got.Reference)
			}
		})
	}
}

// Machines that are updated in place survive when the pool's class is renamed, for example for another Kubernetes version. They keep
// their flavor while the image version stays the same.
func TestImagesOfPoolsThatAreUpdatedInPlace(t *testing.T) {
	const core = "  - version: \"1\"\n    capabilityFlavors"
	inPlace := []string{core, strings.Replace(core, "capab", "inPlaceUpdates: {supported: true}\n    capab", 1)}
	before, gone := named("before", id("bare-1")), named("older", id("bare-0"))
	other := []class{{Name: "before", Image: "gl", Version: "0", Reference: id("bare-1")}}
	for name, tc := range map[string]struct {
		strategy v1beta1.MachineUpdateStrategy
		classes  []class
		records  []record
		profile  []string
		want     string
		replaced string
	}{
		"replaced one after the other": {v1beta1.AutoRollingUpdate, before, nil, nil, "virt-1", ""},
		"in place":                     {v1beta1.AutoInPlaceUpdate, before, nil, nil, "bare-1", ""},
		"in place, by hand":            {v1beta1.ManualInPlaceUpdate, before, nil, nil, "bare-1", ""},
		"with the new class":           {v1beta1.AutoInPlaceUpdate, append(named("class", id("virt-1")), before...), nil, nil, "virt-1", ""},
		"another version":              {v1beta1.AutoInPlaceUpdate, other, nil, nil, "virt-1", ""},
		"two older classes, with two IDs of the flavor": {
			v1beta1.AutoInPlaceUpdate, append(gone, before...), nil, nil, "bare-1", "",
		},
		"another ID": {v1beta1.AutoInPlaceUpdate, before, records1(), []string{"bare-1", "bare-2"}, "bare-2", ""},
		"the flavor is gone": {
			v1beta1.AutoInPlaceUpdate, gone, nil, nil, "virt-1", "the one that these boot is not in the profile any more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := worker.Question[openstack.Image]{Pool: poolOn("amd"), Classes: tc.classes, Names: []string{"class"}}
			q.Pool.Worker.UpdateStrategy = tc.strategy
			got, err := worker.NewImages(profileOf(t, capabilities, append(tc.profile, inPlace...)...), tc.records).Of(q)
			if err != nil || got.Reference != id(tc.want) || !strings.HasSuffix(got.Replaced, tc.replaced) || (got.Replaced == "") != (tc.replaced == "") {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// If the process dies while it writes a pool's classes, one zone may have an ID that neither profile nor status knows any more. Then the
// other zone tells the pool's flavor.
func TestOneZoneHasAnUnknownImage(t *testing.T) {
	q := worker.Question[openstack.Image]{
		Pool: poolOn("amd"), Classes: append(named("class-z1", id("bare-0")), named("class-z2", id("bare-1"))...),
		Names: []string{"class-z1", "class-z2"},
	}
	got, err := worker.NewImages(profileOf(t, capabilities), nil).Of(q)
	if err != nil || got.Reference != id("bare-1") || got.Replaced != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	without := profileOf(t, capabilities, delisted, `version: "2"`)
	for name, tc := range map[string]struct {
		profile *profile.Profile[openstack.Image]
		records []record
		change  func(*provider.Pool)
		reason  imageselector.Reason
		want    string
	}{
		"no such version": {
			without, nil, func(*provider.Pool) {}, imageselector.ReasonUnknownVersion, "worker pool pool: ",
		},
		"no such version, and only for another architecture": {
			without, []record{{Image: "gl", Version: "1", Architecture: "arm64", Reference: id("arm-0")}}, func(*provider.Pool) {},
			imageselector.ReasonUnknownVersion, "nor does an image fit that machines of the Shoot have booted",
		},
		"no such image": {
			without, nil, func(p *provider.Pool) { p.Image = "other" }, imageselector.ReasonUnknownImage, "worker pool pool: ",
		},
		"no such machine type": {
			without, nil, func(p *provider.Pool) { p.MachineType = "other" }, profile.ReasonUnknownMachineType, "machine type other",
		},
		"no region": {
			profileOf(t, capabilities), nil, func(p *provider.Pool) { p.Region = "asia" }, imageselector.ReasonRegion, "asia",
		},
		"nothing fits": {
			profileOf(t, capabilities, "{architecture: [arm64]}", "{architecture: [arm64], hypervisor: [baremetal]}",
				"capabilities: {architecture: [arm64]}}\nregions", "capabilities: {architecture: [arm64], hypervisor: [virtualized]}}\nregions"),
			nil, func(p *provider.Pool) { p.MachineType = "arm" }, imageselector.ReasonCapability, "hypervisor",
		},
		"unreadable": {
			profileOf(t, capabilities), nil, func(p *provider.Pool) { p.Config = &runtime.RawExtension{Raw: []byte(`{"kind":"Other"}`)} },
			"", "worker pool pool: [spec.pools[0].providerConfig",
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := worker.Question[openstack.Image]{Pool: poolOn("amd"), Names: []string{"class"}}
			tc.change(&q.Pool)
			got, err := worker.NewImages(tc.profile, tc.records).Of(q)
			var known *worker.Error
			if !errors.As(err, &known) || known.Reason != tc.reason || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v", got, err)
			}
			if codes := known.Codes(); len(codes) != 1 || codes[0] != v1beta1.ErrorConfigurationProblem {
				t.Error(codes)
			}
		})
	}
}

// Errors and Events are printable, regardless of the pool's fields.
func TestTextsArePrintable(t *testing.T) {
	const hostile = "pool\x1b[31m\n\u202e"
	of := func(machineType, name string) (worker.Image[openstack.Image], error) {
		q := worker.Question[openstack.Image]{Pool: poolOn(machineType), Classes: named("class", id("gone")), Names: []string{name}}
		q.Pool.Name = hostile
		return worker.NewImages(profileOf(t, capabilities), nil).Of(q)
	}
	replaced, err := of("amd", "class")
	if err != nil {
		t.Fatal(err)
	}
	undecided, err := of(hostile, "class")
	if err != nil {
		t.Fatal(err)
	}
	_, err = of(hostile, "other")
	if err == nil {
		t.Fatal("there is a machine type of that name")
	}
	for _, text := range []string{replaced.Replaced, undecided.Undecided, err.Error()} {
		if !strings.HasPrefix(text, `worker pool pool\x1b[31m\n\u202e: `) || words.Printable(text) != text {
			t.Errorf("%q", text)
		}
	}
}

// An error in a config that does not concern requests does not prevent the pool from getting its image.
func TestFaults(t *testing.T) {
	pool := poolOn("amd")
	pool.Config = &runtime.RawExtension{Raw: []byte(
		`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","unknown":1}`)}
	for _, profile := range []string{`version: "1"`, `version: "2"`} {
		images := worker.NewImages(profileOf(t, capabilities, delisted, profile), nil)
		got, err := images.Of(worker.Question[openstack.Image]{Pool: pool, Classes: named("class", id("virt-1")), Names: []string{"class"}})
		if err != nil || got.Reference != id("virt-1") || len(got.Faults) != 1 || got.Faults[0].Field != "spec.pools[0].providerConfig.unknown" {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

// Pools with the same image share one record.
func TestRecords(t *testing.T) {
	a := record{Image: "gl", Version: "1", Architecture: "amd64", Reference: id("a")}
	b := record{Image: "gl", Version: "1", Architecture: "arm64", Reference: id("b")}
	var images []worker.Image[openstack.Image]
	for _, r := range []record{b, a, b, a} {
		images = append(images, worker.Image[openstack.Image]{Record: r})
	}
	if diff := cmp.Diff([]record{b, a}, worker.Records(images)); diff != "" {
		t.Error(diff)
	}
}
