// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/alicloud"
	"github.com/capkit/capkit/pkg/aws"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gcp"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// twin is a cloud implemented in Go and by description.
type twin struct {
	inGo, described provider.Provider[any]
	// ids are references: valid ones and an empty one.
	ids []string
	// regional is the field of a regional reference, and global that of a reference for all regions; each is empty if there is none.
	regional, global string
	// architectures says whether legacy entries have an architecture.
	architectures bool
}

func twins(tb testing.TB) map[string]twin {
	tb.Helper()
	both := "flavors: {path: capabilityFlavors, capabilities: capabilities}\narchitecture: {field: architecture, default: amd64}\n"
	regions := "regions: {path: regions, name: name}\n"
	of := func(name, text string) provider.Provider[any] {
		head := strings.NewReplacer("acme.example.com/v1alpha1, acme.example.com/v1", name+".provider.extensions.gardener.cloud/v1alpha1",
			"type: acme", "type: "+name).Replace(acme)
		return provider.Untyped(cloud(tb, head+images+text))
	}
	return map[string]twin{
		"openstack": {provider.Untyped(given.ImagesOnly{}), of("openstack", both+regions+"reference: [id]\nfallback: [image]\n"),
			[]string{"6dd8a0f1-1877-4a64-8000-000000000001", "6dd8a0f1-1877-4a64-8000-000000000002", ""}, "id", "image", true},
		"aws": {provider.Untyped(aws.Provider{}), of("aws", both+regions+"reference: [ami]\n"),
			[]string{"ami-034fd8c3f4026eb39", "ami-034fd8c3f4026eb38", ""}, "ami", "", true},
		"gcp": {provider.Untyped(gcp.Provider{}), of("gcp", both+"reference: [image]\n"),
			[]string{"projects/p/global/images/a", "projects/p/global/images/b", ""}, "", "image", true},
		"alicloud": {provider.Untyped(alicloud.Provider{}), of("alicloud", strings.Replace(both, "field: architecture, ", "", 1)+regions+"reference: [id]\n"),
			[]string{"m-gw81877amd64uefi0001", "m-gw81877amd64uefi0002", ""}, "id", "", false},
	}
}

// profile draws a profile of Gardener's local setup, and converts it to one of the cloud, with its references.
func (w twin) profile(t *rapid.T) *v1beta1.CloudProfile {
	spec := given.DrawSpec(t)
	spec.Type = w.inGo.Type()
	var config map[string]any
	if err := json.Unmarshal(spec.ProviderConfig.Raw, &config); err != nil {
		t.Fatal(err)
	}
	config["apiVersion"] = spec.Type + ".provider.extensions.gardener.cloud/v1alpha1"
	list, _ := config["machineImages"].([]any)
	for _, image := range list {
		entries, _ := image.(map[string]any)["versions"].([]any)
		for _, entry := range entries {
			w.refer(t, entry.(map[string]any))
		}
	}
	raw, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	spec.ProviderConfig = &runtime.RawExtension{Raw: raw}
	return &v1beta1.CloudProfile{Spec: *spec}
}

// refer gives an entry of a version references, and removes fields that descriptions do not support.
func (w twin) refer(t *rapid.T, entry map[string]any) {
	delete(entry, "unknown")
	delete(entry, "image")
	flavors, _ := entry["capabilityFlavors"].([]any)
	for _, flavor := range flavors {
		w.place(t, flavor.(map[string]any), rapid.IntRange(0, 9).Draw(t, "misplaced") == 0)
	}
	if len(flavors) == 0 || rapid.IntRange(0, 9).Draw(t, "mixed") == 0 {
		w.place(t, entry, w.architectures)
	}
}

