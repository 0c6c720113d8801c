// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package namespaced_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/internal/testing/worlds"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
)

// child builds a NamespacedCloudProfile of a generated parent.
type child struct {
	parent *v1beta1.CloudProfile
	spec   v1beta1.NamespacedCloudProfileSpec
	config v1alpha1.CloudProfileConfig
}

// add adds an image version with the flavors of the parent's first version, and maps it.
func (c *child) add(image, version string) {
	core := c.parent.Spec.MachineImages[0].Versions[0].DeepCopy()
	core.Version = version
	var config v1alpha1.CloudProfileConfig
	if err := json.Unmarshal(c.parent.Spec.ProviderConfig.Raw, &config); err != nil {
		panic(err)
	}
	provided := config.MachineImages[0].Versions[0]
	provided.Version = version
	c.spec.MachineImages = append(c.spec.MachineImages, v1beta1.MachineImage{Name: image, Versions: []v1beta1.MachineImageVersion{*core}})
	c.config.MachineImages = append(c.config.MachineImages, v1alpha1.MachineImages{Name: image, Versions: []v1alpha1.MachineImageVersion{provided}})
}

func (c *child) object() *v1beta1.NamespacedCloudProfile {
	object := &v1beta1.NamespacedCloudProfile{Spec: c.spec}
	if len(c.config.MachineImages) > 0 {
		c.config.APIVersion, c.config.Kind = v1alpha1.GroupVersion.String(), "CloudProfileConfig"
		raw, err := json.Marshal(c.config)
		if err != nil {
			panic(err)
		}
		object.Spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	}
	return object
}

// Extending the compiled parent gives the same answers as compiling the rendered profile.
func TestExtend(t *testing.T) {
	for name, c := range map[string]struct {
		make func(c *child)
		// whole means that the result is compiled as a whole, because the parent cannot be extended.
		whole bool
	}{
		"nothing":                   {make: func(*child) {}},
		"an image":                  {make: func(c *child) { c.add("own", "1.0.0") }},
		"two images, three entries": {make: func(c *child) { c.add("own", "1.0.0"); c.add("other", "1.0.0"); c.add("other", "2.0.0") }, whole: true},
		"a version of an image":     {make: func(c *child) { c.add(c.parent.Spec.MachineImages[1].Name, "9.0.0") }},
		"another date": {make: func(c *child) {
			version := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: c.parent.Spec.MachineImages[0].Versions[0].Version}}
			version.ExpirationDate = &metav1.Time{Time: time.Unix(1, 0)} //nolint:staticcheck // as people write it
			c.spec.MachineImages = []v1beta1.MachineImage{{Name: c.parent.Spec.MachineImages[0].Name, Versions: []v1beta1.MachineImageVersion{version}}}
		}},
		"machine types": {make: func(c *child) {
			c.spec.MachineTypes = []v1beta1.MachineType{
				{Name: "own", Capabilities: v1beta1.Capabilities{"architecture": {"arm64"}}},
				{Name: c.parent.Spec.MachineTypes[0].Name, Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {"baremetal"}}},
			}
		}},
		"a reserved capability": {make: func(c *child) {
			c.add("own", "1.0.0")
			flavor := &c.config.MachineImages[0].Versions[0].CapabilityFlavors[0]
			flavor.Capabilities[capability.BootType] = v1beta1.CapabilityValues{"secure"}
		}},
		"a region of its own": {make: func(c *child) {
			c.add("own", "1.0.0")
			c.config.MachineImages[0].Versions[0].CapabilityFlavors[0].Regions[0].Name = "nowhere"
		}},
		"a version of the parent": {whole: true, make: func(c *child) {
			image := c.parent.Spec.MachineImages[0]
			c.add(image.Name, image.Versions[0].Version)
			c.config.MachineImages[0].Versions[0].CapabilityFlavors[0].Regions[0].ID = "other"
		}},
		"other flavors of a version of the parent": {whole: true, make: func(c *child) {
			image := c.parent.Spec.MachineImages[0]
			c.add(image.Name, image.Versions[0].Version)
			c.config.MachineImages = nil
			c.spec.MachineImages[0].Versions[0].CapabilityFlavors = c.spec.MachineImages[0].Versions[0].CapabilityFlavors[:1]
		}},
		"a version that only the parent maps": {whole: true, make: func(c *child) {
			c.add("own", "1.0.0")
			image := &c.parent.Spec.MachineImages[0]
			c.spec.MachineImages[0].Name, c.config.MachineImages[0].Name = image.Name, image.Name
			c.spec.MachineImages[0].Versions[0].Version = image.Versions[0].Version
			c.config.MachineImages[0].Versions[0].Version = image.Versions[0].Version
			image.Versions = image.Versions[1:]
		}},
		"an error": {whole: true, make: func(c *child) {
			c.add("own", "1.0.0")
			c.config.MachineImages[0].Versions[0].CapabilityFlavors = c.config.MachineImages[0].Versions[0].CapabilityFlavors[1:]
		}},
		"an error of the parent": {whole: true, make: func(c *child) {
			c.add("own", "1.0.0")
			c.parent.Spec.MachineImages = append(c.parent.Spec.MachineImages, v1beta1.MachineImage{Name: "unmapped", Versions: c.spec.MachineImages[0].Versions})
		}},
		"the legacy format": {whole: true, make: func(c *child) {
			c.add("own", "1.0.0")
			core, provided := &c.spec.MachineImages[0].Versions[0], &c.config.MachineImages[0].Versions[0]
			core.Architectures, core.CapabilityFlavors = []string{"amd64"}, nil
			provided.Regions, provided.CapabilityFlavors = provided.CapabilityFlavors[0].Regions, nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			own := &child{parent: generate.Complete(150 << 10)}
			c.make(own)
			object := own.object()
			parent, _ := profile.Compile(openstack.Provider{}, &own.parent.Spec, field.NewPath("spec"))
			is, err := namespaced.Extend(parent, object)
			if err != nil {
				t.Fatal(err)
			}
			if extended := profile.Extend(parent, object, is.Spec()) != nil; extended == c.whole {
				t.Errorf("compiled from the parent: %t", extended)
			}
			spec, err := namespaced.Render(openstack.Provider{}, object, own.parent)
			if err != nil {
				t.Fatal(err)
			}
			wanted, _ := profile.Compile(openstack.Provider{}, spec, nil)
			compare(t, is, wanted)
		})
	}
}

