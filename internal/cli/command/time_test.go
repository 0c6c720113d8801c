// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/capkit/capkit/internal/cli/command"
)

func TestTimesAsPeopleWriteThem(t *testing.T) {
	now := time.Date(2026, 11, 26, 15, 4, 5, 0, time.FixedZone("", 3600))
	for written, want := range map[string]string{
		"2027-01-31": "2027-01-31T00:00:00Z", "2027-01-31T22:00:00+02:00": "2027-01-31T20:00:00Z",
		"+7d": "2026-12-03T14:04:05Z", "+2w": "2026-12-10T14:04:05Z", "+36h": "2026-11-28T02:04:05Z", "+0d": "2026-11-26T14:04:05Z",
	} {
		if at, err := command.ParseTime("--at", written, now); err != nil || at.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v", written, at, err)
		}
	}
	for _, written := range []string{"", "sunday", "tomorrow", "7d", "+7", "+12345d", "+d", "2027-1-31", "2027-02-30", "31.01.2027", "2027-01-31 22:00", "+7d "} {
		if _, err := command.ParseTime("--until", written, now); err == nil || !strings.HasPrefix(err.Error(), `invalid --until "`+written+`": use `) {
			t.Errorf("%q: %v", written, err)
		}
	}
}
