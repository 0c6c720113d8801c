// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
)

var configKind = local.ConfigKind

func TestLaws(t *testing.T) {
	providertest.Laws(t, local.Provider{}, append(providertest.Configs(t, configKind,
		"../../example", "../cli/testdata", "../check/testdata"), providertest.Config{JSON: []byte(config)})...)
}

// version draws a version in one of the two formats, as decoding would return it.
func version(t *rapid.T) imageselector.Version[local.Image] {
	text := rapid.OneOf(rapid.SampledFrom([]string{"a", "amd64", "arm64"}), rapid.String())
	made := imageselector.Version[local.Image]{Version: text.Draw(t, "version"), Legacy: rapid.Bool().Draw(t, "legacy")}
	number := rapid.IntRange(1, 4)
	if made.Legacy {
		number = rapid.IntRange(0, 1)
	}
	for range number.Draw(t, "flavors") {
		flavor := imageselector.Flavor[local.Image]{Global: &imageselector.Global[local.Image]{Ref: local.Image{Image: text.Draw(t, "image")}}}
		if made.Legacy && flavor.Global.Ref.Image == "" {
			flavor.Global.Ref.Image = "node"
		}
		if !made.Legacy {
			flavor.Capabilities = v1beta1.Capabilities{}
			for range rapid.IntRange(0, 2).Draw(t, "capabilities") {
				name := rapid.OneOf(rapid.Just("architecture"), text).Draw(t, "capability")
				flavor.Capabilities[name] = rapid.SliceOfN(text, 0, 2).Draw(t, "values")
			}
		}
		made.Flavors = append(made.Flavors, flavor)
	}
	return made
}

func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		made := rapid.Custom(version).Draw(t, "version")
		for _, format := range []provider.Format{provider.FormatLegacy, provider.FormatFlavors} {
			err := providertest.RoundTrip(local.Provider{}, configKind, made, format)
			if err != nil && (made.Legacy || format == provider.FormatFlavors || !providertest.Refused(err)) {
				t.Fatalf("%+v as %s: %v", made, format, err)
			}
		}
	})
}

// A version that the format cannot express is an error; nothing is dropped.
func TestEncodeLeavesNothingOut(t *testing.T) {
	type flavor = imageselector.Flavor[local.Image]
	image := func(name string) *imageselector.Global[local.Image] {
		return &imageselector.Global[local.Image]{Ref: local.Image{Image: name}}
	}
	amd64, arm64 := v1beta1.Capabilities{"architecture": {"amd64"}}, v1beta1.Capabilities{"architecture": {"arm64"}}
	for what, test := range map[string]struct {
		flavors              []flavor
		legacy, capabilities bool // whether each format can express it
	}{
		"nothing":                        {nil, true, true},
		"one for all":                    {[]flavor{{Global: image("a")}}, true, true},
		"the same for each architecture": {[]flavor{{Capabilities: amd64, Global: image("a")}, {Capabilities: arm64, Global: image("a")}}, true, true},
		"one for each architecture":      {[]flavor{{Capabilities: amd64, Global: image("a")}, {Capabilities: arm64, Global: image("b")}}, false, true},
		"another capability":             {[]flavor{{Capabilities: v1beta1.Capabilities{"b": {"c"}}, Global: image("a")}}, false, true},
		"one more capability":            {[]flavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "b": {"c"}}, Global: image("a")}}, false, true},
		"several architectures":          {[]flavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64", "arm64"}}, Global: image("a")}}, false, true},
		"an empty name":                  {[]flavor{{Global: image("")}}, false, true},
		"no image":                       {[]flavor{{Capabilities: amd64}}, false, false},
		"an image of a region":           {[]flavor{{Global: image("a"), Regional: []imageselector.Regional[local.Image]{{Region: "b"}}}}, false, false},
	} {
		t.Run(what, func(t *testing.T) {
			for format, sayable := range map[provider.Format]bool{provider.FormatLegacy: test.legacy, provider.FormatFlavors: test.capabilities} {
				made := imageselector.Version[local.Image]{Version: "1.0.0", Flavors: test.flavors}
				if err := providertest.RoundTrip(local.Provider{}, configKind, made, format); err != nil != providertest.Refused(err) || (err == nil) != sayable {
					t.Errorf("%s: %v", format, err)
				}
			}
		})
	}
}
