// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package acme is the example of docs/extension-authors.md and docs/worker-settings.md: a Provider for an invented cloud,
// whose images are known by a template ID of their own in each region. It shows all that an extension author writes.
//
// Start reading at types.go, the wire format; provider.go implements provider.Provider, settings.go the part of it
// that says what a worker pool asks for, and rules.go what is checked beside images; webhook.go and worker.go ask it;
// capkit-acme is the command.
//
// +k8s:deepcopy-gen=package
package acme
