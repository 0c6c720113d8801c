// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package versions

import . "github.com/onsi/ginkgo/v2"

// A version between the oldest and the newest, which needs a separately compiled API server.
var _ = DescribeTable(claim, saysTheSame,
	Entry("v1.149.3", gardener{version: "v1.149.3", objects: 1000}),
	Entry("v1.149.3 with other feature gates", gardener{version: "v1.149.3", objects: 500, gates: map[string]bool{
		"VersionClassificationLifecycle": true, "InPlaceNodeUpdates": true, "LiveControlPlaneMigration": true,
	}}),
)
