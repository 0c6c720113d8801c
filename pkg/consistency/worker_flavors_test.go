// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
)

// with adds capabilities to a flavor of the tables.
func with(flavor, more string) string { return strings.TrimSuffix(flavor, "}") + ", " + more + "}" }

const (
	bootSecure   = "gardener-bootType: [secure]"
	bootStandard = "gardener-bootType: [standard]"
	bootBoth     = "gardener-bootType: [standard, secure]"
	inPlaceOnly  = "gardener-updateType: [inPlace]"
	trusted      = "openstack-trustedLaunch: [enabled]"

	withTrusted  = hypervisors + "- {name: openstack-trustedLaunch, values: [enabled, disabled]}\n"
	withBootType = hypervisors + "- {name: gardener-bootType, values: [secure, standard]}\n"
)

func TestOneToOneOfReservedCapabilities(t *testing.T) {
	const (
		second  = "Duplicate provider[0].capabilityFlavors[1] provider-flavor-duplicate"
		missing = "Required core[0].capabilityFlavors[0] provider-flavor-missing"
	)
	unexpected := func(i string) string {
		return "Forbidden provider[0].capabilityFlavors[" + i + "] provider-flavor-unexpected"
	}
	legacyVersion := "- {version: \"1\", regions: [{name: europe, id: x}]}\n"
	inPlace := "  - {version: \"1\", inPlaceUpdates: {supported: true}, capabilityFlavors: [" + amdVirt + "]}\n"
	for name, tc := range map[string]struct {
		vocabulary, core, provider string
		want                       []string
	}{
		"several for one":            {hypervisors, core("1", amdVirt), provider("1", amdVirt, with(amdVirt, bootSecure), with(amdVirt, bootBoth), with(amdVirt, inPlaceOnly), with(with(amdVirt, bootSecure), inPlaceOnly)), nil},
		"none that is plain":         {hypervisors, core("1", amdVirt), provider("1", with(amdVirt, bootSecure)), nil},
		"several for each":           {hypervisors, core("1", amdVirt, armVirt), provider("1", with(armVirt, bootSecure), amdVirt, armVirt, with(amdVirt, bootSecure)), nil},
		"one that core lacks":        {hypervisors, core("1", amdVirt), provider("1", amdVirt, with(amdBare, bootSecure)), []string{unexpected("1")}},
		"one that core lacks, twice": {hypervisors, core("1", amdBare), provider("1", with(amdVirt, bootSecure), with(amdVirt, bootSecure), with(amdVirt, bootBoth)), []string{missing, unexpected("0"), second, unexpected("2")}},

		"the first twice":                      {hypervisors, core("1", amdVirt), provider("1", with(amdVirt, bootSecure), with(amdVirt, "gardener-bootType: [secure, secure]")), []string{second}},
		"a later one twice":                    {hypervisors, core("1", amdVirt), provider("1", amdVirt, with(amdVirt, bootSecure)) + provider("1", with(amdVirt, bootSecure)), []string{"Duplicate provider[1].capabilityFlavors[0] provider-flavor-duplicate"}},
		"what is implied, twice":               {hypervisors, core("1", amdVirt), provider("1", amdVirt, with(amdVirt, bootStandard)), []string{second}},
		"what is implied, the other way round": {hypervisors, core("1", amdVirt), provider("1", with(amdVirt, bootStandard), amdVirt), []string{second}},
		"what is implied by core":              {hypervisors, inPlace, provider("1", amdVirt, with(amdVirt, "gardener-updateType: [rolling, inPlace]")), []string{second}},
		"what core does not imply":             {hypervisors, inPlace, provider("1", amdVirt, with(amdVirt, "gardener-updateType: [rolling]")), nil},
		"what only core could imply":           {hypervisors, core("1", amdVirt), provider("1", amdVirt, with(amdVirt, "gardener-updateType: [rolling, inPlace]")), nil},

		"beside a legacy entry":                    {hypervisors, core("1", amdVirt), legacyVersion + provider("1", with(amdVirt, bootSecure)), nil},
		"beside a legacy entry, written first":     {hypervisors, core("1", amdVirt), provider("1", with(amdVirt, bootSecure), with(amdVirt, bootBoth)) + legacyVersion, nil},
		"the legacy entry's, again":                {hypervisors, core("1", amdVirt), legacyVersion + provider("1", with(amdVirt, bootStandard)), []string{"Duplicate provider[1].capabilityFlavors[0] provider-flavor-duplicate"}},
		"the legacy entry's, before":               {hypervisors, core("1", amdVirt), provider("1", with(amdVirt, bootSecure), amdVirt) + legacyVersion, []string{"Duplicate provider[1].regions[0] provider-flavor-duplicate"}},
		"the same on both sides of a legacy entry": {hypervisors, core("1", amdVirt), provider("1", with(amdVirt, bootSecure)) + legacyVersion + provider("1", with(amdVirt, bootSecure)), []string{"Duplicate provider[2].capabilityFlavors[0] provider-flavor-duplicate"}},
		"a legacy entry on both sides of another": {
			hypervisors, "  - {version: \"1\"}\n", "- {version: \"1\", regions: [{name: europe, id: x}]}\n- {version: \"1\", regions: [{name: europe, id: x, architecture: arm64}]}\n- {version: \"1\", regions: [{name: europe, id: x}]}\n",
			[]string{"Duplicate provider[2].regions[0] provider-flavor-duplicate"},
		},

		"errors of their own": {hypervisors, core("1", amdVirt), provider("1", with(amdVirt, "gardener-bootType: [safe]"), with(amdVirt, "gardener-net: [x]"), with(amdVirt, "gardener-updateType: []")), []string{
			"NotSupported provider[0].capabilityFlavors[0].capabilities.gardener-bootType[0] reserved-capability-value", "NotSupported provider[0].capabilityFlavors[1].capabilities.gardener-net reserved-capability-unknown",
			"Required provider[0].capabilityFlavors[2].capabilities.gardener-updateType capability-value-missing",
		}},

		"carried by core":                          {hypervisors, core("1", amdVirt, with(amdVirt, bootSecure)), provider("1", with(amdVirt, bootSecure), amdVirt), nil},
		"carried by core, in other words":          {hypervisors, core("1", with(amdVirt, bootStandard), with(amdVirt, bootBoth)), provider("1", amdVirt, with(amdVirt, "gardener-bootType: [secure, standard]")), nil},
		"carried by core, and another value":       {hypervisors, core("1", with(amdVirt, bootSecure)), provider("1", with(amdVirt, bootBoth)), []string{missing, unexpected("0")}},
		"carried by core, and left out":            {hypervisors, core("1", with(amdVirt, bootSecure)), provider("1", amdVirt), []string{missing, unexpected("0")}},
		"carried by core, and others are not":      {hypervisors, core("1", with(amdVirt, bootSecure)), provider("1", with(amdVirt, bootSecure), with(with(amdVirt, bootSecure), inPlaceOnly)), nil},
		"carried by another flavor of core":        {hypervisors, core("1", amdVirt, with(armVirt, bootSecure)), provider("1", with(amdVirt, bootSecure), with(armVirt, bootSecure)), []string{missing, unexpected("0")}},
		"carried by another version of core":       {hypervisors, core("1", amdVirt) + core("2", with(amdVirt, bootSecure)), provider("1", with(amdVirt, bootSecure)) + provider("2", with(amdVirt, bootSecure)), nil},
		"the same in core":                         {hypervisors, core("1", amdVirt, with(amdVirt, bootStandard)), provider("1", amdVirt), []string{"Duplicate core[0].capabilityFlavors[1] core-flavor-duplicate"}},
		"carried by core, with a legacy entry":     {hypervisors, core("1", with(amdVirt, bootSecure)), legacyVersion, nil},
		"two carried by core, with a legacy entry": {hypervisors, core("1", amdVirt, with(amdVirt, bootSecure)), legacyVersion, []string{"Required provider[0].capabilityFlavors legacy-flavor-ambiguous"}},
	} {
		t.Run(name, func(t *testing.T) { checkCorrespondence(t, tc.vocabulary, tc.core, tc.provider, tc.want) })
	}
}

