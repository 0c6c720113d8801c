// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
)

var _ inventory.Describer = Provider{}

// InInventory returns the image's ID or URN, in whichever of the four ways it is named, which identifies it in inventories.
func (i Image) InInventory() inventory.Ref {
	for _, w := range ways {
		if value := *w.in(&i); value != "" {
			return inventory.Ref{ID: value}
		}
	}
	return inventory.Ref{}
}

// DescribeInventories describes inventories of Azure. A bootable image has the status succeeded. IDs are compared without case. Most
// inventories lack images of the marketplace, because these are in no gallery. Root disks can have any size.
func (Provider) DescribeInventories() inventory.Description {
	return inventory.Description{Active: []string{"succeeded"}, Key: imageKey, Foreign: ways[0].field}
}

// imageKey returns an ID in lower case. The form is the way in which it names an image, and the image without its version, because Azure
// lists the versions of one image. No list has a version latest, which is resolved when a machine is created.
func imageKey(id string) (key, form string) {
	key = strings.ToLower(id)
	for _, w := range ways {
		if !w.begins.MatchString(id) {
			continue
		}
		if end := strings.LastIndexAny(key, "/:"); key[end+1:] != "latest" {
			return key, w.field + " " + key[:end]
		}
		return key, w.field + " latest"
	}
	return key, ""
}
