// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/controllermanager/controller/namespacedcloudprofile"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

type (
	document = map[string]any
	list     = []any
)

// drawnImages draws images a and b with some of these versions, for core and for the provider config. A version may have either format on
// either side, or be missing on one, so that some versions cannot be used.
func drawnImages(t *rapid.T, who string, versions ...string) ([]v1beta1.MachineImage, *runtime.RawExtension) {
	usually := func(what string) bool { return rapid.IntRange(0, 6).Draw(t, who+": "+what) > 0 }
	var core []v1beta1.MachineImage
	var mapped list
	for _, name := range []string{"a", "b"} {
		image, entries := v1beta1.MachineImage{Name: name}, list{}
		for _, version := range versions {
			if !usually("has a version") {
				continue
			}
			described, entry := drawnVersion(t, who, version)
			if usually("in core") {
				image.Versions = append(image.Versions, described)
			}
			if usually("mapped") {
				entries = append(entries, entry)
			}
		}
		if len(image.Versions) > 0 {
			core = append(core, image)
		}
		if len(entries) > 0 {
			mapped = append(mapped, document{"name": name, "versions": entries})
		}
	}
	raw, err := json.Marshal(document{
		"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": mapped,
	})
	if err != nil {
		t.Fatal(err)
	}
	return core, &runtime.RawExtension{Raw: raw}
}

// drawnVersion draws a version and its mapping.
func drawnVersion(t *rapid.T, who, name string) (v1beta1.MachineImageVersion, document) {
	version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: name}}
	var flavors, regions list
	for _, architecture := range []string{"arm64", "amd64"} {
		for _, net := range []string{"", "slow"} {
			id := who + name + architecture + net
			where := rapid.SampledFrom([]string{"", "europe", "asia"}).Draw(t, id)
			if where == "" {
				continue
			}
			capabilities := v1beta1.Capabilities{"architecture": {architecture}}
			if net != "" {
				capabilities["net"] = v1beta1.CapabilityValues{net}
			} else {
				version.Architectures = append(version.Architectures, architecture)
				regions = append(regions, document{"name": where, "id": id, "architecture": architecture})
			}
			version.CapabilityFlavors = append(version.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: capabilities})
			flavors = append(flavors, document{"capabilities": capabilities, "regions": list{document{"name": where, "id": id}}})
		}
	}
	inNew := rapid.Bool().Draw(t, who+": in the new format")
	switch rapid.IntRange(0, 6).Draw(t, who+": core") {
	case 0: // only an expiration date
		version.Architectures, version.CapabilityFlavors = nil, nil
	case 1: // both
	default:
		if inNew {
			version.Architectures = nil
		} else {
			version.CapabilityFlavors = nil
		}
	}
	if inNew == (rapid.IntRange(0, 3).Draw(t, who+": formats agree") > 0) {
		return version, document{"version": name, "capabilityFlavors": flavors}
	}
	return version, document{"version": name, "regions": regions}
}

// drawnTypes draws machine types in either format.
func drawnTypes(t *rapid.T, who string) (types []v1beta1.MachineType) {
	for _, name := range []string{"small", "large", "arm"} {
		machine := v1beta1.MachineType{Name: name, Usable: ptr.To(true)}
		switch rapid.IntRange(0, 4).Draw(t, who+": type "+name) {
		case 0:
			continue
		case 1:
			machine.Architecture = ptr.To("arm64")
		case 2:
			machine.Capabilities = v1beta1.Capabilities{"architecture": {"amd64"}, "net": {"slow"}}
		}
		types = append(types, machine)
	}
	return types
}

