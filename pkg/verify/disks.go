// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// disks reports images that need a larger disk than the machine types on which they are chosen have. images has the images of each flavor,
// by region.
func (v *verifier[R]) disks(id provider.ImageVersion, images []map[string]booted) {
	if v.OwnDisk == nil {
		return
	}
	for _, r := range v.known {
		largest := int64(0)
		for _, byRegion := range images {
			largest = max(largest, needs(byRegion[r.Name]))
		}
		small := v.tooSmall(id, r, images, largest)
		for flavor, types := range small {
			if len(types) == 0 {
				continue
			}
			b := images[flavor][r.Name]
			says := fmt.Sprintf(" needs a disk of %d GiB, and is chosen where there is less: for machine %s %s", needs(b),
				words.Plural(types, "type"), words.Few(types))
			v.claims.add(claim{
				rule: ruleImageDisk, kind: field.ErrorTypeInvalid, at: b.at, value: b.value, subject: finding.Subject{Image: id.Image, Version: id.Version},
				what: id.String() + ": image " + words.Quoted(shown(b.Image)), about: says, hint: says,
			}, r.Name)
		}
	}
}

// needs returns the required disk size in GiB, or 0 if it is unknown or there is no image.
func needs(b booted) int64 {
	if b.Image == nil {
		return 0
	}
	return ptr.Deref(b.MinDiskGiB, 0)
}

// tooSmall returns, for each flavor, the machine types of a region on which it is chosen, although their disk is too small for its image.
// largest is an upper bound of the required sizes.
func (v *verifier[R]) tooSmall(id provider.ImageVersion, r *region, images []map[string]booted, largest int64) [][]string {
	small := make([][]string, len(images))
	for _, name := range v.profile.Usable() {
		machine, _ := v.profile.Machine(name)
		of := r.types[name]
		if of == nil || ptr.Deref(of.DiskGiB, 0) == 0 || *of.DiskGiB >= largest || !v.OwnDisk(machine.Written) {
			continue
		}
		pool := provider.Pool{Image: id.Image, Version: id.Version, MachineType: name, Region: r.Name}
		chosen := v.profile.Catalog().Choose(v.profile.AskBriefly(pool).Request)
		if chosen >= 0 && chosen < len(images) && *of.DiskGiB < needs(images[chosen][r.Name]) {
			small[chosen] = append(small[chosen], fmt.Sprintf("%s (%d GiB)", name, *of.DiskGiB))
		}
	}
	return small
}
