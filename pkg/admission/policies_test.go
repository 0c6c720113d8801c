// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider/policy"
)

// follower is an OpenStack whose extension lets core follow the provider config.
type follower struct{ openstack.Provider }

func (follower) Policies() policy.Policies {
	return policy.Policies{CoreFollows: true}
}

// A flavor is added to the provider config alone. By default this is refused; where core follows, core gets the flavor.
func TestCoreFollowsTheProviderConfig(t *testing.T) {
	was := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	object := was.DeepCopy()
	version := &object.Spec.MachineImages[0].Versions[0]
	wanted := version.CapabilityFlavors
	version.CapabilityFlavors = wanted[:1]
	before := func() (*v1beta1.CloudProfile, error) { return was, nil }
	standard, following := componentFor(openstack.Provider{}, stored{}), componentFor(follower{}, stored{})

	if patch, err := standard.fillCloudProfile(t.Context(), object, before); err != nil || len(patch) > 0 {
		t.Error("by default:", patch, err)
	}
	if report, err := standard.checkCloudProfile(t.Context(), object, nil); err != nil || len(report.Errors) == 0 {
		t.Error("by default it is admitted:", err)
	}
	unchanged := func() (*v1beta1.CloudProfile, error) { return object, nil }
	if patch, err := following.fillCloudProfile(t.Context(), object, unchanged); err != nil || len(patch) > 0 {
		t.Error("an update that leaves the spec as it is:", patch, err)
	}
	if patch, err := following.fillCloudProfile(t.Context(), was, unchanged); err != nil || len(patch) > 0 {
		t.Error("what corresponds:", patch, err)
	}
	patch, err := following.fillCloudProfile(t.Context(), object, before)
	if err != nil || len(patch) != 1 {
		t.Fatal(patch, err)
	}
	followed := patched(t, object, patch)
	if got := followed.Spec.MachineImages[0].Versions[0].CapabilityFlavors; len(got) != len(wanted) {
		t.Errorf("core has %v", got)
	}
	if report, err := following.checkCloudProfile(t.Context(), followed, nil); err != nil || len(report.Errors) > 0 {
		t.Error(report.Errors, err)
	}
}

// Core also follows in a NamespacedCloudProfile, for the versions that it defines itself.
func TestCoreOfANamespacedCloudProfileFollows(t *testing.T) {
	parent := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	object := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	own := &object.Spec.MachineImages[0].Versions[1]
	own.CapabilityFlavors[0].Capabilities = v1beta1.Capabilities{"architecture": {"arm64"}, "hypervisor": {"virtualized"}}
	none := func() (*v1beta1.NamespacedCloudProfile, error) { return nil, nil }
	standard, following := componentFor(openstack.Provider{}, stored{parent}), componentFor(follower{}, stored{parent})

	if patch, err := standard.fillNamespacedCloudProfile(t.Context(), object, none); err != nil || len(patch) > 0 {
		t.Error("by default:", patch, err)
	}
	patch, err := following.fillNamespacedCloudProfile(t.Context(), object, none)
	if err != nil || len(patch) != 1 || patch[0].Path != "/spec/machineImages/0/versions/1/capabilityFlavors" {
		t.Fatal(patch, err)
	}
	followed := patched(t, object, patch)
	if report, err := following.checkNamespacedCloudProfile(t.Context(), followed, nil); err != nil || len(report.Errors) > 0 {
		t.Error(report.Errors, err)
	}
}

// patched returns an object with a webhook's patch applied.
func patched[T any](t *testing.T, object *T, operations any) *T {
	t.Helper()
	written, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(operations)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err == nil {
		written, err = patch.Apply(written)
	}
	result := new(T)
	if err == nil {
		err = json.Unmarshal(written, result)
	}
	if err != nil {
		t.Fatal(err)
	}
	return result
}
