// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package openstack_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
)

var configKind = schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")

// configs returns the provider configs of examples and tests.
func configs(t testing.TB) []providertest.Config {
	t.Helper()
	return providertest.Configs(t, configKind, "../../example", "../../test/fixtures/manifests",
		"../apis/openstack/v1alpha1/testdata", "testdata", "rules/testdata", "../cli/testdata", "../check/testdata")
}

func TestLaws(t *testing.T) { providertest.Laws(t, openstack.Provider{}, configs(t)...) }

var (
	text          = rapid.OneOf(rapid.SampledFrom([]string{"a", "europe", "asia", "1.0.0"}), rapid.String())
	architectures = []string{"amd64", "arm64"}
)

// regional draws references by ID.
func regional(t *rapid.T, least int) (references []imageselector.Regional[openstack.Image]) {
	for range rapid.IntRange(least, 3).Draw(t, "regions") {
		references = append(references, imageselector.Regional[openstack.Image]{
			Region: text.Draw(t, "region"), Ref: openstack.Image{ID: text.Draw(t, "id")},
		})
	}
	return references
}

// global draws a reference by name, or nil.
func global(t *rapid.T) *imageselector.Global[openstack.Image] {
	name := text.Draw(t, "image")
	if name == "" || rapid.Bool().Draw(t, "without image") {
		return nil
	}
	return &imageselector.Global[openstack.Image]{Ref: openstack.Image{Name: name}, Fallback: true}
}

// flavored draws a version with capabilityFlavors.
func flavored(t *rapid.T) imageselector.Version[openstack.Image] {
	version := imageselector.Version[openstack.Image]{Version: text.Draw(t, "version")}
	for range rapid.IntRange(1, 4).Draw(t, "flavors") {
		capabilities := v1beta1.Capabilities{}
		for range rapid.IntRange(0, 2).Draw(t, "capabilities") {
			name := rapid.OneOf(rapid.Just("architecture"), text).Draw(t, "capability")
			capabilities[name] = rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(architectures), text), 0, 2).Draw(t, "values")
		}
		version.Flavors = append(version.Flavors, imageselector.Flavor[openstack.Image]{
			Capabilities: capabilities, Regional: regional(t, 0), Global: global(t),
		})
	}
	return version
}

// unflavored draws a legacy version as decoding would return it, with a flavor for each architecture. Only amd64 has an image name, and
// it comes last if it has nothing else.
func unflavored(t *rapid.T) imageselector.Version[openstack.Image] {
	version := imageselector.Version[openstack.Image]{Version: text.Draw(t, "version"), Legacy: true}
	name := global(t)
	for _, architecture := range rapid.Permutation(architectures).Draw(t, "architectures")[rapid.IntRange(0, 2).Draw(t, "without"):] {
		flavor := imageselector.Flavor[openstack.Image]{
			Capabilities: v1beta1.Capabilities{"architecture": {architecture}}, Regional: regional(t, 1),
		}
		if architecture == "amd64" {
			flavor.Global, name = name, nil
		}
		version.Flavors = append(version.Flavors, flavor)
	}
	if name != nil {
		version.Flavors = append(version.Flavors, imageselector.Flavor[openstack.Image]{
			Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}, Global: name,
		})
	}
	return version
}

// tryVersion writes a drawn version in both formats. Its own format can express it.
func tryVersion(t *rapid.T) {
	version := rapid.Custom(flavored).Draw(t, "flavors")
	if rapid.Bool().Draw(t, "legacy") {
		version = rapid.Custom(unflavored).Draw(t, "legacy flavors")
	}
	for _, format := range []provider.Format{provider.FormatLegacy, provider.FormatFlavors} {
		err := providertest.RoundTrip(openstack.Provider{}, configKind, version, format)
		other := version.Legacy != (format == provider.FormatLegacy)
		if err != nil && (!other || !providertest.Refused(err)) {
			t.Fatalf("%+v as %s: %v", version, format, err)
		}
		if err != nil && version.Legacy {
			t.Fatalf("flavors can say whatever the legacy format says: %v", err)
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
		if err := providertest.Check(openstack.Provider{}, config); err != nil {
			t.Fatal(err)
		}
	})
}

