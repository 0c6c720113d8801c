// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package alicloud

import "github.com/capkit/capkit/pkg/inventory"

var _ inventory.Describer = Provider{}

// InInventory returns the image's ID, which identifies it in inventories.
func (i Image) InInventory() inventory.Ref { return inventory.Ref{ID: i.ID, Field: "id"} }

// DescribeInventories describes inventories of ECS. A bootable image has the status available. Root disks can have any size.
func (Provider) DescribeInventories() inventory.Description {
	return inventory.Description{Active: []string{"available"}}
}
