// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package consistency checks that a provider config agrees with the CloudProfile around it, and finds the image of a
// worker pool. It is what an extension author embeds: implement [Provider] for the cloud's wire format, and every check
// and every decision follows.
//
// Start reading at [Compile], which checks a CloudProfile and turns it into a [Profile]; [CheckCloudProfile] adds the
// warnings, [Profile.ResolvePool] answers for one worker pool and [Profile.CheckShoot] for all of a Shoot. What an update
// brings is for [Ratchet] and [CompareProfiles]; what follows from a provider config for [FillCloudProfile]. Of a
// NamespacedCloudProfile the same is compiled: [CheckNamespacedCloudProfile] checks it, [RenderConfig] renders its provider
// config. What workers can ask for a provider says with [WorkersOf], and [CheckProvider] finds what is
// wrong with that. The rules, with their stable names, are in [Rules]; what they mean is decided in S3 and S6 to S13 of
// docs/semantics.md.
//
// The package is pure: no client, no context, no clock but gardener's own for expired versions, no logs. It mutates
// nothing that it is given. It knows no provider: whatever is particular to a cloud comes through [Provider].
package consistency
