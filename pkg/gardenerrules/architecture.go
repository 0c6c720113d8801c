// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules

import (
	"slices"

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
	named := func(t v1beta1.MachineType) bool { return t.Name == worker.Machine.Type }
	if i := slices.IndexFunc(profile.MachineTypes, named); i >= 0 {
		if architecture := profile.MachineTypes[i].GetArchitecture(profile.MachineCapabilities); architecture != "" {
			return architecture
		}
	}
	return constants.ArchitectureAMD64
}
