// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// preview returns the NamespacedCloudProfile of the demo, which has the version 2000.0.0 of its own, under another name.
func preview(t *testing.T, name, parent string) *v1beta1.NamespacedCloudProfile {
	t.Helper()
	profile := read[v1beta1.NamespacedCloudProfile](t, "../../hack/garden/demo/namespacedcloudprofile.yaml")
	profile.Name, profile.Spec.Parent.Name = name, parent
	return profile
}

// images returns the versions of gardenlinux in a provider config, in their order, each with the image ID of its first
// flavor in europe.
func images(t *testing.T, spec *v1beta1.CloudProfileSpec) []string {
	t.Helper()
	var config struct {
		MachineImages []struct {
			Versions []struct {
				Version           string
				Regions           []struct{ ID string }
				CapabilityFlavors []struct{ Regions []struct{ ID string } }
			}
		}
	}
	if err := json.Unmarshal(spec.ProviderConfig.Raw, &config); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, version := range config.MachineImages[0].Versions {
		if len(version.Regions) > 0 {
			found = append(found, version.Version+"="+version.Regions[0].ID)
			continue
		}
		found = append(found, version.Version+"="+version.CapabilityFlavors[0].Regions[0].ID)
	}
	return found
}

// rendered waits until the status has these images.
func rendered(t *testing.T, u *user, profile *v1beta1.NamespacedCloudProfile, want ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the status of %s has the images %s", profile.Name, want), func() bool {
		if err := u.Get(t.Context(), client.ObjectKeyFromObject(profile), profile); err != nil {
			t.Fatal(err)
		}
		return profile.Status.ObservedGeneration == profile.Generation && slices.Equal(images(t, &profile.Status.CloudProfileSpec), want)
	})
}

func TestNamespacedCloudProfileIsRendered(t *testing.T) {
	u := newUser(t)
	u.create(t, openstack(t, "rendered"))
	profile := preview(t, "rendered", "rendered")
	u.accepted(t, u.Create(t.Context(), profile))
	if flavors := profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors; len(flavors) != 1 || flavors[0].Capabilities["hypervisor"][0] != "virtualized" {
		t.Errorf("the flavors that admission should have filled in are %v", flavors)
	}
	rendered(t, u, profile, "1877.5.0=1234-amd64-virt", "1592.9.0=1234-amd64-old", "2000.0.0=2000-amd64-virt")

	// Gardener's controller writes the status again and again, each time with the provider config of the parent.
	before := profile.DeepCopy()
	owner := client.FieldOwner(statusManager(t, profile))
	for range 2 {
		status := fmt.Sprintf(`{"status":{"cloudProfileSpec":{"providerConfig":%s}}}`, openstack(t, "").Spec.ProviderConfig.Raw)
		if err := u.Status().Patch(t.Context(), profile, client.RawPatch(types.MergePatchType, []byte(status)), owner); err != nil {
			t.Fatal(err)
		}
		if got, want := profile.Status.CloudProfileSpec.ProviderConfig.Raw, before.Status.CloudProfileSpec.ProviderConfig.Raw; string(got) != string(want) {
			t.Errorf("the provider config was\n%s, is\n%s", want, got)
		}
		if profile.ResourceVersion != before.ResourceVersion {
			t.Errorf("the object was written again: resource version %s became %s", before.ResourceVersion, profile.ResourceVersion)
		}
	}
}

// statusManager returns the name under which the status was written.
func statusManager(t *testing.T, profile *v1beta1.NamespacedCloudProfile) string {
	t.Helper()
	for _, entry := range profile.ManagedFields {
		if entry.Subresource == "status" {
			return entry.Manager
		}
	}
	t.Fatal("nobody has written the status")
	return ""
}

func TestNamespacedCloudProfileIsRefused(t *testing.T) {
	u := newUser(t)
	u.create(t, openstack(t, "refusing"))
	for name, test := range map[string]struct {
		change func(*v1beta1.NamespacedCloudProfile)
		fields []string
	}{
		"mapping-of-parent": {func(p *v1beta1.NamespacedCloudProfile) {
			p.Spec.ProviderConfig = openstack(t, "").Spec.ProviderConfig
		}, []string{
			"spec.machineImages[0].versions[0]",
			"spec.providerConfig.constraints",
			"spec.providerConfig.keystoneURL",
			"spec.providerConfig.machineImages[0].versions[0]",
			"spec.providerConfig.machineImages[0].versions[1]",
		}},
		"no-config": {func(p *v1beta1.NamespacedCloudProfile) { p.Spec.ProviderConfig = nil },
			[]string{"spec.machineImages[0]"}},
		"other-flavor": {func(p *v1beta1.NamespacedCloudProfile) {
			p.Spec.MachineImages[0].Versions[0].CapabilityFlavors = []v1beta1.MachineImageFlavor{{Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}}}
		}, []string{"spec.machineImages[0].versions[0].capabilityFlavors[0]", "spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			profile := preview(t, name, "refusing")
			profile.Spec.MachineImages[0].Versions[0].CapabilityFlavors = []v1beta1.MachineImageFlavor{
				{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"virtualized"}}},
			}
			test.change(profile)
			refused(t, u.Create(t.Context(), profile), test.fields...)
		})
	}
}

