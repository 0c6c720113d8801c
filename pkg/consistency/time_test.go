// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
)

// Whoever may write a NamespacedCloudProfile may write one of 1.5 MiB in which everything is wrong. To say so takes no
// longer than the API server waits; with work that grows with the product of core flavors and mappings it took minutes.
func TestManyErrorsTakeNoLongerThanAnAnswerMay(t *testing.T) {
	t.Parallel()
	const flavors, entries, limit = 8000, 20000, 10 * time.Second
	values := make([]string, 100)
	for i := range values {
		values[i] = strconv.Itoa(i)
	}
	spec := v1beta1.CloudProfileSpec{
		Type: "openstack",
		MachineCapabilities: []v1beta1.CapabilityDefinition{
			{Name: "architecture", Values: []string{"amd64", "arm64"}}, {Name: "tens", Values: values}, {Name: "ones", Values: values},
		},
	}
	core, unexpected, legacy := make([]v1beta1.MachineImageFlavor, 0, flavors), make([]any, 0, flavors), make([]any, 0, entries)
	for i := range flavors {
		tens, ones := values[i/len(values)], values[i%len(values)]
		core = append(core, v1beta1.MachineImageFlavor{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "tens": {tens}, "ones": {ones}}})
		unexpected = append(unexpected, map[string]any{
			"capabilities": map[string]any{"architecture": []string{"arm64"}, "tens": []string{tens}, "ones": []string{ones}}, "image": "i",
		})
	}
	for range entries {
		legacy = append(legacy, map[string]any{"version": "1.0.0", "image": "i"})
	}
	for name, versions := range map[string][]any{
		"no flavor corresponds": {map[string]any{"version": "1.0.0", "capabilityFlavors": unexpected}},
		"many legacy entries":   legacy,
	} {
		spec.ProviderConfig = &runtime.RawExtension{Raw: marshalled(t, map[string]any{
			"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
			"machineImages": []any{map[string]any{"name": "linux", "versions": versions}},
		})}
		spec.MachineImages = []v1beta1.MachineImage{{Name: "linux", Versions: []v1beta1.MachineImageVersion{
			{ExpirableVersion: v1beta1.ExpirableVersion{Version: "1.0.0"}, CapabilityFlavors: core},
		}}}
		start := time.Now()
		_, report := consistency.Compile(imagesOnly{}, &spec, field.NewPath("spec"))
		if took := time.Since(start); took > limit || len(report.Errors) < flavors {
			t.Errorf("%s: %d errors after %s", name, len(report.Errors), took)
		}
	}
}

func marshalled(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
