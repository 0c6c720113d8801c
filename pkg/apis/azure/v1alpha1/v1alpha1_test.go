// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/internal/testing/wire"
	"github.com/capkit/capkit/pkg/apis/azure/v1alpha1"
)

// Gardener's library requires this method of flavors passed by value (worker.CapabilitiesAccessor).
var _ interface{ GetCapabilities() v1beta1.Capabilities } = v1alpha1.MachineImageFlavor{}

func TestTypes(t *testing.T) { wire.Types(t, v1alpha1.GroupVersion, v1alpha1.Install) }

// A legacy entry defaults to amd64. In a version with flavors the architecture is a capability.
func TestDefaults(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	config := &v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{{Versions: []v1alpha1.MachineImageVersion{
		{Version: "1"}, {Version: "2", Architecture: new("arm64")}, {Version: "3", CapabilityFlavors: []v1alpha1.MachineImageFlavor{{}}},
	}}}}
	scheme.Default(config)
	var got []*string
	for _, version := range config.MachineImages[0].Versions {
		got = append(got, version.Architecture)
	}
	if diff := cmp.Diff([]*string{new("amd64"), new("arm64"), nil}, got); diff != "" {
		t.Error(diff)
	}
}
