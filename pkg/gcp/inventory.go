// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gcp

import (
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
)

var _ inventory.Describer = Provider{}

// formForeign is the form of what is in no list of images: a family, or an image of the Shoot's own project.
const formForeign = "foreign"

// InInventory says that inventories have images by their paths.
func (i Image) InInventory() inventory.Ref { return inventory.Ref{ID: i.Image} }

// DescribeInventories says that Compute Engine calls an image ready that it boots, and which paths are the same. Families, and images of
// projects that only a Shoot knows, are in no list of images. Root disks are disks of any size.
func (Provider) DescribeInventories() inventory.Description {
	return inventory.Description{Active: []string{"ready"}, Key: imageKey, Foreign: formForeign}
}

// imageKey returns the path of an image without what the URL of the API has before it. The form is its project: a list has the images of
// some projects.
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
