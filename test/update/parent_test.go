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
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
)

// maintained summarizes the effects of an update on worker pools.
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

// A Shoot uses a profile through a NamespacedCloudProfile, with pools on a machine type of that and on the parent's. Maintenance chooses
// gl@2.0.0 for both, even if they cannot boot it (semantics S15). The parent can take away neither the child's own definitions, nor the
// choice among versions of which the child changes any.
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
		{own, given.Either, given.Slow, "blocked w"},
		{own, given.Either, given.Fast, ""},
		{own, given.Slow, given.AlsoSlow, ""}, // no change
		{own + "\nmachineImages: [{name: gl, versions: [{version: 2.0.0}]}]", given.Either, given.Slow, ""},
		{"machineTypes: [{name: any}]", given.Either, "", ""},
		{"machineImages: [{name: gl, versions: [{version: 1.0.0}]}]", given.Either, "", "choice w gone w"},
		{"machineImages: [{name: gl, versions: [{version: 1.0.0, architectures: [amd64]}]}]", given.Either, "", "gone w"},
	} {
		child := &v1beta1.NamespacedCloudProfile{Spec: *given.Decoded[v1beta1.NamespacedCloudProfileSpec](t, test.child)}
		view := update.View[openstack.Image]{Before: given.Regional(t, test.before), After: given.Regional(t, test.after)}
		view.Users = []update.User{{Shoot: shoot, Pools: provider.PoolsOf(shoot), Child: child}}
		if got := maintained(update.Of(gardenerlib.Library{}, view)); got != test.want {
			t.Errorf("%s, from %s to %s: %s", test.child, test.before, test.after, got)
		}
	}
}
