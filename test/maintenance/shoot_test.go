// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/features"
	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	ours "github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
)

// kubernetesVersions are the possible Kubernetes versions of profiles and Shoots.
var kubernetesVersions = []string{"1.32.1", "1.33.1", "1.33.2", "1.33.4", "1.34.0", "1.34.3", "1.36.1"}

// drawShoot draws a Shoot with some worker pools, each with an image of the profile, and draws the profile's Kubernetes versions.
func drawShoot(t *rapid.T, profile *v1beta1.CloudProfile) *v1beta1.Shoot {
	number := rapid.SampledFrom(kubernetesVersions)
	profile.Spec.Kubernetes.Versions = nil
	for _, version := range rapid.SliceOfNDistinct(number, 1, -1, rapid.ID[string]).Draw(t, "Kubernetes") {
		v := v1beta1.ExpirableVersion{Version: version}
		switch rapid.IntRange(0, 4).Draw(t, "classification") {
		case 0:
			v.Classification = ptr.To(v1beta1.ClassificationPreview) //nolint:staticcheck // as people write it
		case 1:
			v.ExpirationDate = &metav1.Time{Time: time.Now().Add(-time.Hour)} //nolint:staticcheck // as people write it
		}
		profile.Spec.Kubernetes.Versions = append(profile.Spec.Kubernetes.Versions, v)
	}
	shoot := shootOf(v1beta1.Worker{}, rapid.Bool().Draw(t, "auto update"))
	shoot.Spec.Maintenance.AutoUpdate.KubernetesVersion = rapid.Bool().Draw(t, "Kubernetes auto update")
	shoot.Spec.Kubernetes.Version = number.Draw(t, "version")
	shoot.Spec.Provider.Workers = nil
	for i := range rapid.IntRange(1, 3).Draw(t, "workers") {
		worker, image := drawWorker(t, profile), rapid.SampledFrom(profile.Spec.MachineImages).Draw(t, "image")
		worker.Name = fmt.Sprint("worker-", i)
		version := rapid.SampledFrom(image.Versions).Draw(t, "version").Version
		worker.Machine.Image = &v1beta1.ShootMachineImage{Name: image.Name, Version: &version}
		worker.Machine.Architecture = ptr.To(gardenerrules.Architecture(&profile.Spec, &worker))
		worker.CRI = &v1beta1.CRI{Name: v1beta1.CRINameContainerD}
		switch rapid.IntRange(0, 15).Draw(t, "unknown") {
		case 0:
			worker.Machine.Type = "gone"
		case 1:
			worker.Machine.Image.Name = "gone"
		}
		if rapid.IntRange(0, 2).Draw(t, "own Kubernetes") == 0 {
			worker.Kubernetes = &v1beta1.WorkerKubernetes{Version: ptr.To(number.Draw(t, "version"))}
		}
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, worker)
	}
	return shoot
}

// maintain predicts the maintenance of one Shoot with a new Maintainer.
func maintain(profile *v1beta1.CloudProfileSpec, shoot *v1beta1.Shoot) ours.Maintained {
	return ours.NewMaintainer(gardenerlib.Library{}, profile, provider.Workers{}).Maintain(shoot)
}

// versions returns the versions of a Shoot: the Kubernetes version, and each worker pool's image version and Kubernetes version.
func versions(shoot *v1beta1.Shoot) []string {
	all := []string{shoot.Spec.Kubernetes.Version}
	for _, w := range shoot.Spec.Provider.Workers {
		all = append(all, *w.Machine.Image.Version)
		if w.Kubernetes != nil {
			all = append(all, *w.Kubernetes.Version)
		}
	}
	return all
}

