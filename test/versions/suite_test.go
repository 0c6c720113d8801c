// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package versions compares the command's findings for a version of Gardener with the answers of that version's API server to the
// creation of the same objects. The API servers are built from the modules in hack/apiservers.
//
//   - versions_test.go: the comparison
//   - objects_test.go: the objects, which are examples with one or two changes
//   - testdata: the changes for each kind; profile.yaml has the entries that Shoots choose from
package versions

import (
	"testing"

	"github.com/capkit/capkit/test/suite"
)

// root is the root of the repository.
const root = "../.."

func TestVersions(t *testing.T) { suite.Run(t, "test/versions", "garden") }
