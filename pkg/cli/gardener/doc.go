// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package gardener runs Gardener's own code on manifests: its defaults, its validation, and one admission plugin of its
// API server. The version of that code is the one in go.mod.
//
// It is the only package of the command with Gardener's API server among its imports, which is most of the program. All functions take and return objects of version v1beta1, change none of them, and may be called
// concurrently.
//
// Start reading at [Validate]; namespaced.go is about NamespacedCloudProfiles and their parents.
package gardener
