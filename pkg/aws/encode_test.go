// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package aws_test

import (
	"slices"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/apis/aws/v1alpha1"
	"github.com/capkit/capkit/pkg/aws"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/provider/providertest"
)

var configKind = schema.GroupVersion(v1alpha1.GroupVersion).WithKind("CloudProfileConfig")

func TestLaws(t *testing.T) {
	providertest.Laws(t, aws.Provider{}, providertest.Configs(t, configKind, "../../example", "../apis/aws/v1alpha1/testdata", "testdata")...)
}

type (
	version  = imageselector.Version[aws.Image]
	flavor   = imageselector.Flavor[aws.Image]
	regional = imageselector.Regional[aws.Image]
)

// Flavors can express every legacy version. In the other direction a version is written as a whole or not at all.
func TestEncode(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", "eu-central-1", "ami-32d1474b"})
	values := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"amd64", "arm64"}), 0, 2, rapid.ID[string])
	flavors := rapid.Custom(func(t *rapid.T) flavor {
		f := flavor{Capabilities: v1beta1.Capabilities{}}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"architecture", "aws-efa"}), 0, 2, rapid.ID[string]).Draw(t, "names") {
			f.Capabilities[name] = values.Draw(t, "values")
		}
		for range rapid.IntRange(0, 2).Draw(t, "regions") {
			f.Regional = append(f.Regional, regional{Region: text.Draw(t, "region"), Ref: aws.Image{AMI: text.Draw(t, "ami")}})
		}
		return f
	})
	rapid.Check(t, func(t *rapid.T) {
		v := version{Version: text.Draw(t, "version"), Flavors: rapid.SliceOfN(flavors, 1, 3).Draw(t, "flavors")}
		if err := providertest.RoundTrip(aws.Provider{}, configKind, v, provider.FormatFlavors); err != nil {
			t.Fatal(err)
		}
		if err := providertest.RoundTrip(aws.Provider{}, configKind, v, provider.FormatLegacy); err != nil && !providertest.Refused(err) {
			t.Fatal(err)
		}
	})
}

// A version that the format cannot express is an error; nothing is dropped.
func TestEncodeLeavesNothingOut(t *testing.T) {
	amd64, arm64 := v1beta1.Capabilities{"architecture": {"amd64"}}, v1beta1.Capabilities{"architecture": {"arm64"}}
	legacy := []provider.Format{provider.FormatLegacy}
	amis := []regional{{Region: "eu-central-1", Ref: aws.Image{AMI: "ami-32d1474b"}}}
	for what, test := range map[string]struct {
		flavors []flavor
		refused []provider.Format
	}{
		"nothing":                  {nil, nil},
		"one of each architecture": {[]flavor{{Capabilities: arm64, Regional: amis}, {Capabilities: amd64, Regional: amis}}, nil},
		"no architecture":          {[]flavor{{Regional: amis}}, nil},
		"another capability":       {[]flavor{{Capabilities: v1beta1.Capabilities{"aws-efa": {"enabled"}}, Regional: amis}}, legacy},
		"one architecture twice":   {[]flavor{{Regional: amis}, {Capabilities: amd64, Regional: amis}}, legacy},
		"no AMI":                   {[]flavor{{Capabilities: amd64}}, legacy},
		"an image for all regions": {
			[]flavor{{Global: &imageselector.Global[aws.Image]{Ref: aws.Image{AMI: "ami-32d1474b"}}}},
			[]provider.Format{provider.FormatLegacy, provider.FormatFlavors},
		},
	} {
		t.Run(what, func(t *testing.T) {
			for _, format := range []provider.Format{provider.FormatLegacy, provider.FormatFlavors} {
				err := providertest.RoundTrip(aws.Provider{}, configKind, version{Version: "1.0.0", Flavors: test.flavors}, format)
				if refused := providertest.Refused(err); refused != slices.Contains(test.refused, format) || err != nil && !refused {
					t.Errorf("%s: %v", format, err)
				}
			}
		})
	}
}
