// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package admission is a Gardener admission component for a provider.Provider: webhooks that validate CloudProfiles,
// NamespacedCloudProfiles and Shoots, that fill in core flavors, and that merge provider configs into the status of
// NamespacedCloudProfiles, with the command that serves them.
//
// It is the only package that knows the webhooks of controller-runtime and Gardener, and clients. It contains no rule about
// images: what is right is for consistency to say, and this package only fetches what a check needs and puts what it found
// into a response. Start reading at webhooks.go, the table of all webhooks; an extension author calls [NewCommand] and
// needs nothing else.
package admission
