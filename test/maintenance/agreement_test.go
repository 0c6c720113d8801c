// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/api"
	controllermanagerconfigv1alpha1 "github.com/gardener/gardener/pkg/apis/config/controllermanager/v1alpha1"
	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	gardencoreinformers "github.com/gardener/gardener/pkg/client/core/informers/externalversions"
	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/controllermanager/controller/shoot/maintenance"
	"github.com/gardener/gardener/pkg/controllermanager/features"
	"github.com/gardener/gardener/plugin/pkg/shoot/mutator"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/capkit/capkit/pkg/gardenerlib"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/gardenerrules/shoots"
	ours "github.com/capkit/capkit/pkg/maintenance"
)

var architectures = []string{"amd64", "arm64"}

// drawProfile draws a CloudProfile with an API server's defaults. Its versions may differ only in their names.
func drawProfile(t *rapid.T) *v1beta1.CloudProfile {
	profile := &v1beta1.CloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "profile"}}
	spec := &profile.Spec
	if rapid.Bool().Draw(t, "capabilities") {
		spec.MachineCapabilities = []v1beta1.CapabilityDefinition{
			{Name: "architecture", Values: architectures}, {Name: "net", Values: []string{"fast", "slow"}},
		}
	}
	spec.Kubernetes.Versions = []v1beta1.ExpirableVersion{{Version: "1.33.1"}}
	for i := range rapid.IntRange(1, 3).Draw(t, "images") {
		strategy := rapid.SampledFrom([]v1beta1.MachineImageUpdateStrategy{
			v1beta1.UpdateStrategyPatch, v1beta1.UpdateStrategyMinor, v1beta1.UpdateStrategyMajor,
		}).Draw(t, "strategy")
		image := v1beta1.MachineImage{Name: fmt.Sprintf("image-%d", i), UpdateStrategy: &strategy}
		number := rapid.Custom(func(t *rapid.T) string {
			part := rapid.IntRange(1, 3)
			return fmt.Sprintf("%d.%d.%d", part.Draw(t, "major"), part.Draw(t, "minor"), part.Draw(t, "patch"))
		})
		for _, version := range rapid.SliceOfNDistinct(number, 1, 8, rapid.ID[string]).Draw(t, "versions") {
			image.Versions = append(image.Versions, drawVersion(t, version, len(spec.MachineCapabilities) > 0))
		}
		spec.MachineImages = append(spec.MachineImages, image)
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "machine types") {
		machineType := v1beta1.MachineType{Name: fmt.Sprintf("type-%d", i)}
		architecture := rapid.SampledFrom(architectures).Draw(t, "architecture")
		if len(spec.MachineCapabilities) > 0 {
			machineType.Capabilities = v1beta1.Capabilities{
				"architecture": {architecture}, "net": {rapid.SampledFrom([]string{"fast", "slow"}).Draw(t, "net")},
			}
		} else {
			machineType.Architecture = &architecture
		}
		spec.MachineTypes = append(spec.MachineTypes, machineType)
	}
	return profile
}

func drawVersion(t *rapid.T, version string, capabilities bool) v1beta1.MachineImageVersion {
	v := v1beta1.MachineImageVersion{
		ExpirableVersion: v1beta1.ExpirableVersion{Version: version},
		CRI:              []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}},
	}
	if rapid.IntRange(0, 5).Draw(t, "no runtime") == 0 {
		v.CRI = nil
	}
	stage := func(classification v1beta1.VersionClassification, from time.Duration) {
		start := metav1.NewTime(time.Now().Add(from))
		v.Lifecycle = append(v.Lifecycle, v1beta1.LifecycleStage{Classification: classification, StartTime: &start})
	}
	switch rapid.IntRange(0, 6).Draw(t, "classification") {
	case 0:
		stage(v1beta1.ClassificationPreview, -time.Hour)
	case 1:
		stage(v1beta1.ClassificationDeprecated, -time.Hour)
	case 2:
		stage(v1beta1.ClassificationExpired, -time.Hour)
	case 3:
		stage(v1beta1.ClassificationSupported, -time.Hour)
		stage(v1beta1.ClassificationExpired, time.Hour)
	case 4:
		stage(v1beta1.ClassificationSupported, time.Hour) // it is not available yet
	}
	if constraint := rapid.SampledFrom([]string{"", "", ">= 1.34", "< 1.34"}).Draw(t, "kubelet"); constraint != "" {
		v.KubeletVersionConstraint = &constraint
	}
	if rapid.Bool().Draw(t, "in place") {
		v.InPlaceUpdates = &v1beta1.InPlaceUpdates{Supported: true, MinVersionForUpdate: ptr.To("1.2.0")}
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(architectures), 1, 2, rapid.ID[string]).Draw(t, "architectures")
	if !capabilities {
		v.Architectures = some
		return v
	}
	for _, architecture := range some {
		flavor := v1beta1.Capabilities{"architecture": {architecture}}
		if rapid.Bool().Draw(t, "says net") {
			flavor["net"] = []string{rapid.SampledFrom([]string{"fast", "slow"}).Draw(t, "net")}
		}
		v.CapabilityFlavors = append(v.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: flavor})
	}
	return v
}

