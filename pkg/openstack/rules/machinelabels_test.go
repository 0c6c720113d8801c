// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"
)

func TestMachineLabels(t *testing.T) { runShoots(t, "machine-labels") }
