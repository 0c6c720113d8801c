// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package cluster reads the profiles and Shoots of a garden from its API server, for commands that take them from
// manifests otherwise. It only lists: nothing is written, and nothing is watched.
//
// Start reading at [Open], which finds the cluster that a kubeconfig names, and [Reader.Read]. Objects come typed, page
// by page and as protobuf, and what no command looks at is dropped from each page before the next one is asked for
// (objects.go), so that the memory for 20,000 Shoots is that of their specs. errors.go puts into words what is in the way.
//
// Nothing here knows what commands do with the objects.
package cluster
