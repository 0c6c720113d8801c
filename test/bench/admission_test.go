// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"encoding/json"
	"testing"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	"github.com/gardener/gardener/pkg/apis/core"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	localvalidator "github.com/gardener/gardener/pkg/provider-local/admission/validator"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/test/webhooks"
)

// sizes lists the sizes of CloudProfiles as JSON.
var sizes = []struct {
	name  string
	bytes int
}{{"25KiB", 25 << 10}, {"250KiB", 250 << 10}, {"1MiB", 1 << 20}}

// landscape is a garden with a CloudProfile of some size, and the measured requests.
type landscape struct {
	garden  *webhooks.Garden
	profile *v1beta1.CloudProfile
	create  admission.Request
	// update changes one image, and metadata an annotation.
	update, metadata admission.Request
	shoot, status    admission.Request
	// namespaced is for a Shoot with a NamespacedCloudProfile.
	namespaced admission.Request
}

func newLandscape(tb testing.TB, size int) *landscape {
	tb.Helper()
	profile := generate.Local(size)
	profile.UID, profile.ResourceVersion = "1", "1"
	changed, annotated := profile.DeepCopy(), profile.DeepCopy()
	changeImage(tb, &changed.Spec)
	annotated.Annotations = map[string]string{"changed": "yes"}
	garden, child := newGarden(tb, profile), childOf(tb, profile)
	garden.Child = child
	shoot := shootOf(profile)
	shoot.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: child.Name}
	own := &v1beta1.ShootMachineImage{Name: "own", Version: &child.Spec.MachineImages[0].Versions[0].Version}
	shoot.Spec.Provider.Workers[0].Machine.Image = own
	return &landscape{
		garden: garden, profile: profile, namespaced: webhooks.Request(tb, "Shoot", shoot, nil),
		create:   webhooks.Request(tb, "CloudProfile", profile, nil),
		update:   webhooks.Request(tb, "CloudProfile", changed, profile),
		metadata: webhooks.Request(tb, "CloudProfile", annotated, profile),
		shoot:    webhooks.Request(tb, "Shoot", shootOf(profile), nil),
		status:   webhooks.Request(tb, "NamespacedCloudProfile/status", child, child),
	}
}

// changeImage changes the image of one flavor.
func changeImage(tb testing.TB, spec *v1beta1.CloudProfileSpec) {
	tb.Helper()
	config := configOf(tb, spec)
	config.MachineImages[0].Versions[0].CapabilityFlavors[0].Image = "6e361230-0000-4000-a000-000000000000"
	write(tb, spec.ProviderConfig, config)
}

func configOf(tb testing.TB, spec *v1beta1.CloudProfileSpec) *local.CloudProfileConfig {
	tb.Helper()
	config := &local.CloudProfileConfig{}
	if err := json.Unmarshal(spec.ProviderConfig.Raw, config); err != nil {
		tb.Fatal(err)
	}
	return config
}

func write(tb testing.TB, into *runtime.RawExtension, config *local.CloudProfileConfig) {
	tb.Helper()
	raw, err := json.Marshal(config)
	if err != nil {
		tb.Fatal(err)
	}
	into.Raw = raw
}

// shootOf returns a Shoot with three worker pools, each of which gets an image because there is one for every machine type.
func shootOf(profile *v1beta1.CloudProfile) *v1beta1.Shoot {
	shoot := &v1beta1.Shoot{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "Shoot"},
		ObjectMeta: metav1.ObjectMeta{Name: "shoot", Namespace: "garden-bench"},
		Spec: v1beta1.ShootSpec{
			CloudProfile: &v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: profile.Name},
			Region:       profile.Spec.Regions[0].Name, Provider: v1beta1.Provider{Type: "local"},
			Networking: &v1beta1.Networking{Nodes: ptr.To("10.0.0.0/16")},
		},
	}
	for i, name := range []string{"a", "b", "c"} {
		image := &profile.Spec.MachineImages[i]
		version := image.Versions[0].Version
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, v1beta1.Worker{Name: name, Machine: v1beta1.Machine{
			Type: profile.Spec.MachineTypes[i].Name, Image: &v1beta1.ShootMachineImage{Name: image.Name, Version: &version},
		}})
	}
	return shoot
}

