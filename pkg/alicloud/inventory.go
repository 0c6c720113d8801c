// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package alicloud

import "github.com/capkit/capkit/pkg/inventory"

var _ inventory.Describer = Provider{}

// InInventory says that inventories have images by their IDs.
func (i Image) InInventory() inventory.Ref { return inventory.Ref{ID: i.ID, Field: "id"} }

// DescribeInventories says that ECS calls an image available that it boots. Root disks are disks of any size.
func (Provider) DescribeInventories() inventory.Description {
	return inventory.Description{Active: []string{"available"}}
}
