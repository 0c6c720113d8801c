// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/provider"
)

// ConfidentialMemory is the worker capability by which an image says that it runs in a machine whose memory is encrypted.
const ConfidentialMemory = "acme-confidential"

// workers says what a WorkerConfig asks for. An image that does not declare the capability does not run in such a machine.
var workers = consistency.WorkersOf(
	configKind.GroupVersion().WithKind("WorkerConfig"),
	[]capability.Definition{{Name: ConfidentialMemory, Values: []string{"enabled", "disabled"}, Undeclared: "disabled"}},
	capability.Rules[WorkerConfig]{{
		Setting: "confidential.enabled: true", Field: "confidential", Capability: ConfidentialMemory, Values: []string{"enabled"},
		Asks: func(config *WorkerConfig) bool {
			return config.Confidential != nil && config.Confidential.Enabled
		},
	}},
)

// Workers returns what a WorkerConfig asks for.
func (Provider) Workers() provider.Workers { return workers }
