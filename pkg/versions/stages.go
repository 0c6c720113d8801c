// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"slices"
	"strings"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/utils/ptr"
)

// Stage is the classification of a version from some moment on.
type Stage struct {
	Classification v1beta1.VersionClassification
	// From is the beginning in UTC; the zero time for a stage without one.
	From time.Time
}

// String returns the stage in words: "deprecated on 2036-12-01".
func (s Stage) String() string {
	if s.From.IsZero() {
		return string(s.Classification)
	}
	return string(s.Classification) + " on " + Date(s.From)
}

// Date formats a moment for people: the day alone for midnight UTC.
func Date(at time.Time) string {
	return strings.TrimSuffix(at.UTC().Format(time.RFC3339), "T00:00:00Z")
}

// AsLifecycle returns the lifecycle of a version: its own, or the one that its classification and expiration date stand for. A version with
// none of these has no lifecycle. The result may be the version's own.
func AsLifecycle(v v1beta1.ExpirableVersion) []v1beta1.LifecycleStage {
	classification, date := v.Classification, v.ExpirationDate //nolint:staticcheck // as people write it
	if len(v.Lifecycle) > 0 || classification == nil && date.IsZero() {
		return v.Lifecycle
	}
	stages := []v1beta1.LifecycleStage{{Classification: ptr.Deref(classification, v1beta1.ClassificationSupported)}}
	if !date.IsZero() && stages[0].Classification != v1beta1.ClassificationExpired {
		stages = append(stages, v1beta1.LifecycleStage{Classification: v1beta1.ClassificationExpired, StartTime: date})
	}
	return stages
}

// StagesOf returns the classification of a version at every moment, as Gardener's CurrentLifecycleClassification computes it. The first
// stage has no beginning, and each differs from the one before. Two versions that are written differently mean the same if their stages are
// equal.
func StagesOf(v v1beta1.ExpirableVersion) []Stage {
	lifecycle := AsLifecycle(v)
	if len(lifecycle) == 0 {
		return []Stage{{Classification: v1beta1.ClassificationSupported}}
	}
	moments := []time.Time{{}}
	for _, stage := range lifecycle {
		moments = append(moments, startOf(stage))
	}
	slices.SortFunc(moments, time.Time.Compare)
	var stages []Stage
	for _, at := range moments {
		is := v1beta1.ClassificationUnavailable
		for _, stage := range lifecycle { // the last one in the list wins, not the latest one
			if !startOf(stage).After(at) {
				is = stage.Classification
			}
		}
		if len(stages) == 0 || stages[len(stages)-1].Classification != is {
			stages = append(stages, Stage{is, at})
		}
	}
	return stages
}

// startOf returns the beginning of a stage as the API server stores it, without fractions of a second. The time 0001-01-01T00:00:00Z is none.
func startOf(stage v1beta1.LifecycleStage) time.Time {
	if stage.StartTime == nil {
		return time.Time{}
	}
	return stage.StartTime.UTC().Truncate(time.Second)
}

// Classification returns the current classification of a version, like Gardener's CurrentLifecycleClassification.
func Classification(v v1beta1.ExpirableVersion) v1beta1.VersionClassification {
	return classificationAt(v, time.Now())
}

// Active reports whether worker pools may currently use a version: it is neither expired nor unavailable.
func Active(v v1beta1.ExpirableVersion) bool {
	is := Classification(v)
	return is != v1beta1.ClassificationExpired && is != v1beta1.ClassificationUnavailable
}

// Expired reports whether a version is currently expired.
func Expired(v v1beta1.ExpirableVersion) bool {
	return Classification(v) == v1beta1.ClassificationExpired
}

// ClassificationOnce returns a version's classification once a moment has come. A stage that begins at the very moment has begun.
func ClassificationOnce(v v1beta1.ExpirableVersion, at time.Time) v1beta1.VersionClassification {
	return classificationAt(v, at.Add(1))
}

// ExpiredAt reports whether a version is expired at a moment, which may be the very moment of its expiration.
func ExpiredAt(v v1beta1.ExpirableVersion, at time.Time) bool {
	return ClassificationOnce(v, at) == v1beta1.ClassificationExpired
}

// classificationAt returns the classification at a moment. It does not allocate.
func classificationAt(v v1beta1.ExpirableVersion, now time.Time) v1beta1.VersionClassification {
	if len(v.Lifecycle) == 0 {
		if date := v.ExpirationDate; !date.IsZero() && date.Time.Before(now) { //nolint:staticcheck // as people write it
			return v1beta1.ClassificationExpired
		}
		return ptr.Deref(v.Classification, v1beta1.ClassificationSupported) //nolint:staticcheck // as people write it
	}
	is := v1beta1.ClassificationUnavailable
	for _, stage := range v.Lifecycle { // the last one in the list wins
		if stage.StartTime == nil || stage.StartTime.Time.Before(now) {
			is = stage.Classification
		}
	}
	return is
}

// Since returns the stages of a version from a moment on: the current one, without its beginning, and all later ones.
func Since(v v1beta1.ExpirableVersion, now time.Time) []Stage {
	stages := StagesOf(v)
	begun := func(s Stage) bool { return s.From.Before(now) || s.From.IsZero() }
	next := slices.IndexFunc(stages, func(s Stage) bool { return !begun(s) })
	if next < 0 {
		next = len(stages)
	}
	stages = stages[next-1:]
	stages[0].From = time.Time{}
	return stages
}

// Ahead returns the stages of a version after a moment in words, except for its expiration; empty if there are none.
func Ahead(v v1beta1.ExpirableVersion, now time.Time) string {
	var ahead []string
	for _, stage := range Since(v, now)[1:] {
		if stage.Classification != v1beta1.ClassificationExpired {
			ahead = append(ahead, stage.String())
		}
	}
	return strings.Join(ahead, ", ")
}

// Available returns the stage in which a version that is unavailable at a moment ceases to be; false if there is none, or if the version is
// not unavailable.
func Available(v v1beta1.ExpirableVersion, now time.Time) (Stage, bool) {
	stages := Since(v, now)
	if stages[0].Classification != v1beta1.ClassificationUnavailable || len(stages) < 2 {
		return Stage{}, false
	}
	return stages[1], true
}

// SameFrom reports whether two versions have the same meaning at every moment from one on, however they are written.
func SameFrom(now time.Time, a, b v1beta1.ExpirableVersion) bool {
	return slices.EqualFunc(Since(a, now), Since(b, now), func(a, b Stage) bool {
		return a.Classification == b.Classification && a.From.Equal(b.From)
	})
}
