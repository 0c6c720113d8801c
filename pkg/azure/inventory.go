// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"

	"github.com/capkit/capkit/pkg/inventory"
)

var _ inventory.Describer = Provider{}

// InInventory says that inventories have images by what refers to them, in any of the four ways.
func (i Image) InInventory() inventory.Ref {
	for _, w := range ways {
		if value := *w.in(&i); value != "" {
			return inventory.Ref{ID: value}
		}
	}
	return inventory.Ref{}
}

// DescribeInventories says that Azure calls an image succeeded that it boots, and tells no letters of IDs apart. Images of the marketplace
// are in no gallery, so that inventories mostly do not have them. Root disks are disks of any size.
func (Provider) DescribeInventories() inventory.Description {
	return inventory.Description{Active: []string{"succeeded"}, Key: imageKey, Foreign: ways[0].field}
}

// imageKey returns an ID in one case, and the way in which it names an image with what it is a version of: the lists of Azure have the
// versions of one image. No list has the one that is the latest when a machine is created.
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
