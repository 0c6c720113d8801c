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

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/policy"
	"github.com/capkit/capkit/pkg/words"
	"github.com/capkit/capkit/pkg/worker"
)

// wrongly compiles a profile, possibly with errors, after replacing texts, with a policy.
func wrongly(t testing.TB, chosen policy.Undecided, spec string, replace ...string) *profile.Profile[openstack.Image] {
	t.Helper()
	replaced := strings.NewReplacer(replace...).Replace(spec)
	if len(replace) > 0 && replaced == spec {
		t.Fatalf("nothing is replaced by %q", replace)
	}
	var s v1beta1.CloudProfileSpec
	if err := yaml.UnmarshalStrict([]byte(replaced), &s); err != nil {
		t.Fatal(err)
	}
	cloud := given.Deciding{Chosen: policy.Policies{Undecided: chosen}}
	p, _ := profile.Compile(cloud, &s, field.NewPath("spec"))
	return p
}

func config(text string) func(*provider.Pool) {
	return func(p *provider.Pool) { p.Config = &runtime.RawExtension{Raw: []byte(text)} }
}

// mistakes are reasons why the image of a pool on amd, which boots virt-1, cannot be decided.
var mistakes = map[string]struct {
	spec    string
	replace []string
	change  func(*provider.Pool)
	// says is a part of the reason.
	says string
	// stays means that the other parts of a machine class are unknown, too.
	stays bool
	// unknown means that the pool's requests are unknown, or match no record.
	unknown bool
}{
	"no image in the region": {
		capabilities, []string{"{name: europe, id: virt-1}", "{name: asia, id: virt-1}", "{name: europe, id: bare-1}", "{name: asia, id: bare-1}"}, nil,
		"in region europe", false, false,
	},
	"no image in the region, legacy": {
		legacy, []string{"{name: europe, id: amd-0, ", "{name: asia, id: amd-0, "}, nil, "in region europe", false, false,
	},
	"core and provider config disagree": {
		capabilities, []string{"- {capabilities: {architecture: [amd64], ", "- {capabilities: {architecture: [arm64], "}, nil,
		"the profile has an error", false, false,
	},
	"an empty reference": {
		capabilities, []string{"{name: europe, id: virt-1}", `{name: europe, id: ""}`, "{name: europe, id: bare-1}", `{name: europe, id: ""}`}, nil,
		"the profile has an error", false, false,
	},
	"the provider config lacks the version": {
		capabilities, []string{"  - name: gl\n    versions:\n    - version: \"1\"", "  - name: gl\n    versions:\n    - version: \"2\""}, nil,
		"though core lists it", false, false,
	},
	"the provider config is empty": {
		capabilities[:strings.Index(capabilities, "providerConfig")] + "providerConfig: {}\n", nil, nil, "though core lists it", false, false,
	},
	"the machine type is another one by now": {
		capabilities, []string{"capabilities: {architecture: [amd64]}}", "capabilities: {architecture: [arm64]}}"},
		func(p *provider.Pool) { p.Architecture = "amd64" }, "the pool is for architecture amd64", false, true,
	},
	"the machine type is gone": {
		capabilities, []string{"{name: amd, ", "{name: amd2, "}, nil, "machine type amd is not in the profile", true, true,
	},
	"a feature is not registered any more": {
		capabilities, nil, config(trusting), "does not register", false, true,
	},
	"a config that is no JSON": {capabilities, nil, config(`trustedLaunch: {enabled: true}`), "not valid JSON", true, true},
	"a config without kind":    {capabilities, nil, config(`{}`), "spec.pools[0].providerConfig", true, true},
	"a config that cannot be read": {
		capabilities, nil, config(strings.Replace(trusting, "true", `"yes"`, 1)), "trustedLaunch.enabled", true, true,
	},
}

// records1 returns the status's records of gl@1.
func records1() []record {
	return []record{
		{Image: "gl", Version: "1", Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}, Reference: id("arm-1")},
		{Image: "gl", Version: "1", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}}, Reference: id("virt-1")},
		{Image: "gl", Version: "1", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"baremetal"}}, Reference: id("bare-1")},
	}
}

