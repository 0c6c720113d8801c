// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/gardenerlib"
	ours "github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
)

// TestMaintainer compares the answers for many Shoots together with the answers for each worker pool alone.
func TestMaintainer(t *testing.T) {
	updated, failed, replaced, rejected := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		if first := &profile.Spec.MachineImages[0].Versions[0].Version; rapid.IntRange(0, 5).Draw(t, "no plain version") == 0 {
			*first += rapid.SampledFrom([]string{"-a", "+a"}).Draw(t, "suffix")
		}
		boots := drawFilter(t, profile)
		whyNot := func(_ int, image ours.Image) string {
			if boots == nil || boots(image.Name, image.Version) {
				return ""
			}
			return image.String() + " does not boot"
		}
		shoots := make([]*v1beta1.Shoot, 9)
		for i := range shoots[:8] {
			shoots[i] = drawShoot(t, profile)
			for k := range shoots[i].Spec.Provider.Workers {
				drawOddities(t, &shoots[i].Spec.Provider.Workers[k])
			}
		}
		shoots[8] = shoots[0] // the first one again
		together := ours.NewMaintainer(gardenerlib.Library{}, &profile.Spec, provider.Workers{})
		for _, shoot := range shoots {
			got := together.Maintain(shoot)
			want := alone(&profile.Spec, shoot)
			if diff := cmp.Diff(texts(want), texts(got.Images)); diff != "" {
				t.Fatal(diff)
			}
			for i := range got.Images {
				if got.Images[i].Err != nil {
					failed++
				}
				if got.Images[i].Version == "" {
					continue
				}
				updated++
				pool := provider.PoolsOf(shoot)[i]
				before, after := &shoot.Spec.Provider.Workers[i], &got.Shoot.Spec.Provider.Workers[i]
				outcome, replaces := together.Replace(shoot, got.Shoot, before, after, &pool, boots)
				again, doesSo := replace(&profile.Spec, shoot, got.Shoot, before, after, boots)
				if diff := cmp.Diff(texts([]ours.Outcome{again}), texts([]ours.Outcome{outcome})); diff != "" || replaces != doesSo {
					t.Fatalf("replaced %t, want %t: %s", replaces, doesSo, diff)
				}
				if replaces {
					replaced++
				}
			}
			rejections := together.Rejections(shoot, got.Shoot, whyNot)
			another := ours.NewMaintainer(gardenerlib.Library{}, &profile.Spec, provider.Workers{})
			if diff := cmp.Diff(another.Rejections(shoot, got.Shoot, whyNot), rejections); diff != "" {
				t.Fatal(diff)
			}
			for _, reason := range rejections {
				rejected += min(1, len(reason))
			}
		}
	})
	if min(updated, failed, replaced, rejected) == 0 {
		t.Errorf("updated %d times, failed %d times, replaced %d times, rejected %d times", updated, failed, replaced, rejected)
	}
}

// drawOddities makes rare changes of a worker pool.
func drawOddities(t *rapid.T, worker *v1beta1.Worker) {
	switch rapid.IntRange(0, 9).Draw(t, "oddity") {
	case 0:
		worker.CRI = nil
	case 1:
		worker.CRI = &v1beta1.CRI{}
	case 2:
		worker.CRI.ContainerRuntimes = []v1beta1.ContainerRuntime{{Type: "gvisor"}}
	case 3:
		worker.Kubernetes = &v1beta1.WorkerKubernetes{}
	case 4:
		worker.Machine.Image.Version = ptr.To(rapid.SampledFrom([]string{"v1.1.1", "1.2", "1.1.1-a", "1.1.1+a"}).Draw(t, "version"))
	}
}

// alone returns the outcomes for a Shoot's images if each worker pool is evaluated alone.
func alone(profile *v1beta1.CloudProfileSpec, shoot *v1beta1.Shoot) []ours.Outcome {
	outcomes := make([]ours.Outcome, len(shoot.Spec.Provider.Workers))
	for i := range outcomes {
		worker := &shoot.Spec.Provider.Workers[i]
		outcomes[i] = next(
			profile, worker, shoot.Spec.Kubernetes.Version, ours.UpdatesImages(shoot), nil)
		if worker.Machine.Type == "gone" || worker.Machine.Image.Name == "gone" {
			break
		}
	}
	return outcomes
}

func texts(outcomes []ours.Outcome) []string {
	all := make([]string, 0, len(outcomes))
	for _, o := range outcomes {
		all = append(all, fmt.Sprintf("%q %t %v", o.Version, o.Forced, o.Err))
	}
	return all
}
