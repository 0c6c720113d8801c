// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package imageselector_test

import (
	"errors"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
)

type (
	caps     = v1beta1.Capabilities
	defs     = []v1beta1.CapabilityDefinition
	flavors  = []imageselector.Flavor[string]
	versions = []imageselector.Version[string]
)

func vocabulary(t testing.TB, definitions defs) *capability.Vocabulary {
	t.Helper()
	v, errs := capability.Compile(definitions, field.NewPath("spec", "machineCapabilities"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return v
}

func machine(t testing.TB, v *capability.Vocabulary, c caps) capability.Set {
	t.Helper()
	s, errs := v.Set(c, field.NewPath("capabilities"))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s
}

// regional returns a flavor with references in some regions: "eu", "image-1", "us", "image-2", …
func regional(c caps, references ...string) imageselector.Flavor[string] {
	f := imageselector.Flavor[string]{Capabilities: c}
	for i := 0; i < len(references); i += 2 {
		f.Regional = append(f.Regional, imageselector.Regional[string]{Region: references[i], Ref: references[i+1]})
	}
	return f
}

// global returns a flavor with one reference for all regions.
func global(c caps, reference string) imageselector.Flavor[string] {
	return imageselector.Flavor[string]{Capabilities: c, Global: &imageselector.Global[string]{Ref: reference}}
}

func both(f imageselector.Flavor[string], reference string) imageselector.Flavor[string] {
	f.Global = &imageselector.Global[string]{Ref: reference}
	return f
}

// linux returns a catalog with the single image version linux@1.
func linux(v *capability.Vocabulary, f ...imageselector.Flavor[string]) *imageselector.Catalog[string] {
	return imageselector.NewCatalog(v, []imageselector.Image[string]{{Name: "linux", Versions: versions{{Version: "1", Flavors: f}}}})
}

func storageAndNet(t testing.TB) *capability.Vocabulary {
	return vocabulary(t, defs{
		{Name: "architecture", Values: []string{"amd64"}},
		{Name: "storage", Values: []string{"NVMe", "SCSI"}},
		{Name: "net", Values: []string{"accelerated", "basic"}},
	})
}

// decide chooses a flavor of linux@1 in eu, and requires that all methods agree.
func decide(t *testing.T, c *imageselector.Catalog[string], m capability.Set, order capability.Order) imageselector.Decision[string] {
	t.Helper()
	return agree(t, c, imageselector.Request{Image: "linux", Version: "1", Region: "eu", Machine: m, Order: order})
}

func agree(t rapid.TB, c *imageselector.Catalog[string], r imageselector.Request) imageselector.Decision[string] {
	t.Helper()
	d := c.Decide(r)
	if chosen := c.Choose(r); chosen != d.Chosen {
		t.Errorf("Choose says %d, Decide %d", chosen, d.Chosen)
	}
	ref, err := c.Select(r)
	if ref != d.Reference || (err != nil) != (d.Chosen < 0) || err != nil && !errors.Is(err, imageselector.ErrNoImage) {
		t.Errorf("Select says %q, %v; Decide says %q, %d", ref, err, d.Reference, d.Chosen)
	}
	if d.Chosen >= 0 {
		if want, found := d.Verdicts[d.Chosen].Flavor.Reference(r.Region); !found || want != d.Reference {
			t.Errorf("the flavor says %q, %t; Decide says %q", want, found, d.Reference)
		}
	}
	return d
}

func reasons(d imageselector.Decision[string]) []imageselector.Reason {
	var all []imageselector.Reason
	for _, v := range d.Verdicts {
		all = append(all, v.Reason)
	}
	return all
}

func TestReferences(t *testing.T) {
	const (
		ok           = imageselector.Reason("")
		byCapability = imageselector.ReasonCapability
		byRegion     = imageselector.ReasonRegion
	)
	nvme, scsi := caps{"storage": {"NVMe"}}, caps{"storage": {"SCSI"}}
	for name, tc := range map[string]struct {
		flavors flavors
		machine caps
		want    string
		reasons []imageselector.Reason
	}{
		"the region's own": {
			flavors{regional(nil, "us", "image-us", "eu", "image-eu")}, nil, "image-eu", []imageselector.Reason{ok}},
		"the last of two for one region": {
			flavors{regional(nil, "eu", "first", "us", "image-us", "eu", "second")}, nil, "second", []imageselector.Reason{ok}},
		"the last of two that follow each other": {
			flavors{both(regional(nil, "eu", "first", "eu", "second"), "image")}, nil, "second", []imageselector.Reason{ok}},
		"the last of two, of each flavor": {
			flavors{regional(scsi, "eu", "a", "eu", "b"), regional(nvme, "eu", "c", "us", "d", "eu", "e")}, nil, "e",
			[]imageselector.Reason{ok, ok}},
		"the global one where the region has none": {
			flavors{both(regional(nil, "us", "image-us"), "image")}, nil, "image", []imageselector.Reason{ok}},
		"the region's own before the global one": {
			flavors{both(regional(nil, "eu", "image-eu"), "image")}, nil, "image-eu", []imageselector.Reason{ok}},
		"a global one only": {
			flavors{global(nil, "image")}, nil, "image", []imageselector.Reason{ok}},
		"none in the region": {
			flavors{regional(nil, "us", "image-us")}, nil, "", []imageselector.Reason{byRegion}},
		"none at all": {
			flavors{regional(nil)}, nil, "", []imageselector.Reason{byRegion}},
		"the better flavor is missing in the region": {
			flavors{regional(nvme, "us", "nvme"), regional(scsi, "eu", "scsi")}, nil, "scsi", []imageselector.Reason{byRegion, ok}},
		"a conflict counts before a missing reference": {
			flavors{regional(nvme, "us", "nvme")}, scsi, "", []imageselector.Reason{byCapability}},
		"one of each": {
			flavors{regional(nvme, "eu", "nvme"), regional(scsi, "us", "scsi")}, scsi, "", []imageselector.Reason{byCapability, byRegion}},
		"no flavors": {flavors{}, nil, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := storageAndNet(t)
			d := decide(t, linux(v, tc.flavors...), machine(t, v, tc.machine), capability.GEP33)
			if d.Reference != tc.want || (d.Chosen < 0) != (tc.want == "") || d.Reason != "" {
				t.Errorf("got %q (flavor %d, reason %q), want %q", d.Reference, d.Chosen, d.Reason, tc.want)
			}
			if diff := cmp.Diff(tc.reasons, reasons(d)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAMachineOfAnotherVocabularyFitsNothing(t *testing.T) {
	v := storageAndNet(t)
	c := linux(v, global(nil, "image"))
	request, _ := storageAndNet(t).Request(nil)
	d := agree(t, c, imageselector.Request{Image: "linux", Version: "1", Machine: v.All(), Worker: request})
	if d.Chosen >= 0 || d.Verdicts[0].Reason != imageselector.ReasonCapability {
		t.Errorf("a request of another vocabulary: %+v", d)
	}
	for _, m := range []capability.Set{{}, storageAndNet(t).All()} {
		if d := decide(t, c, m, capability.GEP33); d.Chosen >= 0 || d.Verdicts[0].Reason != imageselector.ReasonCapability {
			t.Errorf("%+v", d)
		}
	}
}

// Semantics S7: the flavors of all entries of a version are combined, also across entries of one image.
func TestEntriesOfOneVersionAddUp(t *testing.T) {
	v := storageAndNet(t)
	c := imageselector.NewCatalog(v, []imageselector.Image[string]{
		{Name: "linux", Versions: versions{
			{Version: "1", Legacy: true, Flavors: flavors{regional(caps{"storage": {"SCSI"}}, "eu", "scsi")}},
			{Version: "2", Flavors: flavors{global(nil, "two")}},
			{Version: "1", Flavors: flavors{regional(caps{"storage": {"NVMe"}, "net": {"basic"}}, "eu", "nvme-basic")}},
		}},
		{Name: "linux", Versions: versions{{Version: "1", Flavors: flavors{regional(caps{"storage": {"NVMe"}}, "eu", "nvme")}}}},
	})
	d := decide(t, c, v.All(), capability.GEP33)
	if d.Reference != "nvme" || d.Chosen != 2 || len(d.Verdicts) != 3 || len(c.Flavors("linux", "1")) != 3 {
		t.Errorf("%+v", d)
	}
}

// Semantics S7: an image that is listed twice has the versions of both entries.
func TestEntriesOfOneImageAddUp(t *testing.T) {
	v := storageAndNet(t)
	c := imageselector.NewCatalog(v, []imageselector.Image[string]{
		{Name: "linux", Versions: versions{{Version: "2", Flavors: flavors{global(nil, "two")}}}},
		{Name: "windows", Versions: versions{{Version: "1", Flavors: flavors{global(nil, "other")}}}},
		{Name: "linux", Versions: versions{{Version: "1", Flavors: flavors{global(nil, "one")}}}},
		{Name: "linux"},
	})
	for version, want := range map[string]string{"1": "one", "2": "two", "3": ""} {
		d := agree(t, c, imageselector.Request{Image: "linux", Version: version, Machine: v.All()})
		if d.Reference != want {
			t.Errorf("version %s: got %q, want %q", version, d.Reference, want)
		}
	}
}

// An entry's undeclared worker capabilities apply to its own flavors only, not to other entries of the version.
func TestEntriesOfOneVersionKeepWhatIsUndeclared(t *testing.T) {
	v := storageAndNet(t)
	c := imageselector.NewCatalog(v, []imageselector.Image[string]{{Name: "linux", Versions: versions{
		{Version: "1", Flavors: flavors{global(nil, "rolling")}},
		{Version: "1", Flavors: flavors{global(caps{"storage": {"SCSI"}}, "both")}, Undeclared: caps{"gardener-update-type": {"in-place", "rolling"}}},
	}}})
	inPlace, _ := v.Request(capability.Worker{UpdateStrategy: v1beta1.AutoInPlaceUpdate}.Requirements(nil))
	d := agree(t, c, imageselector.Request{Image: "linux", Version: "1", Machine: v.All(), Worker: inPlace})
	if d.Reference != "both" || d.Verdicts[0].Reason != imageselector.ReasonCapability {
		t.Errorf("%+v", d)
	}
}

// Semantics S5, step 4: of equivalent flavors the first wins, and the decision is marked as ambiguous.
func TestAmbiguous(t *testing.T) {
	nvme, same, scsi := caps{"storage": {"NVMe"}}, caps{"storage": {"NVMe", "NVMe"}}, caps{"storage": {"SCSI"}}
	for name, tc := range map[string]struct {
		flavors   flavors
		want      string
		ambiguous bool
	}{
		"two the same":                           {flavors{global(nvme, "A"), global(same, "B")}, "A", true},
		"a later worse one changes nothing":      {flavors{global(nvme, "A"), global(same, "B"), global(scsi, "C")}, "A", true},
		"a later better one clears it":           {flavors{global(scsi, "A"), global(scsi, "B"), global(nvme, "C")}, "C", false},
		"and a third pair sets it again":         {flavors{global(scsi, "A"), global(scsi, "B"), global(nvme, "C"), global(same, "D")}, "C", true},
		"the same but for the region":            {flavors{global(nvme, "A"), regional(same, "us", "B")}, "A", false},
		"the same but the first has no image":    {flavors{regional(nvme, "us", "A"), global(same, "B")}, "B", false},
		"an omission is the same as all, listed": {flavors{global(nil, "A"), global(caps{"net": {"basic", "accelerated"}}, "B")}, "A", true},
	} {
		t.Run(name, func(t *testing.T) {
			v := storageAndNet(t)
			for _, order := range []capability.Order{capability.GEP33, capability.Gardener} {
				d := decide(t, linux(v, tc.flavors...), v.All(), order)
				if d.Reference != tc.want || d.Ambiguous != tc.ambiguous {
					t.Errorf("%s: got %q, ambiguous: %t", order, d.Reference, d.Ambiguous)
				}
			}
		})
	}
}

// Semantics S7: names and values outside the vocabulary are ignored. A flavor without any other value of a registered capability fits
// nothing.
func TestFlavorsWithUnknownCapabilitiesAreTakenAsTheyAre(t *testing.T) {
	v := storageAndNet(t)
	c := linux(v,
		global(caps{"gpu": {"yes"}, "storage": {"SCSI"}}, "unknown name"),
		global(caps{"storage": {"tape"}}, "unknown value"),
		global(caps{"storage": {}}, "empty list"),
		global(caps{"storage": {"tape", "NVMe"}, "net": {"basic", "slow"}}, "unknown values beside known ones"),
	)
	d := decide(t, c, v.All(), capability.GEP33)
	if d.Reference != "unknown values beside known ones" {
		t.Error(d.Reference)
	}
	if got, want := d.Verdicts[3].Set.String(), "{architecture: [amd64], storage: [NVMe], net: [basic]}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := []imageselector.Reason{"", imageselector.ReasonCapability, imageselector.ReasonCapability, ""}
	if diff := cmp.Diff(want, reasons(d)); diff != "" {
		t.Error(diff)
	}
}

func TestSelectDoesNotAllocate(t *testing.T) {
	v := storageAndNet(t)
	c := linux(v,
		regional(caps{"storage": {"SCSI"}}, "eu", "A", "us", "B"),
		regional(caps{"net": {"basic"}}, "eu", "C"),
		both(regional(caps{"storage": {"NVMe"}}, "us", "D"), "E"),
		both(regional(caps{"storage": {"NVMe"}, "gardener-boot-type": {"secure", "standard"}, "gardener-update-type": {"in-place"}}, "us", "F"), "G"),
	)
	ordinary, _ := v.Request(capability.Worker{}.Requirements(nil))
	inPlace, _ := v.Request(capability.Worker{SecureBoot: true, UpdateStrategy: v1beta1.AutoInPlaceUpdate}.Requirements(nil))
	requests := []imageselector.Request{
		{Image: "linux", Version: "1", Region: "eu", Machine: v.All()},
		{Image: "linux", Version: "1", Region: "us", Machine: machine(t, v, caps{"storage": {"SCSI"}}), Order: capability.Gardener},
		{Image: "linux", Version: "1", Region: "nowhere", Machine: machine(t, v, caps{"storage": {"SCSI"}})},
		{Image: "linux", Version: "1", Region: "us", Machine: v.All(), Worker: ordinary},
		{Image: "linux", Version: "1", Region: "us", Machine: v.All(), Worker: inPlace, Order: capability.Gardener},
		{Image: "linux", Version: "1", Region: "eu", Machine: machine(t, v, caps{"storage": {"SCSI"}}), Worker: inPlace},
		{Image: "linux", Version: "2", Region: "eu", Machine: v.All()},
		{Image: "windows", Version: "1", Region: "eu", Machine: v.All()},
	}
	for _, r := range requests {
		if n := testing.AllocsPerRun(100, func() {
			_, _ = c.Select(r)
			_ = c.Choose(r)
		}); n != 0 {
			t.Errorf("%s@%s in %s: %v allocations", r.Image, r.Version, r.Region, n)
		}
	}
}

// said is a reference that says whether it is empty.
type said struct{ id, zone string }

func (s said) IsZero() bool { return s.id == "" }

func TestIsEmpty(t *testing.T) {
	for ref, want := range map[any]bool{nil: true, "": true, said{}: true, said{zone: "z"}: true, said{id: "a"}: false, "a": false} {
		if got := imageselector.IsEmpty(ref); got != want {
			t.Errorf("%v: %t", ref, got)
		}
	}
	if !imageselector.IsEmpty(said{zone: "z"}) || imageselector.IsEmpty(&said{id: "a"}) || !imageselector.IsEmpty((*said)(nil)) || !imageselector.IsEmpty("") {
		t.Error("references of their own type")
	}
}
