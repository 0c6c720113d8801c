// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package verify is the command verify: whether profiles describe their clouds, by inventories.
package verify
