// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/pkg/openstack"
	"github.com/capkit/capkit/pkg/provider"
)

func TestWorkerConfigs(t *testing.T) { runShoots(t, "worker-configs") }

func TestRolling(t *testing.T) {
	workers := openstack.Provider{}.Workers()
	for name, tc := range map[string]struct {
		config string
		want   []provider.Rolling
	}{
		"nothing": {"{kind: WorkerConfig}", []provider.Rolling{{Field: "serverGroup"}, {Field: "machineLabels"}}},
		"everything": {`{kind: WorkerConfig, serverGroup: {policy: affinity}, machineLabels: [
			{name: b, value: x, triggerRollingOnUpdate: true}, {name: c, value: y},
			{name: a, value: z, triggerRollingOnUpdate: true}, {name: d, triggerRollingOnUpdate: false}]}`,
			[]provider.Rolling{{Field: "serverGroup", Value: "affinity"}, {Field: "machineLabels", Value: "a=z, b=x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, workers.Rolling(provider.Pool{Config: raw(tc.config)})); diff != "" {
				t.Error(diff)
			}
		})
	}
	if diff := cmp.Diff([]provider.Rolling{{Field: "serverGroup"}, {Field: "machineLabels"}}, workers.Rolling(provider.Pool{})); diff != "" {
		t.Error(diff)
	}
}
