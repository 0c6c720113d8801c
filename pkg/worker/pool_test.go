// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"reflect"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/worker"
)

// The pools of a Worker ask the same question as the pools of its Shoot.
func TestPoolsOf(t *testing.T) {
	config := &runtime.RawExtension{Raw: []byte(`{"kind":"WorkerConfig"}`)}
	shoot := &v1beta1.Shoot{Spec: v1beta1.ShootSpec{Region: "europe", Provider: v1beta1.Provider{Workers: []v1beta1.Worker{
		{
			Name: "all", ProviderConfig: config, UpdateStrategy: ptr.To(v1beta1.AutoInPlaceUpdate),
			Machine: v1beta1.Machine{
				Type: "type", Architecture: ptr.To("arm64"), Image: &v1beta1.ShootMachineImage{Name: "gl", Version: ptr.To("1")},
			},
			Volume: &v1beta1.Volume{Name: ptr.To("root"), Type: ptr.To("ssd"), VolumeSize: "20Gi", Encrypted: ptr.To(true)},
			DataVolumes: []v1beta1.DataVolume{
				{Name: "data", Type: ptr.To("hdd"), VolumeSize: "1Ti", Encrypted: ptr.To(false)}, {Name: "more"},
			},
			Kubernetes: &v1beta1.WorkerKubernetes{Version: ptr.To("1.33.2")}, Zones: []string{"europe-1a", "europe-1b"},
		},
		{Name: "bare", Machine: v1beta1.Machine{Type: "type", Image: &v1beta1.ShootMachineImage{Name: "gl", Version: ptr.To("1")}}},
	}}}}
	image := extensionsv1alpha1.MachineImage{Name: "gl", Version: "1"}
	made := &extensionsv1alpha1.Worker{Spec: extensionsv1alpha1.WorkerSpec{Region: "europe", Pools: []extensionsv1alpha1.WorkerPool{
		{
			Name: "all", ProviderConfig: config, UpdateStrategy: ptr.To(v1beta1.AutoInPlaceUpdate), MachineType: "type",
			Architecture: ptr.To("arm64"), MachineImage: image,
			Volume: &extensionsv1alpha1.Volume{Name: ptr.To("root"), Type: ptr.To("ssd"), Size: "20Gi", Encrypted: ptr.To(true)},
			DataVolumes: []extensionsv1alpha1.DataVolume{
				{Name: "data", Type: ptr.To("hdd"), Size: "1Ti", Encrypted: ptr.To(false)}, {Name: "more"},
			},
			KubernetesVersion: ptr.To("1.33.2"), Zones: []string{"europe-1a", "europe-1b"},
		},
		{Name: "bare", MachineType: "type", MachineImage: image},
	}}}
	want, got := provider.PoolsOf(shoot), worker.PoolsOf(made)
	for i := range want {
		if at := field.NewPath("spec", "pools").Index(i).String(); got[i].Path.String() != at {
			t.Error(got[i].Path)
		}
		want[i].Path, got[i].Path = nil, nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	first := reflect.ValueOf(want[0]) // fields that both a Worker and a Shoot have
	for i := range first.NumField() {
		switch name := first.Type().Field(i).Name; name {
		case "Path", "CRI":
		default:
			if first.Field(i).IsZero() {
				t.Errorf("%s is not compared", name)
			}
		}
	}
	if got[0].Worker != (capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate}) {
		t.Error(got[0].Worker)
	}
}