func checkCorrespondence(t *testing.T, vocabulary, core, provider string, want []string) {
	t.Helper()
	_, report := consistency.Compile(imagesOnly{}, spec(t, vocabulary, core, provider), field.NewPath("spec"))
	checkFindings(t, report.Errors)
	if diff := cmp.Diff(want, brief(report.Errors)); diff != "" {
		t.Error(diff)
	}
}

// What is registered is compared like everything else, and leaving it out is something else than declaring it.
func TestOneToOneOfRegisteredWorkerCapabilities(t *testing.T) {
	const (
		missing    = "Required core[0].capabilityFlavors[0] provider-flavor-missing"
		unexpected = "Forbidden provider[0].capabilityFlavors[0] provider-flavor-unexpected"
		disabled   = "openstack-trustedLaunch: [disabled]"
		either     = "openstack-trustedLaunch: [enabled, disabled]"
	)
	for name, tc := range map[string]struct {
		vocabulary, core, provider string
		want                       []string
	}{
		"equal":                           {withTrusted, core("1", amdVirt, with(amdVirt, trusted)), provider("1", with(amdVirt, trusted), amdVirt), nil},
		"core lacks it":                   {withTrusted, core("1", amdVirt), provider("1", amdVirt, with(amdVirt, trusted)), []string{"Forbidden provider[0].capabilityFlavors[1] provider-flavor-unexpected"}},
		"the provider lacks it":           {withTrusted, core("1", with(amdVirt, trusted), amdVirt), provider("1", amdVirt), []string{missing}},
		"left out and written out":        {withTrusted, core("1", amdVirt), provider("1", with(amdVirt, disabled)), []string{missing, unexpected}},
		"left out, and everything":        {withTrusted, core("1", with(amdVirt, either)), provider("1", amdVirt), []string{missing, unexpected}},
		"all four":                        {withTrusted, core("1", amdVirt, with(amdVirt, trusted), with(amdVirt, disabled), with(amdVirt, either)), provider("1", with(amdVirt, either), with(amdVirt, disabled), with(amdVirt, trusted), amdVirt), nil},
		"twice":                           {withTrusted, core("1", with(amdVirt, trusted)), provider("1", with(amdVirt, trusted), with(amdVirt, trusted)), []string{"Duplicate provider[0].capabilityFlavors[1] provider-flavor-duplicate"}},
		"not registered":                  {hypervisors, core("1", amdVirt), provider("1", with(amdVirt, trusted)), []string{"NotSupported provider[0].capabilityFlavors[0].capabilities.openstack-trustedLaunch capability-unregistered"}},
		"with reserved ones":              {withTrusted, core("1", with(amdVirt, trusted)), provider("1", with(amdVirt, trusted), with(with(amdVirt, trusted), bootSecure)), nil},
		"reserved":                        {withBootType, core("1", with(amdVirt, bootSecure)), provider("1", with(amdVirt, bootSecure)), nil},
		"reserved, core lacks it":         {withBootType, core("1", amdVirt), provider("1", with(amdVirt, bootSecure)), []string{missing, unexpected}},
		"reserved, left out or written":   {withBootType, core("1", amdVirt, with(amdVirt, bootStandard)), provider("1", with(amdVirt, bootStandard), amdVirt), nil},
		"reserved, others are not":        {withBootType, core("1", with(amdVirt, bootSecure)), provider("1", with(with(amdVirt, bootSecure), inPlaceOnly)), nil},
		"a legacy entry, and one of each": {withTrusted, core("1", amdVirt, with(amdVirt, trusted)), "- {version: \"1\", regions: [{name: europe, id: x}]}\n" + provider("1", with(amdVirt, trusted)), []string{"Required provider[0].capabilityFlavors legacy-flavor-ambiguous"}},
		"a legacy entry for core's one":   {withTrusted, core("1", with(amdVirt, trusted)), "- {version: \"1\", regions: [{name: europe, id: x}]}\n", nil},
	} {
		t.Run(name, func(t *testing.T) { checkCorrespondence(t, tc.vocabulary, tc.core, tc.provider, tc.want) })
	}
}

