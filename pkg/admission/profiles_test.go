// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// counting records how often profiles are compiled, because each compilation decodes the provider config once.
type counting struct {
	openstack.Provider
	number *atomic.Int32
	delay  time.Duration
}

func newCounting() counting { return counting{number: &atomic.Int32{}} }

func (c counting) Decode(raw *runtime.RawExtension, at *field.Path) (provider.Config[openstack.Image], finding.Report) {
	c.number.Add(1)
	time.Sleep(c.delay)
	return c.Provider.Decode(raw, at)
}

func TestProfilesAreCompiledOnceForEachVersion(t *testing.T) {
	cloud := newCounting()
	cloud.delay = 10 * time.Millisecond // so that all ask before the first is done
	kept := newProfiles(provider.Untyped(cloud))
	stored := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	const versions, askers = 3, 20
	var group sync.WaitGroup
	for version := range versions {
		var results [askers]*profile.Profile[any]
		for i := range askers {
			group.Go(func() {
				profile := stored.DeepCopy() // each caller has its own copy
				profile.UID, profile.ResourceVersion = "a", fmt.Sprint(version)
				results[i] = kept.get(profile)
			})
		}
		group.Wait()
		for _, result := range results {
			if result == nil || result != results[0] {
				t.Fatalf("version %d: not all have got the same", version)
			}
		}
		if n := cloud.number.Load(); int(n) != version+1 {
			t.Errorf("%d compilations for %d versions", n, version+1)
		}
	}
}

func TestProfilesAreToldApart(t *testing.T) {
	cloud := newCounting()
	kept := newProfiles(provider.Untyped(cloud))
	stored := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	other := stored.DeepCopy()
	stored.Name, stored.UID, stored.ResourceVersion = "openstack", "a", "1"
	other.UID, other.ResourceVersion = "deleted and created again", "1"
	child := func(namespace string, uid types.UID, version string) *v1beta1.NamespacedCloudProfile {
		child := &v1beta1.NamespacedCloudProfile{}
		child.Name, child.Namespace, child.UID, child.ResourceVersion = "openstack", namespace, uid, version
		return child
	}
	known := map[*profile.Profile[any]]bool{}
	for _, test := range []struct {
		child  *v1beta1.NamespacedCloudProfile
		parent *v1beta1.CloudProfile
		// decoded is the number of CloudProfiles decoded so far: a child that adds nothing reuses its parent's.
		decoded int
	}{
		{nil, stored, 1},
		{child("garden-a", "a", "1"), stored, 1},
		{child("garden-b", "a", "1"), stored, 1},
		{child("garden-b", "b", "1"), stored, 1},
		{child("garden-b", "b", "2"), stored, 1},
		{child("garden-b", "b", "2"), other, 2},
		{nil, other, 2},
	} {
		get := func() *profile.Profile[any] {
			if test.child == nil {
				return kept.get(test.parent)
			}
			return kept.getNamespaced(test.child, test.parent)
		}
		compiled := get()
		if known[compiled] || compiled != get() {
			t.Errorf("%v: it is that of another one, or not kept", test)
		}
		known[compiled] = true
		if n := cloud.number.Load(); int(n) != test.decoded {
			t.Errorf("%v: %d have been decoded", test, n)
		}
	}
}

func TestProfilesOfAnotherProvider(t *testing.T) {
	cloud := newCounting()
	profile := example[v1beta1.CloudProfile](t, "cloudprofile-local.yaml")
	if newProfiles(provider.Untyped(cloud)).getNamespaced(&v1beta1.NamespacedCloudProfile{}, profile) != nil {
		t.Error("that of a NamespacedCloudProfile is compiled")
	}
	if newProfiles(provider.Untyped(cloud)).get(profile) != nil || cloud.number.Load() != 0 {
		t.Error("it is compiled")
	}
}

func TestAnOldObjectIsNotKept(t *testing.T) {
	reader := garden(t)
	c := componentFor(openstack.Provider{}, reader)
	pretended := reader[0].DeepCopyObject().(*v1beta1.CloudProfile)
	pretended.Spec.MachineTypes = nil
	if before := c.before(t.Context(), pretended); len(before.Spec().MachineTypes) == 0 {
		t.Error("a request has replaced what is stored")
	}
	pretended.ResourceVersion = "older"
	if before := c.before(t.Context(), pretended); len(before.Spec().MachineTypes) != 0 {
		t.Error("what a request says about an older version does not count")
	}
	if after := cloudProfile(t, c, "openstack"); len(after.Spec().MachineTypes) == 0 {
		t.Error("what a request says is kept")
	}
	pretended.Spec.Type = "local"
	if c.before(t.Context(), pretended) != nil {
		t.Error("a profile of another provider is compiled")
	}
}

// cloudProfile looks a CloudProfile up.
func cloudProfile(t *testing.T, c *component, name string) *profile.Profile[any] {
	t.Helper()
	found, report, err := c.profile(t.Context(), kindCloudProfile, client.ObjectKey{Name: name}, nil)
	if err != nil || len(report.Errors) > 0 {
		t.Fatal(report, err)
	}
	return found
}

func TestReference(t *testing.T) {
	for _, test := range []struct {
		reference *v1beta1.CloudProfileReference
		name      *string
		want      string
	}{
		{&v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "a"}, nil, "CloudProfile/a"},
		{&v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "a"}, nil, "NamespacedCloudProfile/a"},
		{&v1beta1.CloudProfileReference{Name: "a"}, nil, "CloudProfile/a"},
		{&v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "a"}, ptr.To("b"), "NamespacedCloudProfile/a"},
		{nil, ptr.To("b"), "CloudProfile/b"},
		{nil, nil, "CloudProfile/"},
	} {
		shoot := &v1beta1.Shoot{Spec: v1beta1.ShootSpec{CloudProfile: test.reference, CloudProfileName: test.name}}
		if got := profileIndex(shoot); len(got) != 1 || got[0] != test.want {
			t.Errorf("%v, %v: %q instead of %q", test.reference, test.name, got, test.want)
		}
	}
}
