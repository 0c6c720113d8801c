// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

func TestStorageClasses(t *testing.T) { runConfigs(t, "storage-classes") }

func TestWhatWasMeant(t *testing.T) {
	for mode, meant := range map[string]bool{"WaitForFirstCustomer": true, "waitforfirstpod": true, "WaitForever": false, "Wait": false} {
		var config v1alpha1.CloudProfileConfig
		decode(t, sound, &config)
		config.StorageClasses = []v1alpha1.StorageClassDefinition{{Name: "a", VolumeBindingMode: &mode}}
		found := check(t, &config)
		if len(found.Errors) != 1 || meant != strings.Contains(found.Errors[0].Detail, `mean "WaitForFirstConsumer"?`) {
			t.Errorf("%s: %v", mode, found.Errors)
		}
	}
}
