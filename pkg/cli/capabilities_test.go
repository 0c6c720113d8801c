// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"testing"

	"github.com/capkit/capkit/pkg/cli"
)

func TestCapabilities(t *testing.T) {
	for _, format := range []string{"text", "json", "yaml"} {
		r := run(t, "", "capabilities", "-o", format)
		if r.status != 0 || r.stderr != "" {
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
		golden(t, "capabilities."+format, r.stdout)
	}
	for _, args := range [][]string{{"capabilities", "file.yaml"}, {"capabilities", "-o", "sarif"}} {
		if r := run(t, "", args...); r.status != 2 || r.stdout != "" {
			t.Errorf("%v: status %d: %s", args, r.status, r.stdout)
		}
	}
}

// Everything that a worker pool can be made to ask for by flags is listed.
func TestCapabilitiesListsWhatEachValueIsFor(t *testing.T) {
	for _, c := range decoded[cli.Capabilities](t, run(t, "", "capabilities", "-o", "json")).Reserved {
		asked := map[string]bool{}
		for _, by := range c.RequestedBy {
			for _, value := range by.Values {
				asked[value] = true
			}
		}
		for _, value := range c.Values {
			if !asked[value] {
				t.Errorf("nothing asks for %s: %s", c.Name, value)
			}
		}
	}
}
