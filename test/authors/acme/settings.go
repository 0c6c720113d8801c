// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"strings"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

const (
	// ConfidentialMemory is the worker capability by which an image says that it runs in a machine whose memory is encrypted.
	ConfidentialMemory = "acme-confidential"
	// Enclave is the worker capability by which an image says that it has a driver for the enclave of machine types x.*.
	Enclave = "acme-enclave"
	// DataDisks is the worker capability by which a machine type says whether data volumes can be attached to it. Images do not matter.
	DataDisks = "acme-dataDisks"
)

// workers says what a worker pool asks for. An image that does not declare a capability does not have it, unless that is asked of
// machine types only.
var workers = provider.WorkersOf(provider.WorkerConfig[WorkerConfig]{
	Kind: configKind.GroupVersion().WithKind("WorkerConfig"),
	Capabilities: []capability.Definition{
		{Name: ConfidentialMemory, Values: []string{"enabled", "disabled"}, Undeclared: "disabled"},
		{Name: Enclave, Values: []string{"supported", "none"}, Undeclared: "none", OnlyIfRegistered: true},
		{Name: DataDisks, Values: []string{"supported", "none"}, Undeclared: "supported", MachineTypesOnly: true},
	},
	Requests: []provider.Request[WorkerConfig]{{
		Setting: "confidential.enabled: true", Field: "confidential", Capability: ConfidentialMemory, Values: []string{"enabled"},
		Asks: func(_ *provider.Pool, config *WorkerConfig) bool {
			return config.Confidential != nil && config.Confidential.Enabled
		},
	}, {
		Setting: "machine type x.*", PoolField: "machine.type", Capability: Enclave, Values: []string{"supported"},
		Asks: func(pool *provider.Pool, _ *WorkerConfig) bool { return strings.HasPrefix(pool.MachineType, "x.") },
	}, {
		Setting: "dataVolumes", PoolField: "dataVolumes", Capability: DataDisks, Values: []string{"supported"},
		Asks: func(pool *provider.Pool, _ *WorkerConfig) bool { return len(pool.DataVolumes) > 0 },
	}},
	RollingUpdate: []provider.Trigger[WorkerConfig]{{
		Field: "confidential", Value: func(config *WorkerConfig) string {
			if config.Confidential == nil || !config.Confidential.Enabled {
				return ""
			}
			return "enabled"
		},
	}},
})

// Workers returns what a worker pool asks for.
func (Provider) Workers() provider.Workers { return workers }
