// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package cluster reads the profiles and Shoots of a garden from its API server, for commands that otherwise read manifests. It writes
// nothing, and watches nothing.
//
// Start reading at [Open], which finds the cluster of a kubeconfig, and at [Reader.Read]. Objects are typed, and arrive in pages, as
// protobuf. Before the next page is requested, fields that no command needs are dropped (objects.go), so that the memory for 20,000 Shoots
// is that of their specs. errors.go explains failures in words.
//
// This package does not know what commands do with the objects.
package cluster
