// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/inventory"
)

const head = "apiVersion: capkit/v1\nkind: Inventory\nprovider: openstack\ntaken: \"2026-11-23T12:00:00Z\"\n"

const negative = ": it is negative: write how much there is, or leave it out if that is not known"

func said(errs finding.List) (all []string) {
	for _, f := range errs {
		all = append(all, fmt.Sprintf("%s: %s", f.Field, f.Detail))
	}
	return all
}

// All errors are reported at once, each at its path.
func TestRead(t *testing.T) {
	lists := "images, machineTypes, zones, volumeTypes, networks, loadBalancerProviders, serverGroupPolicies"
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"all of it":    {text: head + "regions:\n- name: europe\n  unread: [volumeTypes]\n  images: [{id: a, properties: {x: z}}]\n  zones: []\n"},
		"as JSON":      {text: `{"apiVersion": "capkit/v1", "kind": "Inventory", "provider": "aws", "taken": "2026-11-23T12:00:00Z", "regions": []}`},
		"in one line":  {text: `{apiVersion: capkit/v1, kind: Inventory, provider: aws, regions: []}`},
		"with a mark":  {text: "# an inventory\n---\n" + head + "regions: []\n"},
		"a plain time": {text: strings.ReplaceAll(head, `"`, "") + "regions: []\n"},
		"nothing":      {text: " \n", want: []string{": the file is empty"}},
		"no mapping":   {text: "- a\n", want: []string{": expected an object, got a list"}},
		"no YAML":      {text: "a: b: c\n", want: []string{": line 1: not valid YAML: mapping values are not allowed in this context"}},
		"two of them":  {text: head + "regions: []\n---\n" + head, want: []string{": line 6: there is a second document: write one in a file"}},
		"two of them as JSON": {
			text: `{"apiVersion": "capkit/v1", "kind": "Inventory", "provider": "aws", "regions": []}` + "\n" + `{"kind": "Inventory"}`,
			want: []string{": line 2: there is more text after the end of the document: write one document in a file"},
		},
		"something behind braces": {
			text: "# of today\n{apiVersion: capkit/v1, kind: Inventory, provider: aws, regions: []}\nregions: [{name: a}]\n",
			want: []string{": line 3: there is more text after the end of the document: write one document in a file"},
		},
		"something behind what is indented": {
			text: " apiVersion: capkit/v1\n kind: Inventory\n provider: aws\n regions: []\nregions: [{name: a}]\n",
			want: []string{": line 5: there is more text after the end of the document: write one document in a file"},
		},
		"all of it indented":    {text: " apiVersion: capkit/v1\n kind: Inventory\n provider: aws\n regions: []\n"},
		"JSON before a comment": {text: `{"apiVersion": "capkit/v1", "kind": "Inventory", "provider": "aws", "regions": []} # of today` + "\n---\n"},
		"another kind": {
			text: "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nspec: {}\n",
			want: []string{"apiVersion: apiVersion is core.gardener.cloud/v1beta1, and not capkit/v1", "kind: kind is CloudProfile, and not Inventory"},
		},
		"no kind": {text: "provider: aws\n", want: []string{"apiVersion: write apiVersion: capkit/v1", "kind: write kind: Inventory"}},
		"unknown fields and wrong values": {
			text: strings.ReplaceAll(head, "2026-11-23T12:00:00Z", "yesterday") +
				"regions:\n- name: europe\n  image: []\n  machineTypes: [{name: a, cpus: 4, memoryMiB: many}]\n",
			want: []string{
				`regions[0].image: unknown field "image"; did you mean "images"?`,
				`regions[0].machineTypes[0].cpus: unknown field "cpus"; did you mean "cpu"?`,
				`regions[0].machineTypes[0].memoryMiB: expected a whole number, got a string`,
				"taken: must be a time like 2006-01-02T15:04:05Z",
			},
		},
		"a date": {
			text: strings.ReplaceAll(head, "2026-11-23T12:00:00Z", "2026-11-23") + "regions: []\n",
			want: []string{`taken: must be a time like 2006-01-02T15:04:05Z; write "2026-11-23T00:00:00Z"`},
		},
		"a key twice": {text: head + "regions: []\nregions: []\n", want: []string{`: not valid YAML: unmarshal errors:
  line 6: key "regions" already set in map`}},
		"a region twice": {
			text: head + "regions: [{name: a}, {name: b}, {name: a}]\n",
			want: []string{"regions[2].name: region a is in regions[0] already: write it once"},
		},
		"without names": {
			text: "apiVersion: capkit/v1\nkind: Inventory\nregions: [{images: [{name: a}], machineTypes: [{cpu: 1}], zones: [{}], networks: [{external: true}]}]\n",
			want: []string{
				"provider: write the provider type, as in spec.type of a CloudProfile", "regions[0].name: a region needs a name",
				"regions[0].images[0].id: an image needs an ID", "regions[0].machineTypes[0].name: it needs a name", "regions[0].zones[0].name: it needs a name",
			},
		},
		"things twice": {
			text: head + "regions: [{name: a, images: [{id: i, name: one}, {id: j}, {id: i, name: two}], machineTypes: [{name: m}, {name: m, cpu: 4}], " +
				"zones: [{name: z}, {name: z}], networks: [{name: o}, {name: o, external: true}, {}, {}]}, {name: b, images: [{id: i}]}]\n",
			want: []string{
				"regions[0].images[2].id: i is in the list already, with index 0: write it once",
				"regions[0].machineTypes[1].name: m is in the list already, with index 0: write it once",
				"regions[0].zones[1].name: z is in the list already, with index 0: write it once",
			},
		},
		"negative sizes": {
			text: head + "regions: [{name: a, images: [{id: i, minDiskGiB: -1}], machineTypes: [{name: m, cpu: -4, memoryMiB: -1, gpu: -1, diskGiB: -20}, " +
				"{name: o, cpu: 4, gpu: 0, diskGiB: 0}]}]\n",
			want: []string{
				"regions[0].images[0].minDiskGiB" + negative, "regions[0].machineTypes[0].cpu" + negative, "regions[0].machineTypes[0].memoryMiB" + negative,
				"regions[0].machineTypes[0].gpu" + negative, "regions[0].machineTypes[0].diskGiB" + negative,
			},
		},
		"more memory than can be counted": {
			text: head + "regions: [{name: a, machineTypes: [{name: m, memoryMiB: 8796093022208}, {name: o, memoryMiB: 8796093022207}]}]\n",
			want: []string{"regions[0].machineTypes[0].memoryMiB: no machine has so much: write mebibytes"},
		},
		"no regions": {text: head, want: []string{"regions: write the regions that were read; [] if there are none"}},
		"unread lists": {
			text: head + "regions: [{name: a, unread: [image, volumes, networks]}]\n",
			want: []string{
				"regions[0].unread[0]: image is not a list of a region: there are " + lists + "; did you mean images?",
				"regions[0].unread[1]: volumes is not a list of a region: there are " + lists,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			read, errs := inventory.Read([]byte(tc.text))
			if diff := cmp.Diff(tc.want, said(errs)); diff != "" {
				t.Error(diff)
			}
			if (read == nil) != (len(errs) > 0) {
				t.Error(read)
			}
		})
	}
}

