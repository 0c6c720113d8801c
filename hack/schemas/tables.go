// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"

// specials are types that decode themselves, by the names of their definitions.
var specials = map[string]schema{
	"meta.RawExtension": {},
	// The entries of capabilityFlavors in core are maps, which their type embeds.
	"MachineImageFlavor": {
		Description:          "The capabilities of one flavor of a machine image version: lists of values by name.",
		Type:                 []string{"object", "null"},
		AdditionalProperties: &schema{Ref: "#/definitions/CapabilityValues"},
	},
	"meta.Time":        {Type: []string{"string", "null"}, Format: "date-time"},
	"meta.MicroTime":   {Type: []string{"string", "null"}, Format: "date-time"},
	"meta.IntOrString": {Type: []string{"integer", "string", "null"}},
	"meta.Quantity": {
		Type:                []string{"string", "number", "null"},
		Pattern:             `^\s*[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?\s*$`,
		PatternErrorMessage: "This is no quantity: write a number, perhaps with a unit, as in 16Gi or 500m.",
	},
	"meta.Duration": {
		Type:                []string{"string", "null"},
		Pattern:             `^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`,
		PatternErrorMessage: "This is no duration: write numbers with units, as in 1h30m or 10s.",
	},
}

// anything has fields that lint does not check, because Gardener writes them.
var anything = map[string]bool{
	"CloudProfile.status": true, "NamespacedCloudProfile.status": true, "Shoot.status": true,
	"meta.ObjectMeta.managedFields": true,
}

// open has types with constants that accept other values as well.
//
// Several expanders may be joined with commas; for the other types no example shows that lint refuses a wrong value.
var open = map[string]bool{"ExpanderMode": true, "CoreDNSAutoscalingMode": true, "meta.LabelSelectorOperator": true}

// valuesAt returns the allowed values of a field whose Go type does not limit them; nil for any other field. The absent kind of a reference
// may be written as an empty one.
func valuesAt(owner, name string) []any {
	switch {
	case name == "architecture", name == "architectures":
		return []any{v1beta1constants.ArchitectureAMD64, v1beta1constants.ArchitectureARM64, nil}
	case owner == "CloudProfileReference" && name == "kind":
		return []any{v1beta1constants.CloudProfileReferenceKindCloudProfile, v1beta1constants.CloudProfileReferenceKindNamespacedCloudProfile, "", nil}
	}
	return nil
}

// optional has fields that are required by the Go types, but not by Gardener or the extension: their absence is their zero value.
var optional = map[string]bool{
	"Addon.enabled": true, "CapabilityDefinition.values": true, "CloudProfileReference.kind": true, "CloudProfileSpec.kubernetes": true, "InPlaceUpdates.supported": true,
	"MachineImage.versions": true, "MachineType.cpu": true, "MachineType.gpu": true, "MachineType.memory": true,
	"MachineTypeStorage.class": true, "ShootSpec.kubernetes": true, "MachineTypeStorage.type": true, "Worker.minimum": true,
	"local.LoadBalancer.image": true, "local.MachineImageVersion.capabilityFlavors": true, "azure.DomainCount.count": true, "extensions.NodeTemplate.capacity": true, "gcp.GPU.acceleratorType": true, "gcp.GPU.count": true,
	"alicloud.MachineImages.versions": true, "aws.MachineImages.versions": true, "azure.MachineImages.versions": true,
	"gcp.MachineImages.versions": true, "local.MachineImages.versions": true, "openstack.MachineImages.versions": true,
	// For these, no example shows that lint requires them.
	"AccessRestriction.name": true, "AccessRestrictionWithOptions.name": true, "AdmissionPlugin.name": true,
	"AuthorizerKubeconfigReference.authorizerName": true, "AuthorizerKubeconfigReference.secretName": true, "Backup.provider": true,
	"BastionMachineImage.name": true, "BastionMachineType.name": true, "ContainerRuntime.type": true,
	"ControlPlaneAutoscaling.minAllowed": true, "CoreDNSAutoscaling.mode": true, "DataVolume.name": true, "DataVolume.size": true,
	"EncryptionConfig.provider": true, "Extension.type": true, "FailureTolerance.type": true, "HighAvailability.failureTolerance": true,
	"KubernetesDashboard.enabled": true, "MaintenanceAutoUpdate.kubernetesVersion": true, "MaintenanceTimeWindow.begin": true,
	"MaintenanceTimeWindow.end": true, "NamedResourceReference.name": true, "NamedResourceReference.resourceRef": true,
	"NginxIngress.enabled": true, "NodeLocalDNS.enabled": true, "ResourceWatchCacheSize.resource": true,
	"ResourceWatchCacheSize.size": true, "SSHAccess.enabled": true, "StructuredAuthentication.configMapName": true,
	"StructuredAuthorization.configMapName": true, "StructuredAuthorization.kubeconfigs": true, "Toleration.key": true,
	"VerticalPodAutoscaler.enabled": true, "WorkerSystemComponents.allow": true, "aws.DataVolume.name": true, "aws.IndexRange.from": true,
	"aws.IndexRange.to": true, "aws.InstanceMarketOptions.marketType": true, "azure.DataVolume.name": true, "gcp.DataVolume.name": true,
	"gcp.ServiceAccount.email": true, "gcp.ServiceAccount.scopes": true, "kubernetes.CrossVersionObjectReference.kind": true,
	"kubernetes.CrossVersionObjectReference.name": true, "kubernetes.Taint.effect": true, "kubernetes.Taint.key": true,
	"meta.LabelSelectorRequirement.key": true, "meta.LabelSelectorRequirement.operator": true, "meta.OwnerReference.apiVersion": true,
	"meta.OwnerReference.kind": true, "meta.OwnerReference.name": true, "meta.OwnerReference.uid": true,
	// The config of a NamespacedCloudProfile has only its additions.
	"azure.CloudProfileConfig.countFaultDomains": true, "azure.CloudProfileConfig.countUpdateDomains": true,
	"openstack.CloudProfileConfig.constraints": true, "local.CloudProfileConfig.loadBalancer": true,
	"alicloud.CloudProfileConfig.machineImages": true, "aws.CloudProfileConfig.machineImages": true, "azure.CloudProfileConfig.machineImages": true,
	"gcp.CloudProfileConfig.machineImages": true, "local.CloudProfileConfig.machineImages": true, "openstack.CloudProfileConfig.machineImages": true,
}

// knownOnly has configs for which the extension may know more fields than these Go types: lint warns about unknown fields, and refuses
// none.
var knownOnly = []string{"aws.WorkerConfig", "azure.WorkerConfig", "gcp.WorkerConfig"}
