// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/test/given"
)

func TestWorkerCapabilitiesOfANamespacedCloudProfile(t *testing.T) {
	checkNamespacedProfiles(t, given.ImagesOnly{}, "testdata/namespaced-worker-capabilities.txtar")
}

// A worker pool on a version that a NamespacedCloudProfile defines, as the update of that profile sees it.
func TestAnUpdateOfANamespacedCloudProfileThatTakesAFeature(t *testing.T) {
	above, _ := profile.Compile(given.ImagesOnly{}, profileNamed(t, "parent"), field.NewPath("spec"))
	old, update := namespacedNamed(t, "namespaced-with-secure-boot"), namespacedNamed(t, "namespaced-without")
	pool := provider.Pool{MachineType: "m", Image: "own", Version: "1", Region: "europe"}
	wants := pool
	wants.Worker = capability.Worker{SecureBoot: true}
	warnings := func(updated, old *v1beta1.NamespacedCloudProfile, uses ...use) finding.List {
		after, report := check.NamespacedCloudProfileUpdate(above, updated, old)
		all := append(report.Warnings, effects(check.Resulting(above, old), after, uses)...)
		return slices.DeleteFunc(all, func(f finding.Finding) bool {
			return f.Origin != "mapping-in-use" && f.Origin != "machine-type-in-use" && f.Origin != "image-choice-changed"
		})
	}
	got := warnings(update, old,
		use{Namespace: "garden-a", Name: "plain", Pools: []provider.Pool{pool}},
		use{Namespace: "garden-a", Name: "secure", Pools: []provider.Pool{wants}})
	if len(got) != 1 || got[0].Origin != "mapping-in-use" ||
		!strings.Contains(got[0].Detail, "no image is left for worker pools of Shoot garden-a/secure (1 pool):") {
		t.Error(got)
	}
	if got := warnings(old, update, use{Name: "plain", Pools: []provider.Pool{pool}}); len(got) > 0 {
		t.Error("a feature is offered:", got)
	}
}

func namespacedNamed(t *testing.T, name string) *v1beta1.NamespacedCloudProfile {
	t.Helper()
	return &v1beta1.NamespacedCloudProfile{Spec: *given.Decoded[v1beta1.NamespacedCloudProfileSpec](t, manifest(t, name))}
}
