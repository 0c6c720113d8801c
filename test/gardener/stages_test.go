// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/versions"
)

// The stages match Gardener's, even for values that its validation would refuse.
func TestStagesAreThoseOfGardener(t *testing.T) {
	start := rapid.Ptr(rapid.Custom(func(t *rapid.T) metav1.Time {
		return metav1.NewTime(time.Now().Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "days")) * 24 * time.Hour).Add(time.Hour))
	}), true)
	classification := rapid.SampledFrom([]v1beta1.VersionClassification{
		v1beta1.ClassificationPreview, v1beta1.ClassificationSupported, v1beta1.ClassificationDeprecated, v1beta1.ClassificationExpired,
	})
	rapid.Check(t, func(t *rapid.T) {
		v := v1beta1.ExpirableVersion{
			Classification: rapid.Ptr(classification, true).Draw(t, "classification"), //nolint:staticcheck // as people write it
			ExpirationDate: start.Draw(t, "date"),                                     //nolint:staticcheck // as people write it
			Lifecycle: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) v1beta1.LifecycleStage {
				return v1beta1.LifecycleStage{Classification: classification.Draw(t, "stage"), StartTime: start.Draw(t, "start")}
			}), 0, 4).Draw(t, "lifecycle"),
		}
		as := v1beta1.ExpirableVersion{Lifecycle: versions.AsLifecycle(v)}
		want := helper.CurrentLifecycleClassification(v)
		if is := versions.Since(v, time.Now())[0].Classification; is != want || helper.CurrentLifecycleClassification(as) != want {
			t.Fatalf("%s, and as a lifecycle %s; Gardener says %s", is, helper.CurrentLifecycleClassification(as), want)
		}
		if versions.Classification(v) != want || versions.Active(v) != helper.VersionIsActive(v) || versions.Expired(v) != helper.VersionIsExpired(v) {
			t.Fatalf("%s, active: %t; Gardener says %s", versions.Classification(v), versions.Active(v), want)
		}
		if !versions.SameFrom(time.Now(), v, as) {
			t.Fatalf("%v, and as a lifecycle %v", versions.StagesOf(v), versions.StagesOf(as))
		}
	})
}
