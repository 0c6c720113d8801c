// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package changes_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/capkit/capkit/internal/cli/changes"
)

// The order of versions does not depend on the input order, for versions of any form.
func TestOrderOfVersions(t *testing.T) {
	want := []string{"", "1.2", "1.2.0", "1.2.0+build", "v1.2.0", "1.10.0-alpha", "1.10.0", "1.1x", "latest"}
	rapid.Check(t, func(t *rapid.T) {
		var all []changes.Change
		for _, version := range rapid.Permutation(want).Draw(t, "order") {
			all = append(all, changes.Change{Kind: changes.New, Image: "gl", Version: version})
		}
		changes.Sort(all)
		var got []string
		for _, c := range all {
			got = append(got, c.Version)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