// TestMaintainAgreesWithGardener compares whole Shoots with the maintenance controller of Gardener's controller manager.
func TestMaintainAgreesWithGardener(t *testing.T) {
	features.RegisterFeatureGates()
	ctrllog.SetLogger(logr.Discard())
	changed, givenUp := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		shoot := drawShoot(t, profile)
		before := versions(shoot)
		m := maintain(&profile.Spec, shoot)
		want := versions(reconciled(t, profile, shoot))
		if diff := cmp.Diff(want, versions(m.Shoot)); diff != "" {
			t.Fatalf("from %v, Gardener's (-) and ours (+): %s", before, diff)
		}
		if diff := cmp.Diff(before, versions(shoot)); diff != "" {
			t.Fatalf("the argument was changed: %s", diff)
		}
		if !slices.Equal(before, want) {
			changed++
		}
		if m.GivenUp < len(m.Images) {
			givenUp++
		}
	})
	if min(changed, givenUp) == 0 {
		t.Errorf("changed %d times, given up %d times", changed, givenUp)
	}
}

// replaced returns the common effect of maintenance and mutate-shoot on a Shoot.
func replaced(profile *v1beta1.CloudProfile, shoot *v1beta1.Shoot, boots ours.Filter) (ours.Maintained, *v1beta1.Shoot) {
	m := maintain(&profile.Spec, shoot)
	after := m.Shoot.DeepCopy()
	for i := range m.Images {
		before, worker := &shoot.Spec.Provider.Workers[i], &m.Shoot.Spec.Provider.Workers[i]
		if m.Images[i].Version == "" {
			continue
		}
		pool := provider.PoolsOf(shoot)[i]
		o, replaces := ours.NewMaintainer(gardenerlib.Library{}, &profile.Spec, provider.Workers{}).Replace(shoot, m.Shoot, before, worker, &pool, boots)
		if replaces {
			m.Images[i] = o
			to := o.Version
			if to == "" {
				to = *before.Machine.Image.Version
			}
			after.Spec.Provider.Workers[i].Machine.Image.Version = &to
		}
	}
	return m, after
}

// without returns a filter that excludes the version that maintenance would update the first worker pool to.
func without(boots ours.Filter, m ours.Maintained) ours.Filter {
	first := m.Shoot.Spec.Provider.Workers[0].Machine.Image
	return func(image, version string) bool {
		return (image != first.Name || version != m.Images[0].Version) && (boots == nil || boots(image, version))
	}
}

// Maintenance and the webhook give a Shoot's pools working versions, in every run, and come to an end. Gardener proceeds
// from version to version if updates are forced or in place, or if there are patches on the way.
func TestReplaceWorks(t *testing.T) {
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		shoot := drawShoot(t, profile)
		alone := maintain(&profile.Spec, shoot)
		for range 10 {
			boots := without(drawFilter(t, profile), alone)
			m, _ := replaced(profile, shoot, boots)
			if m.Images[0].Version != alone.Images[0].Version {
				changed++
			}
			settles(t, profile, shoot, boots)
		}
	})
	if changed == 0 {
		t.Error("the webhook has changed nothing")
	}
}

func TestReplace(t *testing.T) {
	profile := &v1beta1.CloudProfile{}
	profile.Spec.MachineTypes = []v1beta1.MachineType{{Name: "type"}}
	profile.Spec.Kubernetes.Versions = []v1beta1.ExpirableVersion{{Version: "1.33.1"}}
	image := v1beta1.MachineImage{Name: "image", UpdateStrategy: ptr.To(v1beta1.UpdateStrategyMinor)}
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0", "2.0.0"} {
		image.Versions = append(image.Versions, v1beta1.MachineImageVersion{
			ExpirableVersion: v1beta1.ExpirableVersion{Version: version},
			CRI:              []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}, Architectures: []string{"amd64"},
		})
	}
	profile.Spec.MachineImages = []v1beta1.MachineImage{image}
	worker := v1beta1.Worker{Name: "worker"}
	worker.Machine = v1beta1.Machine{Type: "type", Image: &v1beta1.ShootMachineImage{Name: "image", Version: ptr.To("1.0.0")}}
	for _, tc := range []struct {
		booting []string
		want    ours.Outcome
	}{
		{[]string{"1.0.0", "1.1.0", "1.2.0", "2.0.0"}, ours.Outcome{Version: "1.2.0"}},
		{[]string{"1.0.0", "1.1.0", "2.0.0"}, ours.Outcome{Version: "1.1.0"}},
		{[]string{"1.0.0", "2.0.0"}, ours.Outcome{}},
		{[]string{"1.1.0"}, ours.Outcome{Version: "1.1.0", Forced: true}},
		{[]string{"2.0.0"}, ours.Outcome{Version: "2.0.0", Forced: true}},
		{nil, ours.Outcome{Forced: true}},
	} {
		m, _ := replaced(profile, shootOf(worker, true), func(_, version string) bool { return slices.Contains(tc.booting, version) })
		got := m.Images[0]
		if got.Err = nil; got != tc.want {
			t.Errorf("if %v boot: %+v, want %+v", tc.booting, got, tc.want)
		}
	}
}

