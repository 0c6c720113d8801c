// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
)

// Usage is what profiles use of a cloud. [NewUsage] makes one.
type Usage struct {
	cloud *Cloud
	// images are those that a profile refers to, and types the machine types that one lists.
	images map[*inventory.Image]bool
	types  map[string]bool
}

// NewUsage returns the usage of a cloud by no profile.
func NewUsage(cloud *Cloud) *Usage {
	return &Usage{cloud, map[*inventory.Image]bool{}, map[string]bool{}}
}

// AddUsage adds what a profile uses: all machine types that it lists, and all images that its provider config refers to, also for versions
// that have expired or that core does not list. The spec is that of a CloudProfile or has the parts of a NamespacedCloudProfile.
func AddUsage[R any](usage *Usage, cloud provider.Provider[R], spec *v1beta1.CloudProfileSpec) {
	for i := range spec.MachineTypes {
		usage.types[spec.MachineTypes[i].Name] = true
	}
	if cloud == nil || spec.ProviderConfig == nil {
		return
	}
	config, _ := cloud.Decode(spec.ProviderConfig, field.NewPath("spec", "providerConfig"))
	for _, version := range entries.Mappings(config.Images) {
		for i := range version.Flavors {
			flavor := &version.Flavors[i]
			for k := range flavor.Regional {
				usage.refer(flavor.Regional[k].Ref, usage.cloud.regions[flavor.Regional[k].Region])
			}
			if flavor.Global == nil {
				continue
			}
			for _, name := range usage.cloud.names {
				usage.refer(flavor.Global.Ref, usage.cloud.regions[name])
			}
		}
	}
}

// refer marks the images that a reference has in a region.
func (u *Usage) refer(ref any, r *region) {
	referrer, is := ref.(inventory.Referrer)
	if !is || r == nil {
		return
	}
	images, _ := u.cloud.find(r, referrer.InInventory())
	for _, image := range images {
		u.images[image] = true
	}
}

// Unused is what no profile uses of a region.
type Unused struct {
	Region string
	// Images that no profile refers to, by name and then by ID, and MachineTypes that no profile offers, by name.
	Images       []*inventory.Image
	MachineTypes []*inventory.MachineType
}

// Unused returns what nobody uses, by the names of the regions. A cloud whose references nobody knows has no images in it.
func (u *Usage) Unused() (all []Unused) {
	for _, name := range u.cloud.names {
		r := u.cloud.regions[name]
		unused := Unused{Region: name}
		for i := range r.Images {
			if image := &r.Images[i]; u.cloud.described && !u.images[image] {
				unused.Images = append(unused.Images, image)
			}
		}
		for i := range r.MachineTypes {
			if t := &r.MachineTypes[i]; !u.types[t.Name] {
				unused.MachineTypes = append(unused.MachineTypes, t)
			}
		}
		slices.SortFunc(unused.Images, func(a, b *inventory.Image) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
		slices.SortFunc(unused.MachineTypes, func(a, b *inventory.MachineType) int { return cmp.Compare(a.Name, b.Name) })
		if len(unused.Images)+len(unused.MachineTypes) > 0 {
			all = append(all, unused)
		}
	}
	return all
}
