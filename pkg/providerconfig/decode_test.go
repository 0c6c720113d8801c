// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providerconfig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/providerconfig"
)

// The error about a removed field says what replaced it, at any path.
func TestWhatHasBecomeOfAField(t *testing.T) {
	changes := []providerconfig.Change{
		{Field: "old", Became: "removed in v1.2; leave it out"},
		{Field: "images.old", Became: "renamed to new"},
	}
	raw := &runtime.RawExtension{Raw: []byte(`{"apiVersion": "given/v1", "kind": "WorkerConfig", "old": {"old": 1}, "older": 1,
		"images": [{"new": 1}, {"old": 1}], "machineImages": [{"versions": [{}, {"capabilitySets": []}]}]}`)}
	for prefix, at := range map[string]*field.Path{"": nil, "w[1].providerConfig.": field.NewPath("w").Index(1).Child("providerConfig")} {
		config := &struct {
			metav1.TypeMeta `json:",inline"`

			Images []struct {
				New int `json:"new"`
			} `json:"images"`
			MachineImages []struct {
				Versions []struct {
					Image string `json:"image"`
				} `json:"versions"`
			} `json:"machineImages"`
		}{}
		got := map[string]string{}
		for _, err := range providerconfig.Decode(raw, given.WorkerKind, config, at, changes...) {
			got[err.Field] = err.Detail
		}
		want := map[string]string{
			prefix + "old":           `unknown field "old": removed in v1.2; leave it out`,
			prefix + "older":         `unknown field "older"; known fields: apiVersion, images, kind, machineImages`,
			prefix + "images[1].old": `unknown field "old": renamed to new`,
			prefix + "machineImages[0].versions[1].capabilitySets": `unknown field "capabilitySets": renamed to capabilityFlavors; write that instead`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