// A handwritten inventory may use the clouds' names for architectures.
func TestReadArchitectures(t *testing.T) {
	for written, want := range map[string]string{"x86_64": "amd64", "aarch64": "arm64", "ARM64": "arm64", "amd64": "amd64", "s390x": "s390x"} {
		read, errs := inventory.Read([]byte(head +
			"regions: [{name: a, images: [{id: i, architecture: " + written + "}], machineTypes: [{name: m, architecture: " + written + "}]}]\n"))
		if len(errs) > 0 {
			t.Fatal(said(errs))
		}
		r := &read.Regions[0]
		if r.Images[0].Architecture != want || r.MachineTypes[0].Architecture != want {
			t.Errorf("%s: %s, %s", written, r.Images[0].Architecture, r.MachineTypes[0].Architecture)
		}
	}
}

// A list that is marked as unread is unknown, even if a part of it is present.
func TestUnreadIsUnknown(t *testing.T) {
	for _, list := range inventory.Lists() {
		text := head + "regions: [{name: a, unread: [" + list + "], images: [{id: i}], machineTypes: [], zones: [{name: z}], volumeTypes: [{name: v}], " +
			"networks: [], loadBalancerProviders: [{name: l}], serverGroupPolicies: [affinity]}]\n"
		read, errs := inventory.Read([]byte(text))
		if len(errs) > 0 {
			t.Fatal(said(errs))
		}
		for _, other := range inventory.Lists() {
			if known := read.Regions[0].Known(other); known != (other != list) {
				t.Error(list, other, known)
			}
		}
	}
}

