// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/consistency"
)

func warnings(t *testing.T, spec *v1beta1.CloudProfileSpec) []string {
	t.Helper()
	_, report := consistency.CheckCloudProfile(imagesOnly{}, &v1beta1.CloudProfile{Spec: *spec})
	if len(report.Errors) > 0 {
		t.Fatal(report.Errors)
	}
	var lines []string
	for i, line := range brief(report.Warnings) {
		lines = append(lines, line+": "+report.Warnings[i].Detail)
	}
	return lines
}

func TestWarnings(t *testing.T) {
	const virt = "machineTypes: [{name: m, capabilities: {architecture: [amd64], hypervisor: [virtualized]}}]\n"
	flavor := func(references string) string {
		return "- {version: \"1\", capabilityFlavors: [{capabilities: " + amdVirt + ", " + references + "}]}\n"
	}
	const at = "provider[0].capabilityFlavors[0]"
	for name, tc := range map[string]struct {
		vocabulary, core, provider string
		want                       []string
	}{
		"none": {hypervisors + virt, core("1", amdVirt), provider("1", amdVirt), nil},
		"a region without image": {
			hypervisors, core("1", amdVirt), flavor("regions: [{name: asia, id: a}]"),
			[]string{
				"Required " + at + " region-uncovered: gl@1: flavor " + amdVirt + " has no image in region europe: worker pools there cannot use it",
				"NotSupported " + at + ".regions[0].name region-unknown: region asia is not in spec.regions (europe): 1 reference to it cannot be used",
			},
		},
		"an unknown region, said once": {
			hypervisors, core("1", amdVirt) + core("2", amdVirt),
			flavor("regions: [{name: europe, id: e}, {name: asia, id: a}]") + strings.Replace(flavor("regions: [{name: asia, id: a}, {name: europe, id: e}]"), "1", "2", 1),
			[]string{"NotSupported " + at + ".regions[1].name region-unknown: region asia is not in spec.regions (europe): 2 references to it cannot be used"},
		},
		"a fallback in use": {
			hypervisors, core("1", amdVirt), flavor("image: gl"),
			[]string{"Required " + at + ".image image-name-fallback: gl@1: in region europe flavor " + amdVirt + " is found by its image name only, which need not be unique; add the image ID for the region"},
		},
		"a fallback that is not in use": {hypervisors, core("1", amdVirt), flavor("image: gl, regions: [{name: europe, id: e}]"), nil},
		"an image beside flavors": {
			hypervisors, core("1", amdVirt), strings.Replace(provider("1", amdVirt), "capabilityFlavors", "image: gl, capabilityFlavors", 1),
			[]string{"Forbidden provider[0].image version-image-ignored: gl@1: image is ignored because the version has capabilityFlavors: move it into the flavor it belongs to, or remove it"},
		},
		"a version unknown to core": {
			hypervisors, core("1", amdVirt), provider("1", amdVirt) + provider("2", amdVirt),
			[]string{"NotSupported provider[1] provider-version-unused: gl@2 is not listed in spec.machineImages: nobody can use it"},
		},
		"a machine type that nothing fits": {
			hypervisors + "machineTypes: [{name: bare, capabilities: {architecture: [amd64], hypervisor: [baremetal]}}, {name: retired, usable: false, architecture: arm64}]\n",
			core("1", amdVirt), provider("1", amdVirt),
			[]string{"Invalid spec.machineTypes[0] machine-type-without-image: machine type bare: no image version fits it in region europe"},
		},
		"a machine type that only an expired version fits": {
			hypervisors + virt, "  - {version: \"1\", expirationDate: \"2020-01-01T00:00:00Z\", capabilityFlavors: [" + amdVirt + "]}\n", provider("1", amdVirt),
			[]string{"Invalid spec.machineTypes[0] machine-type-without-image: machine type m: no image version fits it in region europe"},
		},
		"another provider's prefix": {
			strings.TrimSuffix(hypervisors, "\n") + "\n- {name: azure-networking, values: [accelerated]}\n- {name: openstack-trustedLaunch, values: [enabled]}\n- {name: awsome, values: [x]}\n",
			core("1", amdVirt), provider("1", amdVirt),
			[]string{"Invalid spec.machineCapabilities[2].name capability-foreign-prefix: capability azure-networking carries the prefix of provider azure, but this profile is for openstack"},
		},
		"orders that differ": {
			"machineCapabilities: [{name: architecture, values: [amd64]}, {name: storage, values: [NVMe, SCSI]}, {name: net, values: [accelerated, basic]}]\n" +
				"machineTypes: [{name: all}, {name: scsi, capabilities: {storage: [SCSI]}}, {name: nvme, capabilities: {storage: [NVMe], net: [basic]}}]\n",
			core("1", "{net: [basic]}", "{storage: [NVMe], net: [accelerated]}"), provider("1", "{net: [basic]}", "{storage: [NVMe], net: [accelerated]}"),
			[]string{"Invalid core[0] preference-order-differs: gl@1: for machine type all the order of GEP-0033 and that of the gardener library pick different flavors"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, warnings(t, spec(t, tc.vocabulary, tc.core, tc.provider))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestImageUnknownToCore(t *testing.T) {
	s := spec(t, hypervisors, core("1", amdVirt), provider("1", amdVirt))
	s.MachineImages = nil
	want := []string{"NotSupported spec.providerConfig.machineImages[0] provider-image-unused: image gl is not listed in spec.machineImages: nobody can use it"}
	if diff := cmp.Diff(want, warnings(t, s)); diff != "" {
		t.Error(diff)
	}
}

// What would be chosen is not worth a warning while the profile has errors.
func TestNoWarningsAboutChoiceInABrokenProfile(t *testing.T) {
	s := spec(t, hypervisors+"machineTypes: [{name: m, capabilities: {architecture: [amd64]}}]\n", core("1", amdVirt), provider("1"))
	_, report := consistency.CheckCloudProfile(imagesOnly{}, &v1beta1.CloudProfile{Spec: *s})
	if len(report.Errors) == 0 || len(report.Warnings) > 0 {
		t.Error(report)
	}
}

func TestSize(t *testing.T) {
	for length, want := range map[int]int{1_179_000: 0, 1_180_000: 1} {
		s := spec(t, hypervisors, core("1", amdVirt), provider("1", amdVirt))
		bundle := strings.Repeat("x", length)
		s.CABundle = &bundle
		if got := warnings(t, s); len(got) != want {
			t.Errorf("%d bytes: %v", length, got)
		}
	}
}