// drawWorker draws a worker of a machine type of the profile, without an image.
func drawWorker(t *rapid.T, profile *v1beta1.CloudProfile) v1beta1.Worker {
	worker := v1beta1.Worker{Name: "worker"}
	worker.Machine.Type = rapid.SampledFrom(profile.Spec.MachineTypes).Draw(t, "machine type").Name
	if rapid.Bool().Draw(t, "says architecture") {
		worker.Machine.Architecture = ptr.To(rapid.SampledFrom(architectures).Draw(t, "architecture"))
	}
	if rapid.IntRange(0, 3).Draw(t, "in place") == 0 {
		worker.UpdateStrategy = ptr.To(v1beta1.AutoInPlaceUpdate)
	}
	return worker
}

func shootOf(worker v1beta1.Worker, autoUpdate bool) *v1beta1.Shoot {
	shoot := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "shoot", Namespace: "garden-demo"}}
	shoot.Annotations = map[string]string{v1beta1constants.GardenerOperation: v1beta1constants.ShootOperationMaintain}
	shoot.Spec = v1beta1.ShootSpec{
		CloudProfile: &v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "profile"},
		Kubernetes:   v1beta1.Kubernetes{Version: "1.33.1"},
		Networking:   &v1beta1.Networking{},
		Maintenance:  &v1beta1.Maintenance{AutoUpdate: &v1beta1.MaintenanceAutoUpdate{MachineImageVersion: &autoUpdate}},
	}
	shoot.Spec.Provider.WorkersSettings = &v1beta1.WorkersSettings{SSHAccess: &v1beta1.SSHAccess{}}
	shoot.Spec.Provider.Workers = []v1beta1.Worker{worker}
	return shoot
}

// drawFilter draws a filter for the versions that boot, or nil if all do.
func drawFilter(t *rapid.T, profile *v1beta1.CloudProfile) ours.Filter {
	if rapid.Bool().Draw(t, "all boot") {
		return nil
	}
	bootable := map[ours.Image]bool{}
	for _, image := range profile.Spec.MachineImages {
		for _, v := range image.Versions {
			bootable[ours.Image{Name: image.Name, Version: v.Version}] = rapid.Bool().Draw(t, "boots")
		}
	}
	return func(image, version string) bool { return bootable[ours.Image{Name: image, Version: version}] }
}

// withOnly returns a profile with only the versions that a filter admits.
func withOnly(profile *v1beta1.CloudProfile, boots ours.Filter) *v1beta1.CloudProfile {
	left := profile.DeepCopy()
	for i := range left.Spec.MachineImages {
		image := &left.Spec.MachineImages[i]
		var versions []v1beta1.MachineImageVersion
		for _, v := range image.Versions {
			if boots == nil || boots(image.Name, v.Version) {
				versions = append(versions, v)
			}
		}
		image.Versions = versions
	}
	return left
}

// TestDefaultAgreesWithGardener compares with the admission plugin of Gardener's API server.
func TestDefaultAgreesWithGardener(t *testing.T) {
	found, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		worker, boots := drawWorker(t, profile), drawFilter(t, profile)
		if rapid.Bool().Draw(t, "names an image") {
			worker.Machine.Image = &v1beta1.ShootMachineImage{Name: rapid.SampledFrom(profile.Spec.MachineImages).Draw(t, "image").Name}
			version := rapid.SampledFrom([]string{"", "", "1", "2.", "v1", "1.2", "v2.1", "x", "1.x", "9", ".1", "1.9.0-rc.1", "1.x.0.1", "x.1.0.1"}).Draw(t, "version")
			if version != "" {
				worker.Machine.Image.Version = &version
			}
		}
		want, wantErr := filledIn(t, withOnly(profile, boots), worker)
		got, err := shoots.DefaultImage(gardenerlib.Library{}, &profile.Spec, &worker, boots)
		if (err != nil) != (wantErr != nil) || err == nil && got != want {
			t.Fatalf("%v %v, Gardener fills in %v %v", got, err, want, wantErr)
		}
		if err != nil {
			none++
		} else {
			found++
		}
	})
	if min(found, none) == 0 {
		t.Errorf("an image %d times, none %d times", found, none)
	}
}

