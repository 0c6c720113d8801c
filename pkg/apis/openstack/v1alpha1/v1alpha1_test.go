// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/capkit/capkit/internal/testing/wire"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
)

// Gardener's library requires this method of flavors passed by value (worker.CapabilitiesAccessor).
var _ interface{ GetCapabilities() v1beta1.Capabilities } = v1alpha1.MachineImageFlavor{}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// decode reads YAML as strictly as a webhook does, without defaulting.
func decode(t *testing.T, text []byte) (runtime.Object, error) {
	t.Helper()
	codecs := serializer.NewCodecFactory(newScheme(t), serializer.EnableStrict)
	obj, _, err := codecs.UniversalDeserializer().Decode(text, nil, nil)
	return obj, err
}

func TestTypes(t *testing.T) { wire.Types(t, v1alpha1.GroupVersion, v1alpha1.Install) }

func TestStrictDecodingRefusesWhatTheWireFormatDoesNotHave(t *testing.T) {
	const head = "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\n"
	for name, text := range map[string]string{
		"unknown field":                   "kind: CloudProfileConfig\nkeystoneUrl: https://keystone.example.com",
		"unknown nested field":            "kind: CloudProfileConfig\nmachineImages: [{name: a, versions: [{version: 1.0.0, ami: x}]}]",
		"field of another kind":           "kind: WorkerConfig\nmachineImages: []",
		"key twice":                       "kind: WorkerConfig\nserverGroup: {policy: a}\nserverGroup: {policy: b}",
		"wrong type":                      "kind: CloudProfileConfig\nnodeVolumeAttachLimit: many",
		"field of another kind of Shoots": "kind: InfrastructureConfig\nloadBalancerProvider: haproxy",
		"old field in a list of networks": "kind: InfrastructureConfig\nnetworks: [{workers: 10.250.0.0/16}]",
		"unknown class field":             "kind: ControlPlaneConfig\nloadBalancerClasses: [{name: a, subnetId: b}]",
		"unknown kind":                    "kind: ControllerConfig",
	} {
		t.Run(name, func(t *testing.T) {
			if obj, err := decode(t, []byte(head+text)); err == nil {
				t.Errorf("decoded as %#v", obj)
			}
		})
	}
}
