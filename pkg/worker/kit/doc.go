// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package kit has the parts that worker controllers of all clouds share, apart from the decision about images, which is package worker's. A
// delegate of Gardener's genericactuator combines them with the parts that only its cloud knows. Nothing in this package depends on a
// cloud. R is the provider's reference to an image; S is its WorkerStatus.
//
// In the order in which genericactuator calls a delegate:
//
//   - [Read] reads the seed's objects, past the cache. [Classes] returns the images of its machine classes, and [ClassesOf] a pool's classes.
//     Package worker's question needs both.
//   - [HashData] returns the inputs of machine class names besides those that Gardener hashes, so that every setting whose change replaces
//     machines is included. [DeploymentName] and [ClassName] make the names, [ClassLabels] and [SecretOf] the parts of a class, and
//     [DeploymentOf] the machine deployment.
//   - [Existing.Deploy] writes machine classes and secrets, or [Existing.PrepareDeletion] if the Worker is being deleted.
//   - [InFormat] and [PatchStatus] write the records of images, [ReadStatus] reads them, and [Memory] keeps them for a control plane migration.
//   - [Report] writes Events that tell the operator about a pool's image.
//   - [NewActuator] completes a deletion that genericactuator does not, and [WithoutEmptyPatches] keeps it from sending patches that change
//     nothing.
//
// The rules are those of semantics S14. Rules from Gardener or machine-controller-manager name their source.
package kit
