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
	// Networking is an ordinary capability, which no worker pool asks for: it says whether machines, and images, can have
	// accelerated networking. The legacy field acceleratedNetworking implies it.
	Networking = "azure-networking"
	// ConfidentialVM is the worker capability by which an image says that it boots on confidential machines.
	ConfidentialVM = "azure-confidentialVM"
)

// The values of Networking.
const (
	networkingAccelerated = "accelerated"
	networkingBasic       = "basic"
)

// confidential are the beginnings of the machine types, in small letters, whose machines the extension creates as confidential
// ones. It goes by the name, and so it does not matter what a machine type can do besides.
var confidential = []string{"standard_dc", "standard_ec"}

// workers says what a worker pool asks for. An image that does not declare that it boots on confidential machines does not.
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

// Workers returns what a worker pool asks for.
func (Provider) Workers() provider.Workers { return workers }
