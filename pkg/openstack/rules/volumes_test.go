// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"
)

func TestVolumes(t *testing.T) { runShoots(t, "volumes") }
