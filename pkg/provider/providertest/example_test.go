// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package providertest_test

import (
	"testing"

	"github.com/capkit/capkit/pkg/local"
	"github.com/capkit/capkit/pkg/provider/providertest"
)

// An extension's test checks the provider with all provider configs below a folder.
func ExampleLaws() {
	_ = func(t *testing.T) { // func TestLaws
		providertest.Laws(t, local.Provider{}, providertest.Configs(t, local.ConfigKind, "testdata")...)
	}
}
