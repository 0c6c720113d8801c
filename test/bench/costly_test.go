// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/capkit/capkit/internal/testing/generate"
	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/test/webhooks"
)

// faults is the number of errors in the objects that are made to be expensive.
const faults = 1000

// costly is an object made to be expensive. size is the size of the valid provider config that it is made from, as JSON.
type costly struct {
	name string
	size int
	// spoil changes a valid CloudProfile and its provider config, which are about the same size.
	spoil func(spec *v1beta1.CloudProfileSpec, config *v1alpha1.CloudProfileConfig)
	// rewrite changes the JSON of the provider config, for mistakes that the Go types cannot express.
	rewrite func(config map[string]any)
}

// eachFlavor calls visit for the first flavors of a config, up to the number of faults.
func eachFlavor(config map[string]any, visit func(i int, flavor map[string]any)) {
	n := 0
	for _, image := range config["machineImages"].([]any) {
		for _, version := range image.(map[string]any)["versions"].([]any) {
			for _, flavor := range version.(map[string]any)["capabilityFlavors"].([]any) {
				if n++; n > faults {
					return
				}
				visit(n, flavor.(map[string]any))
			}
		}
	}
}

var costlyProfiles = []costly{
	{name: "sound", size: 800 << 10},
	{name: "unknown-fields", size: 800 << 10, rewrite: func(config map[string]any) {
		eachFlavor(config, func(i int, flavor map[string]any) { flavor[fmt.Sprintf("unknown%d", i)] = i })
	}},
	{name: "one-unknown-field", size: 800 << 10, rewrite: func(config map[string]any) {
		eachFlavor(config, func(_ int, flavor map[string]any) { flavor["unknown"] = true })
	}},
	{name: "empty-references", size: 800 << 10, rewrite: func(config map[string]any) {
		eachFlavor(config, func(_ int, flavor map[string]any) {
			flavor["regions"].([]any)[0].(map[string]any)["id"] = ""
		})
	}},
	{name: "wrong-architectures", size: 800 << 10, rewrite: func(config map[string]any) {
		eachFlavor(config, func(i int, flavor map[string]any) {
			flavor["capabilities"] = map[string]any{"architecture": []any{fmt.Sprintf("wrong%d", i)}}
		})
	}},
	{name: "duplicate-everything", size: 400 << 10, spoil: func(spec *v1beta1.CloudProfileSpec, config *v1alpha1.CloudProfileConfig) {
		config.MachineImages = append(config.MachineImages, config.MachineImages...)
		spec.MachineTypes = append(spec.MachineTypes, spec.MachineTypes...)
		spec.Regions = append(spec.Regions, spec.Regions...)
	}},
	{name: "same-flavors", size: 800 << 10, rewrite: func(config map[string]any) {
		eachFlavor(config, func(_ int, flavor map[string]any) {
			flavor["capabilities"] = map[string]any{"architecture": []any{"amd64"}}
		})
	}},
	{name: "nothing-mapped", size: 800 << 10, spoil: func(_ *v1beta1.CloudProfileSpec, config *v1alpha1.CloudProfileConfig) {
		for i := range config.MachineImages {
			config.MachineImages[i].Name += "-other"
		}
	}},
	{name: "vocabulary-of-1000", size: 100 << 10, spoil: func(spec *v1beta1.CloudProfileSpec, _ *v1alpha1.CloudProfileConfig) {
		for i := range 1000 {
			spec.MachineCapabilities = append(spec.MachineCapabilities, v1beta1.CapabilityDefinition{
				Name: fmt.Sprintf("capability%d", i), Values: []string{"a", "b", "c", "d", "e", "f", "g", "h"},
			})
		}
	}},
	{name: "unregistered-1000", size: 100 << 10, rewrite: func(config map[string]any) {
		eachFlavor(config, func(i int, flavor map[string]any) {
			capabilities := map[string]any{}
			for k := range 20 {
				capabilities[fmt.Sprintf("capability%d", i*20+k)] = []any{"a"}
			}
			flavor["capabilities"] = capabilities
		})
	}},
	{name: "flavors-of-one-version", size: 100 << 10, spoil: func(spec *v1beta1.CloudProfileSpec, config *v1alpha1.CloudProfileConfig) {
		core, provided := &spec.MachineImages[0].Versions[0], &config.MachineImages[0].Versions[0]
		for i := range 1000 {
			c := v1beta1.Capabilities{"architecture": {"amd64"}, "hypervisor": {fmt.Sprintf("wrong%d", i)}}
			core.CapabilityFlavors = append(core.CapabilityFlavors, v1beta1.MachineImageFlavor{Capabilities: c})
			provided.CapabilityFlavors = append(provided.CapabilityFlavors, v1alpha1.MachineImageFlavor{
				Capabilities: c, Image: new(fmt.Sprintf("image-%d", i)),
			})
		}
	}},
	{name: "one-version-many-entries", size: 100 << 10, spoil: func(_ *v1beta1.CloudProfileSpec, config *v1alpha1.CloudProfileConfig) {
		image := &config.MachineImages[0]
		for range 1000 {
			image.Versions = append(image.Versions, image.Versions[0])
		}
	}},
	{name: "nameless", size: 400 << 10, rewrite: func(config map[string]any) {
		for _, image := range config["machineImages"].([]any) {
			delete(image.(map[string]any), "name")
			for _, version := range image.(map[string]any)["versions"].([]any) {
				delete(version.(map[string]any), "version")
			}
		}
	}},
	{name: "empty-versions-100000", size: 100 << 10, rewrite: func(config map[string]any) {
		config["machineImages"].([]any)[0].(map[string]any)["versions"] = slices.Repeat([]any{map[string]any{}}, 100_000)
	}},
	{name: "unknown-regions-20000", size: 100 << 10, rewrite: func(config map[string]any) {
		var regions []any
		for i := range 20_000 {
			regions = append(regions, map[string]any{"name": fmt.Sprintf("region-%d", i), "id": "x"})
		}
		version := config["machineImages"].([]any)[0].(map[string]any)["versions"].([]any)[0].(map[string]any)
		version["capabilityFlavors"].([]any)[0].(map[string]any)["regions"] = regions
	}},
	{name: "machine-types-5000", size: 100 << 10, spoil: func(spec *v1beta1.CloudProfileSpec, _ *v1alpha1.CloudProfileConfig) {
		for i := range 5000 {
			spec.MachineTypes = append(spec.MachineTypes, v1beta1.MachineType{
				Name: fmt.Sprintf("type-%d", i), Capabilities: v1beta1.Capabilities{"architecture": {"wrong"}},
			})
		}
	}},
}

