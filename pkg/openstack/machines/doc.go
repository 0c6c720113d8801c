// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package machines is the worker controller for OpenStack. It turns the pools of a Worker into machine classes, their secrets and machine
// deployments, from which machine-controller-manager creates machines.
//
// Start reading at [AddToManager], which adds the controller; the control flow is that of Gardener's genericactuator. The controller
// writes the same objects as provider-openstack for the same input, including names and hashes. A seed can therefore switch between the
// two controllers, in both directions, without replacing nodes. Package worker chooses the image of a pool (semantics S14), so this
// package contains no rule about images.
package machines