// settles checks that maintenance chooses only working versions, and finally changes nothing.
func settles(t *rapid.T, profile *v1beta1.CloudProfile, shoot *v1beta1.Shoot, boots ours.Filter) {
	for range 30 {
		_, after := replaced(profile, shoot, boots)
		for i, worker := range after.Spec.Provider.Workers {
			image, before := worker.Machine.Image, shoot.Spec.Provider.Workers[i]
			works := works(&profile.Spec, &worker, &before, after.Spec.Kubernetes.Version, boots)
			if *image.Version != *before.Machine.Image.Version && !works(image.Name, *image.Version) {
				t.Fatalf("%s gets %s, which does not work", worker.Name, *image.Version)
			}
		}
		if slices.Equal(versions(after), versions(shoot)) {
			return
		}
		shoot = after
	}
	t.Fatalf("the Shoot is updated again and again")
}

// Gardener refuses a Shoot because of what maintenance makes of the versions of Kubernetes of worker pools.
func TestKubernetesIsRefused(t *testing.T) {
	past := metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, tc := range []struct{ controlPlane, kubelet, offered, want string }{
		{"1.34.0", "1.33.1", "1.33.1 1.34.0", ""},
		{"1.34.0", "1.33.1", "1.34.3", "Gardener refuses Kubernetes 1.34.0, which is the version of the control plane: the profile does not have it"},
		{"1.34.0", "1.34.0", "1.34.3", ""},
		{"1.35.0", "1.32.1", "1.32.1 1.35.0 1.36.0", "Gardener refuses Kubernetes 1.36.0 for the control plane: " +
			"the worker pool has 1.32.1, which is more than three minor versions behind"},
		{"1.35.0", "1.32.1", "1.35.0 1.36.0", "Gardener refuses Kubernetes 1.36.0 for the control plane: " +
			"the worker pool has 1.32.1, which is more than three minor versions behind"},
		{"1.35.0", "1.32.1", "1.33.1 1.35.0 1.36.0", ""},
		{"1.35.0", "", "1.35.0 1.36.0", ""},
	} {
		profile := &v1beta1.CloudProfileSpec{MachineTypes: []v1beta1.MachineType{{Name: "type"}}}
		for _, version := range strings.Fields(tc.offered) {
			v := v1beta1.ExpirableVersion{Version: version}
			if version == "1.35.0" || version == "1.34.3" { // to which nothing, and from which everything goes
				v.ExpirationDate = &past //nolint:staticcheck // as people write it
			}
			profile.Kubernetes.Versions = append(profile.Kubernetes.Versions, v)
		}
		worker := v1beta1.Worker{Name: "worker"}
		worker.Machine = v1beta1.Machine{Type: "type", Image: &v1beta1.ShootMachineImage{Name: "image", Version: ptr.To("1.0.0")}}
		if tc.kubelet != "" {
			worker.Kubernetes = &v1beta1.WorkerKubernetes{Version: &tc.kubelet}
		}
		shoot := shootOf(worker, false)
		shoot.Spec.Kubernetes.Version = tc.controlPlane
		m := ours.NewMaintainer(gardenerlib.Library{}, profile, provider.Workers{})
		got := m.Rejections(shoot, m.Maintain(shoot).Shoot, func(int, ours.Image) string { return "" })
		if got[0] != tc.want {
			t.Errorf("%+v: %s", tc, got[0])
		}
	}
}

