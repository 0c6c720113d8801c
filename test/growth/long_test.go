// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package growth

func init() { clouds = append(clouds, []string{"alicloud", "aws", "azure", "gcp"}) }