func (c *costly) profile(tb testing.TB) *v1beta1.CloudProfile {
	tb.Helper()
	spec := generate.OpenStack(c.size)
	config := &v1alpha1.CloudProfileConfig{}
	if err := json.Unmarshal(spec.ProviderConfig.Raw, config); err != nil {
		tb.Fatal(err)
	}
	if c.spoil != nil {
		c.spoil(spec, config)
	}
	raw, err := json.Marshal(config)
	if err != nil {
		tb.Fatal(err)
	}
	if c.rewrite != nil {
		fields := map[string]any{}
		if err := json.Unmarshal(raw, &fields); err != nil {
			tb.Fatal(err)
		}
		c.rewrite(fields)
		if raw, err = json.Marshal(fields); err != nil {
			tb.Fatal(err)
		}
	}
	spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	return &v1beta1.CloudProfile{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta1.SchemeGroupVersion.String(), Kind: "CloudProfile"},
		ObjectMeta: metav1.ObjectMeta{Name: "openstack", UID: "1", ResourceVersion: "1"}, Spec: *spec,
	}
}

// BenchmarkCostly prints the cost of expensive requests: updates of a machine type that is unrelated to the errors.
func BenchmarkCostly(b *testing.B) {
	for _, c := range costlyProfiles {
		profile := c.profile(b)
		updated := profile.DeepCopy()
		updated.Spec.MachineTypes = append(updated.Spec.MachineTypes, v1beta1.MachineType{
			Name: "another", Usable: ptr.To(true), Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}},
		})
		g := newGarden(b, profile)
		handlers := webhooks.Handlers(b, openstack.Provider{}, g)
		for _, row := range []struct {
			name    string
			request admission.Request
		}{
			{"create", webhooks.Request(b, "CloudProfile", profile, nil)},
			{"update", webhooks.Request(b, "CloudProfile", updated, profile)},
		} {
			b.Run(c.name+"/"+row.name, func(b *testing.B) {
				cost(b, len(row.request.Object.Raw), func() {
					for _, name := range []string{"mutate-cloudprofile", "validate-cloudprofile"} {
						handlers[name].Handle(b.Context(), row.request)
					}
				})
			})
		}
	}
}

// cost reports the cost of a request of some size, by itself and with cold caches.
func cost(b *testing.B, size int, work func()) {
	b.Helper()
	s := &side{work: work, times: 1}
	for b.Loop() {
		s.measure()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(size)/(1<<10), "KiB")
	b.ReportMetric(float64(median(s.cpu).Microseconds())/1000, "cpu-ms")
	b.ReportMetric(float64(median(s.bytes))/1e6, "MB")
}
