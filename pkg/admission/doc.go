// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package admission is a Gardener admission component for a provider.Provider: webhooks that validate CloudProfiles,
// NamespacedCloudProfiles, Shoots and their credentials, that fill in core flavors, and that merge provider configs
// into the status of NamespacedCloudProfiles, with the command that serves them.
//
// It is the only package, with internal/serving, that serves webhooks and talks to an API server. It contains no rule about images: package
// check says what is right, package ratchet what an update may keep, and package render what is rendered. This
// package fetches what they need and puts what they found into a response. An extension author calls [NewCommand] and
// needs nothing else. One that has an admission command already calls [Switches].
//
// Start reading at webhooks.go, the table of all webhooks. A request comes by package internal/serving, which may refuse it, and
// handle.go, which decodes and answers it. Between these are check.go, retyped.go, credentials.go and mutateshoot.go, one part
// of the table each; lookup.go and profiles.go find what they need. What the process does besides is in command.go,
// registration.go, metrics.go and internal/serving; what another process needs instead in embedding.go.
package admission
