// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/test/webhooks"
)

var configKind = schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")

// decodeConfigs returns the work of only decoding provider configs, as strictly as the webhooks do.
func decodeConfigs(b *testing.B, configs ...*runtime.RawExtension) func() {
	b.Helper()
	return func() {
		for _, config := range configs {
			if errs := providerconfig.Decode(config, configKind, &v1alpha1.CloudProfileConfig{}, nil); len(errs) > 0 {
				b.Fatal(errs)
			}
		}
	}
}

// cloud is a garden with a CloudProfile for OpenStack, and a NamespacedCloudProfile of it that defines an image version. requests has
// requests about them by the names that the benchmarks use.
type cloud struct {
	garden   *webhooks.Garden
	profile  *v1beta1.CloudProfile
	child    *v1beta1.NamespacedCloudProfile
	requests map[string]admission.Request
}

// newCloud returns a garden whose CloudProfile has about this many bytes as JSON.
func newCloud(tb testing.TB, size int) *cloud {
	tb.Helper()
	c := &cloud{profile: generate.Complete(size)}
	c.profile.UID, c.profile.ResourceVersion = "1", "1"
	c.child = ownImage(tb, c.profile)
	c.garden = newGarden(tb, c.profile)
	c.garden.Child = c.child
	changed, annotated, another := c.profile.DeepCopy(), c.profile.DeepCopy(), c.child.DeepCopy()
	rewrite(tb, changed.Spec.ProviderConfig, changeID)
	created := c.child.DeepCopy()
	created.Status = v1beta1.NamespacedCloudProfileStatus{} // the API server empties it
	annotated.Annotations = map[string]string{"changed": "yes"}
	rewrite(tb, another.Spec.ProviderConfig, changeID)
	shoot := openstackShoot(c.profile)
	ofChild := shoot.DeepCopy()
	ofChild.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: c.child.Name}
	ofChild.Spec.Provider.Workers[0].Machine.Image = &v1beta1.ShootMachineImage{
		Name: "own", Version: &c.child.Spec.MachineImages[0].Versions[0].Version,
	}
	c.requests = map[string]admission.Request{
		"create":            webhooks.Request(tb, "CloudProfile", c.profile, nil),
		"update":            webhooks.Request(tb, "CloudProfile", changed, c.profile),
		"metadata":          webhooks.Request(tb, "CloudProfile", annotated, c.profile),
		"namespaced-create": webhooks.Request(tb, "NamespacedCloudProfile", created, nil),
		"namespaced-update": webhooks.Request(tb, "NamespacedCloudProfile", another, c.child),
		"namespaced-status": webhooks.Request(tb, "NamespacedCloudProfile/status", c.child, c.child),
		"shoot":             webhooks.Request(tb, "Shoot", shoot, nil),
		"namespaced-shoot":  webhooks.Request(tb, "Shoot", ofChild, nil),
	}
	return c
}

// openstackShoot returns a Shoot with three worker pools, each of which gets an image.
func openstackShoot(profile *v1beta1.CloudProfile) *v1beta1.Shoot {
	shoot := shootOf(profile)
	config := func(kind, fields string) *runtime.RawExtension {
		return &runtime.RawExtension{Raw: []byte(`{"apiVersion":"` + configKind.GroupVersion().String() + `","kind":"` + kind + `",` + fields + `}`)}
	}
	shoot.Spec.Provider.Type = "openstack"
	shoot.Spec.Provider.InfrastructureConfig = config("InfrastructureConfig", `"floatingPoolName":"FloatingIP-external-1","networks":{"workers":"10.0.0.0/16"}`)
	shoot.Spec.Provider.ControlPlaneConfig = config("ControlPlaneConfig", `"loadBalancerProvider":"haproxy"`)
	for i := range shoot.Spec.Provider.Workers {
		shoot.Spec.Provider.Workers[i].Zones = []string{profile.Spec.Regions[0].Zones[0].Name}
	}
	return shoot
}

// ownImage returns a NamespacedCloudProfile with an image of its own, as Gardener writes it before the provider config is rendered.
func ownImage(tb testing.TB, parent *v1beta1.CloudProfile) *v1beta1.NamespacedCloudProfile {
	tb.Helper()
	own := parent.Spec.MachineImages[0].DeepCopy()
	own.Name, own.Versions = "own", own.Versions[:1]
	child := &v1beta1.NamespacedCloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "NamespacedCloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: "child", Namespace: "garden-bench", UID: "2", ResourceVersion: "2"},
		Spec: v1beta1.NamespacedCloudProfileSpec{
			Parent:         v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: parent.Name},
			ProviderConfig: parent.Spec.ProviderConfig.DeepCopy(),
			MachineImages:  []v1beta1.MachineImage{*own},
		},
		Status: v1beta1.NamespacedCloudProfileStatus{CloudProfileSpec: *parent.Spec.DeepCopy()},
	}
	rewrite(tb, child.Spec.ProviderConfig, func(config *v1alpha1.CloudProfileConfig) {
		image := config.MachineImages[0]
		image.Name, image.Versions = "own", image.Versions[:1]
		for i := range image.Versions[0].CapabilityFlavors {
			for k := range image.Versions[0].CapabilityFlavors[i].Regions {
				id := &image.Versions[0].CapabilityFlavors[i].Regions[k].ID
				*id = "ffff" + (*id)[4:]
			}
		}
		*config = v1alpha1.CloudProfileConfig{TypeMeta: config.TypeMeta, MachineImages: []v1alpha1.MachineImages{image}}
	})
	child.Status.CloudProfileSpec.MachineImages = append(child.Status.CloudProfileSpec.MachineImages, *own)
	return child
}

