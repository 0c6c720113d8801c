// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gcp_test

import (
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/gcp/v1alpha1"
	"github.com/capkit/capkit/pkg/gcp"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
)

var (
	configKind = schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")
	formats    = []provider.Format{provider.FormatLegacy, provider.FormatFlavors}
)

func configs(t testing.TB) []providertest.Config {
	t.Helper()
	return providertest.Configs(t, configKind, "../apis/gcp/v1alpha1/testdata", "testdata")
}

func TestLaws(t *testing.T) { providertest.Laws(t, gcp.Provider{}, configs(t)...) }

func global(image string) *imageselector.Global[gcp.Image] {
	return &imageselector.Global[gcp.Image]{Ref: gcp.Image{Image: image}}
}

// version draws a version in one of the two formats, as decoding would return it.
func version(t *rapid.T) imageselector.Version[gcp.Image] {
	text := rapid.OneOf(rapid.SampledFrom([]string{"a", "amd64", "arm64"}), rapid.String())
	made := imageselector.Version[gcp.Image]{Version: text.Draw(t, "version"), Legacy: rapid.Bool().Draw(t, "legacy")}
	for range rapid.IntRange(1, 4).Draw(t, "flavors") {
		flavor := imageselector.Flavor[gcp.Image]{Global: global(text.Draw(t, "image")), Capabilities: v1beta1.Capabilities{}}
		if made.Legacy {
			flavor.Capabilities["architecture"] = v1beta1.CapabilityValues{text.Draw(t, "architecture")}
		} else {
			for range rapid.IntRange(0, 2).Draw(t, "capabilities") {
				name := rapid.OneOf(rapid.Just("architecture"), text).Draw(t, "capability")
				flavor.Capabilities[name] = rapid.SliceOfN(text, 0, 2).Draw(t, "values")
			}
		}
		made.Flavors = append(made.Flavors, flavor)
	}
	return made
}

// tryVersion writes a drawn version in both formats. Its own format can express it, and flavors can express every legacy version.
func tryVersion(t *rapid.T) {
	made := rapid.Custom(version).Draw(t, "version")
	for _, format := range formats {
		err := providertest.RoundTrip(gcp.Provider{}, configKind, made, format)
		if err != nil && (made.Legacy || format == provider.FormatFlavors || !providertest.Refused(err)) {
			t.Fatalf("%+v as %s: %v", made, format, err)
		}
	}
}

func TestEncode(t *testing.T) { rapid.Check(t, tryVersion) }

func FuzzEncode(f *testing.F) { f.Fuzz(rapid.MakeFuzz(tryVersion)) }

// FuzzDecodeAndEncode encodes the results of decoding arbitrary configs.
func FuzzDecodeAndEncode(f *testing.F) {
	for _, config := range configs(f) {
		f.Add(config.JSON)
	}
	f.Fuzz(func(t *testing.T, config []byte) {
		if err := providertest.Check(gcp.Provider{}, config); err != nil {
			t.Fatal(err)
		}
	})
}

// A version that the format cannot express is an error; nothing is dropped.
func TestEncodeLeavesNothingOut(t *testing.T) {
	type flavor = imageselector.Flavor[gcp.Image]
	amd64, arm64 := v1beta1.Capabilities{"architecture": {"amd64"}}, v1beta1.Capabilities{"architecture": {"arm64"}}
	for what, test := range map[string]struct {
		flavors []flavor
		refuse  []provider.Format
	}{
		"nothing":                   {nil, formats},
		"one":                       {[]flavor{{Capabilities: amd64, Global: global("a")}}, nil},
		"one for each architecture": {[]flavor{{Capabilities: arm64, Global: global("b")}, {Capabilities: amd64, Global: global("a")}}, nil},
		"no architecture":           {[]flavor{{Global: global("a")}}, nil},
		"several architectures":     {[]flavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64", "arm64"}}, Global: global("a")}}, formats[:1]},
		"another capability":        {[]flavor{{Capabilities: v1beta1.Capabilities{"b": {"c"}}, Global: global("a")}}, formats[:1]},
		"one more capability":       {[]flavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "b": {"c"}}, Global: global("a")}}, formats[:1]},
		"no image":                  {[]flavor{{Capabilities: amd64}}, formats},
		"an empty image":            {[]flavor{{Capabilities: amd64, Global: global("")}}, nil},
		"an image of a region":      {[]flavor{{Global: global("a"), Regional: []imageselector.Regional[gcp.Image]{{Region: "b"}}}}, formats},
	} {
		t.Run(what, func(t *testing.T) {
			var refused []provider.Format
			for _, format := range formats {
				made := imageselector.Version[gcp.Image]{Version: "1.0.0", Flavors: test.flavors}
				err := providertest.RoundTrip(gcp.Provider{}, configKind, made, format)
				if providertest.Refused(err) {
					refused = append(refused, format)
				} else if err != nil {
					t.Errorf("%s: %v", format, err)
				}
			}
			if !slices.Equal(refused, test.refuse) {
				t.Errorf("%v are refused instead of %v", refused, test.refuse)
			}
		})
	}
}
