// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/capkit/capkit/pkg/inventory"
)

var taken = time.Date(2026, 11, 23, 13, 0, 0, 0, time.FixedZone("", 3600))

func of(regions ...inventory.Region) iter.Seq2[inventory.Region, error] {
	return func(yield func(inventory.Region, error) bool) {
		for _, r := range regions {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func written(t testing.TB, format string, regions ...inventory.Region) string {
	t.Helper()
	var out bytes.Buffer
	if err := inventory.Write(&out, format, "openstack", taken, of(regions...)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func some() inventory.Region {
	yes, no, size := true, false, int64(10)
	r := inventory.Region{
		Name: "europe", Unread: []string{"loadBalancerProviders", "volumeTypes"},
		Images: []inventory.Image{
			{ID: "b", Name: "gl", Status: "active", MinDiskGiB: &size, Checksum: "sha512:aa", Properties: map[string]string{"z": "", "a": "a: b"}},
			{ID: "a", Name: "gl"},
			{ID: "c", Name: "gl"},
			{ID: "c", Name: "gl", Status: "active"},
			{ID: "a", Name: "gl"},
			{ID: "c", Name: "gl"},
		},
		MachineTypes: []inventory.MachineType{{Name: "m", CPU: &size, Zones: []string{"b", "a"}, Public: &no, Properties: map[string]string{}}},
		Zones:        []inventory.Zone{},
		Networks:     []inventory.Network{{Name: "n", External: &no}, {Name: "n", External: &yes}},
	}
	r.Sort()
	return r
}

func TestWrite(t *testing.T) {
	for format, want := range map[string]string{
		"yaml": `apiVersion: capkit/v1
kind: Inventory
provider: openstack
taken: "2026-11-23T12:00:00Z"
regions:
- name: europe
  unread: [volumeTypes, loadBalancerProviders]
  images:
  - {id: a, name: gl}
  - {id: b, name: gl, status: active, minDiskGiB: 10, checksum: "sha512:aa", properties: {a: "a: b", z: ""}}
  - {id: c, name: gl}
  - {id: c, name: gl, status: active}
  machineTypes:
  - {name: m, cpu: 10, zones: [a, b], public: false, properties: {}}
  zones: []
  networks:
  - {name: "n", external: true}
  - {name: "n", external: false}
- name: asia
`,
		"json": `{
  "apiVersion": "capkit/v1",
  "kind": "Inventory",
  "provider": "openstack",
  "taken": "2026-11-23T12:00:00Z",
  "regions": [
    {
      "name": "europe",
      "unread": [
        "volumeTypes",
        "loadBalancerProviders"
      ],
      "images": [
        {"id":"a","name":"gl"},
        {"id":"b","name":"gl","status":"active","minDiskGiB":10,"checksum":"sha512:aa","properties":{"a":"a: b","z":""}},
        {"id":"c","name":"gl"},
        {"id":"c","name":"gl","status":"active"}
      ],
      "machineTypes": [
        {"name":"m","cpu":10,"zones":["a","b"],"public":false,"properties":{}}
      ],
      "zones": [],
      "networks": [
        {"name":"n","external":true},
        {"name":"n","external":false}
      ]
    },
    {
      "name": "asia"
    }
  ]
}
`,
	} {
		if diff := cmp.Diff(want, written(t, format, some(), inventory.Region{Name: "asia"})); diff != "" {
			t.Error(diff)
		}
	}
}

// read decodes an inventory without the code of this package.
func read(format, text string) (i inventory.Inventory, err error) {
	if format == "json" {
		err = json.Unmarshal([]byte(text), &i)
		return i, err
	}
	err = yaml.UnmarshalStrict([]byte(text), &i)
	return i, err
}

// A written inventory is read back unchanged, for any names.
func FuzzWrite(f *testing.F) {
	for _, text := range []string{
		"", "n", "No", "null", "~", "0x1f", "1e3", "1_000", "2026-11-23", "12:30:45", "a b", "a: b", "a #b", "- a", "[a", "{a}", "&a", "*a", "!a", "%a",
		"@a", "`a",
		`a"b`, `a\b`, "a\nb", "a\tb", "\x00", "\x7f", "\u0085", "\u2028", "\ufeff",
		"\U0001f600", "\U000e0001", "é", "<&>", ".inf", ".", "..", "/a/b", "_", "=", "<<", "-", "---", "##[group]", "::error::",
		strings.Repeat("long ", 1000), strings.Repeat("\x01", 1000),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		want := inventory.Region{
			Name: text, Images: []inventory.Image{{ID: text, Properties: map[string]string{text: text}}}, ServerGroupPolicies: []string{text},
		}
		var all []inventory.Inventory
		for _, format := range inventory.Formats {
			i, err := read(format, written(t, format, want))
			if err != nil {
				t.Fatalf("%s: %v in\n%s", format, err, written(t, format, want))
			}
			all = append(all, i)
		}
		for _, i := range all {
			if diff := cmp.Diff([]inventory.Region{want}, i.Regions); diff != "" || i.Provider != "openstack" || !i.Taken.Equal(taken) {
				t.Error(diff)
			}
		}
	})
}

func TestWriteNothing(t *testing.T) {
	for _, format := range inventory.Formats {
		if i, err := read(format, written(t, format)); err != nil || i.Regions == nil || len(i.Regions) != 0 {
			t.Errorf("%s: %v, %+v", format, err, i)
		}
	}
}

// Lists names every list of a region, in the order of the fields.
func TestLists(t *testing.T) {
	full := inventory.Region{
		Images: []inventory.Image{}, MachineTypes: []inventory.MachineType{}, Zones: []inventory.Zone{}, VolumeTypes: []inventory.VolumeType{},
		Networks: []inventory.Network{}, LoadBalancerProviders: []inventory.LoadBalancerProvider{}, ServerGroupPolicies: []string{},
	}
	var names []string
	for line := range strings.Lines(written(t, "yaml", full)) {
		if name, found := strings.CutSuffix(strings.TrimSpace(line), ": []"); found {
			names = append(names, name)
		}
	}
	if diff := cmp.Diff(inventory.Lists(), names); diff != "" {
		t.Error(diff)
	}
}

func TestWriteFails(t *testing.T) {
	broken := errors.New("broken")
	seq := func(yield func(inventory.Region, error) bool) { yield(inventory.Region{}, broken) }
	if err := inventory.Write(&bytes.Buffer{}, "json", "aws", taken, seq); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := inventory.Write(&bytes.Buffer{}, "xml", "aws", taken, of()); err == nil {
		t.Error("there is no such format")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	if err := inventory.Write(full, "json", "aws", taken, of(some())); err == nil {
		t.Error("nothing was written")
	}
}

func ExampleWrite() {
	region := inventory.Region{Name: "europe", Zones: []inventory.Zone{{Name: "europe-1a"}}}
	out := &bytes.Buffer{}
	if err := inventory.Write(out, "json", "openstack", taken, of(region)); err != nil {
		panic(err)
	}
	var i inventory.Inventory
	if err := json.Unmarshal(out.Bytes(), &i); err != nil {
		panic(err)
	}
	fmt.Println(i.Provider, i.Regions[0].Zones[0].Name)
	// Output: openstack europe-1a
}
