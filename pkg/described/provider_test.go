// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described_test

import (
	"testing"

	"github.com/capkit/capkit/pkg/described"
	"github.com/capkit/capkit/pkg/provider"
)

func TestProviders(t *testing.T) {
	for _, cloud := range described.BuiltIn() {
		if err := provider.Check(cloud); err != nil {
			t.Error(err)
		}
	}
}
