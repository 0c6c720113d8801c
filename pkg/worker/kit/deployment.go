// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"maps"

	extensionsworker "github.com/gardener/gardener/extensions/pkg/controller/worker"
	"github.com/gardener/gardener/extensions/pkg/controller/worker/genericactuator"
	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	extensionsv1alpha1helper "github.com/gardener/gardener/pkg/api/extensions/v1alpha1/helper"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"k8s.io/utils/ptr"
)

// DeploymentOf returns a pool's machine deployment in one of its zones, by the zone's index in the pool. class is the name of its machine
// class and secret. A pool without zones is distributed as if it had one.
//
// Gardener's worker library distributes machines and percentages over the zones. It panics if a percentage is invalid or has very many
// digits, which a Shoot may contain: refuse such a pool before. The labels, which nodes get, are a copy of the pool's and never nil. Add
// those of the cloud, such as the zone under the volume plugin's name. Annotations and taints are shared with the pool.
func DeploymentOf(pool *extensionsv1alpha1.WorkerPool, name, class string, zone int) extensionsworker.MachineDeployment {
	index, zones := int32(zone), max(1, int32(len(pool.Zones)))
	var preserved int32
	if settings := pool.MachineControllerManagerSettings; settings != nil {
		preserved = ptr.Deref(settings.AutoPreserveFailedMachineMax, 0)
	}
	labels := map[string]string{}
	maps.Copy(labels, pool.Labels)
	return extensionsworker.MachineDeployment{
		Name: name, PoolName: pool.Name, ClassName: class, SecretName: class,
		Minimum:  extensionsworker.DistributeOverZones(index, pool.Minimum, zones),
		Maximum:  extensionsworker.DistributeOverZones(index, pool.Maximum, zones),
		Priority: pool.Priority, Strategy: strategyOf(pool, index, zones),
		Labels: labels, Annotations: pool.Annotations, Taints: pool.Taints,
		MachineConfiguration:         genericactuator.ReadMachineConfiguration(*pool),
		ClusterAutoscalerAnnotations: extensionsv1alpha1helper.GetMachineDeploymentClusterAutoscalerAnnotations(pool.ClusterAutoscaler),
		AutoPreserveFailedMachineMax: extensionsworker.DistributeOverZones(index, preserved, zones),
	}
}

// strategyOf returns the update strategy of a pool's machines in a zone.
func strategyOf(pool *extensionsv1alpha1.WorkerPool, zone, zones int32) machinev1alpha1.MachineDeploymentStrategy {
	update := machinev1alpha1.UpdateConfiguration{
		MaxUnavailable: ptr.To(extensionsworker.DistributePositiveIntOrPercent(zone, pool.MaxUnavailable, zones, pool.Minimum)),
		MaxSurge:       ptr.To(extensionsworker.DistributePositiveIntOrPercent(zone, pool.MaxSurge, zones, pool.Maximum)),
	}
	orchestration := machinev1alpha1.OrchestrationTypeAuto
	switch {
	case v1beta1helper.IsUpdateStrategyManualInPlace(pool.UpdateStrategy):
		orchestration = machinev1alpha1.OrchestrationTypeManual
	case !v1beta1helper.IsUpdateStrategyInPlace(pool.UpdateStrategy):
		return machinev1alpha1.MachineDeploymentStrategy{
			Type:          machinev1alpha1.RollingUpdateMachineDeploymentStrategyType,
			RollingUpdate: &machinev1alpha1.RollingUpdateMachineDeployment{UpdateConfiguration: update},
		}
	}
	return machinev1alpha1.MachineDeploymentStrategy{
		Type: machinev1alpha1.InPlaceUpdateMachineDeploymentStrategyType,
		InPlaceUpdate: &machinev1alpha1.InPlaceUpdateMachineDeployment{
			UpdateConfiguration: update, OrchestrationType: orchestration,
		},
	}
}