// The unread lists are in the order of the lists, without repetition.
func TestOrderOfUnread(t *testing.T) {
	read, errs := inventory.Read([]byte(head + "regions: [{name: a, unread: [networks, images, zones, images]}]\n"))
	if len(errs) > 0 {
		t.Fatal(said(errs))
	}
	if diff := cmp.Diff([]string{"images", "zones", "networks"}, read.Regions[0].Unread); diff != "" {
		t.Error(diff)
	}
}

// An absent list is unknown; an empty one is known to be empty.
func TestWhatIsKnown(t *testing.T) {
	read, errs := inventory.Read([]byte(head + "regions: [{name: a, images: [], zones: [{name: z}]}]\n"))
	if len(errs) > 0 {
		t.Fatal(said(errs))
	}
	var known []string
	for _, list := range inventory.Lists() {
		if read.Regions[0].Known(list) {
			known = append(known, list)
		}
	}
	if diff := cmp.Diff([]string{"images", "zones"}, known); diff != "" || read.Regions[0].Known("others") {
		t.Error(diff)
	}
	if want := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC); !read.Taken.Equal(want) {
		t.Error(read.Taken)
	}
}

func TestReadProperties(t *testing.T) {
	const head = "apiVersion: capkit/v1\nkind: ImageProperties\nprovider: openstack\n"
	table, errs := inventory.ReadProperties([]byte(head + "properties:\n- {names: [a]}\n- {names: [b, c], value: d, capability: e, only: [f], some: [g]}\n"))
	if len(errs) > 0 || len(table.Properties) != 2 || table.Properties[1].Some[0] != "g" {
		t.Error(said(errs), table)
	}
	_, errs = inventory.ReadProperties([]byte(strings.Replace(head, "openstack", "''", 1) +
		"properties:\n- {names: []}\n- {names: [a], value: b}\n- {names: [a], capability: b}\n- {names: [a], capability: b, only: [c]}\n"))
	want := []string{
		"provider: write the provider type, as in spec.type of a CloudProfile",
		"properties[0].names: write the names of the property, as in names: [hypervisor_type]",
		"properties[1].capability: write the capability that the values are of, or leave out value, only and some",
		"properties[2]: write in only which values a flavor may declare, or in some those of which it has to declare one",
		"properties[3].value: write the value of the property that the row is for",
	}
	if diff := cmp.Diff(want, said(errs)); diff != "" {
		t.Error(diff)
	}
	if _, errs = inventory.ReadProperties([]byte("apiVersion: capkit/v1\nkind: Inventory\n")); len(errs) != 1 {
		t.Error(said(errs))
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(head + "regions:\n- name: europe\n  images: [{id: a}]\n"))
	f.Add([]byte(`{"apiVersion": "capkit/v1", "kind": "Inventory", "provider": "aws", "regions": []}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, errs := inventory.Read(text)
		if (read == nil) != (len(errs) > 0) {
			t.Error(read, said(errs))
		}
	})
}
