// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/openstack"
)

const (
	// inAsia moves the first version's first flavor to another region, and onlyOne removes its second region.
	inAsia  = `[{"op": "replace", "path": "/machineImages/0/versions/0/capabilityFlavors/0/regions/0/name", "value": "asia"}]`
	onlyOne = `[{"op": "remove", "path": "/machineImages/0/versions/0/capabilityFlavors/0/regions/1"}]`
)

// regional returns a NamespacedCloudProfile and its parent. Each has a version with an image in Europe only, as the status says.
func regional(t *testing.T) (*v1beta1.NamespacedCloudProfile, *v1beta1.CloudProfile) {
	t.Helper()
	child, parent := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml"), example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	patchConfig(t, child.Spec.ProviderConfig, onlyOne)
	patchConfig(t, parent.Spec.ProviderConfig, onlyOne)
	child.UID, parent.UID, child.ResourceVersion, parent.ResourceVersion = "a", "b", "1", "1"
	child.Status.CloudProfileSpec = *parent.Spec.DeepCopy()
	return child, parent
}

// booting returns a Shoot of the NamespacedCloudProfile with a pool that boots a version in a region.
func booting(t *testing.T, version, region string) *v1beta1.Shoot {
	t.Helper()
	shoot := withPools(example[v1beta1.Shoot](t, "shoot.yaml"), "shoot", 0)
	shoot.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "team"}
	worker := &shoot.Spec.Provider.Workers[0]
	shoot.Spec.Region, worker.Zones, worker.Machine.Image.Version = region, []string{region + "-1a"}, &version
	return shoot
}

func TestAShootIsNotJudgedByAnOldStatus(t *testing.T) {
	child, parent := regional(t)
	movedChild, movedParent := child.DeepCopy(), parent.DeepCopy()
	patchConfig(t, movedChild.Spec.ProviderConfig, inAsia)
	patchConfig(t, movedParent.Spec.ProviderConfig, inAsia)
	movedChild.ResourceVersion, movedParent.ResourceVersion = "2", "2"
	const own, inherited = "2000.1.0", "1877.5.0"
	c := componentFor(openstack.Provider{}, nil) // one cache for all cases
	for _, garden := range []struct {
		what           string
		child          *v1beta1.NamespacedCloudProfile
		parent         *v1beta1.CloudProfile
		own, inherited string // the region with images
	}{
		{"as it was", child, parent, "europe", "europe"},
		{"the spec has changed", movedChild, parent, "asia", "europe"},
		{"the parent has changed", movedChild, movedParent, "asia", "asia"},
		{"the parent alone has changed", child, movedParent, "europe", "asia"},
	} {
		reader := stored{garden.child, garden.parent}
		c.cached, c.live = reader, reader
		for version, where := range map[string]string{own: garden.own, inherited: garden.inherited} {
			for _, region := range []string{"europe", "asia"} {
				report, err := c.checkShoot(t.Context(), booting(t, version, region), nil)
				if err != nil || len(report.Errors) == 0 != (region == where) {
					t.Errorf("%s: %s in %s: %v %v", garden.what, version, region, report.Errors, err)
				}
			}
		}
	}
	if !reflect.DeepEqual(child.Status.CloudProfileSpec, parent.Spec) {
		t.Error("what is stored was changed")
	}
}

func TestTheParentIsMissing(t *testing.T) {
	child, _ := regional(t)
	c := componentFor(openstack.Provider{}, stored{child})
	report, err := c.checkShoot(t.Context(), booting(t, "2000.1.0", "europe"), nil)
	const want = `spec.cloudProfile.name: Not found: "team": the parent of NamespacedCloudProfile team, CloudProfile openstack, ` +
		`does not exist; create it first, or name another profile`
	if err != nil || len(report.Errors) != 1 || report.Errors.Errors()[0].Error() != want {
		t.Errorf("%v, %v", report.Errors, err)
	}
}

// A config that cannot be read is no reason to judge by another one.
func TestAConfigThatCannotBeMerged(t *testing.T) {
	child, parent := regional(t)
	child.Spec.ProviderConfig = config(`{"machineImages":"none"}`)
	c := componentFor(openstack.Provider{}, stored{child, parent})
	for version, admitted := range map[string]bool{"1877.5.0": true, "2000.1.0": false} {
		report, err := c.checkShoot(t.Context(), booting(t, version, "europe"), nil)
		if err != nil || len(report.Errors) == 0 != admitted {
			t.Errorf("%s: %v, %v", version, report.Errors, err)
		}
	}
}

func TestStripStatus(t *testing.T) {
	child, _ := regional(t)
	child.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: secret}}
	child.Labels, child.DeletionTimestamp = map[string]string{"a": "b"}, ptr.To(metav1.Now())
	want := child.DeepCopy()
	want.Status, want.ManagedFields = v1beta1.NamespacedCloudProfileStatus{}, nil
	whole := child.DeepCopy()
	if got, err := stripStatus(child); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if !reflect.DeepEqual(child, whole) {
		t.Error("the object that was given has changed")
	}
	if other, err := stripStatus("something else"); other != "something else" || err != nil {
		t.Errorf("%v, %v", other, err)
	}
}
