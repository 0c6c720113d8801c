// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package machinedriver

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	const spec = `{"apiVersion": "openstack.machine.gardener.cloud/v1alpha1", "kind": "MachineProviderConfig", "spec": {
		"imageID": "i", "region": "r", "availabilityZone": "a", "flavorName": "f", "keyName": "k", "networkID": "n", "podNetworkCIDRs": ["10.0.0.0/8"],
		"securityGroups": ["s"], "rootDiskSize": 10, "serverGroupID": "g", "tags": {"kubernetes.io-cluster-x": "1", "kubernetes.io-role-node": "1"}}}`
	if err := Check(V0271, []byte(spec)); err != nil {
		t.Fatal(err)
	}
	for replace, want := range map[[2]string]string{
		{`"region": "r"`, `"region": ""`}:                           "has no spec.region",
		{`"region": "r", `, ``}:                                     "has no spec.region",
		{`"imageID": "i"`, `"imageName": ""`}:                       "has 0 of spec.imageID, spec.imageName",
		{`"networkID": "n"`, `"networkID": "n", "networks": [{}]`}:  "has 2 of spec.networkID, spec.networks",
		{`"rootDiskSize": 10`, `"rootDiskSize": -1`}:                "is not a whole number",
		{`"rootDiskSize": 10`, `"rootDiskSize": "10"`}:              "is not a whole number",
		{`"keyName"`, `"keyname"`}:                                  "has an unknown field spec.keyname",
		{`"kind": "M`, `"more": 1, "kind": "M`}:                     "has an unknown field more",
		{`v1alpha1`, `v2`}:                                          "is MachineProviderConfig of openstack.machine.gardener.cloud/v2",
		{`kubernetes.io-role-node`, `role`}:                         "has no tag kubernetes.io-role-",
		{`"securityGroups": ["s"]`, `"securityGroups": [1]`}:        "is not a list of texts",
		{`"serverGroupID": "g"`, `"serverGroupID": "g", "size": 1`}: "has an unknown field spec.size",
	} {
		changed := strings.Replace(spec, replace[0], replace[1], 1)
		if !json.Valid([]byte(changed)) || changed == spec {
			t.Fatal(changed)
		}
		if err := Check(V0271, []byte(changed)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", replace[1], err)
		}
	}
	both := []byte(strings.Replace(spec, `"networkID"`, `"subnetIDs": ["s"], "networkID"`, 1))
	if err := Check(V0271, both); err != nil {
		t.Error(err)
	}
	if err := Check(V0241, both); err == nil || !strings.Contains(err.Error(), "has an unknown field spec.subnetIDs") {
		t.Error(err)
	}
}
