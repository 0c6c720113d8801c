// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/gardenerlib"
	ours "github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
)

// TestForecast compares the forecast for many Shoots with the maintenance of each.
func TestForecast(t *testing.T) {
	blocked := 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		shoot := drawShoot(t, profile)
		boots := drawFilter(t, profile)
		if rapid.Bool().Draw(t, "only one does not boot") {
			boots = without(nil, maintain(&profile.Spec, shoot))
		}
		forecast := ours.NewMaintainer(gardenerlib.Library{}, &profile.Spec, provider.Workers{})
		bootsOf := func(provider.Pool) func(image, version string) bool { return boots }
		first, versions := shoot, profile.Spec.Kubernetes.Versions
		for i := range 20 {
			if i == 19 {
				shoot = first // the first one again
			} else if i > 0 {
				shoot = drawShoot(t, profile)
				profile.Spec.Kubernetes.Versions = versions
			}
			var want []string
			for k, image := range alone(&profile.Spec, shoot) {
				worker := &shoot.Spec.Provider.Workers[k]
				if image.Version == "" || boots == nil || boots(worker.Machine.Image.Name, image.Version) {
					continue
				}
				works := works(&profile.Spec, worker, worker, shoot.Spec.Kubernetes.Version, boots)
				instead := next(
					&profile.Spec, worker, shoot.Spec.Kubernetes.Version, ours.UpdatesImages(shoot), works)
				want = append(want, fmt.Sprintf("%d: %s@%s, %q", k, worker.Machine.Image.Name, image.Version, instead.Version))
				blocked++
			}
			var got []string
			for k, b := range forecast.Blocked(shoot, provider.PoolsOf(shoot), bootsOf) {
				if b != (ours.Blocked{}) {
					got = append(got, fmt.Sprintf("%d: %s, %q", k, b.Image, b.Instead))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		}
	})
	if blocked == 0 {
		t.Error("none was blocked")
	}
}

// A pool that cannot boot the version that maintenance chooses gets another version, or keeps its own.
func TestBlocked(t *testing.T) {
	profile := &v1beta1.CloudProfile{}
	profile.Spec.MachineTypes = []v1beta1.MachineType{{Name: "type"}}
	image := v1beta1.MachineImage{Name: "image", UpdateStrategy: ptr.To(v1beta1.UpdateStrategyMinor)}
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		image.Versions = append(image.Versions, v1beta1.MachineImageVersion{
			ExpirableVersion: v1beta1.ExpirableVersion{Version: version},
			CRI:              []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}, Architectures: []string{"amd64"},
		})
	}
	profile.Spec.MachineImages = []v1beta1.MachineImage{image}
	worker := v1beta1.Worker{Name: "worker"}
	worker.Machine = v1beta1.Machine{Type: "type", Image: &v1beta1.ShootMachineImage{Name: "image", Version: ptr.To("1.0.0")}}
	shoot := shootOf(worker, true)
	chosen := ours.Image{Name: "image", Version: "1.2.0"}
	for _, tc := range []struct {
		booting string
		want    ours.Blocked
	}{
		{"1.0.0 1.1.0 1.2.0", ours.Blocked{}},
		{"1.0.0 1.1.0", ours.Blocked{Image: chosen, Instead: "1.1.0"}},
		{"1.0.0", ours.Blocked{Image: chosen}},
	} {
		forecast := ours.NewMaintainer(gardenerlib.Library{}, &profile.Spec, provider.Workers{})
		boots := func(provider.Pool) func(image, version string) bool {
			return func(_, version string) bool { return strings.Contains(tc.booting, version) }
		}
		pools := provider.PoolsOf(shoot)
		if got := forecast.Blocked(shoot, pools, boots); got[0] != tc.want {
			t.Errorf("where %s boot: %v", tc.booting, got)
		}
		pools[0].Image = ""
		if got := forecast.Blocked(shoot, pools, boots); got[0] != (ours.Blocked{}) {
			t.Errorf("a pool that is left out: %v", got)
		}
	}
	unknown := func(provider.Pool) func(image, version string) bool { return nil }
	maintainer := ours.NewMaintainer(gardenerlib.Library{}, &profile.Spec, provider.Workers{})
	if got := maintainer.Blocked(shoot, provider.PoolsOf(shoot), unknown); got[0] != (ours.Blocked{}) {
		t.Errorf("if nobody can tell: %v", got)
	}
}
