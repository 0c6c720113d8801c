// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package versions_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/versions"
)

// now divides the dates in the tests.
var now = time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC)

func TestStages(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                           "[supported]",
		`{classification: deprecated}`: "[deprecated]",
		`{classification: expired, expirationDate: "2070-01-01T00:00:00Z"}`:     "[expired]",
		`{expirationDate: "2070-01-01T00:00:00Z"}`:                              "[supported expired on 2070-01-01]",
		`{expirationDate: "2070-01-01T01:00:00+01:00"}`:                         "[supported expired on 2070-01-01]",
		`{classification: preview, expirationDate: "2070-01-01T08:30:00Z"}`:     "[preview expired on 2070-01-01T08:30:00Z]",
		`{expirationDate: "2070-01-01T00:00:00.5Z"}`:                            "[supported expired on 2070-01-01]",
		`{expirationDate: "0001-01-01T00:00:00Z"}`:                              "[supported]",
		`{lifecycle: [{classification: supported}, {classification: expired}]}`: "[expired]",
		`{expirationDate: "2065-01-01T00:00:00Z", lifecycle: [{classification: preview, startTime: "2050-01-01T00:00:00Z"},
			{classification: supported, startTime: "2070-01-01T00:00:00Z"}]}`: "[unavailable preview on 2050-01-01 supported on 2070-01-01]",
		// A stage that begins when the next one does is omitted.
		`{lifecycle: [{classification: supported}, {classification: deprecated, startTime: "2070-01-01T00:00:00Z"},
			{classification: expired, startTime: "2070-01-01T00:00:00Z"}]}`: "[supported expired on 2070-01-01]",
	} {
		if got := fmt.Sprint(versions.StagesOf(*given.Decoded[v1beta1.ExpirableVersion](t, text))); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// The API server stores dates without fractions of a second, and 0001-01-01T00:00:00Z as none.
func TestDatesAsStored(t *testing.T) {
	fraction := *given.Decoded[v1beta1.ExpirableVersion](t, `{expirationDate: "2070-01-01T00:00:00.5Z"}`)
	if got := versions.ExpiryOf(fraction); got == nil || !got.Equal(now.AddDate(10, 0, 0)) {
		t.Error(got)
	}
	none := *given.Decoded[v1beta1.ExpirableVersion](t, `{expirationDate: "0001-01-01T00:00:00Z"}`)
	if got := versions.ExpiryOf(none); got != nil || versions.Expired(none) {
		t.Error(got)
	}
}

// Past stages do not affect future ones.
func TestStagesFromNowOn(t *testing.T) {
	type answers struct {
		since, ahead, available string
		same                    bool
	}
	for text, want := range map[string]answers{
		`{}`: {"[supported]", "", "", false},
		`{lifecycle: [{classification: preview, startTime: "2050-01-01T00:00:00Z"}, {classification: deprecated, startTime: "2051-01-01T00:00:00Z"},
			{classification: expired, startTime: "2070-01-01T00:00:00Z"}]}`: {"[deprecated expired on 2070-01-01]", "", "", true},
		`{classification: deprecated, expirationDate: "2070-01-01T00:00:00Z"}`: {"[deprecated expired on 2070-01-01]", "", "", true},
		`{classification: deprecated, expirationDate: "2050-01-01T00:00:00Z"}`: {"[expired]", "", "", false},
		`{lifecycle: [{classification: supported, startTime: "2070-01-01T00:00:00Z"}, {classification: deprecated, startTime: "2071-01-01T00:00:00Z"}]}`: {
			"[unavailable supported on 2070-01-01 deprecated on 2071-01-01]", "supported on 2070-01-01, deprecated on 2071-01-01", "supported on 2070-01-01", false},
	} {
		v := *given.Decoded[v1beta1.ExpirableVersion](t, text)
		other := *given.Decoded[v1beta1.ExpirableVersion](t,
			`{lifecycle: [{classification: deprecated}, {classification: expired, startTime: "2070-01-01T01:00:00+01:00"}]}`)
		got := answers{since: fmt.Sprint(versions.Since(v, now)), ahead: versions.Ahead(v, now), same: versions.SameFrom(now, v, other)}
		if stage, later := versions.Available(v, now); later {
			got.available = stage.String()
		}
		if got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// A version is expired from the moment of its expiration, as for maintenance --at.
func TestExpiredAt(t *testing.T) {
	for _, text := range []string{
		`{expirationDate: "2060-01-01T00:00:00Z"}`,
		`{lifecycle: [{classification: supported}, {classification: expired, startTime: "2060-01-01T01:00:00+01:00"}]}`,
	} {
		v := *given.Decoded[v1beta1.ExpirableVersion](t, text)
		if versions.ExpiredAt(v, now.Add(-1)) || !versions.ExpiredAt(v, now) {
			t.Error(text)
		}
	}
}
