// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestCloudProfileGainsACapability(t *testing.T) {
	u, profile := newUser(t), openstack(t, "gains-capability")
	u.create(t, profile)

	// Registered, and used on one side only.
	err := change(t, u, profile, func(p *v1beta1.CloudProfile) {
		p.Spec.MachineCapabilities = append(p.Spec.MachineCapabilities, v1beta1.CapabilityDefinition{Name: "network", Values: []string{"fast", "slow"}})
		p.Spec.MachineImages[0].Versions[0].CapabilityFlavors[0].Capabilities["network"] = []string{"slow"}
	})
	refused(t, err, "spec.machineImages[0].versions[0].capabilityFlavors[0]", "spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0]")

	err = change(t, u, profile, func(p *v1beta1.CloudProfile) {
		p.Spec.MachineCapabilities = append(p.Spec.MachineCapabilities, v1beta1.CapabilityDefinition{Name: "network", Values: []string{"fast", "slow"}})
		p.Spec.MachineImages[0].Versions[0].CapabilityFlavors[0].Capabilities["network"] = []string{"slow"}
		replaceConfig(t, p, `{"architecture":["amd64"],"hypervisor":["virtualized"]}`, `{"architecture":["amd64"],"hypervisor":["virtualized"],"network":["slow"]}`)
	})
	u.accepted(t, err)
}

func TestCloudProfileReportsEverythingAtOnce(t *testing.T) {
	u, profile := newUser(t), openstack(t, "everything-at-once")
	replaceConfig(t, profile, `"id":"1234-amd64-virt"`, `"id":""`)
	replaceConfig(t, profile, `"hypervisor":["baremetal"]`, `"hypervisor":["metal"]`)
	profile.Spec.MachineImages[0].Versions = append(profile.Spec.MachineImages[0].Versions, v1beta1.MachineImageVersion{
		ExpirableVersion:  v1beta1.ExpirableVersion{Version: "2000.0.0"},
		CRI:               []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}},
		CapabilityFlavors: []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}},
	})
	refused(t, u.Create(t.Context(), profile),
		"spec.machineImages[0].versions[2]",
		"spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0].regions[0].id",
		"spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[1].capabilities.hypervisor[0]",
	)
}

func TestCoreFlavorsAreFilledIn(t *testing.T) {
	u, profile := newUser(t), openstack(t, "core-flavors")
	versions := profile.Spec.MachineImages[0].Versions
	want, err := json.Marshal(versions)
	if err != nil {
		t.Fatal(err)
	}
	written := versions[1].CapabilityFlavors
	versions[0].CapabilityFlavors = nil
	u.accepted(t, u.Create(t.Context(), profile))
	got, err := json.Marshal(profile.Spec.MachineImages[0].Versions)
	if err != nil {
		t.Fatal(err)
	}
	// Gardener itself adds the architectures, for old clients.
	var stored []v1beta1.MachineImageVersion
	if err := json.Unmarshal(got, &stored); err != nil {
		t.Fatal(err)
	}
	for i := range stored {
		stored[i].Architectures, stored[i].CRI = nil, nil
	}
	if got, err = json.Marshal(stored); err != nil || string(got) != string(want) {
		t.Errorf("got %s, want %s (%v)", got, want, err)
	}

	// What an operator has written stays, even if it does not agree.
	err = change(t, u, profile, func(p *v1beta1.CloudProfile) {
		p.Spec.MachineImages[0].Versions[1].CapabilityFlavors = append(written, v1beta1.MachineImageFlavor{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}})
		p.Spec.MachineImages[0].Versions[1].Architectures = []string{"amd64", "arm64"}
	})
	refused(t, err, "spec.machineImages[0].versions[1].capabilityFlavors[1]")
}

func TestChangedPreferenceIsWarnedAbout(t *testing.T) {
	u, profile := newUser(t), openstack(t, "preference")
	profile.Spec.MachineTypes = append(profile.Spec.MachineTypes, *profile.Spec.MachineTypes[0].DeepCopy())
	either := &profile.Spec.MachineTypes[len(profile.Spec.MachineTypes)-1]
	either.Name, either.Capabilities = "either_4_8", v1beta1.Capabilities{"architecture": {"amd64"}}
	u.accepted(t, u.Create(t.Context(), profile))
	err := change(t, u, profile, func(p *v1beta1.CloudProfile) {
		p.Spec.MachineCapabilities[1].Values = []string{"baremetal", "virtualized"}
	})
	u.accepted(t, err, "gardenlinux@1877.5.0: new machines of machine type either_4_8 boot another flavor")
}