// A running pool keeps the image of its class despite any error, with an Event. A new pool is refused.
func TestUndecided(t *testing.T) {
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			of := func(chosen policy.Undecided, classes []class, records []record) (worker.Image[openstack.Image], error) {
				q := worker.Question[openstack.Image]{Pool: poolOn("amd"), Classes: classes, Names: []string{"class"}}
				if m.change != nil {
					m.change(&q.Pool)
				}
				return worker.NewImages(wrongly(t, chosen, m.spec, m.replace...), records).Of(q)
			}
			boots := func(got worker.Image[openstack.Image], err error, want string, stays bool, ends string) {
				t.Helper()
				if err != nil || got.Reference != id(want) || got.Record.Reference != id(want) || got.Stays != stays {
					t.Errorf("got %+v, %v", got, err)
				}
				if text := got.Undecided; !strings.HasPrefix(text, "worker pool pool: ") || !strings.Contains(text, m.says) ||
					!strings.HasSuffix(text, "; until that is repaired, new machines of the pool boot "+ends) || words.Printable(text) != text {
					t.Errorf("the Event says %q", text)
				}
				if got.Replaced != "" || got.Flavor != nil {
					t.Errorf("got %+v", got)
				}
			}
			goesOn := func(got worker.Image[openstack.Image], err error, want string, stays bool) {
				t.Helper()
				boots(got, err, want, stays, "what they have booted so far")
			}
			refused := func(got worker.Image[openstack.Image], err error) {
				t.Helper()
				var known *worker.Error
				if !errors.As(err, &known) || !strings.Contains(err.Error(), m.says) {
					t.Errorf("got %+v, %v", got, err)
				}
			}
			listed := !strings.Contains(m.says, "core lists it") // otherwise the version is treated as delisted
			for _, chosen := range []policy.Undecided{policy.GoesOn, policy.Recalls} {
				got, err := of(chosen, named("class", id("virt-1")), records1())
				goesOn(got, err, "virt-1", m.stays)
				got, err = of(chosen, named("class", id("virt-1")), nil)
				goesOn(got, err, "virt-1", m.stays)
				got, err = of(chosen, named("before", id("bare-1")), records1())
				if m.unknown {
					refused(got, err)
				} else {
					goesOn(got, err, "bare-1", false)
				}
				refused(of(chosen, nil, nil))
				refused(of(chosen, named("before", id("virt-1")), nil))
				refused(of(chosen, named("class", openstack.Image{}), nil)) // a class that cannot be read
				got, err = of(chosen, nil, records1())
				if m.unknown || listed && chosen == policy.GoesOn {
					refused(got, err)
				} else { // its machines have not booted yet
					boots(got, err, "virt-1", false, "an image that machines of the Shoot have booted")
				}
			}
			if listed {
				refused(of(policy.Fails, named("class", id("virt-1")), records1()))
			}
		})
	}
}

