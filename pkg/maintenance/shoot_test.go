// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"fmt"
	"slices"
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

	ours "github.com/capkit/capkit/pkg/maintenance"
)

// kubernetesVersions are those that a profile may have, and a Shoot too.
var kubernetesVersions = []string{"1.32.1", "1.33.1", "1.33.2", "1.33.4", "1.34.0", "1.34.3", "1.36.1"}

// drawShoot draws a Shoot with some worker pools, each of which has an image of the profile, and draws which versions of
// Kubernetes the profile has.
func drawShoot(t *rapid.T, profile *v1beta1.CloudProfile) *v1beta1.Shoot {
	number := rapid.SampledFrom(kubernetesVersions)
	profile.Spec.Kubernetes.Versions = nil
	for _, version := range rapid.SliceOfNDistinct(number, 1, -1, rapid.ID[string]).Draw(t, "Kubernetes") {
		v := v1beta1.ExpirableVersion{Version: version}
		switch rapid.IntRange(0, 4).Draw(t, "classification") {
		case 0:
			v.Classification = ptr.To(v1beta1.ClassificationPreview)
		case 1:
			v.ExpirationDate = &metav1.Time{Time: time.Now().Add(-time.Hour)}
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
		worker.Machine.Architecture = ptr.To(ours.Architecture(&profile.Spec, &worker))
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

// versions of a Shoot: of Kubernetes, and of the image and Kubernetes of each worker pool.
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

// TestMaintainAgreesWithGardener asks the maintenance controller of Gardener's controller manager what it makes of whole
// Shoots.
func TestMaintainAgreesWithGardener(t *testing.T) {
	features.RegisterFeatureGates()
	ctrllog.SetLogger(logr.Discard())
	changed, givenUp := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		shoot := drawShoot(t, profile)
		before := versions(shoot)
		m := ours.Maintain(&profile.Spec, shoot)
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

// replaced does with a Shoot what maintenance and mutate-shoot do together.
func replaced(profile *v1beta1.CloudProfile, shoot *v1beta1.Shoot, boots ours.Filter) (ours.Maintained, *v1beta1.Shoot) {
	m := ours.Maintain(&profile.Spec, shoot)
	after := m.Shoot.DeepCopy()
	for i := range m.Images {
		before, worker := &shoot.Spec.Provider.Workers[i], &m.Shoot.Spec.Provider.Workers[i]
		if m.Images[i].Version == "" {
			continue
		}
		if o, replaces := ours.Replace(&profile.Spec, shoot, m.Shoot, before, worker, boots); replaces {
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

// without returns a filter that does not admit what maintenance would update the first worker pool to.
func without(boots ours.Filter, m ours.Maintained) ours.Filter {
	first := m.Shoot.Spec.Provider.Workers[0].Machine.Image
	return func(image, version string) bool {
		return (image != first.Name || version != m.Images[0].Version) && (boots == nil || boots(image, version))
	}
}

// What maintenance and the webhook make of a Shoot works for its pools, and maintenance has then done what it can: it goes
// on only where it goes from version to version, by force or in place, or where Kubernetes has become another.
func TestReplaceWorks(t *testing.T) {
	replacements, kept, again := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		shoot := drawShoot(t, profile)
		alone := ours.Maintain(&profile.Spec, shoot)
		for range 10 {
			boots := without(drawFilter(t, profile), alone)
			m, after := replaced(profile, shoot, boots)
			second, _ := replaced(profile, after, boots)
			for i, worker := range after.Spec.Provider.Workers {
				image := ours.Image{Name: worker.Machine.Image.Name, Version: *worker.Machine.Image.Version}
				before := shoot.Spec.Provider.Workers[i]
				works := ours.Works(&profile.Spec, &worker, &before, after.Spec.Kubernetes.Version, boots)
				if image.Version != *before.Machine.Image.Version && !works(image.Name, image.Version) {
					t.Fatalf("%s gets %s, which does not work", worker.Name, image)
				}
				switch {
				case alone.Images[i].Version == m.Images[i].Version:
				case m.Images[i].Version == "":
					kept++
				default:
					replacements++
				}
				inPlace := worker.UpdateStrategy != nil
				if forced := m.Images[i].Forced || second.Images[i].Forced; forced || inPlace ||
					m.Kubernetes.Version != "" || m.Kubelets[i].Version != "" || m.GivenUp < len(m.Images) {
					continue
				}
				again++
				if second.Images[i].Version != "" {
					t.Fatalf("%s is updated from %s to %s by the next maintenance", worker.Name, image, second.Images[i].Version)
				}
			}
		}
	})
	if min(replacements, kept, again) == 0 {
		t.Errorf("%d versions replaced, %d kept, %d maintained twice", replacements, kept, again)
	}
}

func TestAfter(t *testing.T) {
	profile := &v1beta1.CloudProfileSpec{}
	at := metav1.NewTime(time.Now().Add(time.Hour))
	version := v1beta1.ExpirableVersion{Version: "1.33.1", ExpirationDate: &at}
	stages := v1beta1.ExpirableVersion{Version: "1.0.0", Lifecycle: []v1beta1.LifecycleStage{
		{Classification: v1beta1.ClassificationSupported}, {Classification: v1beta1.ClassificationExpired, StartTime: &at},
	}}
	profile.Kubernetes.Versions = []v1beta1.ExpirableVersion{version}
	profile.MachineImages = []v1beta1.MachineImage{{Name: "image", Versions: []v1beta1.MachineImageVersion{{ExpirableVersion: stages}}}}
	before := profile.DeepCopy()
	worker := v1beta1.Worker{Machine: v1beta1.Machine{Image: &v1beta1.ShootMachineImage{Name: "image", Version: ptr.To("1.0.0")}}}
	for after, want := range map[time.Duration]string{0: "", time.Minute: "", 2 * time.Hour: "it is expired", -time.Hour: ""} {
		shifted := ours.After(profile, after)
		image := ours.Image{Name: "image", Version: "1.0.0"}
		if got := ours.Refused(shifted, image, &worker, nil, "1.33.1"); got != want {
			t.Errorf("after %s: %q, want %q", after, got, want)
		}
		m := ours.Maintain(shifted, shootOf(worker, false))
		if forced := m.Kubernetes.Forced; forced != (want != "") {
			t.Errorf("after %s: forced %t", after, forced)
		}
	}
	if diff := cmp.Diff(before, profile); diff != "" {
		t.Errorf("the argument was changed: %s", diff)
	}
}
