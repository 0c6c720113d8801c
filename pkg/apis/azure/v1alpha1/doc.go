// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the objects that operators and users of the Azure provider write, or read, inside Gardener's own
// objects, as far as machine images and worker pools go: [CloudProfileConfig] (spec.providerConfig of a CloudProfile or
// NamespacedCloudProfile), [WorkerConfig] (providerConfig of a worker pool in a Shoot) and [WorkerStatus] (status of a
// Worker). They have the fields that provider-azure v1.63 reads.
//
// The package has types, defaults and registration; it checks nothing. An object that is decoded without defaulting and
// encoded again says the same as before: what was absent stays absent, what was written as false, "" or [] stays there.
// Quantities may change their spelling, not their meaning (1000m becomes 1).
//
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +groupName=azure.provider.extensions.gardener.cloud
package v1alpha1
