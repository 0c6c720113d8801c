// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package azure

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capkit/capkit/pkg/apis/azure/v1alpha1"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/provider"
)

const (
	// Networking is an ordinary capability, which no worker pool requests: accelerated networking of machines and images. The legacy field
	// acceleratedNetworking implies it.
	Networking = "azure-networking"
	// ConfidentialVM is the worker capability of images that boot on confidential machines.
	ConfidentialVM = "azure-confidentialVM"
)

// The values of Networking.
const (
	networkingAccelerated = "accelerated"
	networkingBasic       = "basic"
)

// confidential are the prefixes, in lower case, of machine types that the extension creates as confidential machines. It uses only the
// name, whatever else a machine type can do.
var confidential = []string{"standard_dc", "standard_ec"}

// workers defines the requests of a worker pool. An image that does not declare ConfidentialVM does not boot on confidential machines.
var workers = provider.WorkersOf(provider.WorkerConfig[v1alpha1.WorkerConfig]{
	Kind:      schema.GroupVersion(v1alpha1.GroupVersion).WithKind("WorkerConfig"),
	KnownUpTo: "provider-azure v1.63",
	Capabilities: []capability.Definition{
		{Name: ConfidentialVM, Values: []string{"enabled", "disabled"}, Undeclared: "disabled", OnlyIfRegistered: true},
	},
	Requests: []provider.Request[v1alpha1.WorkerConfig]{{
		Setting: "machine type Standard_DC* or Standard_EC*", PoolField: "machine.type",
		Capability: ConfidentialVM, Values: []string{"enabled"},
		Asks: func(pool *provider.Pool, _ *v1alpha1.WorkerConfig) bool {
			name := strings.ToLower(pool.MachineType)
			return strings.HasPrefix(name, confidential[0]) || strings.HasPrefix(name, confidential[1])
		},
	}},
})

// Workers returns the requests of a worker pool.
func (Provider) Workers() provider.Workers { return workers }
