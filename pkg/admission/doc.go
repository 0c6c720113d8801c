// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package admission is a Gardener admission component for a [provider.Provider]. Its webhooks validate CloudProfiles,
// NamespacedCloudProfiles, Shoots and their credentials, fill in core flavors, and merge provider configs into the status of
// NamespacedCloudProfiles. The package also contains the command that serves them.
//
// Webhooks are served, and objects read for them, only here and in internal/serving. The package contains no rule about images: package
// check decides what is valid, package ratchet what an update may keep, and package render what is rendered. This package fetches their
// inputs and turns their results into responses. An extension author calls [NewCommand], or [Switches] to add the webhooks to an existing
// admission command.
//
// Start reading at webhooks.go, the table of all webhooks. A request first passes package internal/serving, which may refuse it, and then
// handle.go, which decodes and answers it. The rows of the table are implemented in check.go, retyped.go, credentials.go and
// mutateshoot.go; they read objects through lookup.go and profiles.go. The rest of the process is in command.go, registration.go,
// metrics.go and internal/serving. embedding.go is for processes that have a command of their own.
package admission