// A record applies to machine types that it fits, and to pools whose requests it meets.
func TestRecordsFit(t *testing.T) {
	const metal = "- {name: amd, capabilities: {architecture: [amd64]}}"
	delistedMetal := []string{delisted, `version: "2"`, metal, metal + "\n- {name: metal, capabilities: {architecture: [amd64], hypervisor: [baremetal]}}"}
	registered := []string{
		delisted, `version: "2"`, "machineTypes:", "- {name: openstack-trustedLaunch, values: [enabled, disabled]}\nmachineTypes:",
	}
	virtualized := records1()[1:2]
	for name, tc := range map[string]struct {
		replace []string
		machine string
		change  func(*provider.Pool)
		classes []class
		records []record
		want    openstack.Image
		says    string
	}{
		"the pool moves to a machine type that its image does not fit": {
			delistedMetal, "metal", nil, named("before", id("virt-1")), virtualized, openstack.Image{},
			"nor does an image fit that machines of the Shoot have booted",
		},
		"and another pool has one that does": {
			delistedMetal, "metal", nil, named("before", id("virt-1")), records1(), id("bare-1"), "",
		},
		"and there is no record of what it boots": {
			delistedMetal, "metal", nil, named("before", id("virt-1")), nil, openstack.Image{}, "has no version 1",
		},
		"the pool asks for what its image does not have": {
			registered, "amd", config(trusting), named("before", id("virt-1")), virtualized, openstack.Image{},
			"nor does an image fit that machines of the Shoot have booted",
		},
		"a record without a reference": {
			delistedMetal, "amd", nil, nil, []record{{Image: "gl", Version: "1", Architecture: "amd64"}}, openstack.Image{}, "has no version 1",
		},
		"the machine class stays": {
			delistedMetal, "metal", nil, named("class", id("virt-1")), virtualized, id("virt-1"), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := worker.Question[openstack.Image]{Pool: poolOn(tc.machine), Classes: tc.classes, Names: []string{"class"}}
			if tc.change != nil {
				tc.change(&q.Pool)
			}
			got, err := worker.NewImages(wrongly(t, policy.GoesOn, capabilities, tc.replace...), tc.records).Of(q)
			if tc.says != "" {
				if err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err != nil || got.Undecided != "" {
				t.Fatalf("got %+v, %v", got, err)
			}
			if diff := cmp.Diff(tc.want, got.Reference); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// An API server accepts at most 1,024 bytes in an Event.
func TestTextsFitIntoEvents(t *testing.T) {
	q := worker.Question[openstack.Image]{Pool: poolOn("amd"), Classes: named("class", id("virt-1")), Names: []string{"class"}}
	q.Pool.Name = strings.Repeat("ä", 900)
	got, err := worker.NewImages(wrongly(t, policy.GoesOn, capabilities, "{name: amd, ", "{name: amd2, "), nil).Of(q)
	if err != nil || len(got.Undecided) > 1024 || !strings.HasSuffix(got.Undecided, "...") {
		t.Errorf("%d bytes: %q, %v", len(got.Undecided), got.Undecided, err)
	}
	got, err = worker.NewImages(profileOf(t, capabilities, "virt-1", "virt-2"), nil).Of(q)
	if err != nil || len(got.Replaced) > 1024 || !strings.HasSuffix(got.Replaced, "...") {
		t.Errorf("%d bytes: %q, %v", len(got.Replaced), got.Replaced, err)
	}
}

// half is a reference that boots nothing without its ID.
type half struct{ ID, Zone string }

func (h half) IsZero() bool { return h.ID == "" }

// halves is a provider without images.
type halves struct{}

func (halves) Type() string { return "halves" }

func (halves) Decode(*runtime.RawExtension, *field.Path) (provider.Config[half], finding.Report) {
	return provider.Config[half]{}, finding.Report{}
}

func (halves) Encode(imageselector.Version[half], provider.Format) ([]any, error) { return nil, nil }

func (halves) ValidateReference(half, *field.Path) field.ErrorList { return nil }

func (halves) Workers() provider.Workers { return provider.Workers{} }

// A class whose reference lacks what boots it has an unknown image.
func TestAReferenceThatSaysItIsEmpty(t *testing.T) {
	spec := &v1beta1.CloudProfileSpec{
		Regions: []v1beta1.Region{{Name: "europe"}}, MachineTypes: []v1beta1.MachineType{{Name: "amd"}},
		MachineImages: []v1beta1.MachineImage{{Name: "gl"}},
	}
	p, _ := profile.Compile(halves{}, spec, nil)
	pool := provider.Pool{MachineType: "amd", Image: "gl", Version: "1", Region: "europe"}
	for reference, want := range map[half]half{{ID: "a"}: {ID: "a"}, {Zone: "z"}: {ID: "recorded"}} {
		images := worker.NewImages(p, []worker.Record[half]{{Image: "gl", Version: "1", Reference: half{ID: "recorded"}}})
		got, err := images.Of(worker.Question[half]{
			Pool: pool, Names: []string{"c"}, Classes: []worker.Class[half]{{Name: "c", Image: "gl", Version: "1", Reference: reference}},
		})
		if err != nil || got.Reference != want {
			t.Errorf("%v: %v, %v", reference, got.Reference, err)
		}
	}
}