func (w twin) place(t *rapid.T, into map[string]any, architectures bool) {
	delete(into, "image")
	id := rapid.SampledFrom(w.ids)
	architecture := func(o map[string]any) {
		if w.architectures && architectures && rapid.Bool().Draw(t, "named") {
			o["architecture"] = rapid.SampledFrom([]string{"amd64", "arm64", "riscv"}).Draw(t, "architecture")
		}
	}
	if w.global != "" && rapid.IntRange(0, 2).Draw(t, "global") > 0 {
		into[w.global] = id.Draw(t, "id")
	}
	if w.regional == "" {
		if _, flavor := into["capabilities"]; !flavor {
			architecture(into)
		}
		return
	}
	var regions []any
	for range rapid.IntRange(0, 3).Draw(t, "regions") {
		region := map[string]any{"name": rapid.SampledFrom([]string{"local", "local", "other", ""}).Draw(t, "region"), w.regional: id.Draw(t, "id")}
		architecture(region)
		regions = append(regions, region)
	}
	if len(regions) > 0 {
		into["regions"] = regions
	}
}

// answers returns a cloud's answers about a profile: the findings, except for its own rules, the images that boot, and the encoding of
// each version.
func answers(t given.Fatal, cloud provider.Provider[any], object *v1beta1.CloudProfile, own map[string]bool) (all []string) {
	compiled, report := check.CloudProfile(cloud, object)
	for severity, list := range map[string]finding.List{"error": report.Errors, "warning": report.Warnings} {
		for _, f := range list {
			if !own[f.Origin] {
				all = append(all, fmt.Sprint(severity, f.Origin, f.Type, f.Field))
			}
		}
	}
	slices.Sort(all)
	config, _ := cloud.Decode(object.Spec.ProviderConfig, field.NewPath("config"))
	for i := range config.Images {
		for k := range config.Images[i].Versions {
			all = append(all, encoded(t, cloud, &config.Images[i].Versions[k])...)
		}
	}
	if len(report.Errors) > 0 {
		return all
	}
	for _, image := range object.Spec.MachineImages {
		for _, version := range image.Versions {
			for _, machineType := range object.Spec.MachineTypes {
				for _, region := range object.Spec.Regions {
					pool := provider.Pool{Image: image.Name, Version: version.Version, MachineType: machineType.Name, Region: region.Name}
					found := resolve.Explain(compiled, pool)
					all = append(all, fmt.Sprint(pool.Image, pool.Version, pool.MachineType, pool.Region, found.Err == nil, jsonOf(t, found.Reference)))
				}
			}
		}
	}
	return all
}

// encoded returns both formats of a version, decoded again, or that it cannot be written.
func encoded(t given.Fatal, cloud provider.Provider[any], version *imageselector.Version[any]) (all []string) {
	for _, format := range []provider.Format{provider.FormatLegacy, provider.FormatFlavors} {
		entries, err := cloud.Encode(*version, format)
		if err != nil {
			all = append(all, "cannot be written")
			continue
		}
		config := map[string]any{
			"apiVersion": cloud.Type() + ".provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
			"machineImages": []any{map[string]any{"name": "a", "versions": entries}},
		}
		read, _ := cloud.Decode(&runtime.RawExtension{Raw: []byte(jsonOf(t, config))}, nil)
		for _, v := range read.Images[0].Versions {
			for _, f := range v.Flavors {
				all = append(all, fmt.Sprint(v.Version, f.Capabilities, len(f.Regional), jsonOf(t, f.Regional)))
				if f.Global != nil {
					all = append(all, jsonOf(t, f.Global.Ref))
				}
			}
		}
	}
	return all
}

func jsonOf(t given.Fatal, value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		t.Fatalf("%v", err)
	}
	raw, _ = json.Marshal(without(plain))
	return string(raw)
}

// without removes paths, and empty text, which only one of the two may write.
func without(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if v[name] = without(member); v[name] == "" || name == "Path" || name == "NamedAt" {
				delete(v, name)
			}
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return value
}

// ownRules returns the rules that only this cloud has.
func ownRules(cloud provider.Provider[any]) map[string]bool {
	own := map[string]bool{}
	if describer, describes := provider.As[provider.RuleDescriber](cloud); describes {
		for _, rule := range describer.Rules() {
			own[rule.Name] = true
		}
	}
	return own
}

