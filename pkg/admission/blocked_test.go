// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/openstack"
)

// newer adds version 1877.6.0, without trusted launch, to the images.
func newer(images *[]v1beta1.MachineImage) {
	version := v1beta1.MachineImageVersion{
		ExpirableVersion:  v1beta1.ExpirableVersion{Version: "1877.6.0"},
		CapabilityFlavors: []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}},
		CRI:               []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}},
	}
	if len(*images) == 0 {
		*images = []v1beta1.MachineImage{{Name: "gardenlinux"}}
	}
	(*images)[0].Versions = append((*images)[0].Versions, version)
}

const newerConfig = `{"version": "1877.6.0", "capabilityFlavors": [
	{"capabilities": {"architecture": ["amd64"]}, "regions": [{"name": "europe", "id": "a"}]}]}`

// The author of an update is told whose maintenance an added version blocks. A NamespacedCloudProfile's own entries for the image may
// change the choice, so an update of the parent reports nothing about its Shoots.
func TestWhoseMaintenanceIsBlocked(t *testing.T) {
	profile, shoot := trusted(t)
	shoot.Spec.Kubernetes.Version = "1.33.2"
	for i := range profile.Spec.MachineImages[0].Versions {
		profile.Spec.MachineImages[0].Versions[i].CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
	}
	child := func(name string) *v1beta1.NamespacedCloudProfile {
		c := example[v1beta1.NamespacedCloudProfile](t, "namespacedcloudprofile.yaml")
		c.Name, c.Spec.Parent.Name, c.Spec.MachineTypes, c.Spec.MachineImages = name, profile.Name, nil, nil
		c.Spec.ProviderConfig = nil
		return c
	}
	plain, own := child("plain"), child("own")
	expiring := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1592.9.0"}}
	own.Spec.MachineImages = []v1beta1.MachineImage{{Name: "gardenlinux", Versions: []v1beta1.MachineImageVersion{expiring}}}
	through := func(child *v1beta1.NamespacedCloudProfile) *v1beta1.Shoot {
		s := withPools(shoot, "through-"+child.Name, 0)
		s.Spec.CloudProfile = &v1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: child.Name}
		return s
	}
	off := withPools(shoot, "off", 0)
	off.Spec.Maintenance = &v1beta1.Maintenance{AutoUpdate: &v1beta1.MaintenanceAutoUpdate{MachineImageVersion: ptr.To(false)}}
	c := componentFor(openstack.Provider{}, stored{
		profile, plain, own, kept(t, withPools(shoot, "both", 0, 1, 0)), kept(t, withPools(shoot, "asking-not", 1)),
		kept(t, off), kept(t, through(plain)), kept(t, through(own)),
	})
	c.corrects = true
	updated := profile.DeepCopy()
	newer(&updated.Spec.MachineImages)
	patchConfig(t, updated.Spec.ProviderConfig, `[{"op": "add", "path": "/machineImages/0/versions/-", "value": `+newerConfig+`}]`)

	const why = "but they cannot boot it: worker pool ledger: trustedLaunch.enabled: true asks for openstack-trustedLaunch [enabled], " +
		"and no flavor of gardenlinux@1877.6.0 for machine type medium_4_8"
	expect := func(report finding.Report, err error, wants ...string) {
		t.Helper()
		var got []string
		for _, f := range append(report.Errors, report.Warnings...) {
			if f.Origin == "maintenance-blocked" {
				got = append(got, f.Detail)
			}
		}
		said := strings.Join(got, "\n")
		if err != nil || len(report.Errors) > 0 || min(len(got), 1) != min(len(wants), 1) {
			t.Errorf("%v, %v", report, err)
		}
		for _, want := range wants {
			if !strings.Contains(said, want) {
				t.Errorf("%q does not say %q", said, want)
			}
		}
	}
	report, err := c.checkCloudProfile(t.Context(), updated, profile)
	expect(report, err, "for worker pools of Shoots garden-demo/both, garden-demo/through-plain (3 pools), "+why,
		"they stay on the versions that they have")
	updated.ResourceVersion = "2" // it is stored, but the informers do not have it yet
	again := updated.DeepCopy()
	again.Spec.MachineTypes[2].Usable = ptr.To(false)
	report, err = c.checkCloudProfile(t.Context(), again, updated)
	expect(report, err) // the version was already there
	c.corrects = false
	report, err = c.checkCloudProfile(t.Context(), updated, profile)
	expect(report, err, "the maintenance of these Shoots then fails as a whole")
	c.corrects, *c.maintainers = true, nil
	report, err = c.checkCloudProfile(t.Context(), updated, profile)
	expect(report, err, "the maintenance of these Shoots then fails as a whole")

	*c.maintainers = []string{MaintenanceUser}
	with := plain.DeepCopy()
	newer(&with.Spec.MachineImages)
	with.Spec.ProviderConfig = config(`{
		"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
		"machineImages": [{"name": "gardenlinux", "versions": [` + newerConfig + `]}]}`)
	report, err = c.checkNamespacedCloudProfile(t.Context(), with, plain)
	expect(report, err, "for worker pools of Shoot garden-demo/through-plain (1 pool), "+why)
	report, err = c.checkNamespacedCloudProfile(t.Context(), plain, with)
	expect(report, err)
}
