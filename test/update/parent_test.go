// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package update_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
)

// regional returns a profile with machine types, in which pools of gl@2.0.0 need net: fast in europe, and net: slow in asia.
func regional(t *testing.T, types string) *profile.Profile[openstack.Image] {
	t.Helper()
	return given.Sound(t, given.ImagesOnly{}, given.Decoded[v1beta1.CloudProfileSpec](t, `
type: openstack
kubernetes: {versions: [{version: 1.33.3}]}
machineCapabilities:
- {name: architecture, values: [amd64]}
- {name: net, values: [fast, slow]}
regions: [{name: europe}, {name: asia}]
machineTypes: [`+types+`]
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

// Machine types for regional.
const (
	either = "{name: any, capabilities: {architecture: [amd64], net: [fast, slow]}}"
	fast   = "{name: any, capabilities: {architecture: [amd64], net: [fast]}}"
	slow   = "{name: any, capabilities: {architecture: [amd64], net: [slow]}}"
	// alsoSlow is written in another way.
	alsoSlow = "{name: any, capabilities: {net: [slow]}}"
)

// maintained returns what an update does to which worker pools, in short.
func maintained(changes update.Changes[openstack.Image]) string {
	var facts []string
	add := func(fact string, pools []update.Pool) {
		for _, pool := range pools {
			facts = append(facts, fact, pool.Name)
		}
	}
	for _, choice := range changes.Choices {
		add("choice", choice.Pools)
	}
	for _, t := range changes.Types {
		add("gone", t.Pools)
	}
	for _, blocked := range changes.Blocked {
		add("blocked", blocked.Pools)
	}
	return strings.Join(facts, " ")
}

// A Shoot uses a profile through a NamespacedCloudProfile, with pools on a machine type of its own and on any, whose maintenance
// chooses gl@2.0.0, even where they do not boot it (semantics S15). What that defines itself is not its parent's to take away, nor
// is the choice among versions of which it changes any.
func TestAParentChanges(t *testing.T) {
	shoot := given.Decoded[v1beta1.Shoot](t, `
metadata: {namespace: garden-a, name: shoot}
spec:
  region: europe
  kubernetes: {version: 1.33.3}
  maintenance: {autoUpdate: {kubernetesVersion: true, machineImageVersion: true}}
  provider:
    type: openstack
    workers:
    - {name: v, cri: {name: containerd}, machine: {type: own, architecture: amd64, image: {name: gl, version: 1.0.0}}}
    - {name: w, cri: {name: containerd}, machine: {type: any, architecture: amd64, image: {name: gl, version: 1.0.0}}}
`)
	const own = "machineTypes: [{name: own}]"
	for _, test := range []struct{ child, before, after, want string }{
		{own, either, slow, "blocked w"},
		{own, either, fast, ""},
		{own, slow, alsoSlow, ""}, // as before
		{own + "\nmachineImages: [{name: gl, versions: [{version: 2.0.0}]}]", either, slow, ""},
		{"machineTypes: [{name: any}]", either, "", ""},
		{"machineImages: [{name: gl, versions: [{version: 1.0.0}]}]", either, "", "choice w gone w"},
		{"machineImages: [{name: gl, versions: [{version: 1.0.0, architectures: [amd64]}]}]", either, "", "gone w"},
	} {
		child := &v1beta1.NamespacedCloudProfile{Spec: *given.Decoded[v1beta1.NamespacedCloudProfileSpec](t, test.child)}
		view := update.View[openstack.Image]{Before: regional(t, test.before), After: regional(t, test.after)}
		view.Users = []update.User{{Shoot: shoot, Pools: provider.PoolsOf(shoot), Child: child}}
		if got := maintained(update.Of(gardenerlib.Library{}, view)); got != test.want {
			t.Errorf("%s, from %s to %s: %s", test.child, test.before, test.after, got)
		}
	}
}
