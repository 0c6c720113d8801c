// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package provider is what the author of a Gardener extension writes against: [Provider] reads and writes the images of a
// cloud's CloudProfileConfig, and [WorkersOf] says what its worker pools can ask for. Everything else follows from these:
// checks, selection, rendering, webhooks and the command line.
//
// Start reading at [Provider]. What a provider can do besides is an interface of its own, which it implements or leaves
// out: [RuleDescriber], [ShootUpdateValidator], [CredentialsValidator], [ListExtender]. Decoders find [Decode] and
// ready-made findings here; [Check] finds what is wrong with a provider itself.
//
// The package decides nothing: checks are in package consistency.
package provider
