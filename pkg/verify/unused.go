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

// Usage records the parts of a cloud that profiles use. [NewUsage] makes one.
type Usage struct {
	cloud *Cloud
	// images are those that a profile refers to. types are the machine types that a profile lists.
	images map[*inventory.Image]bool
	types  map[string]bool
}

// NewUsage returns an empty usage of a cloud.
func NewUsage(cloud *Cloud) *Usage {
	return &Usage{cloud, map[*inventory.Image]bool{}, map[string]bool{}}
}

// AddUsage adds the machine types that a profile lists, and the images in its provider config, including those of versions that have
// expired or that core does not list. spec may be a NamespacedCloudProfile's own definitions. If cloud is nil, only machine types are
// added.
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

// refer marks the images of a reference in a region.
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

// Unused has the parts of a region that no profile uses.
type Unused struct {
	Region string
	// Images are those that no profile refers to, by name and then by ID. MachineTypes are those that no profile lists, by name.
	Images       []*inventory.Image
	MachineTypes []*inventory.MachineType
}

// Unused returns the unused parts of the cloud, sorted by region. If the provider describes no inventories, images are left out.
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
