// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/generate"
)

// What a CloudProfile was compiled to when it was admitted is used for Shoots as soon as the same is stored, and only then.
func TestAdmittedProfilesAreCompiledOnce(t *testing.T) {
	for name, test := range map[string]struct {
		stored       func(*v1beta1.CloudProfile)
		compilations int32
	}{
		"the same":            {func(*v1beta1.CloudProfile) {}, 0},
		"with other metadata": {func(p *v1beta1.CloudProfile) { p.Annotations = map[string]string{"a": "b"} }, 0},
		"a machine type less": {func(p *v1beta1.CloudProfile) { p.Spec.MachineTypes = p.Spec.MachineTypes[1:] }, 1},
		"another config":      {func(p *v1beta1.CloudProfile) { p.Spec.ProviderConfig.Raw = append(p.Spec.ProviderConfig.Raw, ' ') }, 1},
		"an empty list":       {func(p *v1beta1.CloudProfile) { p.Spec.Regions[0].AccessRestrictions = []v1beta1.AccessRestriction{} }, 1},
		"under another name":  {func(p *v1beta1.CloudProfile) { p.Name = "other" }, 1},
		"of another provider": {func(p *v1beta1.CloudProfile) { p.Spec.Type = "local" }, 0},
		"as it was before":    {func(p *v1beta1.CloudProfile) { p.Spec.MachineTypes[0].Usable = ptr.To(true) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := newCounting()
			reader := &stored{profiles: map[string]*v1beta1.CloudProfile{}}
			shared := &lookup[openstack.Image]{cached: reader, live: reader, profiles: newProfiles(cloud)}
			admitted := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
			report, err := cloudProfileCheck[openstack.Image]{cloud, shared}.check(t.Context(), admitted, func() (*v1beta1.CloudProfile, error) { return nil, nil })
			if err != nil || len(report.Errors) > 0 {
				t.Fatal(report, err)
			}
			before := cloud.number.Load()
			known := reread(t, admitted)
			known.UID, known.ResourceVersion = "a", "1"
			test.stored(known)
			reader.profiles[known.Name] = known
			for range 3 {
				found, _, err := shared.cloudProfile(t.Context(), known.Name, nil)
				if err != nil || (found == nil) != (known.Spec.Type == "local") {
					t.Fatal(found, err)
				}
				if found != nil && !reflect.DeepEqual(found.spec, &known.Spec) {
					t.Error("what is used is not what is stored")
				}
			}
			if n := cloud.number.Load() - before; n != test.compilations {
				t.Errorf("it is compiled %d times more instead of %d", n, test.compilations)
			}
		})
	}
}

// A request that is refused is not kept at all, and of others no more than a few.
func TestExpectedProfilesAreBounded(t *testing.T) {
	shared := &lookup[openstack.Image]{cached: &stored{}, live: &stored{}, profiles: newProfiles(openstack.Provider{})}
	check := cloudProfileCheck[openstack.Image]{openstack.Provider{}, shared}
	admit := func(object *v1beta1.CloudProfile) {
		if _, err := check.check(t.Context(), object, func() (*v1beta1.CloudProfile, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
	}
	admit(example[v1beta1.CloudProfile](t, "broken/provider-flavor-missing.yaml"))
	admit(example[v1beta1.CloudProfile](t, "cloudprofile-local.yaml"))
	if n := shared.profiles.expected.Len(); n != 0 {
		t.Errorf("%d are kept", n)
	}
	for i := range 3 * maxExpected {
		object := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
		object.Name = fmt.Sprint(i)
		admit(object)
	}
	if n := shared.profiles.expected.Len(); n != maxExpected {
		t.Errorf("%d are kept", n)
	}
	if n := shared.profiles.kept.Len(); n != 0 {
		t.Errorf("%d count as stored", n)
	}
}

// While the informers still have the version before, a Shoot that is judged by that does not use up what is expected.
func TestExpectedProfilesWait(t *testing.T) {
	cloud := newCounting()
	was := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	was.UID, was.ResourceVersion = "a", "1"
	reader := &stored{profiles: map[string]*v1beta1.CloudProfile{was.Name: was}}
	shared := &lookup[openstack.Image]{cached: reader, live: reader, profiles: newProfiles(cloud)}
	is := was.DeepCopy()
	is.Spec.MachineTypes[0].Usable = ptr.To(true)
	check := cloudProfileCheck[openstack.Image]{cloud, shared}
	if report, err := check.check(t.Context(), is, func() (*v1beta1.CloudProfile, error) { return nil, nil }); err != nil || len(report.Errors) > 0 {
		t.Fatal(report, err)
	}
	ask := func() *compiled[openstack.Image] {
		found, _, err := shared.cloudProfile(t.Context(), was.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := ask(); found.spec.MachineTypes[0].Usable != nil {
		t.Error("what is not stored yet counts")
	}
	before := cloud.number.Load()
	stored := reread(t, is)
	stored.ResourceVersion = "2"
	reader.profiles[was.Name] = stored
	if found := ask(); found.spec.MachineTypes[0].Usable == nil || cloud.number.Load() != before {
		t.Errorf("it was compiled %d times more", cloud.number.Load()-before)
	}
	if shared.profiles.expected.Len() != 0 {
		t.Error("it is still kept")
	}
}

// BenchmarkFirstShoot asks for a CloudProfile of 1 MiB, as the first Shoot does after it was stored: one that was admitted here,
// and one that was admitted elsewhere.
func BenchmarkFirstShoot(b *testing.B) {
	profile := reread(b, &v1beta1.CloudProfile{Spec: *generate.OpenStack(1 << 20)})
	profile.Name, profile.UID = "large", "a"
	compiled, report := consistency.ValidateCloudProfile(openstack.Provider{}, profile)
	if len(report.Errors) > 0 {
		b.Fatal(report.Errors)
	}
	stored := reread(b, profile)
	for _, here := range []bool{true, false} {
		b.Run(fmt.Sprintf("admitted-here=%t", here), func(b *testing.B) {
			for b.Loop() {
				kept := newProfiles(openstack.Provider{})
				if here {
					kept.expect(profile, compiled)
				}
				if kept.get("CloudProfile", stored, &stored.Spec) == nil {
					b.Fatal("it is not compiled")
				}
			}
		})
	}
}
