// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
	"github.com/capkit/capkit/internal/testing/given"
)

// relabelled returns a profile with two flavors, whose capabilities are given.
func relabelled(t *testing.T, a, b string) *profile.Profile[openstack.Image] {
	t.Helper()
	return given.Sound(t, given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
machineCapabilities:
- {name: architecture, values: [amd64, arm64]}
- {name: net, values: [fast, slow]}
regions: [{name: europe}]
machineTypes:
- {name: any, capabilities: {architecture: [amd64]}}
machineImages:
- name: gl
  versions:
  - version: "1"
    capabilityFlavors:
    - {architecture: [amd64], net: [`+a+`]}
    - {architecture: [amd64], net: [`+b+`]}
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - version: "1"
      capabilityFlavors:
      - capabilities: {architecture: [amd64], net: [`+a+`]}
        regions: [{name: europe, id: 11111111-1111-1111-1111-111111111111}]
      - capabilities: {architecture: [amd64], net: [`+b+`]}
        regions: [{name: europe, id: 22222222-2222-2222-2222-222222222222}]
`))
}

// What is said of two images is corrected, and another one is preferred now. The image IDs stay, so worker pools that exist keep
// theirs (semantics S14), and nobody is told that it is removed.
func TestARelabelledFlavorIsNotRemoved(t *testing.T) {
	before, after := relabelled(t, "fast", "slow"), relabelled(t, "slow", "fast, slow")
	user := update.User{Shoot: &v1beta1.Shoot{}, Pools: []provider.Pool{{Name: "w", MachineType: "any", Image: "gl", Version: "1", Region: "europe"}}}
	user.Shoot.Namespace, user.Shoot.Name, user.Shoot.Spec.Provider.Workers = "garden-a", "shoot", make([]v1beta1.Worker, 1)
	changes := update.Of(update.View[openstack.Image]{Before: before, After: after, Users: []update.User{user}})
	if len(changes.Choices) != 1 || changes.Choices[0].Gone != update.NotGone ||
		*changes.Choices[0].Kept != *changes.Choices[0].Before || *changes.Choices[0].After == *changes.Choices[0].Before {
		t.Errorf("%+v", changes.Choices)
	}
	changes.Blocked = nil // maintenance needs whole Shoots
	if warnings := check.Effects(before, after, &changes, false); len(warnings) != 1 || warnings[0].Origin != "image-choice-changed" {
		t.Error(warnings)
	}
}

// Only the vocabulary changes: what a machine type leaves out is less than before, and no core flavor fits it any more (semantics
// S16).
func TestAVocabularyLocks(t *testing.T) {
	compile := func(values string) *profile.Profile[openstack.Image] {
		compiled, _ := profile.Compile(given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
machineCapabilities:
- {name: architecture, values: [amd64]}
- {name: net, values: [`+values+`]}
regions: [{name: europe}]
machineTypes:
- {name: any, capabilities: {architecture: [amd64]}}
machineImages:
- name: gl
  versions:
  - version: "1"
    capabilityFlavors:
    - {architecture: [amd64], net: [fast]}
`), nil)
		return compiled
	}
	user := update.User{Shoot: &v1beta1.Shoot{}, Pools: []provider.Pool{{Name: "w", MachineType: "any", Image: "gl", Version: "1", Region: "europe"}}}
	user.Shoot.Spec.Provider.Workers = make([]v1beta1.Worker, 1)
	changes := update.Of(update.View[openstack.Image]{Before: compile("fast, slow"), After: compile("slow"), Users: []update.User{user}})
	if len(changes.Locks) != 1 || len(changes.Locks[0].Pools) != 1 {
		t.Errorf("%+v", changes.Locks)
	}
	changes = update.Of(update.View[openstack.Image]{Before: compile("fast, slow"), After: compile("slow, fast"), Users: []update.User{user}})
	if len(changes.Locks) != 0 {
		t.Errorf("%+v", changes.Locks)
	}
}

