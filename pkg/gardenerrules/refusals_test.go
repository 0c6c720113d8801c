// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardenerrules_test

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"

	"github.com/capkit/capkit/pkg/gardenerrules"
)

// The error about a Kubernetes version names that version, be it the control plane's or the worker pool's own.
func TestKubeletVersion(t *testing.T) {
	for _, c := range []struct{ controlPlane, own, kubelet, wrong string }{
		{controlPlane: "1.33.2", kubelet: "1.33.2"},
		{controlPlane: "1.33.2", own: "1.32.1", kubelet: "1.32.1"},
		{controlPlane: "1.33.2", own: "1.3x", wrong: `"1.3x"`},
		{controlPlane: "1.3y", own: "1.32.1", wrong: `"1.3y"`},
	} {
		worker := &v1beta1.Worker{}
		if c.own != "" {
			worker.Kubernetes = &v1beta1.WorkerKubernetes{Version: &c.own}
		}
		switch kubelet, err := gardenerrules.KubeletVersion(c.controlPlane, worker); {
		case err != nil:
			if c.wrong == "" || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%+v: %v", c, err)
			}
		case c.wrong != "" || kubelet.String() != c.kubelet:
			t.Errorf("%+v: %s", c, kubelet)
		}
	}
}
