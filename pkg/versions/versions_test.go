// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package versions_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/internal/testing/given"
	"github.com/capkit/capkit/pkg/versions"
)

// The date is the same in every notation.
func TestExpiryOf(t *testing.T) {
	want := time.Date(2037, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]*time.Time{
		`{version: 1.0.0, expirationDate: "2037-01-01T00:00:00Z"}`:                                    &want,
		`{version: 1.0.0, expirationDate: "2037-01-01T01:00:00+01:00"}`:                               &want,
		`{version: 1.0.0, lifecycle: [{classification: expired, startTime: "2037-01-01T00:00:00Z"}]}`: &want,
		`{version: 1.0.0, lifecycle: [{classification: supported}]}`:                                  nil,
		`{version: 1.0.0}`: nil,
		`{version: 1.0.0, expirationDate: "2037-01-01T00:00:00Z", lifecycle: [{classification: supported}]}`: nil,
	} {
		got := versions.ExpiryOf(*given.Decoded[v1beta1.ExpirableVersion](t, text))
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// The suggested version is one that lasts (semantics S13).
func TestChoices(t *testing.T) {
	choices := versions.NewChoices(*given.Decoded[[]v1beta1.ExpirableVersion](t, `
- {version: 9.0.0, classification: preview}
- {version: 8.0.0, classification: preview, expirationDate: "2090-01-02T00:00:00Z"}
- {version: 7.0.0, classification: supported}
- {version: 10.0.0}
- {version: 6.0.0, classification: deprecated, expirationDate: "2090-01-02T23:00:00Z"}
- {version: 5.0.0, classification: supported, expirationDate: "2020-01-02T00:00:00Z"}
- {version: 4.0.0, lifecycle: [{classification: supported}, {classification: expired, startTime: "2090-01-02T00:00:00Z"}]}
- {version: 3.0.0, classification: deprecated}
- {version: 2.0.0, lifecycle: [{classification: supported, startTime: "2090-01-02T00:00:00Z"}]}
- {version: old, classification: supported}
`))
	for version, want := range map[string]string{
		"5.0.0": "[7.0.0 10.0.0 4.0.0 (expires 2090-01-02) old 6.0.0 (deprecated, expires 2090-01-02) 3.0.0 (deprecated)]",
		"8.0.0": "[10.0.0 7.0.0 4.0.0 (expires 2090-01-02) old 6.0.0 (deprecated, expires 2090-01-02) 3.0.0 (deprecated)]",
		"7":     "[10.0.0 7.0.0 4.0.0 (expires 2090-01-02) old 6.0.0 (deprecated, expires 2090-01-02) 3.0.0 (deprecated)]",
		"":      "[10.0.0 7.0.0 4.0.0 (expires 2090-01-02) old 6.0.0 (deprecated, expires 2090-01-02) 3.0.0 (deprecated)]",
	} {
		if got := fmt.Sprint(choices.Advised(version)); got != want {
			t.Errorf("%q: %s, want %s", version, got, want)
		}
	}
	want := "[7.0.0 10.0.0] [9.0.0 (preview) 8.0.0 (preview, expires 2090-01-02)]"
	if got := fmt.Sprint(choices.Near("5.0.0", 2), choices.Previews("8.5.0", 9)); got != want {
		t.Error(got)
	}
	for i, c := range choices.Near("", 9) {
		if c.Supported != (i < 4) {
			t.Errorf("%s: supported %t", c, c.Supported)
		}
	}
	previews := versions.NewChoices(*given.Decoded[[]v1beta1.ExpirableVersion](t,
		"[{version: 2.0.0, classification: preview}, {version: 1.0.0, classification: preview}]"))
	if got := fmt.Sprint(previews.Advised("1.5.0"), previews.Near("", 9)); got != "[2.0.0 (preview) 1.0.0 (preview)] []" {
		t.Error(got)
	}
}

func TestNewestFirst(t *testing.T) {
	got := []string{"1.2", "x", "1.10.0", "1.10.0-rc.1", "latest"}
	slices.SortStableFunc(got, versions.NewestFirst)
	if want := []string{"1.10.0", "1.10.0-rc.1", "1.2", "x", "latest"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
