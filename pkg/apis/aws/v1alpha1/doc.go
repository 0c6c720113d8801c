// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the objects of the AWS extension that are about images, as operators and users write them inside
// Gardener's own objects: [CloudProfileConfig] (spec.providerConfig of a CloudProfile or NamespacedCloudProfile),
// [WorkerConfig] (providerConfig of a worker pool in a Shoot) and [WorkerStatus] (status of a Worker).
//
// The package has types, defaults and registration; it checks nothing. An object that is decoded without defaulting and
// encoded again says the same as before. testdata/upstream.txt lists the fields that the extension has, and in which version.
//
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +groupName=aws.provider.extensions.gardener.cloud
package v1alpha1
