// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"testing"
)

func TestOneToOneOfReservedCapabilities(t *testing.T) {
	checkProfiles(t, "testdata/one-to-one-reserved.txtar")
}

// What is registered is compared like everything else, and leaving it out is something else than declaring it.
func TestOneToOneOfRegisteredWorkerCapabilities(t *testing.T) {
	checkProfiles(t, "testdata/one-to-one-registered.txtar")
}

// What is filled in is what core can carry.
func TestFillWorkerCapabilities(t *testing.T) {
	fillProfiles(t, "testdata/fill-worker-capabilities.txtar")
}
