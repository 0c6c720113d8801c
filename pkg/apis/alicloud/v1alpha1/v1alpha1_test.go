// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/internal/testing/wire"
	"github.com/capkit/capkit/pkg/apis/alicloud/v1alpha1"
)

// Gardener's library requires this method of flavors passed by value (worker.CapabilitiesAccessor).
var _ interface{ GetCapabilities() v1beta1.Capabilities } = v1alpha1.MachineImageFlavor{}

func TestTypes(t *testing.T) { wire.Types(t, v1alpha1.GroupVersion, v1alpha1.Install) }

func TestDefaults(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	status := &v1alpha1.WorkerStatus{MachineImages: []v1alpha1.MachineImage{{}, {Encrypted: ptr.To(true)}}}
	scheme.Default(status)
	if of := status.MachineImages; of[0].Encrypted == nil || *of[0].Encrypted || !*of[1].Encrypted {
		t.Error(of)
	}
}
