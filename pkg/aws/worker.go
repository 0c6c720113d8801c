// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package aws

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/aws/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

// The worker capabilities. They apply only if a profile registers them, because the settings that request them are older.
const (
	// AMDSEVSNP is the worker capability of images that boot on machines with AMD SEV-SNP.
	AMDSEVSNP = "aws-amdSevSnp"
	// EFA is the worker capability of images with a driver for Elastic Fabric Adapters.
	EFA = "aws-efa"
	// IMDS is the worker capability for the versions of the metadata service that an image uses. An image that does not declare it uses
	// version 2, as all recent ones do.
	IMDS = "aws-imds"
)

// workers defines the requests of a WorkerConfig.
var workers = provider.WorkersOf(provider.WorkerConfig[v1alpha1.WorkerConfig]{
	Kind:      schema.GroupVersion(v1alpha1.GroupVersion).WithKind("WorkerConfig"),
	KnownUpTo: "provider-aws v1.74",
	Capabilities: []capability.Definition{
		{Name: AMDSEVSNP, Values: []string{"enabled", "disabled"}, Undeclared: "disabled", OnlyIfRegistered: true},
		{Name: EFA, Values: []string{"enabled", "disabled"}, Undeclared: "disabled", OnlyIfRegistered: true},
		{Name: IMDS, Values: []string{"v2", "v1"}, Undeclared: "v2", OnlyIfRegistered: true},
	},
	Requests: []provider.Request[v1alpha1.WorkerConfig]{{
		Setting: "cpuOptions.amdSevSnp: enabled", Field: "cpuOptions", Capability: AMDSEVSNP, Values: []string{"enabled"},
		Asks: func(_ *provider.Pool, config *v1alpha1.WorkerConfig) bool {
			return config.CPUOptions != nil && ptr.Deref(config.CPUOptions.AMDSEVSNP, "") == v1alpha1.AMDSEVSNPEnabled
		},
	}, {
		Setting: "networkInterfaces[].type: efa", Field: "networkInterfaces", Capability: EFA, Values: []string{"enabled"},
		Asks: func(_ *provider.Pool, config *v1alpha1.WorkerConfig) bool {
			return slices.ContainsFunc(config.NetworkInterfaces, func(i v1alpha1.NetworkInterface) bool {
				kind := ptr.Deref(i.Type, "")
				return kind == v1alpha1.NetworkInterfaceTypeEFA || kind == v1alpha1.NetworkInterfaceTypeEFAOnly
			})
		},
	}, {
		Setting: "instanceMetadataOptions.httpTokens: required", Field: "instanceMetadataOptions", Capability: IMDS, Values: []string{"v2"},
		Asks: func(_ *provider.Pool, config *v1alpha1.WorkerConfig) bool {
			options := config.InstanceMetadataOptions
			return options != nil && ptr.Deref(options.HTTPTokens, "") == v1alpha1.HTTPTokensRequired
		},
	}},
})

// Workers returns the requests of a WorkerConfig of group aws.provider.extensions.gardener.cloud.
func (Provider) Workers() provider.Workers { return workers }
