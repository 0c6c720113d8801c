// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/apis/openstack/v1alpha1"
	"github.com/capkit/capkit/pkg/apis/openstack/validation"
)

func TestLoadBalancerClasses(t *testing.T) {
	const uuid = "2f8b94e7-7a3c-4f5e-9d0a-1b6c8d3e5f70"
	for name, tc := range map[string]struct {
		classes string
		want    []string
	}{
		"none":                        {"[]", nil},
		"every field":                 {"[{name: a, purpose: default, floatingSubnetID: " + uuid + ", floatingNetworkID: " + uuid + ", subnetID: 2F8B94E77A3C4F5E9D0A1B6C8D3E5F70}]", nil},
		"every purpose":               {"[{name: a, purpose: default}, {name: b, purpose: private}, {name: c, purpose: vpn}, {name: d}]", nil},
		"names that are purposes":     {"[{name: default}, {name: private}, {name: vpn}, {name: c, purpose: vpn}]", nil},
		"a name and its own purpose":  {"[{name: default, purpose: default}, {name: private, purpose: private}]", nil},
		"a name and another purpose":  {"[{name: default, purpose: private}]", nil},
		"each way to choose a subnet": {"[{name: a, floatingSubnetName: \"public-*\"}, {name: b, floatingSubnetTags: public}, {name: c, floatingSubnetID: " + uuid + "}]", nil},
		"tags":                        {"[{name: a, floatingSubnetTags: \"a,b\"}, {name: b, floatingSubnetTags: \"!a, b\"}, {name: c, floatingSubnetTags: \"&a\"}, {name: d, floatingSubnetTags: \"!&a\"}]", nil},
		"IDs of the guide":            {"[{name: a, floatingSubnetID: \"1234\", floatingNetworkID: \"4567\", subnetID: \"7890\"}]", []string{"warning FieldValueInvalid at[0].floatingSubnetID openstack-id-format", "warning FieldValueInvalid at[0].floatingNetworkID openstack-id-format", "warning FieldValueInvalid at[0].subnetID openstack-id-format"}},
		"no name":                     {"[{}, {name: \"\"}]", []string{"error FieldValueRequired at[0].name name-missing", "error FieldValueRequired at[1].name name-missing"}},
		"names with white space":      {"[{name: \"a \"}, {name: a b}]", []string{"error FieldValueInvalid at[0].name value-format"}},
		"a name twice":                {"[{name: a}, {name: b}, {name: a}, {name: a}]", []string{"error FieldValueDuplicate at[2].name entry-duplicate", "error FieldValueDuplicate at[3].name entry-duplicate"}},
		"a purpose's name twice":      {"[{name: default}, {name: default}]", []string{"error FieldValueDuplicate at[1].name entry-duplicate"}},
		"an unknown purpose":          {"[{name: a, purpose: Private}]", []string{"error FieldValueNotSupported at[0].purpose value-not-supported"}},
		"an empty purpose":            {"[{name: a, purpose: \"\"}]", []string{"error FieldValueRequired at[0].purpose value-empty"}},
		"two default ones":            {"[{name: a, purpose: default}, {name: b, purpose: default}]", []string{"error FieldValueDuplicate at[1].purpose purpose-duplicate"}},
		"two private ones":            {"[{name: a, purpose: private}, {name: b, purpose: private}]", []string{"error FieldValueDuplicate at[1].purpose purpose-duplicate"}},
		"two for the VPN":             {"[{name: a, purpose: vpn}, {name: b, purpose: vpn}]", []string{"warning FieldValueDuplicate at[1].purpose entry-repeated"}},
		"default by purpose and name": {"[{name: a, purpose: default}, {name: default}]", []string{"error FieldValueDuplicate at[1].name purpose-duplicate"}},
		"private by name and purpose": {"[{name: private}, {name: a, purpose: private}]", []string{"error FieldValueDuplicate at[1].purpose purpose-duplicate"}},
		"all ways to choose a subnet": {"[{name: a, floatingSubnetID: " + uuid + ", floatingSubnetTags: a, floatingSubnetName: a}]", []string{"error FieldValueForbidden at[0].floatingSubnetTags settings-exclusive", "error FieldValueForbidden at[0].floatingSubnetName settings-exclusive"}},
		"two ways, both wrong":        {"[{name: a, floatingSubnetID: \"\", floatingSubnetTags: \",\"}]", []string{"error FieldValueRequired at[0].floatingSubnetID value-empty", "error FieldValueForbidden at[0].floatingSubnetTags settings-exclusive", "error FieldValueInvalid at[0].floatingSubnetTags value-format"}},
		"empty values":                {"[{name: a, floatingSubnetName: \"\", floatingNetworkID: \"\", subnetID: \" \"}]", []string{"error FieldValueRequired at[0].floatingSubnetName value-empty", "error FieldValueRequired at[0].floatingNetworkID value-empty", "error FieldValueRequired at[0].subnetID value-empty"}},
		"no tags":                     {"[{name: a, floatingSubnetTags: \"\"}, {name: b, floatingSubnetTags: \"!\"}, {name: c, floatingSubnetTags: \"a,,b\"}, {name: d, floatingSubnetTags: \"a,\"}]", []string{"error FieldValueRequired at[0].floatingSubnetTags value-empty", "error FieldValueInvalid at[1].floatingSubnetTags value-format", "error FieldValueInvalid at[2].floatingSubnetTags value-format", "error FieldValueInvalid at[3].floatingSubnetTags value-format"}},
		"no IDs":                      {"[{name: a, floatingNetworkID: \"a b\", subnetID: \"{{ .subnet }}\", floatingSubnetID: \"https://x/y\"}]", []string{"error FieldValueInvalid at[0].floatingSubnetID openstack-id", "error FieldValueInvalid at[0].floatingNetworkID openstack-id", "error FieldValueInvalid at[0].subnetID openstack-id"}},
		"everything wrong, in order":  {"[{purpose: x, subnetID: a/b}, {name: a, purpose: vpn}, {name: a, purpose: vpn, floatingNetworkID: ext}]", []string{"error FieldValueRequired at[0].name name-missing", "error FieldValueNotSupported at[0].purpose value-not-supported", "error FieldValueInvalid at[0].subnetID openstack-id", "error FieldValueDuplicate at[2].name entry-duplicate", "warning FieldValueDuplicate at[2].purpose entry-repeated", "warning FieldValueInvalid at[2].floatingNetworkID openstack-id-format"}},
	} {
		t.Run(name, func(t *testing.T) {
			var classes []v1alpha1.LoadBalancerClass
			decode(t, tc.classes, &classes)
			expect(t, validation.LoadBalancerClasses(classes, field.NewPath("at")), tc.want)
		})
	}
}
