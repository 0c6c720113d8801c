// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/given"
)

// lockable has one machine type, and an image that fits all.
const lockable = `
type: openstack
machineCapabilities:
- {name: architecture, values: [amd64, arm64]}
- {name: hypervisor, values: [virtualized, baremetal]}
regions: [{name: europe}]
machineTypes:
- {name: any, capabilities: {architecture: [amd64]}}
machineImages:
- name: gl
  versions:
  - version: "1"
    capabilityFlavors:
    - {architecture: [amd64], hypervisor: [virtualized]}
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - version: "1"
      capabilityFlavors:
      - capabilities: {architecture: [amd64], hypervisor: [virtualized]}
        regions: [{name: europe, id: virt}]
`

// An update of a NamespacedCloudProfile that locks Shoots is called that, be it by its own machine type that is gone, or by one that no
// core flavor fits any more (semantics S16).
func TestANamespacedCloudProfileLocks(t *testing.T) {
	parent, report := profile.Compile(given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, lockable), field.NewPath("spec"))
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	old := &v1beta1.NamespacedCloudProfile{}
	old.Namespace, old.Name = "garden-a", "child"
	old.Spec.Parent = v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "p"}
	old.Spec.MachineTypes = []v1beta1.MachineType{{Name: "own", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}}
	gone, narrowed := old.DeepCopy(), old.DeepCopy()
	gone.Spec.MachineTypes = nil
	narrowed.Spec.MachineTypes[0].Capabilities["hypervisor"] = v1beta1.CapabilityValues{"baremetal"}
	uses := []use{{"garden-a", "shoot", []provider.Pool{{Name: "w", MachineType: "own", Image: "gl", Version: "1", Region: "europe"}}}}
	for rule, updated := range map[string]*v1beta1.NamespacedCloudProfile{"machine-type-in-use": gone, "mapping-in-use": narrowed} {
		after, _ := check.NamespacedCloudProfileUpdate(parent, updated, old)
		warnings := effects(check.Resulting(parent, old), after, uses)
		if len(warnings) != 1 || warnings[0].Origin != rule || !strings.Contains(warnings[0].Detail, "confirmation of their deletion") {
			t.Errorf("%s: %v", rule, warnings)
		}
	}
}
