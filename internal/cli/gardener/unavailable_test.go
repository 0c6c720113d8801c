// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/openstack"
)

func drawStages(t *rapid.T, version string) v1beta1.ExpirableVersion {
	v := v1beta1.ExpirableVersion{Version: version}
	for _, is := range []v1beta1.VersionClassification{"preview", "supported", "deprecated", "expired"} {
		if rapid.Bool().Draw(t, string(is)) {
			days := rapid.IntRange(-20, 20).Draw(t, "days")
			v.Lifecycle = append(v.Lifecycle, v1beta1.LifecycleStage{
				Classification: is, StartTime: &metav1.Time{Time: time.Now().Add(time.Duration(days)*24*time.Hour + time.Hour)},
			})
		}
	}
	slices.SortStableFunc(v.Lifecycle, func(a, b v1beta1.LifecycleStage) int { return a.StartTime.Compare(b.StartTime.Time) })
	for i := range v.Lifecycle { // as Gardener requires
		v.Lifecycle[i].Classification = []v1beta1.VersionClassification{"preview", "supported", "deprecated", "expired"}[4-len(v.Lifecycle)+i]
	}
	return v
}

func isUnavailable(v v1beta1.ExpirableVersion) bool {
	return v1beta1helper.CurrentLifecycleClassification(v) == v1beta1.ClassificationUnavailable
}

// There is a warning exactly for the versions that Gardener's own code would choose for a user of an active version.
func TestUnavailableIsWhatMaintenanceChooses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := &v1beta1.CloudProfileSpec{
			MachineTypes: []v1beta1.MachineType{{Name: "m", Architecture: ptr.To("amd64")}},
			MachineImages: []v1beta1.MachineImage{{Name: "gl", UpdateStrategy: ptr.To(rapid.SampledFrom([]v1beta1.MachineImageUpdateStrategy{
				v1beta1.UpdateStrategyPatch, v1beta1.UpdateStrategyMinor, v1beta1.UpdateStrategyMajor,
			}).Draw(t, "strategy"))}},
		}
		for _, version := range rapid.Permutation([]string{"1.0.0", "1.0.1", "1.1.0", "2.0.0", "2.0.1"}).Draw(t, "versions") {
			spec.MachineImages[0].Versions = append(spec.MachineImages[0].Versions, v1beta1.MachineImageVersion{
				ExpirableVersion: drawStages(t, version), Architectures: []string{"amd64"}, CRI: []v1beta1.CRI{{Name: "containerd"}},
			})
			spec.Kubernetes.Versions = append(spec.Kubernetes.Versions, drawStages(t, version))
		}
		maintainer := maintenance.NewMaintainer(gardenerlib.Library{}, spec, openstack.Provider{}.Workers())
		isActive := v1beta1helper.VersionIsActive
		want := map[string]bool{}
		for i := range spec.Kubernetes.Versions {
			kubernetes, image := spec.Kubernetes.Versions[i], spec.MachineImages[0].Versions[i].ExpirableVersion
			shoot := &v1beta1.Shoot{}
			shoot.Spec.Kubernetes.Version = kubernetes.Version
			shoot.Spec.Provider.Workers = []v1beta1.Worker{{Name: "w", Machine: v1beta1.Machine{
				Type: "m", Architecture: ptr.To("amd64"), Image: &v1beta1.ShootMachineImage{Name: "gl", Version: &image.Version},
			}}}
			shoot.Spec.Maintenance = &v1beta1.Maintenance{AutoUpdate: &v1beta1.MaintenanceAutoUpdate{KubernetesVersion: true, MachineImageVersion: ptr.To(true)}}
			made := maintainer.Maintain(shoot)
			for k := range spec.Kubernetes.Versions {
				if to := spec.Kubernetes.Versions[k]; isActive(kubernetes) && to.Version == made.Kubernetes.Version && isUnavailable(to) {
					want[fmt.Sprintf("spec.kubernetes.versions[%d].lifecycle", k)] = true
				}
				if to := spec.MachineImages[0].Versions[k].ExpirableVersion; isActive(image) && to.Version == made.Images[0].Version && isUnavailable(to) {
					want[fmt.Sprintf("spec.machineImages[0].versions[%d].lifecycle", k)] = true
				}
			}
		}
		got := map[string]bool{}
		for _, warning := range gardener.Unavailable(spec, false) {
			got[warning.Field] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestUnavailable(t *testing.T) {
	spec := given.Decoded[v1beta1.CloudProfileSpec](t, `
machineImages:
- name: gl
  versions:
  - {version: 2.0.0, lifecycle: [{classification: preview, startTime: "2090-01-31T00:00:00Z"}]}
  - {version: 1.0.0}
  - {version: text, lifecycle: [{classification: preview, startTime: "2090-01-31T00:00:00Z"}]}
kubernetes:
  versions:
  - {version: 1.34.0, lifecycle: [{classification: supported, startTime: "2090-01-31T00:00:00Z"}]}
  - {version: 1.33.3, lifecycle: [{classification: supported, startTime: "2090-01-31T00:00:00Z"}]}
  - {version: 1.33.2, lifecycle: [{classification: deprecated}]}
`)
	var got []string
	for _, corrected := range []bool{false, true} {
		for _, warning := range gardener.Unavailable(spec, corrected) {
			got = append(got, warning.Field+": "+warning.Detail)
		}
	}
	for _, warning := range gardener.UnavailableOwn(spec.MachineImages) {
		got = append(got, warning.Field+": "+warning.Detail)
	}
	kubernetes := "spec.kubernetes.versions[1].lifecycle: Kubernetes version 1.33.3 is unavailable, and becomes supported on 2090-01-31: " +
		"Gardener's maintenance updates Shoots with another patch version to it anyway; let it begin as preview, in a first stage without startTime"
	want := []string{
		kubernetes,
		"spec.machineImages[0].versions[0].lifecycle: gl@2.0.0 is unavailable, and becomes preview on 2090-01-31: Gardener's maintenance chooses it anyway for " +
			"worker pools with an older one, and fails, since Gardener refuses it; let it begin as preview, in a first stage without startTime",
		kubernetes,
		"spec.machineImages[0].versions[0].lifecycle: gl@2.0.0 is unavailable, and becomes preview on 2090-01-31: Gardener leaves it out of a " +
			"NamespacedCloudProfile that does not have it yet; let it begin as preview, in a first stage without startTime, or add it then",
		"spec.machineImages[0].versions[2].lifecycle: gl@text is unavailable, and becomes preview on 2090-01-31: Gardener leaves it out of a " +
			"NamespacedCloudProfile that does not have it yet; let it begin as preview, in a first stage without startTime, or add it then",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
