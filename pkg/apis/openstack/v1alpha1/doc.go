// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the objects that operators and users of the OpenStack provider write, or read, inside
// Gardener's own objects: [CloudProfileConfig] (spec.providerConfig of a CloudProfile or NamespacedCloudProfile),
// [WorkerConfig] (providerConfig of a worker pool in a Shoot) and [WorkerStatus] (status of a Worker).
//
// The package has types, defaults and registration; it checks nothing. An object that is decoded without defaulting and
// encoded again says the same as before: what was absent stays absent, what was written as false, "" or [] stays there.
// Hence optional scalars are pointers and lists are omitzero rather than omitempty. Two values change their spelling,
// not their meaning: durations (60s becomes 1m0s) and quantities (1000m becomes 1).
//
// Start reading at types_cloudprofile.go; defaults.go says what an absent field means where absence has a value.
//
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +groupName=openstack.provider.extensions.gardener.cloud
package v1alpha1
