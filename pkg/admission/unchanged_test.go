// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/internal/testing/generate"
)

// The comparison agrees with Kubernetes' semantic equality.
func TestSameSpec(t *testing.T) {
	for name, change := range map[string]struct {
		change func(*v1beta1.CloudProfileSpec)
		same   bool
	}{
		"nothing":             {func(*v1beta1.CloudProfileSpec) {}, true},
		"an empty list":       {func(s *v1beta1.CloudProfileSpec) { s.VolumeTypes = []v1beta1.VolumeType{} }, true},
		"an amount":           {func(s *v1beta1.CloudProfileSpec) { s.MachineTypes[0].CPU = resource.MustParse("7") }, false},
		"its form":            {func(s *v1beta1.CloudProfileSpec) { s.MachineTypes[0].CPU = resource.MustParse("2000m") }, true},
		"a machine type less": {func(s *v1beta1.CloudProfileSpec) { s.MachineTypes = s.MachineTypes[1:] }, false},
		"spaces in the config": {func(s *v1beta1.CloudProfileSpec) {
			s.ProviderConfig.Raw = append([]byte(" "), s.ProviderConfig.Raw...)
		}, false},
		"an empty config":    {func(s *v1beta1.CloudProfileSpec) { s.ProviderConfig.Raw = []byte{} }, false},
		"no config":          {func(s *v1beta1.CloudProfileSpec) { s.ProviderConfig = nil }, false},
		"an image in a list": {func(s *v1beta1.CloudProfileSpec) { s.MachineImages[0].Versions[0].Architectures = []string{"arm64"} }, false},
	} {
		old := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
		old.Spec.VolumeTypes, old.Spec.MachineTypes[0].CPU = nil, resource.MustParse("2")
		updated := old.DeepCopy()
		updated.Labels = map[string]string{"a": "b"}
		change.change(&updated.Spec)
		if same, theirs := sameCloudProfile(updated, old), equality.Semantic.DeepEqual(updated.Spec, old.Spec); same != change.same || theirs != same {
			t.Errorf("%s: it is %t, and to Kubernetes %t", name, same, theirs)
		}
		if sameCloudProfile(old, updated) != change.same {
			t.Errorf("%s: it depends on the order", name)
		}
	}
	none, empty := &v1beta1.CloudProfile{}, &v1beta1.CloudProfile{Spec: v1beta1.CloudProfileSpec{ProviderConfig: &runtime.RawExtension{}}}
	if same := sameCloudProfile(none, empty); same != equality.Semantic.DeepEqual(none.Spec, empty.Spec) {
		t.Errorf("no config and an empty one: %t", same)
	}
	shoot := example[v1beta1.Shoot](t, "shoot.yaml")
	moved := shoot.DeepCopy()
	moved.Spec.Provider.InfrastructureConfig.Raw = []byte("{}")
	if !sameShoot(shoot, shoot.DeepCopy()) || sameShoot(moved, shoot) {
		t.Error("Shoots")
	}
	child := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	other := child.DeepCopy()
	other.Spec.MachineTypes = nil
	if !sameNamespacedCloudProfile(child, child.DeepCopy()) || sameNamespacedCloudProfile(other, child) {
		t.Error("NamespacedCloudProfiles")
	}
}

// BenchmarkSameSpec compares the specs of two equal CloudProfiles of 1 MiB, as this package does and as Kubernetes does.
func BenchmarkSameSpec(b *testing.B) {
	profile := reread(b, &v1beta1.CloudProfile{Spec: *generate.OpenStack(1 << 20)})
	other := reread(b, profile)
	b.Run("same", func(b *testing.B) {
		for b.Loop() {
			if !sameCloudProfile(profile, other) {
				b.Fatal("it differs")
			}
		}
	})
	b.Run("semantic", func(b *testing.B) {
		for b.Loop() {
			if !equality.Semantic.DeepEqual(profile.Spec, other.Spec) {
				b.Fatal("it differs")
			}
		}
	})
}

// reread returns an object as decoded from an API server.
func reread[T any](t testing.TB, object *T) *T {
	t.Helper()
	read := new(T)
	if err := json.Unmarshal(encode(t, object), read); err != nil {
		t.Fatal(err)
	}
	return read
}
