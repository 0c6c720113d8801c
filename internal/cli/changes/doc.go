// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package changes says what an update of a CloudProfile or NamespacedCloudProfile does: to each image version, machine type
// and region, and to the worker pools of the Shoots that use it. Every answer is that of another package: what a worker
// pool boots and what locks a Shoot is that of package update.
// Here they are asked about all there is, before and after the update, and what changes is sorted by its kind.
//
// Start reading at [Update.Plan], which is about the inputs of a command. [Of] is about compiled profiles; [InUse] and
// [inUseNamespaced] are about what Gardener refuses because somebody uses it.
package changes
