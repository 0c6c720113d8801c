// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package aws

import "github.com/capkit/capkit/pkg/inventory"

var _ inventory.Describer = Provider{}

// InInventory returns the AMI, which identifies the image in inventories.
func (i Image) InInventory() inventory.Ref { return inventory.Ref{ID: i.AMI, Field: "ami"} }

// DescribeInventories describes inventories of EC2. A bootable image has the status available. Root disks are volumes of any size.
func (Provider) DescribeInventories() inventory.Description {
	return inventory.Description{Active: []string{"available"}}
}