func drawnProfiles(t *rapid.T) (*v1beta1.NamespacedCloudProfile, *v1beta1.CloudProfile) {
	parent, child := &v1beta1.CloudProfile{}, &v1beta1.NamespacedCloudProfile{
		TypeMeta: metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: kindNamespacedCloudProfile},
	}
	parent.Name, parent.UID, parent.ResourceVersion = "parent", "a", "1"
	parent.Spec.Type, parent.Spec.Regions = "openstack", []v1beta1.Region{{Name: "europe"}, {Name: "asia"}}
	if rapid.Bool().Draw(t, "capabilities") {
		parent.Spec.MachineCapabilities = []v1beta1.CapabilityDefinition{
			{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "net", Values: []string{"fast", "slow"}},
		}
	}
	parent.Spec.MachineImages, parent.Spec.ProviderConfig = drawnImages(t, "parent", "1", "2")
	parent.Spec.MachineTypes = drawnTypes(t, "parent")
	child.Name, child.Namespace, child.UID, child.ResourceVersion = "child", "garden-demo", "b", "1"
	child.Spec.Parent = v1beta1.CloudProfileReference{Kind: kindCloudProfile, Name: "parent"}
	child.Spec.MachineImages, child.Spec.ProviderConfig = drawnImages(t, "child", "2", "3")
	child.Spec.MachineTypes = drawnTypes(t, "child")
	if rapid.IntRange(0, 6).Draw(t, "child without config") == 0 {
		child.Spec.ProviderConfig = nil
	}
	return child, parent
}

// TestShootsAreJudgedAsByTheStatus renders random profiles into the status, as Gardener's controller and its webhook do. Every pool must
// get the same answer with the status as without it.
func TestShootsAreJudgedAsByTheStatus(t *testing.T) {
	e := newEndpoints(t)
	found, none, own := 0, 0, 0
	rapid.Check(t, func(drawn *rapid.T) {
		child, parent := drawnProfiles(drawn)
		rendered := statusOf(t, e, child, parent)
		byStatus, _ := profile.Compile(provider.Untyped(openstack.Provider{}), rendered, nil)
		c := componentFor(openstack.Provider{}, stored{child, parent})
		computed, report, err := c.profile(t.Context(), kindNamespacedCloudProfile, client.ObjectKeyFromObject(child), nil)
		if err != nil || len(report.Errors) > 0 {
			drawn.Fatal(report.Errors, err)
		}
		for pool := range pools {
			want, got := resolve.Pool(byStatus, pool), resolve.Pool(computed, pool)
			if want.Reference != got.Reference || want.Reason != got.Reason || want.Message != got.Message {
				drawn.Fatalf("%v: the status says %v %s, the spec and the parent say %v %s\n%s\n%s",
					pool, want.Reference, want.Message, got.Reference, got.Message, encode(t, rendered), encode(t, computed.Spec()))
			}
			switch {
			case want.Err != nil:
				none++
			case pool.Version == "3":
				own++
			default:
				found++
			}
		}
	})
	t.Logf("%d pools get no image, %d one of the parent, %d one of the child", none, found, own)
	if min(none, found, own) == 0 {
		t.Error("these are too few to tell anything")
	}
}

// pools yields a pool for each image version, machine type and region.
func pools(yield func(provider.Pool) bool) {
	for i := range 2 * 3 * 3 * 2 {
		pool := provider.Pool{
			Name: fmt.Sprint("pool-", i), Image: string("ab"[i%2]), Version: string("123"[i/2%3]),
			MachineType: []string{"small", "large", "arm"}[i/6%3], Region: []string{"europe", "asia"}[i/18],
		}
		if !yield(pool) {
			return
		}
	}
}

// statusOf returns the stored status of a NamespacedCloudProfile: Gardener's merge with the webhook's patch.
func statusOf(
	t *testing.T, e *endpoints, child *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile,
) *v1beta1.CloudProfileSpec {
	t.Helper()
	child = child.DeepCopy()
	namespacedcloudprofile.MergeCloudProfiles(child, parent.DeepCopy())
	child.Status.ObservedGeneration = child.Generation
	written := encode(t, child)
	response, _ := e.ask(t, "mutate-namespacedcloudprofile-status", child, child)
	if !response.Allowed {
		t.Fatal(response.Result)
	}
	if len(response.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(response.Patch)
		if err == nil {
			written, err = patch.Apply(written)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stored := &v1beta1.NamespacedCloudProfile{}
	if err := json.Unmarshal(written, stored); err != nil {
		t.Fatal(err)
	}
	return &stored.Status.CloudProfileSpec
}
