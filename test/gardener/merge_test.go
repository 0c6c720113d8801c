// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"slices"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/namespacedcloudprofile"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/gardenerrules"
)

// Gardener's own controller merges to the same result.
func TestMergeIsThatOfGardener(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			checkMerge(t, &v1beta1.CloudProfile{Spec: drawCloudProfile(t)}, &v1beta1.NamespacedCloudProfile{Spec: drawNamespaced(t)})
		}
	})
}

func checkMerge(t *rapid.T, parent *v1beta1.CloudProfile, child *v1beta1.NamespacedCloudProfile) {
	was, wasChild := parent.DeepCopy(), child.DeepCopy()
	got := gardenerrules.Merge(&child.Spec, &parent.Spec)
	if diff := cmp.Diff(was, parent) + cmp.Diff(wasChild, child); diff != "" {
		t.Fatalf("an argument has changed: %s", diff)
	}
	namespacedcloudprofile.MergeCloudProfiles(child, parent)
	want := &child.Status.CloudProfileSpec
	for _, image := range want.MachineImages {
		for _, v := range image.Versions {
			slices.Sort(v.Architectures)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func drawCloudProfile(t *rapid.T) v1beta1.CloudProfileSpec {
	child := drawNamespaced(t)
	spec := v1beta1.CloudProfileSpec{
		MachineImages: child.MachineImages, MachineTypes: child.MachineTypes, VolumeTypes: child.VolumeTypes,
		CABundle: child.CABundle, Limits: child.Limits,
	}
	if child.Kubernetes != nil {
		spec.Kubernetes = *child.Kubernetes
	}
	if rapid.Bool().Draw(t, "capabilities") {
		spec.MachineCapabilities = []v1beta1.CapabilityDefinition{
			{Name: "architecture", Values: rapid.SampledFrom([][]string{{"amd64", "arm64"}, {"arm64"}, {"arm64", "amd64"}}).Draw(t, "architectures")},
			{Name: "net", Values: []string{"fast", "slow"}},
		}
	}
	return spec
}

// list draws a list that may be nil or empty, or have several items of one name.
func list[T any](t *rapid.T, name string, draw func(*rapid.T) T) []T {
	return rapid.OneOf(rapid.Just[[]T](nil), rapid.SliceOfN(rapid.Custom(draw), 0, 3)).Draw(t, name)
}

// maybe draws nil, or a pointer to one of the values.
func maybe[T any](t *rapid.T, name string, values ...T) *T {
	return rapid.Ptr(rapid.SampledFrom(values), true).Draw(t, name)
}

func drawCapabilities(t *rapid.T) v1beta1.Capabilities {
	c := v1beta1.Capabilities{}
	if rapid.Bool().Draw(t, "has an architecture") {
		c["architecture"] = rapid.SampledFrom([][]string{{"amd64"}, {"arm64"}, {"arm64", "amd64"}, {}}).Draw(t, "architecture")
	}
	if rapid.Bool().Draw(t, "has a net") {
		c["net"] = []string{"fast"}
	}
	return c
}

func drawVersion(t *rapid.T) v1beta1.ExpirableVersion {
	at := metav1.NewTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	v := v1beta1.ExpirableVersion{Version: rapid.SampledFrom([]string{"1.0.0", "2.0.0"}).Draw(t, "version")}
	v.Lifecycle = list(t, "lifecycle", func(t *rapid.T) v1beta1.LifecycleStage {
		return v1beta1.LifecycleStage{
			Classification: rapid.SampledFrom([]v1beta1.VersionClassification{"preview", "supported", "expired"}).Draw(t, "stage"),
			StartTime:      maybe(t, "start", at),
		}
	})
	v.ExpirationDate = maybe(t, "date", at)                                          //nolint:staticcheck // as people write it
	v.Classification = maybe(t, "classification", "", v1beta1.ClassificationPreview) //nolint:staticcheck // as people write it
	return v
}

func drawImageVersion(t *rapid.T) v1beta1.MachineImageVersion {
	return v1beta1.MachineImageVersion{
		ExpirableVersion: drawVersion(t),
		Architectures: list(t, "architectures", func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"amd64", "arm64"}).Draw(t, "architecture")
		}),
		CapabilityFlavors: list(t, "flavors", func(t *rapid.T) v1beta1.MachineImageFlavor {
			return v1beta1.MachineImageFlavor{Capabilities: drawCapabilities(t)}
		}),
		CRI: list(t, "cri", func(t *rapid.T) v1beta1.CRI {
			return v1beta1.CRI{Name: rapid.SampledFrom([]v1beta1.CRIName{"containerd", "other"}).Draw(t, "name")}
		}),
		KubeletVersionConstraint: maybe(t, "kubelet", "", ">= 1.30"),
	}
}

func drawNamespaced(t *rapid.T) v1beta1.NamespacedCloudProfileSpec {
	name := rapid.SampledFrom([]string{"a", "b"})
	spec := v1beta1.NamespacedCloudProfileSpec{
		MachineImages: list(t, "images", func(t *rapid.T) v1beta1.MachineImage {
			return v1beta1.MachineImage{
				Name: name.Draw(t, "image"), UpdateStrategy: maybe(t, "strategy", "", v1beta1.UpdateStrategyMajor),
				Versions: list(t, "versions", drawImageVersion),
			}
		}),
		MachineTypes: list(t, "types", func(t *rapid.T) v1beta1.MachineType {
			return v1beta1.MachineType{
				Name: name.Draw(t, "type"), Architecture: maybe(t, "architecture", "amd64", "arm64"), Capabilities: drawCapabilities(t),
				Usable: ptr.To(rapid.Bool().Draw(t, "usable")),
			}
		}),
		VolumeTypes: list(t, "volumes", func(t *rapid.T) v1beta1.VolumeType {
			return v1beta1.VolumeType{Name: name.Draw(t, "volume"), Class: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "class")}
		}),
		CABundle: maybe(t, "bundle", "", "one", "other"),
	}
	if rapid.Bool().Draw(t, "kubernetes") {
		spec.Kubernetes = &v1beta1.KubernetesSettings{Versions: list(t, "versions", drawVersion)}
	}
	if rapid.Bool().Draw(t, "limits") {
		spec.Limits = &v1beta1.Limits{MaxNodesTotal: maybe[int32](t, "nodes", 0, 5, 7)}
	}
	return spec
}
