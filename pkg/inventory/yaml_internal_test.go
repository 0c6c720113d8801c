// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Reading region by region returns the same regions as reading the whole text, in the same order.
func TestByRegions(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		parts bool // whether it is read region by region
	}{
		"as it is printed": {text: "kind: Inventory\nregions:\n- name: a\n  images:\n  - id: b\n  - id: c\n- name: d\n", parts: true},
		"indented":         {text: "regions: # all\n  # the first\n  - name: a\n    images: []\n  # the second\n  - {name: d}\nkind: Inventory\n"},
		"with comments":    {text: "# here\nregions:\n  # the first\n  - name: a\n    images: []\n  # the second\n  - {name: d}\nkind: Inventory\n", parts: true},
		"with texts":       {text: "regions:\n- name: |\n    - a\n    regions:\n- name: \"b\n    - c\"\nkind: Inventory\n", parts: true},
		"with an alias":    {text: "regions:\n- name: a\n  images: &i [{id: b}]\n- name: b\n  images: *i\nkind: Inventory\n"},
		"in one line":      {text: "kind: Inventory\nregions: [{name: a}]\n"},
		"none":             {text: "kind: Inventory\nregions:\n"},
		"not valid":        {text: "regions:\n- name: a\n- name: b: c\n"},
		"twice":            {text: "regions:\n- name: a\nregions: []\n"},
	} {
		t.Run(name, func(t *testing.T) {
			whole, wrong := yaml.YAMLToJSONStrict([]byte(tc.text))
			parts, err := byRegions([]byte(tc.text))
			if (err == nil) != tc.parts {
				t.Fatal(err)
			}
			if !tc.parts {
				return
			}
			if a, b := decoded(t, whole), decoded(t, parts); wrong != nil || !reflect.DeepEqual(a, b) {
				t.Errorf("%v: %s is not %s", wrong, parts, whole)
			}
		})
	}
}

func decoded(t *testing.T, text []byte) (value any) {
	t.Helper()
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// A large inventory has the same errors as a small one.
func TestLargeOnes(t *testing.T) {
	var text strings.Builder
	text.WriteString("apiVersion: capkit/v1\nkind: Inventory\nprovider: openstack\nregions:\n")
	for region := range 20 {
		fmt.Fprintf(&text, "- name: region-%d\n  images:\n", region)
		for image := range 1000 {
			fmt.Fprintf(&text, "  - id: %d-%d\n    name: gardenlinux-%d\n    status: active\n    visibility: public\n", region, image, image)
		}
	}
	if text.Len() < large {
		t.Fatal(text.Len())
	}
	read, errs := Read([]byte(text.String()))
	if len(errs) > 0 || len(read.Regions) != 20 || read.Regions[19].Images[999].ID != "19-999" {
		t.Error(errs)
	}
	if _, errs = Read([]byte(text.String() + "  imagez: []\n")); len(errs) != 1 || errs[0].Field != "regions[19].imagez" {
		t.Error(errs)
	}
	if _, errs = Read([]byte(text.String() + "  images: []\n")); len(errs) != 1 || !strings.Contains(errs[0].Detail, "already set") {
		t.Error(errs)
	}
}
