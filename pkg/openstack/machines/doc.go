// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package machines is the worker controller for OpenStack: it turns the pools of a Worker into machine classes, their
// secrets and machine deployments, which machine-controller-manager makes machines of.
//
// Start reading at [AddToManager], which adds the controller; the flow is that of Gardener's genericactuator. What it
// writes is the same as what provider-openstack writes for the same input, names and hashes included, so that a seed can
// change from one to the other, and back, without replacing a node. The image of a pool is chosen by package worker
// (semantics S14).
package machines
