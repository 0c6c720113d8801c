// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"reflect"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// sameCloudProfile reports whether an update leaves the spec of a CloudProfile as it is.
func sameCloudProfile(updated, old *v1beta1.CloudProfile) bool {
	return sameSpec(&updated.Spec, &old.Spec, updated.Spec.ProviderConfig, old.Spec.ProviderConfig)
}

// sameNamespacedCloudProfile does the same for a NamespacedCloudProfile.
func sameNamespacedCloudProfile(updated, old *v1beta1.NamespacedCloudProfile) bool {
	return sameSpec(&updated.Spec, &old.Spec, updated.Spec.ProviderConfig, old.Spec.ProviderConfig)
}

// sameShoot does the same for a Shoot.
func sameShoot(updated, old *v1beta1.Shoot) bool {
	config, oldConfig := updated.Spec.Provider.InfrastructureConfig, old.Spec.Provider.InfrastructureConfig
	return sameSpec(&updated.Spec, &old.Spec, config, oldConfig)
}

// sameSpec reports whether two specs say the same, as Kubernetes compares objects: nil is the same as empty, 1000m the
// same as 1. A config that each has is compared first, since it is cheap to see that two of them differ; and whatever
// is the same in Go is the same to Kubernetes, whose own comparison takes many times as long for a large CloudProfile.
func sameSpec[S any](updated, old *S, config, oldConfig *runtime.RawExtension) bool {
	return bytes.Equal(rawOf(config), rawOf(oldConfig)) &&
		(reflect.DeepEqual(updated, old) || equality.Semantic.DeepEqual(updated, old))
}

// rawOf returns what a config says; nil if there is none.
func rawOf(config *runtime.RawExtension) []byte {
	if config == nil {
		return nil
	}
	return config.Raw
}
