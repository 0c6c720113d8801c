// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package azure_test

import (
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/azure/v1alpha1"
	"github.com/capkit/capkit/pkg/azure"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
)

var (
	configKind = schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")
	formats    = []provider.Format{provider.FormatLegacy, provider.FormatFlavors}

	accelerated = v1beta1.Capabilities{azure.Networking: {"accelerated", "basic"}}
	basic       = v1beta1.Capabilities{azure.Networking: {"basic"}}
)

func configs(t testing.TB) []providertest.Config {
	t.Helper()
	return providertest.Configs(t, configKind, "../apis/azure/v1alpha1/testdata", "testdata")
}

func TestLaws(t *testing.T) { providertest.Laws(t, azure.Provider{}, configs(t)...) }

// global draws a reference in one of the four fields, possibly empty, or nil.
func global(t *rapid.T) *imageselector.Global[azure.Image] {
	name := rapid.OneOf(rapid.SampledFrom([]string{"a", "b:c:d:e", ""}), rapid.String()).Draw(t, "image")
	skip := rapid.Bool().Draw(t, "without terms")
	ref := rapid.SampledFrom([]azure.Image{
		{URN: name, SkipMarketplaceAgreement: skip}, {ID: name}, {CommunityGalleryImageID: name},
		{SharedGalleryImageID: name, SkipMarketplaceAgreement: skip},
	}).Draw(t, "reference")
	if rapid.IntRange(0, 5).Draw(t, "no reference") == 0 {
		return nil
	}
	return &imageselector.Global[azure.Image]{Ref: ref}
}

// version draws a version in one of the two formats, as decoding would return it.
func version(t *rapid.T) imageselector.Version[azure.Image] {
	text := rapid.OneOf(rapid.SampledFrom([]string{"a", "amd64", "arm64"}), rapid.String())
	made := imageselector.Version[azure.Image]{Version: text.Draw(t, "version"), Legacy: rapid.Bool().Draw(t, "legacy")}
	for range rapid.IntRange(1, 4).Draw(t, "flavors") {
		flavor := imageselector.Flavor[azure.Image]{Global: global(t), Capabilities: v1beta1.Capabilities{}}
		if made.Legacy {
			flavor.Capabilities["architecture"] = v1beta1.CapabilityValues{text.Draw(t, "architecture")}
			flavor.Implied = rapid.SampledFrom([]v1beta1.Capabilities{accelerated, basic}).Draw(t, "implied")
		} else {
			for range rapid.IntRange(0, 2).Draw(t, "capabilities") {
				name := rapid.OneOf(rapid.SampledFrom([]string{"architecture", azure.Networking}), text).Draw(t, "capability")
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
		err := providertest.RoundTrip(azure.Provider{}, configKind, made, format)
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
		if err := providertest.Check(azure.Provider{}, config); err != nil {
			t.Fatal(err)
		}
	})
}

// A version that the format cannot express is an error; nothing is dropped.
func TestEncodeLeavesNothingOut(t *testing.T) {
	type flavor = imageselector.Flavor[azure.Image]
	named := func(ref azure.Image) *imageselector.Global[azure.Image] {
		return &imageselector.Global[azure.Image]{Ref: ref}
	}
	urn, id := named(azure.Image{URN: "a:b:c:d", SkipMarketplaceAgreement: true}), named(azure.Image{ID: "i"})
	amd64, arm64 := v1beta1.Capabilities{"architecture": {"amd64"}}, v1beta1.Capabilities{"architecture": {"arm64"}}
	for what, test := range map[string]struct {
		flavors []flavor
		refuse  []provider.Format
		legacy  bool
	}{
		"nothing":                   {nil, formats, false},
		"one for each architecture": {[]flavor{{Capabilities: arm64, Global: id}, {Capabilities: amd64, Global: urn}}, nil, false},
		"with and without accelerated networking": {[]flavor{
			{Capabilities: amd64, Implied: accelerated, Global: id}, {Capabilities: amd64, Implied: basic, Global: urn},
		}, nil, true},
		"no architecture":       {[]flavor{{Global: id}}, nil, false},
		"several architectures": {[]flavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64", "arm64"}}, Global: id}}, formats[:1], false},
		"networking that is declared": {[]flavor{
			{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, azure.Networking: {"accelerated", "basic"}}, Global: id},
		}, formats[:1], false},
		"another capability":   {[]flavor{{Capabilities: v1beta1.Capabilities{"b": {"c"}}, Global: id}}, formats[:1], false},
		"no image":             {[]flavor{{Capabilities: amd64}}, nil, false},
		"an empty image":       {[]flavor{{Capabilities: amd64, Global: named(azure.Image{})}}, nil, false},
		"two ways to name it":  {[]flavor{{Global: named(azure.Image{URN: "a:b:c:d", ID: "i"})}}, formats, false},
		"an image of a region": {[]flavor{{Global: id, Regional: []imageselector.Regional[azure.Image]{{Region: "b"}}}}, formats, false},
	} {
		t.Run(what, func(t *testing.T) {
			var refused []provider.Format
			for _, format := range formats {
				made := imageselector.Version[azure.Image]{Version: "1.0.0", Legacy: test.legacy, Flavors: test.flavors}
				err := providertest.RoundTrip(azure.Provider{}, configKind, made, format)
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
