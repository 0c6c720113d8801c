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

// These labels of a machine class say which image version it is for, in provider-aws, -gcp and -openstack alike. The value of a label
// cannot have the + of a version, and gets a _.
const (
	labelImage   = "operatingSystemName"
	labelVersion = "operatingSystemVersion"
)

// ClassLabels returns the labels of a machine class for an image version: what the object is for, in Gardener's words, and which
// version it is, unless name or version is empty. The caller owns them, and may add others.
func ClassLabels(image extensionsv1alpha1.MachineImage) map[string]string {
	labels := purpose()
	if image.Name != "" && image.Version != "" {
		labels[labelImage], labels[labelVersion] = image.Name, strings.ReplaceAll(image.Version, "+", "_")
	}
	return labels
}

// purpose returns the label that says what machine classes and their secrets are for. In a deletion, genericactuator finds the
// secrets by it.
func purpose() map[string]string {
	return map[string]string{v1beta1constants.GardenerPurpose: v1beta1constants.GardenPurposeMachineClass}
}

// AsItIs returns a machine class as the seed has it, with the credentials that the Worker has now. It is for a pool of which the image
// says that its class stays. The caller owns it.
func AsItIs(written *machinev1alpha1.MachineClass, credentials corev1.SecretReference) *machinev1alpha1.MachineClass {
	class := written.DeepCopy()
	class.CredentialsSecretRef = &credentials
	return class
}

// SecretOf returns the secret of a machine class: one of its name, with the user data where every machine controller looks for
// it. The caller owns it, but not the user data.
func SecretOf(class *machinev1alpha1.MachineClass, userData []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: class.Name, Namespace: class.Namespace, Labels: purpose()},
		Type:       corev1.SecretTypeOpaque, Data: map[string][]byte{"userData": userData},
	}
}

// ClassOf returns what a machine class says of its image. The reference is what its providerSpec boots, which only the cloud can
// read: the zero R if it cannot be read, which is that of no flavor and no record. A class without the labels is of no version.
// A _ in the label is taken for a +, since no version has a _.
func ClassOf[R any](class *machinev1alpha1.MachineClass, reference R) worker.Class[R] {
	return worker.Class[R]{
		Name: class.Name, Image: class.Labels[labelImage],
		Version: strings.ReplaceAll(class.Labels[labelVersion], "_", "+"), Reference: reference,
	}
}

// Classes returns what the machine classes of a Worker say of their images, by name; and behind them those of remembered that are
// not there, in their order. Remembered are those of [Memory.Recall] if the Worker is being restored, and else nil. The caller owns
// the list.
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

// zoneAndHash is what comes behind the name of the pool in that of a machine class, as [ClassName] makes it.
var zoneAndHash = regexp.MustCompile(`^z[0-9]+-[0-9a-f]{5}$`)

// ClassesOf returns the machine classes of a worker pool among those of its shoot, in their order, of all zones and hashes. It goes
// by the name of the class, since no label says the pool, and tells pools apart of which one has a name that another one begins
// with. A class that is named otherwise than [ClassName] does it is no pool's. The caller owns the list.
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

// DeploymentName returns the name of the machine deployment of a pool in one of its zones, by the index of the zone in the pool.
// So do provider-aws, -gcp and -openstack. If an extension names them otherwise, as provider-azure does, it must go on with its own
// names, and with its own way from a name to the pool: with others, all machines would be replaced.
func DeploymentName(technicalID, pool string, zone int) string {
	return fmt.Sprintf("%s-%s-z%d", technicalID, pool, zone+1)
}

// ClassName returns the name of the machine class of a machine deployment. The hash is that of WorkerPoolHash in Gardener's worker
// library, over [HashData]: while it stays the same, no machine is replaced.
func ClassName(deployment, hash string) string { return deployment + "-" + hash }