// The same holds for random profiles, many of them invalid and some in the legacy format.
func TestExtendRandomProfiles(t *testing.T) {
	extended, whole := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		drawn := worlds.Draw(t)
		drawn.Reserve(t)
		parent := &v1beta1.CloudProfile{Spec: *drawn.Spec(1)}
		object := worlds.DrawChild(t, drawn).Child("garden-a", "child", "parent")
		if rapid.IntRange(0, 3).Draw(t, "types only") == 0 {
			object.Spec.MachineImages, object.Spec.ProviderConfig = nil, nil
		}
		compiled, _ := profile.Compile(given.ImagesOnly{}, &parent.Spec, field.NewPath("spec"))
		is, err := namespaced.Extend(compiled, object)
		spec, wantedErr := namespaced.Render(given.ImagesOnly{}, object, parent)
		if (err == nil) != (wantedErr == nil) {
			t.Fatalf("%v, not %v", err, wantedErr)
		}
		wanted, _ := profile.Compile(given.ImagesOnly{}, spec, nil)
		compare(t, is, wanted)
		if profile.Extend(compiled, object, is.Spec()) != nil {
			extended++
		} else {
			whole++
		}
	})
	t.Logf("%d were compiled from the parent, and %d as a whole", extended, whole)
	if extended == 0 || whole == 0 {
		t.Errorf("%d were compiled from the parent, and %d as a whole", extended, whole)
	}
}

// compare compares the answers of two profiles.
func compare(t rapid.TB, is, wanted *profile.Profile[openstack.Image]) {
	t.Helper()
	for what, both := range map[string][2]any{
		"spec": {is.Spec(), wanted.Spec()}, "usable": {is.Usable(), wanted.Usable()}, "regions": {is.Regions(), wanted.Regions()},
		"machine types": {is.MachineTypes(), wanted.MachineTypes()}, "errors": {texts(is), texts(wanted)},
		"offers":             {is.Offers(capability.BootType), wanted.Offers(capability.BootType)},
		"images for nowhere": {is.HasImages("nowhere"), wanted.HasImages("nowhere")},
	} {
		if !reflect.DeepEqual(both[0], both[1]) {
			t.Errorf("%s: %v, not %v", what, both[0], both[1])
		}
	}
	if !is.OffersTheSame(wanted) {
		t.Error("they declare other reserved capabilities")
	}
	for v := range wanted.Versions() {
		for _, name := range wanted.MachineTypes() {
			for _, region := range append(wanted.Regions(), "nowhere") {
				if got, want := chosen(is, v, name, region), chosen(wanted, v, name, region); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s on %s in %s: %v, not %v", v.ID, name, region, got, want)
				}
			}
		}
	}
}

func texts(p *profile.Profile[openstack.Image]) []string {
	var all []string
	for _, f := range p.Faults().Errors {
		all = append(all, f.String())
	}
	return all
}

// chosen returns the capabilities and the image of the flavor that a worker pool boots.
func chosen(p *profile.Profile[openstack.Image], v entries.Version, machineType, region string) []any {
	machine, _ := p.Machine(machineType)
	request := imageselector.Request{Image: v.ID.Image, Version: v.ID.Version, Region: region, Machine: machine.Set, Worker: p.Ordinary()}
	i := p.Catalog().Choose(request)
	if i < 0 {
		return nil
	}
	flavor := p.Catalog().Flavors(v.ID.Image, v.ID.Version)[i]
	image, found := flavor.Reference(region)
	return []any{flavor.Capabilities, image, found}
}
