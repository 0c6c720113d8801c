// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/provider"
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
	for _, trusted := range []bool{false, true} {
		s := profileNamed(t, "legacy-entry")
		if trusted {
			s.MachineImages[0].Versions[0].CapabilityFlavors[0].Capabilities["openstack-trustedLaunch"] = v1beta1.CapabilityValues{"enabled"}
		}
		s.MachineTypes = []v1beta1.MachineType{{Name: "m", Capabilities: v1beta1.Capabilities{"architecture": {"amd64"}}}}
		p, report := consistency.Compile(imagesOnly{}, s, field.NewPath("spec"))
		pool := provider.Pool{MachineType: "m", Image: "gl", Version: "1", Region: "europe"}
		features[3].wanted(&pool)
		if r := p.ResolvePool(pool); (r.Err == nil) != trusted || len(report.Errors) > 0 {
			t.Errorf("trusted launch %t: %v %v", trusted, r.Err, report.Errors)
		}
	}
}

// What is filled in is what core can carry.
func TestFillWorkerCapabilities(t *testing.T) {
	fillProfiles(t, "testdata/fill-worker-capabilities.txtar")
}