// changeID changes the image of one flavor in one region.
func changeID(config *v1alpha1.CloudProfileConfig) {
	config.MachineImages[0].Versions[0].CapabilityFlavors[0].Regions[0].ID = "6e361230-0000-4000-a000-000000000000"
}

// rewrite changes a provider config.
func rewrite(tb testing.TB, raw *runtime.RawExtension, change func(*v1alpha1.CloudProfileConfig)) {
	tb.Helper()
	config := &v1alpha1.CloudProfileConfig{}
	err := json.Unmarshal(raw.Raw, config)
	if err == nil {
		change(config)
		raw.Raw, err = json.Marshal(config)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// decodingRow is a kind of request whose cost is compared with decoding.
type decodingRow struct {
	name, request string
	// webhooks are those that the request passes.
	webhooks []string
	// cold means that nothing is compiled yet, as after a start of the component.
	cold bool
	// configs returns the provider configs to decode for comparison.
	configs func(c *cloud) []*runtime.RawExtension
}

func ofProfile(c *cloud) []*runtime.RawExtension {
	return []*runtime.RawExtension{c.profile.Spec.ProviderConfig}
}

func ofBoth(c *cloud) []*runtime.RawExtension {
	return []*runtime.RawExtension{c.profile.Spec.ProviderConfig, c.child.Spec.ProviderConfig}
}

var (
	ofCloudProfiles = []string{"mutate-cloudprofile", "validate-cloudprofile"}
	ofNamespaced    = []string{"mutate-namespacedcloudprofile", "validate-namespacedcloudprofile"}
	ofShoots        = []string{"validate-shoot"}
)

var decodingRows = []decodingRow{
	{"validate", "create", []string{"validate-cloudprofile"}, false, ofProfile},
	{"create", "create", ofCloudProfiles, false, ofProfile},
	{"update", "update", ofCloudProfiles, false, ofProfile},
	{"update-cold", "update", ofCloudProfiles, true, ofProfile},
	{"metadata", "metadata", ofCloudProfiles, false, ofProfile},
	{"namespaced-create", "namespaced-create", ofNamespaced, false, ofBoth},
	{"namespaced-create-cold", "namespaced-create", ofNamespaced, true, ofBoth},
	{"namespaced-update", "namespaced-update", ofNamespaced, false, ofBoth},
	{"namespaced-status", "namespaced-status", []string{"mutate-namespacedcloudprofile-status"}, false, ofBoth},
	{"shoot", "shoot", ofShoots, false, ofProfile},
	{"shoot-cold", "shoot", ofShoots, true, ofProfile},
	{"namespaced-shoot", "namespaced-shoot", ofShoots, false, ofProfile},
	{"namespaced-shoot-cold", "namespaced-shoot", ofShoots, true, ofProfile},
}

func (r *decodingRow) work(b *testing.B, c *cloud) func() {
	b.Helper()
	all, chosen := webhooks.Handlers(b, openstack.Provider{}, c.garden), []admission.Handler{}
	for _, name := range r.webhooks {
		chosen = append(chosen, all[name])
	}
	ask, version := asking(b, c.requests[r.request], chosen...), 1
	return func() {
		if version++; r.cold {
			c.profile.ResourceVersion = strconv.Itoa(version) // nothing of this version is compiled
		} else {
			c.profile.ResourceVersion = "1"
		}
		ask()
	}
}

// BenchmarkDecoding compares each kind of request with merely decoding its provider configs by the webhooks' own decoder. It reports the
// processor time, bytes and allocations of a response. It needs nothing but this repository's own code. The first row compares that
// decoder with encoding/json.
func BenchmarkDecoding(b *testing.B) {
	for _, size := range sizes {
		c := newCloud(b, size.bytes)
		b.Run(size.name+"/decoder", func(b *testing.B) {
			compare(b, "encoding-json", decodeConfigs(b, ofProfile(c)...), func() {
				if err := json.Unmarshal(c.profile.Spec.ProviderConfig.Raw, &v1alpha1.CloudProfileConfig{}); err != nil {
					b.Fatal(err)
				}
			})
		})
		for _, row := range decodingRows {
			b.Run(size.name+"/"+row.name, func(b *testing.B) {
				compare(b, "decode", row.work(b, c), decodeConfigs(b, row.configs(c)...))
			})
		}
		// Most writes of Shoots involve neither maintenance nor a new worker pool.
		b.Run(size.name+"/shoot-mutate", func(b *testing.B) {
			handlers, write := webhooks.Handlers(b, openstack.Provider{}, c.garden), c.requests["shoot"]
			write.Operation, write.OldObject = admissionv1.Update, write.Object
			compare(b, "decode", asking(b, write, handlers["mutate-shoot"]), decodeConfigs(b, ofProfile(c)...))
		})
	}
}

// Every measured request is admitted without a warning, and only the status of a NamespacedCloudProfile is patched.
func TestWhatDecodingIsComparedWith(t *testing.T) {
	c := newCloud(t, 250<<10)
	handlers := webhooks.Handlers(t, openstack.Provider{}, c.garden)
	for _, row := range decodingRows {
		for _, name := range row.webhooks {
			response := handlers[name].Handle(t.Context(), c.requests[row.request])
			patched := len(response.Patch)+len(response.Patches) > 0
			if !response.Allowed || len(response.Warnings) > 0 || patched != (row.name == "namespaced-status") {
				t.Errorf("%s, %s: %v %v, patched: %t", row.name, name, response.Result, response.Warnings, patched)
			}
		}
	}
}
