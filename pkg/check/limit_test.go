// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/maintenance"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/update"
)

// A report that is full has the same findings each time.
func TestFullReportsAreTheSameEachTime(t *testing.T) {
	registered := []v1beta1.CapabilityDefinition{{Name: capability.Architecture, Values: []string{"amd64"}}}
	parent := given.Sound(t, given.Linux(nil), given.CoreSpec(registered, []v1beta1.Capabilities{nil}))
	for name, found := range map[string]func() finding.List{
		"fields of a NamespacedCloudProfile's config": func() finding.List {
			fields := map[string]any{}
			for i := range 2 * finding.Most {
				fields[fmt.Sprintf("field%d", i)] = true
			}
			raw, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			object := &v1beta1.NamespacedCloudProfile{Spec: v1beta1.NamespacedCloudProfileSpec{ProviderConfig: &runtime.RawExtension{Raw: raw}}}
			_, report := check.NamespacedCloudProfile(parent, object)
			return report.Errors
		},
		"versions that worker pools lose": func() finding.List {
			var changes update.Changes[string]
			for i := range 2 * finding.Most {
				version := provider.ImageVersion{Image: "linux", Version: fmt.Sprint(i)}
				changes.Locks = append(changes.Locks, &update.Lock{ImageVersion: version, Pools: []update.Pool{{Shoot: "garden/shop"}}})
			}
			return check.Effects(parent, parent, &changes, maintenance.Validates)
		},
	} {
		first, second := found(), found()
		if len(first) < finding.Most {
			t.Errorf("%s: only %d findings", name, len(first))
		}
		for i := range first {
			if first[i].String() != second[i].String() {
				t.Errorf("%s: %q and %q", name, first[i], second[i])
				break
			}
		}
	}
}
