// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/pkg/worker"
)

// These labels of a machine class name its image version, in provider-aws, -gcp and -openstack alike. A label's value cannot contain the +
// of a version, so it has a _ instead.
const (
	labelImage   = "operatingSystemName"
	labelVersion = "operatingSystemVersion"
)

// ClassLabels returns the labels of a machine class for an image version: the purpose of the object, as Gardener names it, and the image
// version, unless its name or version is empty. The caller owns the result, and may add labels. A version may be no value of a label, and the
// API server would refuse the class: Gardener accepts versions that are longer than 63 characters or end with a dash. Refuse such a pool
// before.
func ClassLabels(image extensionsv1alpha1.MachineImage) map[string]string {
	labels := purpose()
	if image.Name != "" && image.Version != "" {
		labels[labelImage], labels[labelVersion] = image.Name, strings.ReplaceAll(image.Version, "+", "_")
	}
	return labels
}

// purpose returns the purpose label of machine classes and their secrets. During a deletion, genericactuator finds the secrets by it.
func purpose() map[string]string {
	return map[string]string{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass}
}

// AsItIs returns a copy of a machine class in the seed, with the Worker's current credentials. It is for a pool whose image has Stays set.
// The caller owns the result.
func AsItIs(written *machinev1alpha1.MachineClass, credentials corev1.SecretReference) *machinev1alpha1.MachineClass {
	class := written.DeepCopy()
	class.CredentialsSecretRef = &credentials
	return class
}

// SecretOf returns the secret of a machine class: it has the same name, and the user data under the key that every machine controller
// reads. The caller owns the secret, but not the user data.
func SecretOf(class *machinev1alpha1.MachineClass, userData []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: class.Name, Namespace: class.Namespace, Labels: purpose()},
		Type:       corev1.SecretTypeOpaque, Data: map[string][]byte{"userData": userData},
	}
}

// ClassOf returns the image of a machine class. reference is the one that its providerSpec boots, which only the cloud can read. Pass the
// zero R if it cannot be read; no flavor and no record has that. A class without the labels has no image version. A _ in the label becomes
// a +, because no version contains a _.
func ClassOf[R any](class *machinev1alpha1.MachineClass, reference R) worker.Class[R] {
	return worker.Class[R]{
		Name: class.Name, Image: class.Labels[labelImage],
		Version: strings.ReplaceAll(class.Labels[labelVersion], "_", "+"), Reference: reference,
	}
}

// Classes returns the images of a Worker's machine classes, sorted by name, followed by the remembered classes that no longer exist, in
// their order. remembered is the result of [Memory.Recall] if the Worker is being restored, and nil otherwise. The caller owns the list.
func Classes[R any](
	there map[string]*machinev1alpha1.MachineClass, remembered []worker.Class[R], reference func(class *machinev1alpha1.MachineClass) R,
) []worker.Class[R] {
	var classes []worker.Class[R]
	for _, name := range slices.Sorted(maps.Keys(there)) {
		classes = append(classes, ClassOf(there[name], reference(there[name])))
	}
	for _, class := range remembered {
		if there[class.Name] == nil {
			classes = append(classes, class)
		}
	}
	return classes
}

// zoneAndHash matches the part of a machine class name after the pool's name, as [ClassName] makes it.
var zoneAndHash = regexp.MustCompile(`^z[0-9]+-[0-9a-f]{5}$`)

// ClassesOf returns a worker pool's machine classes among those of its Shoot, in their order, of all zones and hashes. It uses the class
// names, because no label has the pool. It distinguishes pools even if one's name begins with another's. It ignores classes that are not
// named as [ClassName] names them. The caller owns the list.
func ClassesOf[R any](technicalID, pool string, classes []worker.Class[R]) []worker.Class[R] {
	var found []worker.Class[R]
	prefix := technicalID + "-" + pool + "-"
	for _, class := range classes {
		if rest, is := strings.CutPrefix(class.Name, prefix); is && zoneAndHash.MatchString(rest) {
			found = append(found, class)
		}
	}
	return found
}

// DeploymentName returns the name of a pool's machine deployment in one of its zones, by the zone's index in the pool. provider-aws, -gcp
// and -openstack use the same names. An extension with other names, such as provider-azure, must keep them, and its own way from a name to
// the pool: new names would replace all machines.
func DeploymentName(technicalID, pool string, zone int) string {
	return fmt.Sprintf("%s-%s-z%d", technicalID, pool, zone+1)
}

// ClassName returns the name of a machine deployment's machine class. The hash is that of WorkerPoolHash in Gardener's worker library, over
// [HashData]. While it stays the same, no machine is replaced.
func ClassName(deployment, hash string) string { return deployment + "-" + hash }
