// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/testing/given"
)

func TestExpired(t *testing.T) {
	spec := given.Decoded[v1beta1.CloudProfileSpec](t, `
machineImages:
- name: gl
  versions:
  - {version: 5.0.0}
  - {version: 4.0.0, expirationDate: "2090-01-31T00:00:00Z"}
  - {version: 3.0.0, expirationDate: "2020-01-31T00:00:00Z", classification: supported}
  - {version: 2.0.0, expirationDate: "2020-01-31T23:00:00-04:00", classification: deprecated}
  - version: 1.0.0
    lifecycle: [{classification: supported}, {classification: expired, startTime: "2020-01-31T00:00:00Z"}]
  - {version: 0.9.0, lifecycle: [{classification: expired}]}
  - {version: 0.8.0, lifecycle: [{classification: supported, startTime: "2090-01-31T00:00:00Z"}]}
kubernetes:
  versions: [{version: 1.33.2}, {version: 1.32.0, expirationDate: "2020-01-31T00:00:00Z"}]
`)
	remove := ": give it a new date, or remove it (and its mapping in the provider config)"
	want := []string{
		"spec.machineImages[0].versions[2].expirationDate: gl@3.0.0 is classified as supported, but expired on 2020-01-31" + remove,
		"spec.machineImages[0].versions[3].expirationDate: gl@2.0.0 expired on 2020-02-01" + remove,
		"spec.machineImages[0].versions[4]: gl@1.0.0 expired on 2020-01-31" + remove,
		"spec.machineImages[0].versions[5]: gl@0.9.0 has expired" + remove,
		"spec.kubernetes.versions[1].expirationDate: Kubernetes version 1.32.0 expired on 2020-01-31: give it a new date, or remove it",
	}
	var got []string
	for _, warning := range gardener.Expired(spec.MachineImages, &spec.Kubernetes) {
		got = append(got, warning.Field+": "+warning.Detail)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if warnings := gardener.Expired(nil, nil); len(warnings) > 0 {
		t.Error(warnings)
	}
}

func TestProfileNameIgnored(t *testing.T) {
	for text, want := range map[string]int{
		"{cloudProfileName: a}":                                                        0,
		"{cloudProfile: {name: a}}":                                                    0,
		"{cloudProfileName: a, cloudProfile: {name: a}}":                               1,
		"{cloudProfileName: a, cloudProfile: {kind: CloudProfile, name: a}}":           1,
		"{cloudProfileName: '', cloudProfile: {name: a}}":                              0,
		"{cloudProfileName: a, cloudProfile: {name: b}}":                               1,
		"{cloudProfileName: a, cloudProfile: {kind: NamespacedCloudProfile, name: a}}": 1,
	} {
		shoot := &v1beta1.Shoot{Spec: *given.Decoded[v1beta1.ShootSpec](t, text)}
		if got := gardener.ProfileNameIgnored(shoot); len(got) != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	both := &v1beta1.Shoot{Spec: *given.Decoded[v1beta1.ShootSpec](t, "{cloudProfileName: a, cloudProfile: {kind: CloudProfile, name: a}}")}
	both.UID = "it exists"
	if got := gardener.ProfileNameIgnored(both); len(got) > 0 {
		t.Errorf("as the API server writes it: %v", got)
	}
}