// What a version is at a time it is from the very moment on that the time is, however long it takes to look at it.
func TestAt(t *testing.T) {
	profile := &v1beta1.CloudProfileSpec{}
	expires := metav1.NewTime(time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC))
	version := v1beta1.ExpirableVersion{Version: "1.33.1", ExpirationDate: &expires} //nolint:staticcheck // as people write it
	stages := v1beta1.ExpirableVersion{Version: "1.0.0", Lifecycle: []v1beta1.LifecycleStage{
		{Classification: v1beta1.ClassificationSupported}, {Classification: v1beta1.ClassificationExpired, StartTime: &expires},
	}}
	profile.Kubernetes.Versions = []v1beta1.ExpirableVersion{version}
	profile.MachineImages = []v1beta1.MachineImage{{Name: "image", Versions: []v1beta1.MachineImageVersion{{ExpirableVersion: stages}}}}
	before := profile.DeepCopy()
	worker := v1beta1.Worker{Machine: v1beta1.Machine{Image: &v1beta1.ShootMachineImage{Name: "image", Version: ptr.To("1.0.0")}}}
	for after, want := range map[time.Duration]string{
		-100 * 365 * 24 * time.Hour: "", -1: "", 0: "it is expired", time.Hour: "it is expired", 100 * 365 * 24 * time.Hour: "it is expired",
	} {
		at := expires.Add(after)
		stopped := ours.At(profile, at)
		image := ours.Image{Name: "image", Version: "1.0.0"}
		if got := ours.NewMaintainer(gardenerlib.Library{}, stopped, provider.Workers{}).Refused(image, &worker, nil, "1.33.1"); got != want {
			t.Errorf("at %s: %q, want %q", at, got, want)
		}
		m := maintain(stopped, shootOf(worker, false))
		if forced := m.Kubernetes.Forced; forced != (want != "") {
			t.Errorf("at %s: forced %t", at, forced)
		}
	}
	if diff := cmp.Diff(before, profile); diff != "" {
		t.Errorf("the argument was changed: %s", diff)
	}
}

// TestFilled requires Gardener's choice if it works, and otherwise Gardener's choice among the working images.
func TestFilled(t *testing.T) {
	kept, other, named := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		worker, boots := drawWorker(t, profile), drawFilter(t, profile)
		if rapid.IntRange(0, 3).Draw(t, "names an image") == 0 {
			image := rapid.SampledFrom(profile.Spec.MachineImages).Draw(t, "image")
			version := rapid.SampledFrom(image.Versions).Draw(t, "version").Version
			worker.Machine.Image = &v1beta1.ShootMachineImage{Name: image.Name, Version: &version}
		}
		works := works(&profile.Spec, &worker, nil, "1.33.1", boots)
		image, err := ours.Filled(gardenerlib.Library{}, &profile.Spec, &worker, "1.33.1", boots)
		alone, wantErr := shoots.DefaultImage(gardenerlib.Library{}, &profile.Spec, &worker, nil)
		best, noneErr := shoots.DefaultImage(gardenerlib.Library{}, &profile.Spec, &worker, works)
		want := alone
		switch {
		case worker.Machine.Image != nil:
			want = ours.Image{Name: worker.Machine.Image.Name, Version: *worker.Machine.Image.Version}
			named++
		case wantErr == nil && !works(alone.Name, alone.Version) && noneErr == nil:
			want = best
			other++
		default:
			kept++
		}
		if image != want || (err != nil) != (wantErr != nil) {
			t.Fatalf("%v %v, want %v %v", image, err, want, wantErr)
		}
	})
	if min(kept, other, named) == 0 {
		t.Errorf("Gardener's %d times, another %d times, named %d times", kept, other, named)
	}
}

