// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package verify has the command verify, which compares profiles with inventories of their clouds.
package verify
