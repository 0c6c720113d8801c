// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package aws

import "github.com/capkit/capkit/pkg/inventory"

var _ inventory.Describer = Provider{}

// InInventory says that inventories have images by their AMIs.
func (i Image) InInventory() inventory.Ref { return inventory.Ref{ID: i.AMI, Field: "ami"} }

// DescribeInventories says that EC2 calls an image available that it boots. Root disks are volumes of any size.
func (Provider) DescribeInventories() inventory.Description {
	return inventory.Description{Active: []string{"available"}}
}
