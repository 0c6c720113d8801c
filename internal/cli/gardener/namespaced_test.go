// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/internal/cli/gardener"
)

// A NamespacedCloudProfile may keep versions that have expired in it, whether or not the old manifest has the status written by Gardener's
// controller. A new date must not be in the past.
func TestNamespacedKeepsWhatHasExpired(t *testing.T) {
	parent := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	const version = "1.30.1" // not the latest
	parent.Spec.Kubernetes.Versions = append(parent.Spec.Kubernetes.Versions, v1beta1.ExpirableVersion{Version: version})
	gardener.SetDefaults(parent)
	past := metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	old := &v1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "team", Namespace: "garden-demo"}}
	old.Spec.Parent = v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: parent.Name}
	old.Spec.Kubernetes = &v1beta1.KubernetesSettings{Versions: []v1beta1.ExpirableVersion{
		{Version: version, ExpirationDate: &past},
	}}
	image := parent.Spec.MachineImages[0]
	old.Spec.MachineImages = []v1beta1.MachineImage{{Name: image.Name, Versions: []v1beta1.MachineImageVersion{
		{ExpirableVersion: v1beta1.ExpirableVersion{Version: image.Versions[0].Version, ExpirationDate: &past}}, //nolint:staticcheck // as people write it
	}}}
	updated := old.DeepCopy()
	updated.Spec.VolumeTypes = []v1beta1.VolumeType{{Name: "fast", Class: "premium"}}
	if errs := (&gardener.Server{}).ValidateNamespaced(updated, old, parent, nil); len(errs) > 0 {
		t.Error(errs)
	}
	earlier := metav1.NewTime(past.Add(-time.Hour))
	updated.Spec.Kubernetes.Versions[0].ExpirationDate = &earlier //nolint:staticcheck // as people write it
	if errs := (&gardener.Server{}).ValidateNamespaced(updated, old, parent, nil); len(errs) != 1 || !strings.Contains(errs[0].Detail, "is in the past") {
		t.Errorf("with another date: %v", errs)
	}
}

// A version that extends nothing, since the parent does not have it, would need all that a version of its own has.
func TestNamespacedExtendsNothing(t *testing.T) {
	parent := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	gardener.SetDefaults(parent)
	later := metav1.NewTime(time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC))
	child := &v1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Name: "team", Namespace: "garden-demo"}}
	child.Spec.Parent = v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: parent.Name}
	child.Spec.MachineImages = []v1beta1.MachineImage{{Name: "gardenlinux", Versions: []v1beta1.MachineImageVersion{
		{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1592.90.0", ExpirationDate: &later}}, //nolint:staticcheck // as people write it
	}}}
	var got []string
	for _, err := range (&gardener.Server{}).ValidateNamespaced(child, nil, parent, nil) {
		got = append(got, err.Field+": "+err.Detail)
	}
	const want = "spec.machineImages[0].versions[0].capabilityFlavors: must provide at least one image flavor when multiple " +
		"architectures are defined in spec.machineCapabilities; the parent, CloudProfile openstack, has no gardenlinux@1592.90.0 that this " +
		"could extend: correct the version, remove it, or complete it"
	if !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
}

// With an invalid parent, errors are about what a NamespacedCloudProfile adds. An invalid vocabulary may be their cause.
func TestNamespacedOfAnInvalidParent(t *testing.T) {
	parent := example[v1beta1.CloudProfile](t, "cloudprofile.yaml")
	child := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
	parent.Spec.MachineTypes[0].Capabilities = v1beta1.Capabilities{"hypervisor": {"virtualised"}}
	child.Spec.MachineTypes[0].Capabilities = v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualizd"}}
	gardener.SetDefaults(parent)
	errs := (&gardener.Server{}).ValidateNamespaced(child, nil, parent, nil)
	if len(errs) != 1 || errs[0].Field != "spec.machineTypes[0].capabilities.hypervisor[0]" || errs[0].BadValue != "virtualizd" {
		t.Errorf("%v", errs)
	}
	parent.Spec.MachineCapabilities[1].Values = nil
	for _, err := range (&gardener.Server{}).ValidateNamespaced(child, nil, parent, nil) {
		if strings.HasPrefix(err.Field, "spec.machineTypes") {
			t.Error(err)
		}
	}
}
