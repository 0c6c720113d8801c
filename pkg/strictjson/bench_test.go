// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package strictjson_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capkit/capkit/pkg/strictjson"
)

// config resembles the provider config of a CloudProfile.
type config struct {
	metav1.TypeMeta `json:",inline"`

	Images []configImage `json:"machineImages"`
}

type configImage struct {
	Name     string          `json:"name"`
	Versions []configVersion `json:"versions"`
}

type configVersion struct {
	Version string         `json:"version"`
	Flavors []configFlavor `json:"capabilityFlavors"`
}

type configFlavor struct {
	Capabilities v1beta1.Capabilities `json:"capabilities"`
	Regions      []configRegion       `json:"regions"`
}

type configRegion struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// configWithQuantity is a config that is searched for long exponents.
type configWithQuantity struct {
	config
	Size *resource.Quantity `json:"size,omitempty"`
}

// newConfig returns a config of about 1 MiB with random but reproducible UUIDs.
func newConfig() []byte {
	random := rand.NewChaCha8([32]byte{'c'})
	image := configImage{Name: "gardenlinux"}
	for v := range 125 {
		version := configVersion{Version: fmt.Sprintf("1877.%d.0", v)}
		for f := range 16 {
			flavor := configFlavor{Capabilities: v1beta1.Capabilities{
				"architecture": {[]string{"amd64", "arm64"}[f%2]},
				"hypervisor":   {fmt.Sprint("h", f/2)},
				"secureBoot":   {"true", "false"},
			}}
			for r := range 5 {
				id, err := uuid.NewRandomFromReader(random)
				if err != nil {
					panic(err)
				}
				flavor.Regions = append(flavor.Regions, configRegion{fmt.Sprint("region-", r), id.String()})
			}
			version.Flavors = append(version.Flavors, flavor)
		}
		image.Versions = append(image.Versions, version)
	}
	data, err := json.Marshal(config{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "C"}, Images: []configImage{image}})
	if err != nil {
		panic(err)
	}
	return data
}

// BenchmarkDecodeUUIDs alternates between Decode and encoding/json, and compares the best runs.
func BenchmarkDecodeUUIDs(b *testing.B) {
	data := newConfig()
	b.Run("plain", func(b *testing.B) { compare[config](b, data) })
	b.Run("shared", func(b *testing.B) { compare[config](b, data, strictjson.Shared[v1beta1.Capabilities]()) })
	b.Run("with-quantity", func(b *testing.B) { compare[configWithQuantity](b, data) })
}

func compare[T any](b *testing.B, data []byte, options ...strictjson.Option) {
	var strict, plain []time.Duration
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if errs := strictjson.Decode(data, new(T), nil, options...); len(errs) > 0 {
			b.Fatal(errs)
		}
		middle := time.Now()
		if err := json.Unmarshal(data, new(T)); err != nil {
			b.Fatal(err)
		}
		strict, plain = append(strict, middle.Sub(start)), append(plain, time.Since(middle))
	}
	b.ReportMetric(float64(slices.Min(strict).Microseconds())/1000, "ms-strict")
	b.ReportMetric(float64(slices.Min(strict))/float64(slices.Min(plain)), "strict/encoding-json")
}
