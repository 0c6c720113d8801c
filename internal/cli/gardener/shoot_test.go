// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/testing/cases"
	"github.com/capkit/capkit/internal/testing/given"
)

func TestValidateShootIn(t *testing.T) {
	cases.Run(t, "testdata/shoots.txtar", func(c *cases.Case) string {
		profile, shoot := &v1beta1.CloudProfileSpec{}, &v1beta1.Shoot{}
		c.Decode("profile.yaml", profile)
		c.Decode("shoot.yaml", &shoot.Spec)
		errs, warnings := gardener.ValidateShootIn(shoot, profile, nil)
		var lines []string
		for _, err := range errs {
			lines = append(lines, fmt.Sprintf("error %s [%s]", err, err.Origin))
		}
		for _, warning := range warnings {
			lines = append(lines, fmt.Sprintf("warning %s: %s [%s]", warning.Field, warning.Detail, warning.Origin))
		}
		return strings.Join(lines, "\n")
	})
}

// A Shoot's version gets a warning before it expires, and is never suggested as its own replacement.
func TestVersionsThatExpireSoon(t *testing.T) {
	in := func(days int) *metav1.Time {
		return &metav1.Time{Time: time.Now().Add(time.Duration(days) * 24 * time.Hour)}
	}
	profile := &v1beta1.CloudProfileSpec{
		Kubernetes: v1beta1.KubernetesSettings{Versions: []v1beta1.ExpirableVersion{{Version: "1.33.2"}, {Version: "1.32.1", ExpirationDate: in(20)}}},
		MachineImages: []v1beta1.MachineImage{{Name: "gl", Versions: []v1beta1.MachineImageVersion{
			{ExpirableVersion: v1beta1.ExpirableVersion{Version: "2.0.0", ExpirationDate: in(40)}}, //nolint:staticcheck // as people write it
			{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0", ExpirationDate: in(3)}},  //nolint:staticcheck // as people write it
		}}},
	}
	shoot := &v1beta1.Shoot{}
	shoot.Spec.Kubernetes.Version = "1.32.1"
	for _, version := range []string{"1.0.0", "2.0.0"} {
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, v1beta1.Worker{
			Name: "w", Machine: v1beta1.Machine{Image: &v1beta1.ShootMachineImage{Name: "gl", Version: &version}},
		})
	}
	_, warnings := gardener.ValidateShootIn(shoot, profile, func(int) gardener.Works { return nil })
	want := []string{
		fmt.Sprintf("Kubernetes version 1.32.1 expires on %s: ", in(20).UTC().Format(time.DateOnly)),
		fmt.Sprintf("worker pool w: gl@1.0.0 expires on %s: ", in(3).UTC().Format(time.DateOnly)),
	}
	if len(warnings) != len(want) {
		t.Fatal(warnings)
	}
	for i, warning := range warnings {
		if !strings.HasPrefix(warning.Detail, want[i]) || strings.Count(warning.Detail, warning.BadValue.(string)) != 1 {
			t.Error(warning.Detail)
		}
	}
}

// The advice for each worker pool contains only versions that work.
func TestAdviceWorks(t *testing.T) {
	expired := &metav1.Time{Time: time.Now().Add(-time.Hour)}
	version := func(v string, at *metav1.Time) v1beta1.MachineImageVersion {
		return v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: v, ExpirationDate: at}} //nolint:staticcheck // as people write it
	}
	profile := &v1beta1.CloudProfileSpec{
		MachineTypes: []v1beta1.MachineType{{Name: "old", Usable: new(false)}, {Name: "virt"}, {Name: "arm"}},
		MachineImages: []v1beta1.MachineImage{{
			Name: "gl", Versions: []v1beta1.MachineImageVersion{version("1.0.0", expired), version("2.0.0", nil), version("3.0.0", nil)},
		}},
	}
	shoot := &v1beta1.Shoot{}
	for range 2 {
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, v1beta1.Worker{
			Name: "w", Machine: v1beta1.Machine{Type: "old", Image: &v1beta1.ShootMachineImage{Name: "gl", Version: new("1.0.0")}},
		})
	}
	_, warnings := gardener.ValidateShootIn(shoot, profile, func(worker int) gardener.Works {
		return func(machineType, image, version string) bool {
			return worker == 0 && image == "gl" && (machineType == "virt" || version == "3.0.0")
		}
	})
	for i, want := range []string{
		"for a new one take virt", "write 3.0.0",
		"no usable one boots gl@1.0.0", "no other active version would work for this worker pool",
	} {
		if i >= len(warnings) || !strings.HasSuffix(warnings[i].Detail, "; "+want) && !strings.HasSuffix(warnings[i].Detail, ": "+want) {
			t.Fatalf("not %q: %v", want, warnings)
		}
	}
}

