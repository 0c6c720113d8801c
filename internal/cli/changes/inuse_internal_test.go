// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/pkg/gardenerrules/releases"
)

// Each kind of use has its own text. Package gardenerrules tests whether the uses are right.
func TestInUse(t *testing.T) {
	image := func(name string, versions ...string) v1beta1.MachineImage {
		image := v1beta1.MachineImage{Name: name}
		for _, v := range versions {
			image.Versions = append(image.Versions, v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: v}})
		}
		return image
	}
	old, updated := &v1beta1.CloudProfile{}, &v1beta1.CloudProfile{}
	old.Spec.Kubernetes.Versions = []v1beta1.ExpirableVersion{{Version: "1.33.1"}}
	old.Spec.MachineImages = []v1beta1.MachineImage{image("gl", "1.0.0"), image("own", "1.0.0")}
	old.Spec.MachineCapabilities = []v1beta1.CapabilityDefinition{{Name: "hypervisor", Values: []string{"kvm", "baremetal"}}}
	updated.Spec.MachineImages = []v1beta1.MachineImage{image("gl"), image("new", "1.0.0")}
	updated.Spec.Limits = &v1beta1.Limits{MaxNodesTotal: new(int32(1))}

	child := &v1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-x", Name: "child"}}
	child.Spec.Kubernetes = &v1beta1.KubernetesSettings{Versions: old.Spec.Kubernetes.Versions}
	child.Spec.MachineImages = []v1beta1.MachineImage{image("gl", "1.0.0"), image("own"), image("new")}
	child.Spec.MachineTypes = []v1beta1.MachineType{{Name: "type", Capabilities: v1beta1.Capabilities{"hypervisor": {"kvm"}}}}

	shoot := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-x", Name: "shop"}}
	shoot.Spec.Kubernetes.Version = "1.33.1"
	for _, name := range []string{"b", "a"} {
		worker := v1beta1.Worker{Name: name, Minimum: 1}
		worker.Machine.Image = &v1beta1.ShootMachineImage{Name: "gl", Version: new("1.0.0")}
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, worker)
	}

	both := []Pool{{Shoot: "garden-x/shop", Name: "a"}, {Shoot: "garden-x/shop", Name: "b"}}
	refused := func(field, image, version, message string, pools []Pool) Change {
		return Change{
			Kind: Refused, Rule: gardener.RuleCore, Field: field, Image: image, Version: version, Message: message, Count: len(pools), Pools: pools,
		}
	}
	none, extended := []Pool{}, " still extended by NamespacedCloudProfile garden-x/child; put it back, or remove it there first"
	want := []Change{
		refused("spec.kubernetes.versions", "", "", "Kubernetes version 1.33.1 is removed and"+extended, none),
		refused("spec.kubernetes.versions", "", "", "Kubernetes version 1.33.1 is removed and still used by Shoots; "+
			"put it back, with an expirationDate, until nobody uses it", both),
		refused("spec.limits.maxNodesTotal", "", "", "the worker pools of Shoots have a minimum of more than 1 nodes in total; "+
			"set no lower limit than they need", both),
		refused("spec.machineCapabilities", "", "", "capability hypervisor with [kvm] is removed and still declared by "+
			"NamespacedCloudProfile garden-x/child; put it back, or remove it there first", none),
		refused("spec.machineImages", "gl", "1.0.0", "gl@1.0.0 is removed and"+extended, none),
		refused("spec.machineImages", "gl", "1.0.0", "gl@1.0.0 is removed and still used by Shoots; "+
			"put it back, with an expirationDate, until nobody uses it", both),
		refused("spec.machineImages", "new", "", "image new is added, and defined by NamespacedCloudProfile garden-x/child already; "+
			"remove it there first, or take another name", none),
		refused("spec.machineImages", "own", "", "image own is removed and"+extended, none),
	}
	got := inUse(releases.Newest, updated, old, []*v1beta1.NamespacedCloudProfile{child}, []*v1beta1.Shoot{shoot})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got: %s", diff)
	}
}