func TestMachineTypeInUseIsWarnedAbout(t *testing.T) {
	u, profile := newUser(t), openstack(t, "type-in-use")
	u.create(t, profile)
	u.create(t, shoot(t, "type-in-use", "type-in-use"))

	// The image version of this one is not the CloudProfile's, but its machine type is.
	child := preview(t, "type-in-use", "type-in-use")
	u.create(t, child)
	eventually(t, "the NamespacedCloudProfile is rendered", func() bool {
		return u.Get(t.Context(), client.ObjectKeyFromObject(child), child) == nil && child.Status.CloudProfileSpec.Type != ""
	})
	own := shoot(t, "type-in-use-below", child.Name)
	own.Spec.CloudProfile.Kind = "NamespacedCloudProfile"
	own.Spec.Provider.Workers = own.Spec.Provider.Workers[:1]
	own.Spec.Provider.Workers[0].Machine.Image.Version = ptr.To("2000.0.0")
	u.create(t, own)
	eventually(t, "the webhook knows that the Shoot uses the machine type", func() bool {
		err := change(t, u, profile, func(p *v1beta1.CloudProfile) { p.Spec.MachineTypes = p.Spec.MachineTypes[1:] })
		if err != nil {
			t.Fatal(err)
		}
		warnings := strings.Join(u.heard(), "\n")
		if err := change(t, u, profile, func(p *v1beta1.CloudProfile) {
			p.Spec.MachineTypes = append(openstack(t, "").Spec.MachineTypes[:1:1], p.Spec.MachineTypes...)
		}); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(warnings, "spec.machineTypes: machine type medium_4_8 is removed and still used by Shoots garden-demo/type-in-use, garden-demo/type-in-use-below")
	})
}

func TestCloudProfileThatWasThereBefore(t *testing.T) {
	u, profile := newUser(t), &v1beta1.CloudProfile{}
	profile.Name = "before"

	err := change(t, u, profile, func(p *v1beta1.CloudProfile) { p.Annotations = map[string]string{"a": "b"} })
	u.accepted(t, err)

	// An entry before the one with the error moves it, and is none of its business.
	err = change(t, u, profile, func(p *v1beta1.CloudProfile) {
		images := openstack(t, "").Spec.MachineImages
		images[0].Name = "another"
		p.Spec.MachineImages = append(images, p.Spec.MachineImages...)
		addImage(t, p, "another")
	})
	u.accepted(t, err, "spec.machineImages[1].versions[0].capabilityFlavors[2]: gardenlinux@1877.5.0: no provider image for")

	// One error more is the fault of this update. Only that is in the way.
	err = change(t, u, profile, func(p *v1beta1.CloudProfile) { replaceConfig(t, p, `"id":"1234-amd64-bare"`, `"id":""`) })
	refused(t, err, "spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[1].regions[0].id",
		"spec.providerConfig.machineImages[1].versions[0].capabilityFlavors[1].regions[0].id")

	if err := u.Delete(t.Context(), profile); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the CloudProfile is gone", func() bool {
		return apierrors.IsNotFound(u.Get(t.Context(), client.ObjectKeyFromObject(profile), profile))
	})
}

// addImage copies the provider config's images of the example under another name, in front of the others.
func addImage(t *testing.T, profile *v1beta1.CloudProfile, name string) {
	t.Helper()
	var config, more map[string]any
	for raw, into := range map[*runtime.RawExtension]*map[string]any{profile.Spec.ProviderConfig: &config, openstack(t, "").Spec.ProviderConfig: &more} {
		if err := json.Unmarshal(raw.Raw, into); err != nil {
			t.Fatal(err)
		}
	}
	added := more["machineImages"].([]any)
	added[0].(map[string]any)["name"] = name
	config["machineImages"] = append(added, config["machineImages"].([]any)...)
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	profile.Spec.ProviderConfig.Raw = raw
}
