// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"strings"
	"testing"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
)

// TestFailuresAreLogged asks about objects that cannot be judged.
func TestFailuresAreLogged(t *testing.T) {
	e := newEndpoints(t)
	profile := example[map[string]any](t, "cloudprofile.yaml")
	response, logged := e.ask(t, "validate-cloudprofile", profile, map[string]any{"kind": secret, "spec": secret})
	if response.Allowed || !strings.Contains(logged, `"Not judged"`) || !strings.Contains(logged, "the request could not be decoded") ||
		strings.Contains(logged, secret) {
		t.Errorf("a stored object that cannot be decoded: %s", logged)
	}
	e = newEndpointsWith(t, unreachable{what: &v1beta1.CloudProfile{}}, 0)
	response, logged = e.ask(t, "validate-shoot", example[map[string]any](t, "shoot.yaml"), nil)
	if response.Allowed || !strings.Contains(logged, `"Not judged"`) || !strings.Contains(logged, "no answer") {
		t.Errorf("a profile that cannot be read: %s", logged)
	}
	if lines := strings.Count(logged, "\n"); lines != 1 {
		t.Errorf("%d lines at level info", lines)
	}
}