// A version that boots, but does not support in-place updates, does not qualify its image: Gardener refuses it for a new pool.
func TestFilledForUpdatesInPlace(t *testing.T) {
	amd64 := []string{"amd64"}
	version := func(number string, inPlace bool) v1beta1.MachineImageVersion {
		return v1beta1.MachineImageVersion{
			ExpirableVersion: v1beta1.ExpirableVersion{Version: number}, Architectures: amd64,
			InPlaceUpdates: &v1beta1.InPlaceUpdates{Supported: inPlace},
		}
	}
	profile := &v1beta1.CloudProfileSpec{
		MachineTypes: []v1beta1.MachineType{{Name: "m", Architecture: &amd64[0]}},
		MachineImages: []v1beta1.MachineImage{
			{Name: "first", Versions: []v1beta1.MachineImageVersion{version("1.0.0", false), version("2.0.0", true)}},
			{Name: "second", Versions: []v1beta1.MachineImageVersion{version("1.0.0", true)}},
		},
	}
	worker := v1beta1.Worker{Machine: v1beta1.Machine{Type: "m"}, UpdateStrategy: ptr.To(v1beta1.AutoInPlaceUpdate)}
	boots := func(image, version string) bool { return image != "first" || version == "1.0.0" }
	image, err := ours.Filled(gardenerlib.Library{}, profile, &worker, "1.33.1", boots)
	if want := (ours.Image{Name: "second", Version: "1.0.0"}); err != nil || image != want {
		t.Errorf("%v %v, want %v", image, err, want)
	}
	first := ours.Image{Name: "first", Version: "1.0.0"}
	if reason := ours.RefusedNew(profile, first, &worker, "1.33.1"); reason != "it does not support updates in place" {
		t.Error(reason)
	}
	if reason := ours.NewMaintainer(gardenerlib.Library{}, profile, provider.Workers{}).Refused(first, &worker, &worker, "1.33.1"); reason != "" {
		t.Errorf("a pool that exists: %s", reason)
	}
}

// TestRefusedNew requires a reason exactly if a new worker pool cannot have a version, even if everything boots.
func TestRefusedNew(t *testing.T) {
	refused, taken := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		worker := drawWorker(t, profile)
		worker.CRI = &v1beta1.CRI{Name: v1beta1.CRINameContainerD}
		image := rapid.SampledFrom(profile.Spec.MachineImages).Draw(t, "image")
		version := rapid.SampledFrom(image.Versions).Draw(t, "version").Version
		reason := ours.RefusedNew(&profile.Spec, ours.Image{Name: image.Name, Version: version}, &worker, "1.33.1")
		if works := works(&profile.Spec, &worker, nil, "1.33.1", nil)(image.Name, version); works != (reason == "") {
			t.Fatalf("%s@%s works: %t, refused: %s", image.Name, version, works, reason)
		}
		if reason != "" {
			refused++
		} else {
			taken++
		}
		if reason := ours.RefusedNew(&profile.Spec, ours.Image{Name: image.Name, Version: "9.9.9"}, &worker, "1.33.1"); reason != "the profile does not have it" {
			t.Fatal(reason)
		}
	})
	if min(refused, taken) == 0 {
		t.Errorf("refused %d times, taken %d times", refused, taken)
	}
}

// TestDefaultKubernetesAgreesWithGardener compares with the admission plugin of Gardener's API server.
func TestDefaultKubernetesAgreesWithGardener(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		shoot := drawShoot(t, profile)
		shoot.Spec.Provider.Workers = nil
		shoot.Spec.Kubernetes.Version = rapid.SampledFrom([]string{
			"", "1", "1.", "1.33", "1.34.", "2", "x", "1.x", "1.33.1", "1.33.9", ".33", "1.35.0-rc.1", "1.x.0.1", "x.1.0.1",
		}).Draw(t, "version")
		want, wantErr := admitted(t, profile, shoot)
		got, err := shoots.DefaultKubernetes(&profile.Spec, shoot.Spec.Kubernetes.Version)
		if (err != nil) != (wantErr != nil) || err == nil && got != want.Spec.Kubernetes.Version {
			t.Fatalf("%q becomes %q %v, Gardener says %v", shoot.Spec.Kubernetes.Version, got, err, wantErr)
		}
	})
}
