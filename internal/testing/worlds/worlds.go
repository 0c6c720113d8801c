// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package worlds draws small profiles, updates of them, and Shoots that use them, for tests that compare answers on everything that may
// happen. It uses few names, so that they coincide often. Start reading at [Draw].
package worlds

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// Image is the name of the only image in all worlds.
const Image = "gl"

// Trusting is the providerConfig of a worker pool that requests trusted launch.
const Trusting = `{"apiVersion":"openstack.provider.extensions.gardener.cloud/v1alpha1","kind":"WorkerConfig","trustedLaunch":{"enabled":true}}`

// Vocabulary is the vocabulary of all worlds with capabilities.
var Vocabulary = []v1beta1.CapabilityDefinition{
	{Name: "architecture", Values: []string{"amd64", "arm64"}},
	{Name: "hypervisor", Values: []string{"virtualized", "baremetal"}},
	{Name: "openstack-trustedLaunch", Values: []string{"enabled", "disabled"}},
}

// Names are the possible names of machine types and versions.
type Names struct{ Types, Versions []string }

var (
	// RegionNames are the regions that have images.
	RegionNames = []string{"europe", "asia"}
	// OfProfile are the names in a CloudProfile.
	OfProfile = Names{[]string{"type-0", "type-1", "type-2"}, []string{"1.0.0", "1.1.0", "1.2.0"}}
	// OfChild are the names in a NamespacedCloudProfile.
	OfChild = Names{[]string{"own-0", "own-1"}, []string{"1.1.5", "1.3.0"}}
)

// World is a random profile.
type World struct {
	// Capabilities means that the profile has a vocabulary.
	Capabilities bool
	// Regions are the regions of the profile, all or some of RegionNames.
	Regions  []string
	Types    map[string]v1beta1.Capabilities
	Versions map[string]Version
	// Names are the possible names of its machine types and versions.
	Names Names
	Reserving
}

// Version is an image version.
type Version struct {
	Flavors []v1alpha1.MachineImageFlavor
	InPlace bool
}

// declare draws an architecture, and values of some other capabilities.
func declare(t *rapid.T) v1beta1.Capabilities {
	c := v1beta1.Capabilities{"architecture": {rapid.SampledFrom(Vocabulary[0].Values).Draw(t, "architecture")}}
	for _, d := range Vocabulary[1:] {
		if rapid.Bool().Draw(t, "has "+d.Name) {
			c[d.Name] = v1beta1.CapabilityValues{rapid.SampledFrom(d.Values).Draw(t, d.Name)}
		}
	}
	return c
}

// id draws one of a few image IDs.
func id(t *rapid.T) string { return fmt.Sprint("id-", rapid.IntRange(0, 30).Draw(t, "id")) }

func drawVersion(t *rapid.T) Version {
	v, seen := Version{InPlace: rapid.IntRange(0, 3).Draw(t, "in place") == 0}, map[string]bool{}
	for range rapid.IntRange(1, 4).Draw(t, "flavors") {
		declared := declare(t)
		if seen[fmt.Sprint(Full(declared))] {
			continue
		}
		seen[fmt.Sprint(Full(declared))] = true
		flavor := v1alpha1.MachineImageFlavor{Capabilities: declared}
		for _, region := range RegionNames {
			if rapid.IntRange(0, 4).Draw(t, "is in "+region) > 0 {
				flavor.Regions = append(flavor.Regions, v1alpha1.RegionIDMapping{Name: region, ID: id(t)})
			}
		}
		v.Flavors = append(v.Flavors, flavor)
	}
	return v
}

// Full returns the capabilities that a flavor supports, except the worker capability.
func Full(declared v1beta1.Capabilities) v1beta1.Capabilities {
	c := maps.Clone(declared)
	if c["hypervisor"] == nil {
		c["hypervisor"] = Vocabulary[1].Values
	}
	return c
}

// Draw draws a CloudProfile.
func Draw(t *rapid.T) *World {
	return draw(t, OfProfile, rapid.IntRange(0, 5).Draw(t, "legacy") > 0, drawRegions(t))
}

// DrawChild draws a NamespacedCloudProfile of a CloudProfile.
func DrawChild(t *rapid.T, parent *World) *World {
	return draw(t, OfChild, parent.Capabilities, parent.Regions)
}