// A cloud by description has the same answers about random profiles as its Go twin.
func TestAlike(t *testing.T) {
	for name, w := range twins(t) {
		t.Run(name, func(t *testing.T) {
			own := ownRules(w.inGo)
			rapid.Check(t, func(t *rapid.T) {
				object := w.profile(t)
				want := answers(t, w.inGo, object, own)
				if diff := cmp.Diff(want, answers(t, w.described, object, own)); diff != "" {
					t.Fatalf("in Go (-), by description (+): %s\n%s", diff, object.Spec.ProviderConfig.Raw)
				}
			})
		})
	}
}

// A cloud by description has the answers of the vectors, except for requests of worker settings.
func TestVectors(t *testing.T) {
	files, err := filepath.Glob("../../docs/vectors/*.json")
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var vector struct {
			Profile *v1beta1.CloudProfile
			Cells   []struct {
				Image, Version, MachineType, Region string
				Requested                           []any
				Reference                           any
			}
		}
		if err := json.Unmarshal(text, &vector); err != nil {
			t.Fatal(err)
		}
		w, found := twins(t)[vector.Profile.Spec.Type]
		if !found {
			continue
		}
		compiled, _ := check.CloudProfile(w.described, vector.Profile)
		for _, cell := range vector.Cells {
			if len(cell.Requested) > 0 || compiled == nil {
				continue
			}
			pool := provider.Pool{Image: cell.Image, Version: cell.Version, MachineType: cell.MachineType, Region: cell.Region}
			if diff := cmp.Diff(jsonOf(t, cell.Reference), jsonOf(t, resolve.Explain(compiled, pool).Reference)); diff != "" {
				t.Errorf("%s: %v: %s", file, pool, diff)
			}
			compared[vector.Profile.Spec.Type]++
		}
	}
	for name := range twins(t) {
		if compared[name] == 0 {
			t.Errorf("no cell of a vector is of %s", name)
		}
	}
	t.Log(compared)
}

// BenchmarkDecode compares decoding by description with decoding in Go: times/go should be below 2.
func BenchmarkDecode(b *testing.B) {
	for name, w := range twins(b) {
		raw := large(w)
		b.Run(name, func(b *testing.B) {
			var byDescription, inGo time.Duration
			took := func(cloud provider.Provider[any]) time.Duration {
				before := b.Elapsed()
				if config, _ := cloud.Decode(raw, field.NewPath("config")); len(config.Images) != 20 {
					b.Fatal(len(config.Images))
				}
				return b.Elapsed() - before
			}
			for b.Loop() {
				inGo += took(w.inGo)
				byDescription += took(w.described)
			}
			b.ReportMetric(float64(byDescription)/float64(inGo), "times/go")
		})
	}
}

// large returns a config with many images.
func large(w twin) *runtime.RawExtension {
	var list []any
	for i := range 20 {
		var versions []any
		for k := range 20 {
			var flavors []any
			for _, architecture := range []string{"amd64", "arm64"} {
				flavor := map[string]any{"capabilities": map[string]any{"architecture": []string{architecture}}}
				if w.regional == "" {
					flavor[w.global] = w.ids[0]
				} else {
					var regions []any
					for r := range 8 {
						regions = append(regions, map[string]any{"name": fmt.Sprint("region-", r), w.regional: w.ids[r%2]})
					}
					flavor["regions"] = regions
				}
				flavors = append(flavors, flavor)
			}
			versions = append(versions, map[string]any{"version": fmt.Sprint("1.", k), "capabilityFlavors": flavors})
		}
		list = append(list, map[string]any{"name": fmt.Sprint("image-", i), "versions": versions})
	}
	raw, _ := json.Marshal(map[string]any{
		"apiVersion": w.inGo.Type() + ".provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig", "machineImages": list,
	})
	return &runtime.RawExtension{Raw: raw}
}
