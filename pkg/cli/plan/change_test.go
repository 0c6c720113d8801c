// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/capkit/capkit/pkg/cli/plan"
)

// The order does not depend on the one in which the changes come, whatever their versions look like.
func TestOrderOfVersions(t *testing.T) {
	want := []string{"", "1.2", "1.2.0", "1.2.0+build", "v1.2.0", "1.10.0-alpha", "1.10.0", "1.1x", "latest"}
	rapid.Check(t, func(t *rapid.T) {
		var changes []plan.Change
		for _, version := range rapid.Permutation(want).Draw(t, "order") {
			changes = append(changes, plan.Change{Kind: plan.New, Image: "gl", Version: version})
		}
		plan.Sort(changes)
		var got []string
		for _, c := range changes {
			got = append(got, c.Version)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
