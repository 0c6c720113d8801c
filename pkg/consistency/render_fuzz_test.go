// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/render"
)

// FuzzRenderConfig merges whatever bytes into whatever bytes. core is the spec of the profile but for its provider
// config, with the machine capabilities of its parent beside it.
func FuzzRenderConfig(f *testing.F) {
	// Bytes that YAML does not keep.
	own := [][]byte{[]byte(`{`), []byte(`{"machineImages":[{"name":"b","versions":[{"version":"1"},{"version":"1","x":[1.50,"\u003c"]}]}]}`)}
	for _, core := range seeds(f, "testdata/seeds/render-core.txtar") {
		for _, own := range append(seeds(f, "testdata/seeds/render-own.txtar"), own...) {
			for _, base := range append(seeds(f, "testdata/seeds/render-base.txtar"), nil) {
				f.Add(core, own, base)
			}
		}
	}
	f.Fuzz(func(t *testing.T, core, own, base []byte) {
		var spec struct {
			v1beta1.NamespacedCloudProfileSpec `json:",inline"`
			MachineCapabilities                []v1beta1.CapabilityDefinition `json:"machineCapabilities"`
		}
		if json.Unmarshal(core, &spec) != nil {
			return
		}
		renderTwice(t, local.Provider{}, spec.MachineCapabilities, spec.NamespacedCloudProfileSpec, own, base)
		renderTwice(t, imagesOnly{}, spec.MachineCapabilities, spec.NamespacedCloudProfileSpec, own, base)
	})
}

func renderTwice[R any](
	t *testing.T, cloud provider.Provider[R], capabilities []v1beta1.CapabilityDefinition,
	spec v1beta1.NamespacedCloudProfileSpec, own, base []byte,
) {
	spec.ProviderConfig = &runtime.RawExtension{Raw: bytes.Clone(own)}
	profile, onto := &v1beta1.NamespacedCloudProfile{Spec: spec}, &runtime.RawExtension{Raw: bytes.Clone(base)}
	changes, err := render.Config(cloud, capabilities, profile, onto)
	if !bytes.Equal(spec.ProviderConfig.Raw, own) || !bytes.Equal(onto.Raw, base) {
		t.Fatal("a config was changed")
	}
	if err != nil {
		if changes != nil {
			t.Fatalf("%v, and yet %v", err, lines(changes))
		}
		return
	}
	rendered := apply(t, changes, onto)
	if again, err := render.Config(cloud, capabilities, profile, rendered); err != nil || len(again) > 0 {
		t.Fatalf("rendered again: %v %v\n%s", err, lines(again), rendered.Raw)
	}
}
