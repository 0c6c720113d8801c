// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// imagesAt returns images for lines IMAGE VERSION REFERENCE ARCHITECTURE. A version with an architecture has flavors.
func imagesAt(at *field.Path, lines ...string) (images []imageselector.Image[string]) {
	for i, line := range lines {
		words := append(strings.Fields(line), "")
		image := imageselector.Image[string]{Name: words[0], Path: at.Index(i)}
		version := imageselector.Version[string]{Version: words[1], Legacy: words[3] == "", Path: image.Path.Child("versions").Index(0)}
		flavor := imageselector.Flavor[string]{Path: version.Path}
		if words[2] != "-" {
			flavor.Global = &imageselector.Global[string]{Ref: words[2], Path: version.Path.Child("ref")}
		}
		if words[3] != "" {
			flavor.Capabilities = v1beta1.Capabilities{"architecture": {words[3]}}
		}
		version.Flavors = []imageselector.Flavor[string]{flavor}
		image.Versions = []imageselector.Version[string]{version}
		images = append(images, image)
	}
	return images
}

func TestOverride(t *testing.T) {
	images := imagesAt(field.NewPath("images"), "a 1 a1", "b 1 b1 amd64", "b 2 b2")
	for _, region := range []string{"north", "south"} {
		path := field.NewPath(region)
		images = providerconfig.Override(images, imagesAt(path,
			"a 1 "+region+"-a1", "a 2 "+region+"-a2", "b 1 "+region+"-b1 amd64", "b 1 "+region+"-arm arm64", "b 1 "+region+"-old", "c 1 -",
		), region, path.Child("name"))
	}
	var got []string
	for _, image := range images {
		for _, version := range image.Versions {
			for _, f := range version.Flavors {
				line := fmt.Sprintf("%s@%s legacy:%t %v at %s:", image.Name, version.Version, version.Legacy, f.Capabilities["architecture"], f.Path)
				if f.Global != nil {
					line += " " + f.Global.Ref
				}
				for _, r := range f.Regional {
					line += fmt.Sprintf(" %s=%s (%s, %s)", r.Region, r.Ref, r.Path, r.NamePath())
				}
				got = append(got, line)
			}
		}
	}
	north := func(k int) string { return fmt.Sprintf("(north[%d].versions[0].ref, north.name)", k) }
	south := func(k int) string { return fmt.Sprintf("(south[%d].versions[0].ref, south.name)", k) }
	want := []string{
		"a@1 legacy:true [] at images[0].versions[0]: a1 north=north-a1 " + north(0) + " south=south-a1 " + south(0),
		"a@2 legacy:true [] at north[1].versions[0]: north=north-a2 " + north(1) + " south=south-a2 " + south(1),
		"b@1 legacy:false [amd64] at images[1].versions[0]: b1 north=north-b1 " + north(2) + " south=south-b1 " + south(2),
		"b@1 legacy:false [arm64] at north[3].versions[0]: north=north-arm " + north(3) + " south=south-arm " + south(3),
		"b@1 legacy:true [] at north[4].versions[0]: north=north-old " + north(4) + " south=south-old " + south(4),
		"b@2 legacy:true [] at images[2].versions[0]: b2",
		"c@1 legacy:true [] at north[5].versions[0]:",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
