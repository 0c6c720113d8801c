// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/provider"
)

// uses returns a Shoot for each wish, named after it, and a plain one without requests.
func uses(wishes ...string) []use {
	shoots := []use{{Namespace: "garden-a", Name: "plain", Pools: []provider.Pool{given.Asking("m", "gl@1", "")}}}
	for _, wish := range wishes {
		shoots = append(shoots, use{Namespace: "garden-a", Name: wish, Pools: []provider.Pool{given.Asking("m", "gl@1", wish)}})
	}
	return shoots
}

// Only pools that boot another flavor than before, or none, are reported.
func TestUpdatesOfWorkerCapabilities(t *testing.T) {
	updateProfiles(t, "testdata/worker-updates.txtar", func(c *cases.Case) []use {
		if !c.Has("wishes") {
			return uses()
		}
		return uses(strings.Fields(c.Text("wishes"))...)
	})
}

// A changed preference among flavors with a feature is reported for pools without requests, as any other is.
func TestChangedChoicesAmongWorkerCapabilities(t *testing.T) {
	updateProfiles(t, "testdata/worker-choices.txtar", noShoots)
}

// A pool with a refused request is not refused in an update that leaves it unchanged.
func TestRatchetOfPoolsThatAsk(t *testing.T) { ratchetShoots(t, "testdata/ratchet-pools.txtar") }

// After a profile change, a pool may have a volume on a machine type without support for it. It may keep the volume while pool and volume
// stay the same.
func TestRatchetOfRootVolumes(t *testing.T) {
	p := given.Profile(t, "testdata/root-volumes.yaml")
	pool := func(machineType, version, more string) *v1beta1.Shoot {
		return shoot(t, "{region: europe, provider: {workers: [{name: w, machine: {type: "+machineType+", image: {name: gl, version: "+version+"}}"+more+"}]}}")
	}
	const volume = ", volume: {size: 20Gi}"
	metal := pool("metal", "1.0.0", volume)
	for name, tc := range map[string]struct {
		was, is *v1beta1.Shoot
		refused bool
	}{
		"unchanged":              {metal, metal, false},
		"scaled":                 {metal, pool("metal", "1.0.0", volume+", maximum: 7"), false},
		"more labels":            {metal, pool("metal", "1.0.0", volume+", labels: {a: b}"), false},
		"a larger volume":        {metal, pool("metal", "1.0.0", ", volume: {size: 30Gi}"), true},
		"another type":           {metal, pool("metal", "1.0.0", ", volume: {size: 20Gi, type: ssd}"), true},
		"another version":        {metal, pool("metal", "2.0.0", volume), true},
		"another such type":      {metal, pool("large-metal", "1.0.0", volume), true},
		"a volume since":         {pool("metal", "1.0.0", ""), metal, true},
		"the machine type since": {pool("virt", "1.0.0", volume), metal, true},
		"without the volume":     {metal, pool("metal", "1.0.0", ""), false},
		"where it is supported":  {metal, pool("virt", "1.0.0", volume), false},
	} {
		report := excused(check.Shoot(p, tc.is, nil), check.Shoot(p, tc.was, nil), tc.is, tc.was)
		var want []string
		if tc.refused {
			want = []string{"Invalid spec.provider.workers[0].volume machine-type-request-unmet"}
		}
		if got := given.Plainly(report.Errors); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// A version with an error about a reserved capability is not checked, so an update must not hide a new error behind it.
func TestRatchetOfReservedCapabilities(t *testing.T) {
	ratchetProfiles(t, "testdata/ratchet-reserved.txtar")
}

// It is unknown which of two equal keys applies, so the pool must stay the same.
func TestRatchetOfAKeyThatIsThereTwice(t *testing.T) {
	p := given.Profile(t, "../resolve/testdata/pools.yaml")
	pool := func(name, version string) *v1beta1.Shoot {
		s := shoot(t, "{region: europe, provider: {workers: [{name: "+name+", machine: {type: virt, image: {name: gl, version: "+version+"}}}]}}")
		s.Spec.Provider.Workers[0].ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1",
			"kind": "WorkerConfig", "trustedLaunch": {"enabled": false}, "trustedLaunch": {"enabled": false}}`)}
		return s
	}
	was := pool("w", "10.0.0")
	for want, is := range []*v1beta1.Shoot{pool("w", "10.0.0"), pool("w", "9.0.0"), pool("x", "10.0.0")} {
		report := excused(check.Shoot(p, is, nil), check.Shoot(p, was, nil), is, was)
		if len(report.Errors) != min(want, 1) {
			t.Error(want, report.Errors)
		}
	}
}

// An image that declares more than before is still the same image.
func TestAnImageThatIsSaidToSupportMore(t *testing.T) {
	updateProfiles(t, "testdata/image-that-supports-more.txtar", func(*cases.Case) []use { return uses("plain") })
}
