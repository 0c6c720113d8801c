// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/testing/wire"
	"github.com/capkit/capkit/pkg/apis/aws/v1alpha1"
)

// Gardener's library requires this method of flavors passed by value (worker.CapabilitiesAccessor).
var _ interface{ GetCapabilities() v1beta1.Capabilities } = v1alpha1.MachineImageFlavor{}

func TestTypes(t *testing.T) { wire.Types(t, v1alpha1.GroupVersion, v1alpha1.Install) }

func TestDefaults(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	regions := []v1alpha1.RegionAMIMapping{{Name: "a"}, {Name: "b", Architecture: ptr.To("arm64")}}
	config := &v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{{Versions: []v1alpha1.MachineImageVersion{
		{Regions: regions}, {CapabilityFlavors: []v1alpha1.MachineImageFlavor{{Regions: []v1alpha1.RegionAMIMapping{{Name: "c"}}}}},
	}}}}
	scheme.Default(config)
	want := []v1alpha1.RegionAMIMapping{{Name: "a", Architecture: ptr.To("amd64")}, {Name: "b", Architecture: ptr.To("arm64")}}
	versions := config.MachineImages[0].Versions
	if diff := cmp.Diff(want, versions[0].Regions); diff != "" {
		t.Error(diff)
	}
	if got := versions[1].CapabilityFlavors[0].Regions[0].Architecture; got != nil {
		t.Errorf("the architecture of a flavor is a capability, and not %s", *got)
	}
}
