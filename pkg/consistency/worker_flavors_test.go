// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
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
	checkProfiles(t, "testdata/one-to-one-reserved.txtar")
}

// What is registered is compared like everything else, and leaving it out is something else than declaring it.
func TestOneToOneOfRegisteredWorkerCapabilities(t *testing.T) {
	checkProfiles(t, "testdata/one-to-one-registered.txtar")
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
	fillProfiles(t, "testdata/fill-worker-capabilities.txtar")
}
