// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"cmp"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
)

// Architecture returns the architecture that Gardener gives a worker pool: the pool's own if it names one, otherwise its machine type's, or
// amd64 if the machine type is unknown or has several.
//
// It is the rule of defaultWorkerArchitectures (plugin/pkg/shoot/mutator).
func Architecture(profile *v1beta1.CloudProfileSpec, worker *v1beta1.Worker) string {
	if worker.Machine.Architecture != nil {
		return *worker.Machine.Architecture
	}
	architecture := ""
	if machineType := FindMachineType(profile, worker.Machine.Type); machineType != nil {
		architecture = machineType.GetArchitecture(profile.MachineCapabilities)
	}
	return cmp.Or(architecture, constants.ArchitectureAMD64)
}
