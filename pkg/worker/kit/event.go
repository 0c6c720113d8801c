// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package kit

import (
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	machinev1alpha1 "github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	"github.com/capkit/capkit/pkg/worker"
)

// The reasons of the Events that [Report] writes.
const (
	// ReasonImageReplaced: new machines of a pool boot another flavor than the existing ones.
	ReasonImageReplaced = "ImageReplaced"
	// ReasonImageUndecided: the profile does not decide the image of a pool, which gets one that machines of the Shoot have booted.
	ReasonImageUndecided = "ImageUndecided"
)

// Report writes Events about a Worker if its operator should know something about a pool's image. class is one of the pool's: Events about
// the same objects are combined into one, with the text of the first.
func Report[R any](
	recorder events.EventRecorder, of *extensionsv1alpha1.Worker, class *machinev1alpha1.MachineClass, image *worker.Image[R],
) {
	if image.Replaced != "" {
		recorder.Eventf(of, class, corev1.EventTypeWarning, ReasonImageReplaced, "SelectImage", "%s", image.Replaced)
	}
	if image.Undecided != "" {
		recorder.Eventf(of, class, corev1.EventTypeWarning, ReasonImageUndecided, "SelectImage", "%s", image.Undecided)
	}
}
