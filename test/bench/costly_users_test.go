// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/internal/testing/generate"
	capkit "github.com/capkit/capkit/pkg/admission"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/webhooks"
)

// manyVersions returns a CloudProfile with this many image versions, some of which have a flavor with an unknown field.
func manyVersions(tb testing.TB, versions, wrong int) *v1beta1.CloudProfile {
	tb.Helper()
	profile := sound()
	config := &v1alpha1.CloudProfileConfig{}
	if err := json.Unmarshal(profile.Spec.ProviderConfig.Raw, config); err != nil {
		tb.Fatal(err)
	}
	amd64 := v1beta1.Capabilities{"architecture": {"amd64"}}
	core, provided := v1beta1.MachineImage{Name: "many"}, v1alpha1.MachineImages{Name: "many"}
	for i := range versions {
		version, id := fmt.Sprintf("1.%d.0", i), new("id")
		if i%(versions/wrong) == 0 {
			id = new("")
		}
		core.Versions = append(core.Versions, v1beta1.MachineImageVersion{
			ExpirableVersion:  v1beta1.ExpirableVersion{Version: version},
			CapabilityFlavors: []v1beta1.MachineImageFlavor{{Capabilities: amd64}},
		})
		provided.Versions = append(provided.Versions, v1alpha1.MachineImageVersion{
			Version: version, CapabilityFlavors: []v1alpha1.MachineImageFlavor{{Capabilities: amd64, Image: id}},
		})
	}
	profile.Spec.MachineImages = append(profile.Spec.MachineImages, core)
	config.MachineImages = append(config.MachineImages, provided)
	raw, err := json.Marshal(config)
	if err != nil {
		tb.Fatal(err)
	}
	profile.Spec.ProviderConfig.Raw = bytes.ReplaceAll(raw, []byte(`"image":""`), []byte(`"image":"id","unknown":1`))
	return profile
}

func sound() *v1beta1.CloudProfile {
	return &v1beta1.CloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: "openstack", UID: "1", ResourceVersion: "1"},
		Spec:       *generate.OpenStack(100 << 10),
	}
}

// failingPools returns a Shoot with this many worker pools, whose image does not exist.
func failingPools(pools int) *v1beta1.Shoot {
	profile := sound()
	shoot := shootOf(profile)
	shoot.Spec.Provider.Type = "openstack"
	pool := shoot.Spec.Provider.Workers[0]
	shoot.Spec.Provider.Workers = nil
	for i := range pools {
		pool.Name = fmt.Sprintf("pool-%d", i)
		pool.Machine.Image = &v1beta1.ShootMachineImage{Name: pool.Machine.Image.Name, Version: new("99.0.0")}
		shoot.Spec.Provider.Workers = append(shoot.Spec.Provider.Workers, pool)
	}
	return shoot
}

// unmapped returns a NamespacedCloudProfile with this many image versions, whose flavors its provider config lacks.
func unmapped(versions int) *v1beta1.NamespacedCloudProfile {
	own, provided := v1beta1.MachineImage{Name: "own"}, []string{}
	for i := range versions {
		provided = append(provided, fmt.Sprintf(`{"version":"1.%d.0"}`, i))
		own.Versions = append(own.Versions, v1beta1.MachineImageVersion{
			ExpirableVersion: v1beta1.ExpirableVersion{Version: fmt.Sprintf("1.%d.0", i)},
			CapabilityFlavors: []v1beta1.MachineImageFlavor{{
				Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}},
			}},
		})
	}
	return &v1beta1.NamespacedCloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "NamespacedCloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: "child", Namespace: "garden-bench"},
		Spec: v1beta1.NamespacedCloudProfileSpec{
			Parent:        v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "openstack"},
			MachineImages: []v1beta1.MachineImage{own},
			ProviderConfig: &runtime.RawExtension{Raw: []byte(
				`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",` +
					`"machineImages":[{"name":"own","versions":[` + strings.Join(provided, ",") + `]}]}`)},
		},
	}
}

// BenchmarkCostlyUsers prints the cost of expensive requests: the creation of an object, and an update that is unrelated to
// its errors. Each is measured in two sizes, one twice the other.
func BenchmarkCostlyUsers(b *testing.B) {
	for _, half := range []int{2, 1} {
		for _, row := range []struct {
			name, kind string
			object     client.Object
			change     func(client.Object)
		}{
			{"namespaced-1000-errors", "NamespacedCloudProfile", unmapped(1000 / half), func(object client.Object) {
				spec := &object.(*v1beta1.NamespacedCloudProfile).Spec
				spec.MachineTypes = append(spec.MachineTypes, v1beta1.MachineType{
					Name: "another", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}},
				})
			}},
			{"shoot-4000-pools", "Shoot", failingPools(4000 / half), func(object client.Object) {
				object.(*v1beta1.Shoot).Spec.Provider.Workers[0].Maximum = 7
			}},
			{"versions-20000", "CloudProfile", manyVersions(b, 20000/half, 1000/half), func(object client.Object) {
				spec := &object.(*v1beta1.CloudProfile).Spec
				spec.MachineTypes[0].Usable = new(false)
			}},
		} {
			changed := row.object.DeepCopyObject().(client.Object)
			row.change(changed)
			for name, req := range map[string]admission.Request{
				"create": webhooks.Request(b, row.kind, row.object, nil), "update": webhooks.Request(b, row.kind, changed, row.object),
			} {
				b.Run(fmt.Sprintf("%s/%d/%s", row.name, 2/half, name), func(b *testing.B) {
					profile := sound()
					if stored, ok := row.object.(*v1beta1.CloudProfile); ok {
						profile = stored
					}
					handler := webhooks.Handlers(b, openstack.Provider{}, newGarden(b, profile))["validate-"+strings.ToLower(row.kind)]
					cost(b, len(req.Object.Raw), func() { handler.Handle(b.Context(), req) })
				})
			}
		}
	}
}

// BenchmarkCostlyMutations prints the cost of replacing a missing image in many worker pools, as chosen by maintenance, and
// as filled in by Gardener. Each is measured in two sizes, one twice the other.
func BenchmarkCostlyMutations(b *testing.B) {
	for _, pools := range []int{2000, 4000} {
		chosen := failingPools(pools)
		before := chosen.DeepCopy()
		for i := range before.Spec.Provider.Workers {
			before.Spec.Provider.Workers[i].Machine.Image.Version = new("1.0.0")
		}
		maintained := webhooks.Request(b, "Shoot", chosen, before)
		maintained.UserInfo.Username = capkit.MaintenanceUser
		var fields []string
		for _, worker := range chosen.Spec.Provider.Workers {
			fields = append(fields, fmt.Sprintf(`"k:{\"name\":\"%s\"}":{"f:machine":{"f:type":{}}}`, worker.Name))
		}
		left := chosen.DeepCopy()
		left.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "bench", FieldsV1: metav1.NewFieldsV1(
			`{"f:spec":{"f:provider":{"f:workers":{` + strings.Join(fields, ",") + `}}}}`)}}
		for name, req := range map[string]admission.Request{"maintained": maintained, "created": webhooks.Request(b, "Shoot", left, nil)} {
			b.Run(fmt.Sprintf("%s/%d", name, pools), func(b *testing.B) {
				handler := webhooks.Handlers(b, openstack.Provider{}, newGarden(b, sound()))["mutate-shoot"]
				cost(b, len(req.Object.Raw), func() { handler.Handle(b.Context(), req) })
			})
		}
	}
}