// A legacy flavor has what core says about it: trusted launch, if core's one flavor declares it.
func TestLegacyVersionsHaveCoresWorkerCapabilities(t *testing.T) {
	for flavor, want := range map[string]bool{amdVirt: false, with(amdVirt, trusted): true} {
		s := spec(t, withTrusted, core("1", flavor), "- {version: \"1\", regions: [{name: europe, id: x}]}\n")
		s.MachineTypes = []v1beta1.MachineType{{Name: "m", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}}
		p, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
		pool := consistency.Pool{MachineType: "m", Image: "gl", Version: "1", Region: "europe"}
		features[3].wanted(&pool)
		if r := p.ResolvePool(pool); (r.Err == nil) != want || len(report.Errors) > 0 {
			t.Errorf("%s: %v %v", flavor, r.Err, report.Errors)
		}
	}
}

// What is filled in is what core can carry.
func TestFillWorkerCapabilities(t *testing.T) {
	const none = "  - {version: \"1\"}\n"
	for name, tc := range map[string]struct {
		vocabulary, core, provider string
		want                       []string
	}{
		"registered by the operator":         {withTrusted, none, provider("1", amdVirt, with(amdVirt, trusted)), []string{"0.0: " + amdVirt + " " + with(amdVirt, trusted)}},
		"registered, with reserved ones":     {withTrusted, none, provider("1", with(amdVirt, trusted), with(with(amdVirt, trusted), bootSecure)), []string{"0.0: " + with(amdVirt, trusted)}},
		"registered, left out and written":   {withTrusted, none, provider("1", amdVirt, with(amdVirt, "openstack-trustedLaunch: [disabled]")), []string{"0.0: " + amdVirt + " " + with(amdVirt, "openstack-trustedLaunch: [disabled]")}},
		"not registered":                     {hypervisors, none, provider("1", with(amdVirt, trusted)), nil},
		"reserved, registered":               {withBootType, none, provider("1", with(amdVirt, bootSecure), with(amdVirt, bootStandard), amdVirt), []string{"0.0: " + with(amdVirt, bootSecure) + " " + with(amdVirt, bootStandard) + " " + amdVirt}},
		"reserved, registered, others not":   {withBootType, none, provider("1", with(amdVirt, bootSecure), with(with(amdVirt, bootSecure), inPlaceOnly)), []string{"0.0: " + with(amdVirt, bootSecure)}},
		"nothing but reserved":               {"machineCapabilities: [{name: architecture, values: [amd64]}]\n", none, provider("1", "{"+bootSecure+"}"), nil},
		"a value that is not reserved":       {hypervisors, none, provider("1", with(amdVirt, "gardener-bootType: [safe]")), nil},
		"a name that is not reserved":        {hypervisors, none, provider("1", with(amdVirt, "gardener-net: [x]")), nil},
		"implied by core":                    {hypervisors, "  - {version: \"1\", inPlaceUpdates: {supported: true}}\n", provider("1", amdVirt, with(amdVirt, "gardener-updateType: [inPlace, rolling]")), nil},
		"not implied by core":                {hypervisors, "  - {version: \"1\", inPlaceUpdates: {supported: true}}\n", provider("1", amdVirt, with(amdVirt, "gardener-updateType: [rolling]")), []string{"0.0: " + amdVirt}},
		"beside a legacy entry":              {hypervisors, none, "- {version: \"1\", regions: [{name: europe, id: x}]}\n" + provider("1", "{architecture: [amd64], "+bootSecure+"}"), []string{"0.0: {architecture: [amd64]}"}},
		"a legacy entry and one of its kind": {hypervisors, none, "- {version: \"1\", regions: [{name: europe, id: x}]}\n" + provider("1", "{architecture: [amd64], "+bootStandard+"}"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			filled := consistency.FillCloudProfile(imagesOnly{}, spec(t, tc.vocabulary, tc.core, tc.provider))
			if diff := cmp.Diff(tc.want, fillings(t, tc.vocabulary, filled)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
