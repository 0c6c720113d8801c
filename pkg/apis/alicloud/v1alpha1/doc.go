// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the objects of the AliCloud extension that are about images, as operators write them inside Gardener's
// own objects: [CloudProfileConfig] (spec.providerConfig of a CloudProfile or NamespacedCloudProfile) and [WorkerStatus] (status
// of a Worker). Worker pools have no config of their own.
//
// The package has types, defaults and registration; it checks nothing. An object that is decoded without defaulting and
// encoded again says the same as before. testdata/upstream.txt lists the fields that the extension has, and in which version.
//
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +groupName=alicloud.provider.extensions.gardener.cloud
package v1alpha1
