// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/consistency"
)

// ownFlavors writes a NamespacedCloudProfile with one image version of its own, in flavors, each found by its number.
func ownFlavors(core string, flavors ...string) string {
	var mapped []string
	for i, flavor := range flavors {
		mapped = append(mapped, "{capabilities: "+flavor+", regions: [{name: europe, id: i"+string(rune('0'+i))+"}]}")
	}
	return ownImage(core, ", capabilityFlavors: ["+strings.Join(mapped, ", ")+"]")
}

func TestWorkerCapabilitiesOfANamespacedCloudProfile(t *testing.T) {
	const (
		mapping  = "spec.providerConfig.machineImages[0].versions[0].capabilityFlavors"
		amd      = "{architecture: [amd64]}"
		ofAMD    = ", architectures: [amd64]"
		noFormat = "Forbidden " + mapping + " namespaced-format"
	)
	ofVirt, ofTrusted := ", capabilityFlavors: ["+amdVirt+"]", ", capabilityFlavors: ["+with(amdVirt, trusted)+"]"
	trustedParent := strings.Replace(modernParent, hypervisors, withTrusted, 1)
	for name, tc := range map[string]struct {
		parent, profile string
		want            []string
	}{
		"reserved":                            {modernParent, ownFlavors(ofVirt, amdVirt, with(amdVirt, bootSecure)), nil},
		"reserved, twice":                     {modernParent, ownFlavors(ofVirt, amdVirt, with(amdVirt, bootStandard)), []string{"Duplicate " + mapping + "[1] provider-flavor-duplicate"}},
		"reserved, carried by core":           {modernParent, ownFlavors(", capabilityFlavors: ["+with(amdVirt, bootSecure)+"]", with(amdVirt, bootSecure)), nil},
		"reserved, core lists architectures":  {modernParent, ownFlavors(ofAMD, amd, with(amd, bootSecure)), nil},
		"a reserved name that is none":        {modernParent, ownFlavors(ofVirt, with(amdVirt, "gardener-boot: [x]")), []string{"NotSupported " + mapping + "[0].capabilities.gardener-boot reserved-capability-unknown"}},
		"the provider's, registered above":    {trustedParent, ownFlavors(ofTrusted, with(amdVirt, trusted)), nil},
		"the provider's, which core lacks":    {trustedParent, ownFlavors(ofVirt, with(amdVirt, trusted)), []string{"Required spec.machineImages[0].versions[0].capabilityFlavors[0] provider-flavor-missing", "Forbidden " + mapping + "[0] provider-flavor-unexpected"}},
		"the provider's, not registered":      {modernParent, ownFlavors(ofVirt, with(amdVirt, trusted)), []string{"NotSupported " + mapping + "[0].capabilities.openstack-trustedLaunch capability-unregistered"}},
		"below a legacy parent":               {legacyParent, ownFlavors(ofAMD, amd), nil},
		"reserved, below a legacy parent":     {legacyParent, ownFlavors(ofAMD, with(amd, bootSecure)), []string{noFormat}},
		"implied, below a legacy parent":      {legacyParent, ownFlavors(ofAMD, with(amd, bootStandard)), nil},
		"both, below a legacy parent":         {legacyParent, ownFlavors(ofAMD, amd, with(amd, bootSecure)), []string{noFormat}},
		"both, the other way round":           {legacyParent, ownFlavors(ofAMD, with(amd, bootSecure), amd), []string{noFormat}},
		"in core, below a legacy parent":      {legacyParent, ownFlavors(", capabilityFlavors: ["+with(amd, bootSecure)+"]", with(amd, bootSecure)), []string{noFormat}},
		"in core only, below a legacy parent": {legacyParent, ownFlavors(", capabilityFlavors: ["+with(amd, bootSecure)+"]", amd), nil},
		"one twice, below a legacy parent":    {legacyParent, ownFlavors(ofAMD, with(amd, bootSecure), with(amd, bootSecure)), []string{"Duplicate " + mapping + "[1] provider-flavor-duplicate"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := verdict(t, imagesOnly{}, tc.parent, tc.profile)
			if diff := cmp.Diff(tc.want, plainly(report.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The legacy format has no place for worker capabilities, so what declares them is not written in it.
func TestRenderConfigWithWorkerCapabilities(t *testing.T) {
	const amd, ofAMD = "{architecture: [amd64]}", ", architectures: [amd64]"
	for name, tc := range map[string]struct{ vocabulary, profile, want string }{
		"as it stands": {
			hypervisors, ownFlavors(ofAMD, amd, with(amd, bootSecure)),
			`{"capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},"regions":[{"id":"i0","name":"europe"}]},` +
				`{"capabilities":{"architecture":["amd64"],"gardener-bootType":["secure"]},"regions":[{"id":"i1","name":"europe"}]}],"version":"1"}`,
		},
		"to legacy": {
			legacy, ownFlavors(ofAMD, with(amd, bootSecure)),
			`{"capabilityFlavors":[{"capabilities":{"architecture":["amd64"],"gardener-bootType":["secure"]},"regions":[{"id":"i0","name":"europe"}]}],"version":"1"}`,
		},
		"to legacy, beside a plain one": {
			legacy, ownFlavors(ofAMD, amd, with(amd, bootSecure)),
			`{"capabilityFlavors":[{"capabilities":{"architecture":["amd64"]},"regions":[{"id":"i0","name":"europe"}]},` +
				`{"capabilities":{"architecture":["amd64"],"gardener-bootType":["secure"]},"regions":[{"id":"i1","name":"europe"}]}],"version":"1"}`,
		},
		"to legacy, plain": {
			legacy, ownFlavors(ofAMD, amd), `{"regions":[{"architecture":"amd64","id":"i0","name":"europe"}],"version":"1"}`,
		},
		"from legacy, with what core says": {
			withTrusted, ownImage(", capabilityFlavors: ["+with(amdVirt, trusted)+"]", ", regions: [{name: europe, id: o}]"),
			`{"capabilityFlavors":[{"capabilities":{"architecture":["amd64"],"hypervisor":["virtualized"],"openstack-trustedLaunch":["enabled"]},"regions":[{"id":"o","name":"europe"}]}],"version":"1"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, conversion(t, imagesOnly{}, tc.vocabulary, tc.profile)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A worker pool on a version that a NamespacedCloudProfile defines, as the update of that profile sees it.
func TestAnUpdateOfANamespacedCloudProfileThatTakesAFeature(t *testing.T) {
	above, _ := consistency.Compile(imagesOnly{}, parse(t, modernParent), field.NewPath("spec"))
	ofVirt := ", capabilityFlavors: [" + amdVirt + "]"
	old, update := namespaced(t, ownFlavors(ofVirt, amdVirt, with(amdVirt, bootSecure))), namespaced(t, ownFlavors(ofVirt, amdVirt))
	pool := consistency.Pool{MachineType: "m", Image: "own", Version: "1", Region: "europe"}
	wants := pool
	wants.Worker = capability.Worker{SecureBoot: true}
	got := consistency.CompareNamespacedCloudProfiles(above, old, update, []consistency.Use{
		{Namespace: "garden-a", Name: "plain", Pools: []consistency.Pool{pool}}, {Namespace: "garden-a", Name: "secure", Pools: []consistency.Pool{wants}},
	})
	if len(got) != 1 || got[0].Origin != consistency.RuleMappingInUse || !strings.Contains(got[0].Detail, "no image is left for worker pools of Shoot garden-a/secure:") {
		t.Error(got)
	}
	if got := consistency.CompareNamespacedCloudProfiles(above, update, old, []consistency.Use{{Name: "plain", Pools: []consistency.Pool{pool}}}); len(got) > 0 {
		t.Error("a feature is offered:", got)
	}
}

func TestFillWorkerCapabilitiesOfANamespacedCloudProfile(t *testing.T) {
	for name, tc := range map[string]struct {
		parent, profile string
		want            []string
	}{
		"reserved":                     {modernParent, ownFlavors("", amdVirt, with(amdVirt, bootSecure)), []string{"0.0: " + amdVirt}},
		"registered above":             {strings.Replace(modernParent, hypervisors, withTrusted, 1), ownFlavors("", amdVirt, with(amdVirt, trusted)), []string{"0.0: " + amdVirt + " " + with(amdVirt, trusted)}},
		"not registered above":         {modernParent, ownFlavors("", with(amdVirt, trusted)), nil},
		"reserved and registered":      {strings.Replace(modernParent, hypervisors, withBootType, 1), ownFlavors("", with(amdVirt, bootSecure)), []string{"0.0: " + with(amdVirt, bootSecure)}},
		"nothing, for a legacy parent": {legacyParent, ownFlavors("", "{architecture: [amd64]}"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			filled := consistency.FillNamespacedCloudProfile(imagesOnly{}, namespaced(t, tc.profile), parse(t, tc.parent))
			if diff := cmp.Diff(tc.want, fillings(t, withTrusted, filled)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
