// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
)

// What exists keeps booting, though it would not be admitted today (semantics S7).
func TestTolerantToChoose(t *testing.T) {
	p, report := consistency.Compile(imagesOnly{}, specFrom(t, "testdata/tolerant.yaml"), field.NewPath("spec"))
	for at, want := range map[string]struct{ id, reason string }{
		"image-twice europe":   {id: "first"},
		"image-twice asia":     {id: "second"},
		"region-twice europe":  {id: "last"},
		"unknown-name europe":  {id: "first"},
		"legacy-twice europe":  {id: "last"},
		"unknown-value europe": {reason: string(imageselector.ReasonCapability)},
		"other-flavors europe": {reason: string(imageselector.ReasonCapability)},
	} {
		version, region, _ := strings.Cut(at, " ")
		r := p.ResolvePool(provider.Pool{MachineType: "m", Image: "gl", Version: version, Region: region})
		if r.Reference.ID != want.id || string(r.Reason) != want.reason || (r.Err == nil) != (want.id != "") {
			t.Errorf("%s: %q, reason %q, %v", at, r.Reference.ID, r.Reason, r.Err)
		}
		if r.Err != nil && !strings.Contains(r.Err.Detail, "no flavor that is both in the profile's machineImages and in its provider config") {
			t.Errorf("%s: %s", at, r.Err.Detail)
		}
	}
	var rules []string
	for _, err := range report.Errors {
		rules = append(rules, err.Origin)
	}
	slices.Sort(rules)
	want := []string{
		"capability-unregistered", "capability-value-unregistered", "provider-flavor-duplicate", "provider-flavor-missing",
		"provider-flavor-unexpected", "provider-image-duplicate", "region-duplicate", "region-duplicate",
	}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Error(diff)
	}
}