// The advice for an existing Shoot contains only Kubernetes versions to which Gardener allows an update. None is older, and no minor
// version is skipped, except for a worker pool.
func TestAdvisedKubernetesFollows(t *testing.T) {
	profile := given.Decoded[v1beta1.CloudProfileSpec](t, `
kubernetes:
  versions:
  - {version: 1.34.0}
  - {version: 1.33.2, expirationDate: "2020-01-31T00:00:00Z"}
  - {version: 1.32.7, classification: deprecated}
  - {version: 1.31.1, expirationDate: "2020-01-31T00:00:00Z"}
  - {version: 1.30.1, expirationDate: "2020-01-31T00:00:00Z"}
`)
	for _, test := range []struct{ controlPlane, pool, created, exists string }{
		{"1.33.2", "", "write one of 1.34.0, 1.32.7 (deprecated)", "write 1.34.0"},
		{"1.31.1", "", "write one of 1.34.0, 1.32.7 (deprecated)", "write 1.32.7 (deprecated)"},
		{"1.30.1", "", "write one of 1.34.0, 1.32.7 (deprecated)", "no other active version would work for this Shoot"},
		{"1.34.0", "1.31.1", "write one of 1.34.0, 1.32.7 (deprecated)", "write one of 1.34.0, 1.32.7 (deprecated)"},
		{"1.34.0", "1.33.2", "write one of 1.34.0, 1.32.7 (deprecated)", "write 1.34.0"},
		{"1.33.9", "", `supported values: "1.34.0", "1.32.7"`, `supported values: "1.34.0"`},
	} {
		shoot := &v1beta1.Shoot{}
		shoot.Spec.Kubernetes.Version = test.controlPlane
		if test.pool != "" {
			shoot.Spec.Provider.Workers = []v1beta1.Worker{{Name: "w", Kubernetes: &v1beta1.WorkerKubernetes{Version: &test.pool}}}
		}
		for uid, want := range map[types.UID]string{"": test.created, "it exists": test.exists} {
			shoot.UID = uid
			errs, warnings := gardener.ValidateShootIn(shoot, profile, nil)
			if all := slices.Concat(errs, warnings); len(all) != 1 || !strings.HasSuffix(all[0].Error(), want) {
				t.Errorf("%v, uid %q: %v, want %s", test, uid, all, want)
			}
		}
	}
}

// An existing worker pool may keep a volume type that new ones cannot have. Those that can replace it are in all zones of the pool.
func TestUnusableVolumeType(t *testing.T) {
	profile := given.Decoded[v1beta1.CloudProfileSpec](t, `
machineTypes: [{name: m}]
volumeTypes: [{name: old, usable: false}, {name: fast}, {name: any}]
regions: [{name: europe, zones: [{name: a}, {name: b, unavailableVolumeTypes: [fast, old]}]}]
`)
	shoot := given.Decoded[v1beta1.Shoot](t, `
spec: {region: europe, provider: {workers: [{name: w, machine: {type: m}, volume: {type: old, size: 20Gi}, zones: [a, b]}]}}
`)
	shoot.UID = "it exists"
	errs, warnings := gardener.ValidateShootIn(shoot, profile, nil)
	const want = "worker pool w: volume type old is not usable any more: existing pools may keep it; for a new one take any"
	if len(errs) > 0 || len(warnings) != 1 || warnings[0].Field != "spec.provider.workers[0].volume.type" || warnings[0].Detail != want {
		t.Error(errs, warnings)
	}
}