func draw(t *rapid.T, names Names, capabilities bool, regions []string) *World {
	w := &World{capabilities, regions, map[string]v1beta1.Capabilities{}, map[string]Version{}, names, Reserving{}}
	for _, name := range names.Types {
		w.Types[name] = declare(t)
	}
	for _, name := range names.Versions {
		w.Versions[name] = drawVersion(t)
	}
	return w
}

// drawRegions draws the regions of a profile, which are usually all.
func drawRegions(t *rapid.T) []string {
	return rapid.SampledFrom([][]string{RegionNames, RegionNames, RegionNames[:1], RegionNames[1:]}).Draw(t, "regions")
}

// Changed draws an update of the profile with a few changes. A NamespacedCloudProfile remains one.
func (w *World) Changed(t *rapid.T) *World {
	is := &World{w.Capabilities, w.Regions, maps.Clone(w.Types), maps.Clone(w.Versions), w.Names, w.Reserving}
	child := len(w.Names.Types) == len(OfChild.Types)
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		name, of := rapid.SampledFrom(w.Names.Versions).Draw(t, "version"), rapid.SampledFrom(w.Names.Types).Draw(t, "machine type")
		switch kind := rapid.IntRange(0, 10).Draw(t, "change"); {
		case kind == 0:
			is.Types[of] = declare(t)
		case kind == 1:
			delete(is.Types, of)
		case kind == 2:
			delete(is.Versions, name)
		case kind == 3 && !child:
			is.Capabilities = rapid.Bool().Draw(t, "legacy")
		case kind == 4 && !child:
			is.Regions = drawRegions(t)
		default:
			if v := is.Versions[name].changed(t); len(v.Flavors) > 0 {
				is.Versions[name] = v
			}
		}
	}
	return is
}

// changed draws a changed version: with other, fewer or more flavors, with another reference, or with the capabilities of two flavors
// exchanged.
func (v Version) changed(t *rapid.T) Version {
	v.Flavors = slices.Clone(v.Flavors)
	at := rapid.IntRange(0, 3).Draw(t, "flavor")
	switch rapid.IntRange(0, 5).Draw(t, "change of version") {
	case 0:
		return drawVersion(t)
	case 1:
		if at < len(v.Flavors) {
			v.Flavors = slices.Delete(v.Flavors, at, at+1)
		}
	case 2:
		if at < len(v.Flavors) && len(v.Flavors[at].Regions) > 0 {
			v.Flavors[at].Regions = slices.Clone(v.Flavors[at].Regions)
			v.Flavors[at].Regions[0].ID = id(t)
		}
	case 3:
		if at > 0 && at < len(v.Flavors) {
			v.Flavors[0].Capabilities, v.Flavors[at].Capabilities = v.Flavors[at].Capabilities, v.Flavors[0].Capabilities
		}
	default:
		v.Flavors = append(v.Flavors, slices.DeleteFunc(drawVersion(t).Flavors, func(f v1alpha1.MachineImageFlavor) bool {
			return slices.ContainsFunc(v.Flavors, func(other v1alpha1.MachineImageFlavor) bool {
				return cmp.Equal(Full(f.Capabilities), Full(other.Capabilities))
			})
		})...)
	}
	return v
}

// Spec returns the CloudProfile. Order is 1, or -1 to reverse its lists.
func (w *World) Spec(order int) *v1beta1.CloudProfileSpec {
	spec := &v1beta1.CloudProfileSpec{Type: "openstack"}
	if w.Capabilities {
		spec.MachineCapabilities = w.vocabulary()
	}
	spec.Kubernetes.Versions = []v1beta1.ExpirableVersion{{Version: "1.33.2"}}
	spec.MachineImages, spec.ProviderConfig = w.images(order)
	spec.MachineTypes = w.machineTypes(order)
	for _, name := range w.Regions {
		spec.Regions = append(spec.Regions, v1beta1.Region{Name: name})
	}
	arrange(order, spec.Regions)
	return spec
}