// childOf returns a NamespacedCloudProfile with an image of its own, as Gardener writes it before the provider config is rendered.
func childOf(tb testing.TB, parent *v1beta1.CloudProfile) *v1beta1.NamespacedCloudProfile {
	tb.Helper()
	config := configOf(tb, &parent.Spec)
	config.MachineImages = config.MachineImages[:1]
	config.MachineImages[0].Name = "own"
	config.MachineImages[0].Versions = config.MachineImages[0].Versions[:1]
	child := &v1beta1.NamespacedCloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "NamespacedCloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: "child", Namespace: "garden-bench"},
		Spec: v1beta1.NamespacedCloudProfileSpec{
			Parent:         v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: parent.Name},
			ProviderConfig: &runtime.RawExtension{},
		},
		Status: v1beta1.NamespacedCloudProfileStatus{CloudProfileSpec: *parent.Spec.DeepCopy()},
	}
	write(tb, child.Spec.ProviderConfig, config)
	own := parent.Spec.MachineImages[0].DeepCopy()
	own.Name, own.Versions = "own", own.Versions[:1]
	child.Spec.MachineImages = []v1beta1.MachineImage{*own}
	child.Status.CloudProfileSpec.MachineImages = append(child.Status.CloudProfileSpec.MachineImages, *own)
	return child
}

// asking returns the work of sending a request to handlers that all admit it.
func asking(b *testing.B, req admission.Request, handlers ...admission.Handler) func() {
	b.Helper()
	return func() {
		for _, handler := range handlers {
			if response := handler.Handle(b.Context(), req); !response.Allowed {
				b.Fatal(response.Result)
			}
		}
	}
}

func validator(builder *extensionswebhook.HandlerBuilder, mgr manager.Manager) {
	builder.WithValidator(localvalidator.NewCloudProfileValidator(mgr), extensionswebhook.Type{Obj: &core.CloudProfile{}})
}

func mutator(builder *extensionswebhook.HandlerBuilder, _ manager.Manager) {
	builder.WithMutator(annotating{}, extensionswebhook.Type{Obj: &v1beta1.CloudProfile{}})
}

func childMutator(builder *extensionswebhook.HandlerBuilder, _ manager.Manager) {
	builder.WithMutator(annotating{}, extensionswebhook.Type{Obj: &v1beta1.NamespacedCloudProfile{}})
}

// BenchmarkAdmission compares the handlers with those of Gardener's extension library, for provider local. It reports the
// ratios of processor time and bytes. The unit names the handler on the other side. provider-local is the validator of that
// provider, which checks less than ours. stand-in is a mutator written for this comparison, because provider-local has
// none; it sets one field. Neither shows how a component for a cloud compares, because this module depends on none. For the
// cost of a request by itself, see BenchmarkDecoding.
func BenchmarkAdmission(b *testing.B) {
	for _, size := range sizes {
		l := newLandscape(b, size.bytes)
		handlers := ours(b, l.garden)
		fresh := ours(b, newGarden(b))["validate-cloudprofile"] // its informers have not seen the profile yet
		for _, row := range []struct {
			name     string
			request  admission.Request
			validate admission.Handler
		}{
			{"create", l.create, handlers["validate-cloudprofile"]},
			{"update", l.update, handlers["validate-cloudprofile"]},
			{"update-not-compiled", l.update, fresh},
			{"update-metadata", l.metadata, handlers["validate-cloudprofile"]},
		} {
			b.Run(size.name+"/"+row.name+"/validate", func(b *testing.B) {
				compare(b, "provider-local", asking(b, row.request, row.validate), asking(b, row.request, theirs(b, l.garden, validator)))
			})
			b.Run(size.name+"/"+row.name+"/mutate", func(b *testing.B) {
				compare(b, "stand-in", asking(b, row.request, handlers["mutate-cloudprofile"]), asking(b, row.request, theirs(b, l.garden, mutator)))
			})
		}
		b.Run(size.name+"/namespaced-status", func(b *testing.B) {
			compare(b, "stand-in", asking(b, l.status, handlers["mutate-namespacedcloudprofile-status"]),
				asking(b, l.status, theirs(b, l.garden, childMutator)))
		})
	}
}

// Both sides admit all measured requests. Ours patch only the status of a NamespacedCloudProfile. BenchmarkAdmission stops
// if a request is refused.
func TestWhatAdmissionDoes(t *testing.T) {
	l := newLandscape(t, 25<<10)
	handlers := ours(t, l.garden)
	for name, requests := range map[string][]admission.Request{
		"validate-cloudprofile": {l.create, l.update, l.metadata}, "mutate-cloudprofile": {l.create, l.update, l.metadata},
		"validate-shoot": {l.shoot, l.namespaced}, "mutate-namespacedcloudprofile-status": {l.status},
	} {
		for _, req := range requests {
			response := handlers[name].Handle(t.Context(), req)
			if !response.Allowed {
				t.Errorf("%s: %v", name, response.Result)
			}
			if patched := len(response.Patch) + len(response.Patches); (patched > 0) != (name == "mutate-namespacedcloudprofile-status") {
				t.Errorf("%s: %d patches", name, patched)
			}
		}
	}
	for _, with := range []func(*extensionswebhook.HandlerBuilder, manager.Manager){validator, mutator} {
		for _, req := range []admission.Request{l.create, l.update, l.metadata} {
			if response := theirs(t, l.garden, with).Handle(t.Context(), req); !response.Allowed {
				t.Error(response.Result)
			}
		}
	}
}