// filledIn returns the image that Gardener's plugin fills in on creation.
func filledIn(t *rapid.T, profile *v1beta1.CloudProfile, worker v1beta1.Worker) (ours.Image, error) {
	shoot, err := admitted(t, profile, shootOf(worker, true))
	if err != nil {
		return ours.Image{}, err
	}
	image := shoot.Spec.Provider.Workers[0].Machine.Image
	return ours.Image{Name: image.Name, Version: image.Version}, nil
}

// admitted returns a Shoot after Gardener's plugin has changed it on creation.
func admitted(t *rapid.T, profile *v1beta1.CloudProfile, written *v1beta1.Shoot) (*core.Shoot, error) {
	plugin, err := mutator.New()
	if err != nil {
		t.Fatal(err)
	}
	factory := gardencoreinformers.NewSharedInformerFactory(nil, 0)
	plugin.SetCoreInformerFactory(factory)
	plugin.AssignReadyFunc(func() bool { return true })
	if err := factory.Core().V1beta1().CloudProfiles().Informer().GetStore().Add(profile); err != nil {
		t.Fatal(err)
	}
	shoot := &core.Shoot{}
	if err := api.Scheme.Convert(written, shoot, nil); err != nil {
		t.Fatal(err)
	}
	return shoot, plugin.Admit(t.Context(), admission.NewAttributesRecord(shoot, nil, core.Kind("Shoot").WithVersion("v1beta1"),
		shoot.Namespace, shoot.Name, core.Resource("shoots").WithVersion("v1beta1"), "", admission.Create,
		&metav1.CreateOptions{}, false, &user.DefaultInfo{}), nil)
}

// TestNextAgreesWithGardener compares with the maintenance controller of Gardener's controller manager.
func TestNextAgreesWithGardener(t *testing.T) {
	features.RegisterFeatureGates()
	ctrllog.SetLogger(logr.Discard())
	updated, stays, failed := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		profile := drawProfile(t)
		worker, image := drawWorker(t, profile), rapid.SampledFrom(profile.Spec.MachineImages).Draw(t, "image")
		version := rapid.SampledFrom(image.Versions).Draw(t, "version").Version
		if rapid.IntRange(0, 9).Draw(t, "gone") == 0 {
			version = "1.1.0"
		}
		worker.Machine.Image = &v1beta1.ShootMachineImage{Name: image.Name, Version: &version}
		worker.Machine.Architecture = ptr.To(gardenerrules.Architecture(&profile.Spec, &worker))
		autoUpdate, boots := rapid.Bool().Draw(t, "auto update"), drawFilter(t, profile)

		want, wantErr := maintained(t, withOnly(profile, boots), shootOf(worker, autoUpdate))
		got := next(&profile.Spec, &worker, "1.33.1", autoUpdate, boots)
		if (got.Err != nil) != wantErr || got.Version != want {
			t.Fatalf("%+v, Gardener updates to %q, failing: %t", got, want, wantErr)
		}
		switch {
		case got.Err != nil:
			failed++
		case got.Version != "":
			updated++
		default:
			stays++
		}
	})
	if min(updated, stays, failed) == 0 {
		t.Errorf("updated %d times, unchanged %d times, failed %d times", updated, stays, failed)
	}
}

// maintained returns the version that Gardener's controller updates a Shoot's only worker pool to, or the empty string, and
// whether it reports a failure.
func maintained(t *rapid.T, profile *v1beta1.CloudProfile, shoot *v1beta1.Shoot) (string, bool) {
	after := reconciled(t, profile, shoot)
	before, now := *shoot.Spec.Provider.Workers[0].Machine.Image.Version, *after.Spec.Provider.Workers[0].Machine.Image.Version
	last := after.Status.LastMaintenance
	failed := last != nil && last.FailureReason != nil
	if now == before {
		return "", failed
	}
	return now, failed
}

// reconciled returns a Shoot after maintenance by Gardener's controller.
func reconciled(t *rapid.T, profile *v1beta1.CloudProfile, shoot *v1beta1.Shoot) *v1beta1.Shoot {
	c := fake.NewClientBuilder().WithScheme(kubernetes.GardenScheme).WithStatusSubresource(shoot).
		WithObjects(profile, shoot).Build()
	controller := maintenance.Reconciler{
		Client: c, Config: controllermanagerconfigv1alpha1.ShootMaintenanceControllerConfiguration{},
		Clock: clock.RealClock{}, Recorder: &events.FakeRecorder{},
	}
	if _, err := controller.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(shoot)}); err != nil {
		t.Fatal(err)
	}
	after := &v1beta1.Shoot{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(shoot), after); err != nil {
		t.Fatal(err)
	}
	return after
}
