// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

func TestDefaults(t *testing.T) {
	const (
		limits  = "nodeVolumeAttachLimit: 256\nignoreVolumeAZ: false\n"
		version = "machineImages: [{name: gl, versions: [{version: a, "
		flavors = version + "capabilityFlavors: [{regions: [{name: eu, id: i}]}]}]}]"
		both    = version + "regions: [{name: eu, id: i}], capabilityFlavors: [{}]}]}]"
	)
	for name, test := range map[string]struct{ in, want string }{
		"nothing is written": {"", limits},
		"zero is written": {
			"{nodeVolumeAttachLimit: 0, ignoreVolumeAZ: true}", "{nodeVolumeAttachLimit: 0, ignoreVolumeAZ: true}",
		},
		"regions of the legacy format": {
			version + "regions: [{name: eu, id: i}, {name: eu, id: i, architecture: arm64}]}]}]",
			limits + version + "regions: [{name: eu, id: i, architecture: amd64}, {name: eu, id: i, architecture: arm64}]}]}]",
		},
		"regions of capability flavors": {flavors, limits + flavors},
		"both formats in one version, which is an error that defaulting must not hide": {both, limits + both},
	} {
		t.Run(name, func(t *testing.T) {
			var got, want v1alpha1.CloudProfileConfig
			if err := errors.Join(
				yaml.UnmarshalStrict([]byte(test.in), &got), yaml.UnmarshalStrict([]byte(test.want), &want),
			); err != nil {
				t.Fatal(err)
			}
			for range 2 { // defaulting is idempotent
				newScheme(t).Default(&got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// Kinds without defaults stay as they are.
func TestNoDefaults(t *testing.T) {
	for _, obj := range []runtime.Object{
		&v1alpha1.InfrastructureConfig{}, &v1alpha1.ControlPlaneConfig{}, &v1alpha1.WorkerConfig{}, &v1alpha1.WorkerStatus{},
	} {
		want := obj.DeepCopyObject()
		newScheme(t).Default(obj)
		if diff := cmp.Diff(want, obj); diff != "" {
			t.Errorf("%T (-want +got)\n%s", obj, diff)
		}
	}
}
