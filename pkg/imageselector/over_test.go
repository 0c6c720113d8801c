// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

// catalogOf is a catalog of image versions, written linux@1, with one flavor each whose reference is where followed by that.
func catalogOf(v *capability.Vocabulary, where string, imageVersions ...[2]string) *imageselector.Catalog[string] {
	var images []imageselector.Image[string]
	for _, written := range imageVersions {
		images = append(images, imageselector.Image[string]{Name: written[0], Versions: versions{
			{Version: written[1], Flavors: flavors{global(nil, where+written[0]+"@"+written[1])}},
		}})
	}
	return imageselector.NewCatalog(v, images)
}

func TestACatalogOverAnother(t *testing.T) {
	v := storageAndNet(t)
	base := catalogOf(v, "base ", [2]string{"linux", "1"}, [2]string{"linux", "2"}, [2]string{"windows", "1"}, [2]string{"empty", "2"})
	own := imageselector.NewCatalog(v, []imageselector.Image[string]{
		{Name: "linux", Versions: versions{
			{Version: "2", Flavors: flavors{regional(nil, "us", "own linux@2")}}, // hides the base's, also where it has no image
			{Version: "3", Flavors: flavors{global(nil, "own linux@3")}},
			{Version: "1"}, // without flavors
		}},
		{Name: "plan9", Versions: versions{{Version: "1", Flavors: flavors{global(nil, "own plan9@1")}}}},
		{Name: "empty", Versions: versions{{Version: "1"}}},
	})
	over := own.Over(base)
	for _, tc := range []struct {
		image, version, region string
		want                   string
		reason                 imageselector.Reason
		flavors                int
	}{
		{"linux", "1", "eu", "base linux@1", "", 1},
		{"linux", "2", "us", "own linux@2", "", 1},
		{"linux", "2", "eu", "", "", 1},
		{"linux", "3", "eu", "own linux@3", "", 1},
		{"linux", "4", "eu", "", imageselector.ReasonUnknownVersion, 0},
		{"windows", "1", "eu", "base windows@1", "", 1},
		{"windows", "2", "eu", "", imageselector.ReasonUnknownVersion, 0},
		{"plan9", "1", "eu", "own plan9@1", "", 1},
		{"plan9", "2", "eu", "", imageselector.ReasonUnknownVersion, 0},
		{"empty", "1", "eu", "", "", 0},
		{"empty", "2", "eu", "base empty@2", "", 1},
		{"beos", "1", "eu", "", imageselector.ReasonUnknownImage, 0},
	} {
		t.Run(tc.image+"@"+tc.version+" in "+tc.region, func(t *testing.T) {
			d := agree(t, over, imageselector.Request{Image: tc.image, Version: tc.version, Region: tc.region, Machine: v.All()})
			if d.Reference != tc.want || d.Reason != tc.reason || len(d.Verdicts) != tc.flavors {
				t.Errorf("got %q, %q, %d flavors", d.Reference, d.Reason, len(d.Verdicts))
			}
			offers := 0
			if tc.want != "" {
				offers = 1
			}
			if len(over.Flavors(tc.image, tc.version)) != tc.flavors || len(over.Offers(tc.image, tc.version, tc.region)) != offers {
				t.Errorf("flavors %v, offers %v", over.Flavors(tc.image, tc.version), over.Offers(tc.image, tc.version, tc.region))
			}
		})
	}
	if base.Flavors("linux", "3") != nil || own.Flavors("windows", "1") != nil || len(own.Flavors("linux", "1")) > 0 {
		t.Error("one of the two has changed")
	}
	if over.Vocabulary() != v {
		t.Error("another vocabulary")
	}
}

func TestNothingOverOrUnderACatalog(t *testing.T) {
	v := storageAndNet(t)
	c := catalogOf(v, "", [2]string{"linux", "1"})
	for name, over := range map[string]*imageselector.Catalog[string]{
		"nil": c.Over(nil), "over an empty one": c.Over(catalogOf(v, "")), "an empty one over it": catalogOf(v, "").Over(c),
	} {
		if d := decide(t, over, v.All(), capability.GEP33); d.Reference != "linux@1" {
			t.Errorf("%s: %+v", name, d)
		}
		d := agree(t, over, imageselector.Request{Image: "linux", Version: "2", Machine: v.All()})
		if d.Reason != imageselector.ReasonUnknownVersion {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestOverACatalogOfAnotherVocabulary(t *testing.T) {
	v, w := storageAndNet(t), storageAndNet(t)
	over := catalogOf(v, "own ", [2]string{"linux", "2"}).Over(catalogOf(w, "base ", [2]string{"linux", "1"}))
	d := decide(t, over, v.All(), capability.GEP33)
	if d.Chosen >= 0 || d.Verdicts[0].Reason != imageselector.ReasonCapability || over.Vocabulary() != v {
		t.Errorf("%+v", d)
	}
}

// However catalogs are stacked, an image version is answered by the first that has a flavor of it.
func TestOverTakesTheFirstThatHasAFlavor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, _ := capability.Compile(nil, nil)
		var layers []*imageselector.Catalog[string]
		want := map[[2]string]string{}
		for n := range rapid.IntRange(1, 4).Draw(t, "layers") {
			var written [][2]string
			for _, image := range []string{"a", "b"} {
				for _, version := range []string{"1", "2"} {
					if rapid.Bool().Draw(t, "has") {
						written = append(written, [2]string{image, version})
						if _, found := want[written[len(written)-1]]; !found {
							want[written[len(written)-1]] = fmt.Sprint(n, image, "@", version)
						}
					}
				}
			}
			layers = append(layers, catalogOf(v, fmt.Sprint(n), written...))
		}
		for len(layers) > 1 { // associative: put any one over the next
			i := rapid.IntRange(0, len(layers)-2).Draw(t, "over")
			layers = append(append(layers[:i:i], layers[i].Over(layers[i+1])), layers[i+2:]...)
		}
		got := map[[2]string]string{}
		for _, image := range []string{"a", "b"} {
			for _, version := range []string{"1", "2"} {
				r := imageselector.Request{Image: image, Version: version, Region: "eu", Machine: v.All()}
				if ref, err := layers[0].Select(r); err == nil {
					got[[2]string{image, version}] = ref
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
