// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
)

var _ inventory.Describer = Provider{}

// formForeign is the form of images that no list has: image families, and images of the Shoot's own project.
const formForeign = "foreign"

// InInventory returns the image's path, which identifies it in inventories.
func (i Image) InInventory() inventory.Ref { return inventory.Ref{ID: i.Image} }

// DescribeInventories describes inventories of Compute Engine. A bootable image has the status ready. Different spellings of a path have
// the same key. No list has families, or images of projects that only a Shoot knows. Root disks can have any size.
func (Provider) DescribeInventories() inventory.Description {
	return inventory.Description{Active: []string{"ready"}, Key: imageKey, Foreign: formForeign}
}

// imageKey returns the path of an image, without the API's URL before it. The form is its project, because a list has the images of some
// projects only.
func imageKey(id string) (key, form string) {
	if i := strings.Index(id, "projects/"); i >= 0 {
		id = id[i:]
	}
	project, _, found := strings.Cut(id, "/global/images/")
	if !found || !strings.HasPrefix(id, "projects/") || strings.Contains(id, "/images/family/") {
		return id, formForeign
	}
	return id, project
}
