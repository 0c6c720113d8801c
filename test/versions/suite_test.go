// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package versions compares what the command says of objects, told which Gardener runs, with what the API server of that Gardener
// says when they are created. The API servers are built from the modules in hack/apiservers.
//
//   - versions_test.go: the comparison
//   - objects_test.go: the objects, which are examples that were changed in one or two places
//   - testdata: what is changed in them, for each kind; profile.yaml is what Shoots choose from
package versions

import (
	"testing"

	"github.com/capkit/capkit/test/suite"
)

// root is that of the repository.
const root = "../.."

func TestVersions(t *testing.T) { suite.Run(t, "test/versions", "garden") }
