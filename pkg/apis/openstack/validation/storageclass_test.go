// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"
)

func TestStorageClasses(t *testing.T) {
	const at = " config.storageClasses"
	classes := func(list string) string { return "storageClasses: " + list }
	table{
		"that of the guide":    {classes(`[{name: example-sc, default: false, provisioner: cinder.csi.openstack.org, volumeBindingMode: WaitForFirstConsumer, parameters: {type: storage_premium_perf0}}]`), nil},
		"every field":          {classes(`[{name: fast.1, default: true, provisioner: example.com/Driver, volumeBindingMode: Immediate, reclaimPolicy: Retain, parameters: {type: "", csi.storage.k8s.io/fstype: xfs}, annotations: {Example.com/A: "any text"}, labels: {example.com/tier: Fast_1, empty: ""}}, {name: slow, reclaimPolicy: Delete}]`), nil},
		"none":                 {classes(`[]`), nil},
		"no name":              {classes(`[{}, {name: ""}]`), lines(2, "error FieldValueRequired"+at+"[#].name name-missing")},
		"no names":             {classes(`[{name: Fast}, {name: a_b}, {name: a b}, {name: -a}]`), lines(4, "error FieldValueInvalid"+at+"[#].name value-format")},
		"a name twice":         {classes(`[{name: a}, {name: b}, {name: a}]`), []string{"error FieldValueDuplicate" + at + "[2].name entry-duplicate"}},
		"two defaults":         {classes(`[{name: a, default: true}, {name: b, default: false}, {name: c, default: true}]`), []string{"error FieldValueDuplicate" + at + "[2].default purpose-duplicate"}},
		"an empty provisioner": {classes(`[{name: a, provisioner: ""}]`), []string{"error FieldValueRequired" + at + "[0].provisioner value-empty"}},
		"no provisioner":       {classes(`[{name: a, provisioner: cinder csi}]`), []string{"error FieldValueInvalid" + at + "[0].provisioner value-format"}},
		"a parameter no name":  {classes(`[{name: a, parameters: {"": x}}]`), []string{"error FieldValueInvalid" + at + "[0].parameters[] value-format"}},
		"annotations":          {classes(`[{name: a, annotations: {b/c/d: x, "a b": x}}]`), []string{"error FieldValueInvalid" + at + "[0].annotations[a b] value-format", "error FieldValueInvalid" + at + "[0].annotations[b/c/d] value-format"}},
		"labels":               {classes(`[{name: a, labels: {Example.com/a: x, "-": x, ok: "a b"}}]`), []string{"error FieldValueInvalid" + at + "[0].labels[-] value-format", "error FieldValueInvalid" + at + "[0].labels[Example.com/a] value-format", "error FieldValueInvalid" + at + "[0].labels[ok] value-format"}},
		"a reclaim policy":     {classes(`[{name: a, reclaimPolicy: Recycle}, {name: b, reclaimPolicy: retain}, {name: c, reclaimPolicy: ""}]`), []string{"error FieldValueNotSupported" + at + "[0].reclaimPolicy value-not-supported", "error FieldValueNotSupported" + at + "[1].reclaimPolicy value-not-supported", "error FieldValueRequired" + at + "[2].reclaimPolicy value-empty"}},
		"another beginning":    {classes(`[{name: a, volumeBindingMode: WaitForFirstCustomer}]`), []string{"error FieldValueNotSupported" + at + "[0].volumeBindingMode value-not-supported"}},
		"a binding mode":       {classes(`[{name: a, volumeBindingMode: waitForFirstConsumer}, {name: b, volumeBindingMode: ""}]`), []string{"error FieldValueNotSupported" + at + "[0].volumeBindingMode value-not-supported", "error FieldValueRequired" + at + "[1].volumeBindingMode value-empty"}},
	}.run(t)
}

func TestWhatWasMeant(t *testing.T) {
	for mode, meant := range map[string]bool{"WaitForFirstCustomer": true, "waitforfirstpod": true, "WaitForever": false, "Wait": false} {
		found := check(t, "storageClasses: [{name: a, volumeBindingMode: "+mode+"}]")
		if len(found.Errors) != 1 || meant != strings.Contains(found.Errors[0].Detail, `mean "WaitForFirstConsumer"?`) {
			t.Errorf("%s: %v", mode, found.Errors)
		}
	}
}
