// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	extensionscontroller "github.com/gardener/gardener/extensions/pkg/controller"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/worker"
	"github.com/capkit/capkit/pkg/worker/kit"
)

// machineProviderConfig is the providerSpec of a machine class, which the machine controller for OpenStack decodes strictly.
type machineProviderConfig struct {
	metav1.TypeMeta `json:",inline"`

	Spec machineSpec `json:"spec"`
}

type machineSpec struct {
	Region           string            `json:"region"`
	AvailabilityZone string            `json:"availabilityZone"`
	FlavorName       string            `json:"flavorName"`
	KeyName          string            `json:"keyName"`
	ImageID          string            `json:"imageID,omitempty"`
	ImageName        string            `json:"imageName,omitempty"`
	NetworkID        string            `json:"networkID"`
	SubnetIDs        []string          `json:"subnetIDs"`
	PodNetworkCIDRs  []string          `json:"podNetworkCIDRs"`
	RootDiskSize     int               `json:"rootDiskSize,omitempty"`
	RootDiskType     string            `json:"rootDiskType,omitempty"`
	SecurityGroups   []string          `json:"securityGroups"`
	ServerGroupID    string            `json:"serverGroupID,omitempty"`
	Tags             map[string]string `json:"tags"`
}

// zoned is the input for the machine class of a pool in one zone.
type zoned struct {
	*situation

	pool           *extensionsv1alpha1.WorkerPool
	machineType    *v1beta1.MachineType
	config         *v1alpha1.WorkerConfig
	infrastructure *infrastructure
	disk           disk
	image          openstack.Image
	serverGroup    string
	zone           string
}

// classThatFits returns the machine class with this name: the one in the seed if it exists and is to stay, or else a new one.
func (z *zoned) classThatFits(name string, stays bool) (*machinev1alpha1.MachineClass, error) {
	if written := z.written[name]; stays && written != nil {
		return kit.AsItIs(written, z.worker.Spec.SecretRef), nil
	}
	if z.machineType == nil {
		return nil, problem("machine type %s is not in CloudProfile %s, and there is no machine class in zone %s yet",
			z.pool.MachineType, z.cluster.CloudProfile.Name, z.zone)
	}
	return z.class(name)
}

// class returns a new machine class with this name.
func (z *zoned) class(name string) (*machinev1alpha1.MachineClass, error) {
	labels := kit.ClassLabels(z.pool.MachineImage)
	for _, value := range labels { // Gardener accepts versions of any length
		if len(validation.IsValidLabelValue(value)) > 0 {
			return nil, problem("a label of machine classes cannot have the image version %s: use one of up to %d characters that ends with a letter or digit",
				z.pool.MachineImage.Version, validation.LabelValueMaxLength)
		}
	}
	raw, err := json.Marshal(machineProviderConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: "openstack.machine.gardener.cloud/v1alpha1", Kind: "MachineProviderConfig"},
		Spec: machineSpec{
			Region: z.worker.Spec.Region, AvailabilityZone: z.zone, FlavorName: z.pool.MachineType,
			KeyName: z.infrastructure.keyName, ImageID: z.image.ID, ImageName: z.image.Name,
			NetworkID: z.infrastructure.networkID, SubnetIDs: z.infrastructure.subnetIDs,
			PodNetworkCIDRs: extensionscontroller.GetPodNetwork(z.cluster),
			RootDiskSize:    z.disk.size, RootDiskType: z.disk.kind,
			SecurityGroups: append([]string{z.infrastructure.securityGroup}, z.config.AdditionalSecurityGroups...),
			ServerGroupID:  z.serverGroup, Tags: z.tags(),
		},
	})
	if err != nil {
		return nil, err
	}
	return &machinev1alpha1.MachineClass{
		ObjectMeta:           metav1.ObjectMeta{Name: name, Namespace: z.worker.Namespace, Labels: labels},
		NodeTemplate:         z.nodeTemplate(),
		CredentialsSecretRef: z.worker.Spec.SecretRef.DeepCopy(),
		ProviderSpec:         runtime.RawExtension{Raw: raw},
		Provider:             "OpenStack",
		SecretRef:            &corev1.SecretReference{Name: name, Namespace: z.worker.Namespace},
	}, nil
}

// tags returns the metadata of a server: labels of the pool, overridden by the WorkerConfig's and finally Gardener's.
func (z *zoned) tags() map[string]string {
	tags := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(z.pool.Labels)) { // sorted, because two names may map to one key
		tags[metadataKey(name)] = z.pool.Labels[name]
	}
	machineLabels := map[string]string{}
	for _, label := range z.config.MachineLabels {
		machineLabels[label.Name] = label.Value
	}
	for _, name := range slices.Sorted(maps.Keys(machineLabels)) {
		tags[metadataKey(name)] = machineLabels[name]
	}
	tags["kubernetes.io-cluster-"+z.cluster.Shoot.Status.TechnicalID] = "1"
	tags["kubernetes.io-role-node"] = "1"
	return tags
}

// notInMetadata matches characters that metadata keys of a server cannot contain.
var notInMetadata = regexp.MustCompile(`[^a-zA-Z0-9-_:. ]`)

func metadataKey(label string) string { return notInMetadata.ReplaceAllLiteralString(label, "-") }

// nodeTemplate describes a node to the cluster autoscaler. Its capacity is the pool's, or else the machine type's, overridden by the
// pool's config. It returns nil if neither pool nor config has a template.
func (z *zoned) nodeTemplate() *machinev1alpha1.NodeTemplate {
	if z.pool.NodeTemplate == nil && z.config.NodeTemplate == nil {
		return nil
	}
	template := &machinev1alpha1.NodeTemplate{
		Capacity: corev1.ResourceList{}, InstanceType: z.pool.MachineType, Region: z.worker.Spec.Region, Zone: z.zone,
		Architecture: ptr.To(ptr.Deref(z.pool.Architecture, v1beta1constants.ArchitectureAMD64)),
	}
	if z.pool.NodeTemplate == nil { // machine-controller-manager requires these
		template.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: z.machineType.CPU, "gpu": z.machineType.GPU, corev1.ResourceMemory: z.machineType.Memory,
		}
	}
	for _, from := range []*extensionsv1alpha1.NodeTemplate{z.pool.NodeTemplate, z.config.NodeTemplate} {
		if from == nil {
			continue
		}
		maps.Copy(template.Capacity, from.Capacity)
		if len(from.VirtualCapacity) > 0 {
			if template.VirtualCapacity == nil {
				template.VirtualCapacity = corev1.ResourceList{}
			}
			maps.Copy(template.VirtualCapacity, from.VirtualCapacity)
		}
	}
	return template
}

// classOf reads a machine class.
func classOf(written *machinev1alpha1.MachineClass) worker.Class[openstack.Image] {
	return kit.ClassOf(written, referenceOf(written))
}

// referenceOf returns the image that a machine class boots. It is empty if the providerSpec is unreadable.
func referenceOf(written *machinev1alpha1.MachineClass) openstack.Image {
	spec := specOf(written)
	return reference(spec.ImageID, spec.ImageName)
}

// serverGroupOf returns the ID of a machine class's server group. It is empty if there is none, or if the providerSpec is unreadable.
func serverGroupOf(written *machinev1alpha1.MachineClass) string {
	return specOf(written).ServerGroupID
}

// specOf reads the providerSpec of a machine class. It returns an empty one if that is unreadable.
func specOf(written *machinev1alpha1.MachineClass) machineSpec {
	config := &machineProviderConfig{}
	if json.Unmarshal(written.ProviderSpec.Raw, config) != nil {
		return machineSpec{}
	}
	return config.Spec
}
