// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package kit is what the worker controllers of all clouds have in common beside the decision about images, which is that of
// package worker: the delegate of Gardener's genericactuator is put together of it and of what only the cloud knows. Nothing in
// it knows a cloud. R is the provider's reference to an image, as everywhere; S is its WorkerStatus.
//
// In the order in which genericactuator calls a delegate:
//
//   - [Read] reads what the seed has, past the cache. [Classes] says what its machine classes boot, and [ClassesOf] which of them
//     are a pool's: the question of package worker needs both.
//   - [HashData] is what the names of machine classes depend on besides what Gardener hashes, so that every setting whose change
//     replaces machines does. [DeploymentName] and [ClassName] make the names, [ClassLabels] and [SecretOf] what belongs to a
//     class, [DeploymentOf] the machine deployment.
//   - [Existing.Deploy] writes machine classes and secrets; [Existing.PrepareDeletion] does if the Worker is being deleted.
//   - [InFormat] and [PatchStatus] write the records of images, [ReadStatus] reads them, and [Memory] keeps them for a control
//     plane migration.
//   - [Report] writes Events of what an operator should know of the image of a pool.
//   - [NewActuator] ends a deletion that genericactuator does not, and [WithoutEmptyPatches] has it send no patches that change nothing.
//
// The rules are those of S14 of docs/semantics.md. Where they come from Gardener or machine-controller-manager, each says so.
package kit