// Only a machine type changes: maintenance still chooses the newer version, which pools on it do not boot any more (semantics S15).
func TestAMachineTypeBlocksMaintenance(t *testing.T) {
	compile := func(net string) *profile.Profile[openstack.Image] {
		return given.Sound(t, given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
kubernetes: {versions: [{version: 1.33.3}]}
machineCapabilities:
- {name: architecture, values: [amd64]}
- {name: net, values: [fast, slow]}
regions: [{name: europe}, {name: asia}]
machineTypes:
- {name: any, capabilities: {architecture: [amd64], net: [`+net+`]}}
machineImages:
- name: gl
  updateStrategy: major
  versions:
  - {version: 1.0.0, cri: [{name: containerd}], capabilityFlavors: [{architecture: [amd64]}]}
  - version: 2.0.0
    cri: [{name: containerd}]
    capabilityFlavors: [{architecture: [amd64], net: [fast]}, {architecture: [amd64], net: [slow]}]
providerConfig:
  apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
  kind: CloudProfileConfig
  machineImages:
  - name: gl
    versions:
    - version: 1.0.0
      capabilityFlavors:
      - capabilities: {architecture: [amd64]}
        regions: [{name: europe, id: 11111111-1111-1111-1111-111111111111}, {name: asia, id: 11111111-1111-1111-1111-111111111112}]
    - version: 2.0.0
      capabilityFlavors:
      - capabilities: {architecture: [amd64], net: [fast]}
        regions: [{name: europe, id: 22222222-2222-2222-2222-222222222221}]
      - capabilities: {architecture: [amd64], net: [slow]}
        regions: [{name: asia, id: 22222222-2222-2222-2222-222222222222}]
`))
	}
	shoot := given.Decoded[v1beta1.Shoot](t, `
metadata: {namespace: garden-a, name: shoot}
spec:
  region: europe
  kubernetes: {version: 1.33.3}
  maintenance: {autoUpdate: {kubernetesVersion: true, machineImageVersion: true}}
  provider:
    type: openstack
    workers:
    - {name: w, cri: {name: containerd}, machine: {type: any, architecture: amd64, image: {name: gl, version: 1.0.0}}}
`)
	user := update.User{Shoot: shoot, Pools: provider.PoolsOf(shoot)}
	changes := update.Of(update.View[openstack.Image]{Before: compile("fast, slow"), After: compile("slow"), Users: []update.User{user}})
	if len(changes.Blocked) != 1 || changes.Blocked[0].Version != "2.0.0" {
		t.Errorf("%+v", changes.Blocked)
	}
	changes = update.Of(update.View[openstack.Image]{Before: compile("fast, slow"), After: compile("fast"), Users: []update.User{user}})
	if len(changes.Blocked) != 0 {
		t.Errorf("%+v", changes.Blocked)
	}
}

// The providerConfig of a pool has a field that nobody knows: that is an error, and yet what the pool asks for is known.
func TestAnErrorThatDoesNotDecideHidesNoChoice(t *testing.T) {
	before, after := relabelled(t, "fast", "slow"), relabelled(t, "slow", "fast, slow")
	choices := func(providerConfig string) (known, faulty int) {
		pool := provider.Pool{Name: "w", MachineType: "any", Image: "gl", Version: "1", Region: "europe"}
		pool.Config = &runtime.RawExtension{Raw: []byte(providerConfig)}
		user := update.User{Shoot: &v1beta1.Shoot{}, Pools: []provider.Pool{pool}}
		user.Shoot.Spec.Provider.Workers = make([]v1beta1.Worker, 1)
		changes := update.Of(update.View[openstack.Image]{Before: before, After: after, Users: []update.User{user}})
		return len(changes.Choices), len(changes.Faulty)
	}
	const config = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig"`
	if known, faulty := choices(config + `,"unknown":1}`); known != 1 || faulty != 1 {
		t.Errorf("an unknown field: %d choices, %d pools with errors", known, faulty)
	}
	if known, faulty := choices(config + `,"serverGroup":[]}`); known != 0 || faulty != 1 {
		t.Errorf("a value of another type: %d choices, %d pools with errors", known, faulty)
	}
}
