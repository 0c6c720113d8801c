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

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

// A CloudProfile compiled at admission is reused for Shoots once the same profile is stored, and not before.
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
			admitted := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
			known := reread(t, admitted)
			known.UID, known.ResourceVersion = "a", "1"
			test.stored(known)
			c := componentFor(cloud, stored{known})
			if errors := admit(t, c, admitted); errors > 0 {
				t.Fatal(errors)
			}
			before := cloud.number.Load()
			for range 3 {
				found := cloudProfile(t, c, known.Name)
				if (found == nil) != (known.Spec.Type == "local") {
					t.Fatal(found)
				}
				if found != nil && !reflect.DeepEqual(found.Spec(), &known.Spec) {
					t.Error("what is used is not what is stored")
				}
			}
			if n := cloud.number.Load() - before; n != test.compilations {
				t.Errorf("it is compiled %d times more instead of %d", n, test.compilations)
			}
		})
	}
}

// admit checks the creation of a CloudProfile, and returns the number of errors.
func admit(t *testing.T, c *component, object *v1beta1.CloudProfile) int {
	t.Helper()
	report, err := c.checkCloudProfile(t.Context(), object, nil)
	if err != nil {
		t.Fatal(err)
	}
	return len(report.Errors)
}

// Refused profiles are not kept; of the others, at most maxExpected are.
func TestExpectedProfilesAreBounded(t *testing.T) {
	c := componentFor(openstack.Provider{}, stored{})
	admit(t, c, example[v1beta1.CloudProfile](t, "broken/provider-flavor-missing.yaml"))
	admit(t, c, example[v1beta1.CloudProfile](t, "cloudprofile-local.yaml"))
	if n := c.profiles.expected.Len(); n != 0 {
		t.Errorf("%d are kept", n)
	}
	for i := range 3 * maxExpected {
		object := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
		object.Name = fmt.Sprint(i)
		admit(t, c, object)
	}
	if n := c.profiles.expected.Len(); n != maxExpected {
		t.Errorf("%d are kept", n)
	}
	if n := c.profiles.kept.Len(); n != 0 {
		t.Errorf("%d count as stored", n)
	}
}

// While the informers still have the previous version, judging a Shoot by it does not consume the expected profile.
func TestExpectedProfilesWait(t *testing.T) {
	cloud := newCounting()
	was := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	was.UID, was.ResourceVersion = "a", "1"
	reader := stored{was}
	c := componentFor(cloud, reader)
	is := was.DeepCopy()
	is.Spec.MachineTypes[0].Usable = ptr.To(true)
	if errors := admit(t, c, is); errors > 0 {
		t.Fatal(errors)
	}
	if found := cloudProfile(t, c, was.Name); found.Spec().MachineTypes[0].Usable != nil {
		t.Error("what is not stored yet counts")
	}
	before := cloud.number.Load()
	now := reread(t, is)
	now.ResourceVersion = "2"
	reader[0] = now
	if found := cloudProfile(t, c, was.Name); found.Spec().MachineTypes[0].Usable == nil || cloud.number.Load() != before {
		t.Errorf("it was compiled %d times more", cloud.number.Load()-before)
	}
	if c.profiles.expected.Len() != 0 {
		t.Error("it is still kept")
	}
}

// BenchmarkFirstShoot looks up a CloudProfile of 1 MiB, as for the first Shoot after it was stored. It was admitted here or elsewhere.
func BenchmarkFirstShoot(b *testing.B) {
	profile := reread(b, &v1beta1.CloudProfile{Spec: *generate.OpenStack(1 << 20)})
	profile.Name, profile.UID = "large", "a"
	cloud := provider.Untyped(openstack.Provider{})
	compiled, report := check.CloudProfile(cloud, profile)
	if len(report.Errors) > 0 {
		b.Fatal(report.Errors)
	}
	stored := reread(b, profile)
	for _, here := range []bool{true, false} {
		b.Run(fmt.Sprintf("admitted-here=%t", here), func(b *testing.B) {
			for b.Loop() {
				kept := newProfiles(cloud)
				if here {
					kept.expect(profile.Name, compiled, report)
				}
				if kept.get(stored) == nil {
					b.Fatal("it is not compiled")
				}
			}
		})
	}
}