// Child returns the NamespacedCloudProfile with these names, and with a CloudProfile as its parent.
func (w *World) Child(namespace, name, parent string) *v1beta1.NamespacedCloudProfile {
	child := &v1beta1.NamespacedCloudProfile{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	child.Spec.Parent = v1beta1.CloudProfileReference{Kind: "CloudProfile", Name: parent}
	child.Spec.MachineTypes = w.machineTypes(1)
	if len(w.Versions) > 0 {
		child.Spec.MachineImages, child.Spec.ProviderConfig = w.images(1)
	}
	return child
}

// images returns the image in core and in the provider config.
func (w *World) images(order int) ([]v1beta1.MachineImage, *runtime.RawExtension) {
	strategy := v1beta1.UpdateStrategyMajor
	core, mapped := v1beta1.MachineImage{Name: Image, UpdateStrategy: &strategy}, v1alpha1.MachineImages{Name: Image}
	for _, name := range slices.Sorted(maps.Keys(w.Versions)) {
		v := w.Versions[name]
		c := v1beta1.MachineImageVersion{ExpirableVersion: v1beta1.ExpirableVersion{Version: name}}
		c.CRI = []v1beta1.CRI{{Name: v1beta1.CRINameContainerD}}
		c.InPlaceUpdates = &v1beta1.InPlaceUpdates{Supported: v.InPlace}
		p := v1alpha1.MachineImageVersion{Version: name}
		if w.Capabilities {
			p.CapabilityFlavors, c.CapabilityFlavors = w.flavors(v.Flavors)
		} else {
			c.Architectures, p.Regions = v.legacy()
		}
		core.Versions, mapped.Versions = append(core.Versions, c), append(mapped.Versions, p)
		arrange(order, p.CapabilityFlavors)
	}
	arrange(order, core.Versions)
	arrange(order, mapped.Versions)
	config := v1alpha1.CloudProfileConfig{MachineImages: []v1alpha1.MachineImages{mapped}}
	config.APIVersion, config.Kind = v1alpha1.GroupVersion.String(), "CloudProfileConfig"
	raw, err := json.Marshal(config)
	if err != nil {
		panic(err)
	}
	return []v1beta1.MachineImage{core}, &runtime.RawExtension{Raw: raw}
}

// legacy returns the first flavor of each architecture in the legacy format.
func (v Version) legacy() (architectures []string, regions []v1alpha1.RegionIDMapping) {
	for _, f := range v.Flavors {
		architecture := f.Capabilities["architecture"][0]
		if !slices.Contains(architectures, architecture) {
			architectures = append(architectures, architecture)
			for _, r := range f.Regions {
				regions = append(regions, v1alpha1.RegionIDMapping{Name: r.Name, ID: r.ID, Architecture: &architecture})
			}
		}
	}
	return architectures, regions
}

func (w *World) machineTypes(order int) []v1beta1.MachineType {
	var machineTypes []v1beta1.MachineType
	for _, name := range slices.Sorted(maps.Keys(w.Types)) {
		t := v1beta1.MachineType{Name: name, Architecture: &w.Types[name]["architecture"][0]}
		if w.Capabilities {
			t.Capabilities = w.Types[name]
		}
		machineTypes = append(machineTypes, t)
	}
	arrange(order, machineTypes)
	return machineTypes
}

func arrange[T any](order int, list []T) {
	if order < 0 {
		slices.Reverse(list)
	}
}

// Shoots draws up to count Shoots with up to pools worker pools each, which use any of the names.
func Shoots(t *rapid.T, count, pools int, of ...Names) []*v1beta1.Shoot {
	var types, versions []string
	for _, names := range of {
		types, versions = append(types, names.Types...), append(versions, names.Versions...)
	}
	var shoots []*v1beta1.Shoot
	for i := range rapid.IntRange(0, count).Draw(t, "shoots") {
		s := &v1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-x", Name: fmt.Sprint("shoot-", i)}}
		s.Spec.Region = rapid.SampledFrom(RegionNames).Draw(t, "region")
		s.Spec.Kubernetes.Version = "1.33.2"
		for k := range rapid.IntRange(1, pools).Draw(t, "pools") {
			w := v1beta1.Worker{Name: fmt.Sprint("pool-", k), CRI: &v1beta1.CRI{Name: v1beta1.CRINameContainerD}}
			w.Machine.Type = rapid.SampledFrom(types).Draw(t, "machine type")
			version := rapid.SampledFrom(versions).Draw(t, "version")
			w.Machine.Image = &v1beta1.ShootMachineImage{Name: Image, Version: &version}
			if rapid.IntRange(0, 3).Draw(t, "asks") == 0 {
				w.ProviderConfig = &runtime.RawExtension{Raw: []byte(Trusting)}
			}
			if rapid.IntRange(0, 4).Draw(t, "in place") == 0 {
				w.UpdateStrategy = new(v1beta1.AutoInPlaceUpdate)
			}
			s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, w)
		}
		shoots = append(shoots, s)
	}
	return shoots
}
