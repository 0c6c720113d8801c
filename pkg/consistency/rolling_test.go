// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/consistency"
	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider"
)

var rolling = consistency.RollingOn(consistency.WorkersOf(workerKind, definitions, rules),
	provider.Trigger[workerConfig]{Field: "disk", Value: func(c *workerConfig) string { return c.Disk }},
	provider.Trigger[workerConfig]{Field: "trusted", Value: func(c *workerConfig) string { return map[bool]string{true: "on", false: ""}[c.Trusted] }},
)

func TestRolling(t *testing.T) {
	const header = "{apiVersion: given/v1, kind: WorkerConfig"
	for name, tc := range map[string]struct{ config, disk, trusted string }{
		"no config":             {"null", "", ""},
		"nothing of it":         {header + "}", "", ""},
		"one":                   {header + ", disk: fast}", "fast", ""},
		"both":                  {header + ", disk: fast, trusted: true}", "fast", "on"},
		"what could be read":    {header + ", disk: fast, trusted: 5}", "fast", ""},
		"whatever else is said": {header + ", unknown: 1, nested: true, disk: slow}", "slow", ""},
	} {
		t.Run(name, func(t *testing.T) {
			want := []provider.Rolling{{Field: "disk", Value: tc.disk}, {Field: "trusted", Value: tc.trusted}}
			if diff := cmp.Diff(want, rolling.Rolling(raw(t, tc.config))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := rolling.Rolling(nil); len(got) != 2 || got[0].Value != "" {
		t.Error(got)
	}
	if got := (local.Provider{}).Workers().Rolling(nil); got != nil {
		t.Error("a provider without triggers:", got)
	}
	if diff := cmp.Diff(consistency.WorkersOf(workerKind, definitions, rules).Settings(), rolling.Settings()); diff != "" {
		t.Error("what workers ask for has changed:", diff)
	}
}

func ExampleRollingOn() {
	workers := consistency.RollingOn(consistency.WorkersOf(workerKind, definitions, rules),
		provider.Trigger[workerConfig]{Field: "disk", Value: func(c *workerConfig) string { return c.Disk }})
	for _, r := range workers.Rolling(nil) {
		fmt.Printf("%s %q\n", r.Field, r.Value)
	}
	// Output: disk ""
}
