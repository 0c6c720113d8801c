// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"testing"

	"github.com/capkit/capkit/test/cases"
)

// What NamespacedCloudProfiles, their parents and their Shoots have to do with each other.
func TestLintNamespacedCloudProfile(t *testing.T) {
	cases.Run(t, "testdata/namespaced.txtar", func(c *cases.Case) string { return places(c.T(), manifests(c)...) })
}