// A version that the format cannot express is an error; nothing is dropped.
func TestEncodeLeavesNothingOut(t *testing.T) {
	type (
		flavor = imageselector.Flavor[openstack.Image]
		id     = imageselector.Regional[openstack.Image]
		global = imageselector.Global[openstack.Image]
	)
	amd64, arm64 := v1beta1.Capabilities{"architecture": {"amd64"}}, v1beta1.Capabilities{"architecture": {"arm64"}}
	ids := []id{{Region: "europe", Ref: openstack.Image{ID: "i"}}}
	name := &global{Ref: openstack.Image{Name: "gl"}, Fallback: true}
	both := []provider.Format{provider.FormatLegacy, provider.FormatFlavors}
	for what, test := range map[string]struct {
		flavors []flavor
		refuse  []provider.Format
	}{
		"nothing":                      {nil, nil},
		"one of each architecture":     {[]flavor{{Capabilities: amd64, Regional: ids, Global: name}, {Capabilities: arm64, Regional: ids}}, nil},
		"a name before IDs":            {[]flavor{{Capabilities: amd64, Global: name}, {Capabilities: arm64, Regional: ids}}, nil},
		"no architecture":              {[]flavor{{Regional: ids}}, nil},
		"several architectures":        {[]flavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64", "arm64"}}, Regional: ids}}, both[:1]},
		"another capability":           {[]flavor{{Capabilities: v1beta1.Capabilities{"hypervisor": {"metal"}}, Regional: ids}}, both[:1]},
		"one more capability":          {[]flavor{{Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}, "b": {"c"}}, Regional: ids}}, both[:1]},
		"a name for arm64":             {[]flavor{{Capabilities: arm64, Global: name}}, both[:1]},
		"no image":                     {[]flavor{{Capabilities: amd64}}, both[:1]},
		"two names":                    {[]flavor{{Capabilities: amd64, Global: name}, {Capabilities: amd64, Global: name}}, both[:1]},
		"IDs, then a name":             {[]flavor{{Capabilities: amd64, Regional: ids}, {Capabilities: amd64, Global: name}}, both[:1]},
		"a name, then IDs":             {[]flavor{{Capabilities: amd64, Global: name}, {Capabilities: amd64, Regional: ids}}, both[:1]},
		"IDs twice":                    {[]flavor{{Capabilities: arm64, Regional: ids}, {Capabilities: arm64, Regional: ids}}, both[:1]},
		"a name in a region":           {[]flavor{{Regional: []id{{Region: "europe", Ref: openstack.Image{Name: "gl"}}}}}, both},
		"an ID in all regions":         {[]flavor{{Global: &global{Ref: openstack.Image{ID: "i"}}}}, both},
		"a name that is empty":         {[]flavor{{Global: &global{}}}, both},
		"a name and an ID everywhere":  {[]flavor{{Global: &global{Ref: openstack.Image{ID: "i", Name: "gl"}}}}, both},
		"a name and an ID in a region": {[]flavor{{Regional: []id{{Region: "europe", Ref: openstack.Image{ID: "i", Name: "gl"}}}}}, both},
	} {
		t.Run(what, func(t *testing.T) {
			var refused []provider.Format
			for _, format := range both {
				version := imageselector.Version[openstack.Image]{Version: "1.0.0", Flavors: test.flavors}
				err := providertest.RoundTrip(openstack.Provider{}, configKind, version, format)
				if providertest.Refused(err) {
					refused = append(refused, format)
				} else if err != nil {
					t.Errorf("%s: %v", format, err)
				}
			}
			if len(refused) != len(test.refuse) || len(refused) == 1 && refused[0] != test.refuse[0] {
				t.Errorf("%v are refused instead of %v", refused, test.refuse)
			}
		})
	}
}
