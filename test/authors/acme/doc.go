// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package acme is the example of docs/authors: a Provider for an invented cloud,
// whose images are known by a template ID of their own in each region. It shows all that an extension author writes.
//
// Start reading at types.go, the wire format. provider.go reads and writes it, settings.go says what a worker pool asks
// for, and rules.go what is checked besides images. webhook.go is for an extension that embeds the checks, package machines is its worker
// controller; capkit-acme is the command, gardener-extension-admission-acme the admission component.
//
// +k8s:deepcopy-gen=package
package acme
