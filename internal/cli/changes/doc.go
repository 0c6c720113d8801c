// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package changes computes the effects of an update of a CloudProfile or NamespacedCloudProfile: on each image
// version, machine type and region, and on the worker pools of the Shoots that use it. It makes no decisions itself.
// Package update decides, for example, which image a worker pool boots and what locks a Shoot. This package calls it
// for the profile before and after the update, and sorts the changes by kind.
//
// Start reading at [Update.Plan], which works on a command's inputs. [Of] works on compiled profiles. [inUse] and
// [inUseNamespaced] return what Gardener refuses because it is in use.
package changes