func TestParentGainsAVersionOfTheNamespacedCloudProfile(t *testing.T) {
	u, parent := newUser(t), openstack(t, "gains-version")
	u.create(t, parent)
	profile := preview(t, "gains-version", "gains-version")
	u.create(t, profile)
	rendered(t, u, profile, "1877.5.0=1234-amd64-virt", "1592.9.0=1234-amd64-old", "2000.0.0=2000-amd64-virt")

	err := change(t, u, parent, func(p *v1beta1.CloudProfile) {
		versions := &p.Spec.MachineImages[0].Versions
		*versions = append(*versions, (*versions)[1])
		(*versions)[2].Version = "2000.0.0"
		replaceConfig(t, p, `"version":"1592.9.0"}`, `"version":"1592.9.0"},{"version":"2000.0.0","capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},`+
			`"regions":[{"name":"europe","id":"of-the-parent"},{"name":"asia","id":"of-the-parent"}]}]}`)
	})
	u.accepted(t, err)

	// The definition of the NamespacedCloudProfile wins, and the profile can still be updated.
	eventually(t, "the profile can be updated", func() bool {
		err := change(t, u, profile, func(p *v1beta1.NamespacedCloudProfile) {
			p.Spec.MachineImages[0].Versions[0].ExpirationDate = ptr.To(metav1.Unix(1<<31, 0)) //nolint:staticcheck // as people write it
		})
		u.accepted(t, err, "spec.providerConfig.machineImages[0].versions[0]: gardenlinux@2000.0.0: the parent, CloudProfile gains-version, has this version")
		return true
	})
	rendered(t, u, profile, "1877.5.0=1234-amd64-virt", "1592.9.0=1234-amd64-old", "2000.0.0=2000-amd64-virt")
	more := `{"capabilities":{"architecture":["arm64"]},"regions":[{"id":"2000-arm64","name":"europe"},{"id":"2001-arm64","name":"asia"}]}`
	err = change(t, u, profile, func(p *v1beta1.NamespacedCloudProfile) {
		p.Spec.ProviderConfig.Raw = []byte(strings.Replace(string(p.Spec.ProviderConfig.Raw), `"capabilityFlavors":[`, `"capabilityFlavors":[`+more+",", 1))
	})
	refused(t, err, "spec.providerConfig.machineImages[0].versions[0].capabilityFlavors[0]")
	err = change(t, u, profile, func(p *v1beta1.NamespacedCloudProfile) { p.Spec.ProviderConfig = nil })
	refused(t, err, "spec.machineImages[0].versions[0].capabilityFlavors")

	late := preview(t, "gains-version-too-late", "gains-version")
	late.Spec.MachineImages[0].Versions[0] = v1beta1.MachineImageVersion{
		ExpirableVersion: v1beta1.ExpirableVersion{Version: "2000.0.0", ExpirationDate: ptr.To(metav1.Unix(1<<31, 0))}, //nolint:staticcheck // as people write it
	}
	refused(t, u.Create(t.Context(), late), "spec.providerConfig.machineImages[0].versions[0]")

	if err := u.Delete(t.Context(), profile); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the NamespacedCloudProfile is gone", func() bool {
		return apierrors.IsNotFound(u.Get(t.Context(), client.ObjectKeyFromObject(profile), profile))
	})
}

func TestFormatsAreConverted(t *testing.T) {
	u, parent := newUser(t), read[v1beta1.CloudProfile](t, "../../example/cloudprofile-legacy.yaml")
	parent.Name = "legacy-parent"
	u.create(t, parent)
	profile := preview(t, "converted", "legacy-parent")
	image := &profile.Spec.MachineImages[0]
	image.Name, image.Versions[0].Architectures = parent.Spec.MachineImages[0].Name, []string{"amd64"}
	profile.Spec.ProviderConfig.Raw = []byte(`{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",` +
		`"machineImages":[{"name":"coreos","versions":[{"version":"2000.0.0","capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},` +
		`"regions":[{"name":"europe","id":"converted"},{"name":"asia","id":"converted"}]}]}]}]}`)
	u.accepted(t, u.Create(t.Context(), profile))
	want := append(images(t, &parent.Spec), "2000.0.0=converted")
	rendered(t, u, profile, want...)
}
