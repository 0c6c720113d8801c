// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

func TestDefaults(t *testing.T) {
	region := func(name string, architecture *string) v1alpha1.RegionIDMapping {
		return v1alpha1.RegionIDMapping{Name: name, ID: "1234", Architecture: architecture}
	}
	images := func(v v1alpha1.MachineImageVersion) []v1alpha1.MachineImages {
		return []v1alpha1.MachineImages{{Name: "gardenlinux", Versions: []v1alpha1.MachineImageVersion{v}}}
	}
	flavors := []v1alpha1.MachineImageFlavor{{Regions: []v1alpha1.RegionIDMapping{region("europe", nil)}}}

	for _, test := range []struct {
		name     string
		in, want v1alpha1.CloudProfileConfig
	}{
		{
			name: "nothing is written",
			want: v1alpha1.CloudProfileConfig{NodeVolumeAttachLimit: ptr.To[int32](256), IgnoreVolumeAZ: ptr.To(false)},
		},
		{
			name: "zero is written",
			in:   v1alpha1.CloudProfileConfig{NodeVolumeAttachLimit: ptr.To[int32](0), IgnoreVolumeAZ: ptr.To(true)},
			want: v1alpha1.CloudProfileConfig{NodeVolumeAttachLimit: ptr.To[int32](0), IgnoreVolumeAZ: ptr.To(true)},
		},
		{
			name: "regions of the old format",
			in: v1alpha1.CloudProfileConfig{MachineImages: images(v1alpha1.MachineImageVersion{
				Regions: []v1alpha1.RegionIDMapping{region("europe", nil), region("europe", ptr.To("arm64"))},
			})},
			want: v1alpha1.CloudProfileConfig{MachineImages: images(v1alpha1.MachineImageVersion{
				Regions: []v1alpha1.RegionIDMapping{region("europe", ptr.To("amd64")), region("europe", ptr.To("arm64"))},
			})},
		},
		{
			name: "regions of capability flavors",
			in:   v1alpha1.CloudProfileConfig{MachineImages: images(v1alpha1.MachineImageVersion{CapabilityFlavors: flavors})},
			want: v1alpha1.CloudProfileConfig{MachineImages: images(v1alpha1.MachineImageVersion{CapabilityFlavors: flavors})},
		},
		{
			name: "both formats in one version, which is an error that defaulting must not hide",
			in: v1alpha1.CloudProfileConfig{MachineImages: images(v1alpha1.MachineImageVersion{
				Regions: []v1alpha1.RegionIDMapping{region("europe", nil)}, CapabilityFlavors: flavors,
			})},
			want: v1alpha1.CloudProfileConfig{MachineImages: images(v1alpha1.MachineImageVersion{
				Regions: []v1alpha1.RegionIDMapping{region("europe", nil)}, CapabilityFlavors: flavors,
			})},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, want := test.in.DeepCopy(), test.want.DeepCopy()
			if want.NodeVolumeAttachLimit == nil {
				want.NodeVolumeAttachLimit, want.IgnoreVolumeAZ = ptr.To[int32](256), ptr.To(false)
			}
			newScheme(t).Default(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			again := got.DeepCopy()
			newScheme(t).Default(again)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("defaulting twice changes more (-once +twice)\n%s", diff)
			}
		})
	}
}

// Kinds without defaults stay as they are.
func TestNoDefaults(t *testing.T) {
	for _, obj := range []runtime.Object{&v1alpha1.InfrastructureConfig{}, &v1alpha1.ControlPlaneConfig{}, &v1alpha1.WorkerConfig{}, &v1alpha1.WorkerStatus{}} {
		want := obj.DeepCopyObject()
		newScheme(t).Default(obj)
		if diff := cmp.Diff(want, obj); diff != "" {
			t.Errorf("%T (-want +got)\n%s", obj, diff)
		}
	}
}
