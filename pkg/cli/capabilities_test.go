// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"strings"
	"testing"
)

func TestCapabilities(t *testing.T) {
	for _, format := range []string{"text", "json", "yaml"} {
		r := run(t, "", "capabilities", "-o", format)
		if r.status != 0 || r.stderr != "" {
			t.Errorf("status %d: %s", r.status, r.stderr)
		}
		golden(t, "capabilities."+format, r.stdout)
		// Every request that flags can add to a worker pool is listed.
		reserved, _, _ := strings.Cut(r.stdout, "\nProvider ")
		if strings.Contains(reserved, "nothing asks for it") {
			t.Error(reserved)
		}
	}
}
