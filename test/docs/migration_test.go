// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each state of the migration that capabilities.md shows is clean, and has the same name. The second one is what capkit migrate
// makes of the first.
func TestMigration(t *testing.T) {
	const before, during, after = "docs/examples/migration/before.yaml", "docs/examples/migration/during.yaml", "example/cloudprofile.yaml"
	for _, file := range []string{before, during, after} {
		if output, status := run(t, file, "capkit lint --fail-on=warning example/shoot.yaml "+file); status != 0 {
			t.Errorf("%s: %s", file, output)
		}
		if !strings.Contains(read(t, file), "\nkind: CloudProfile\nmetadata:\n  name: openstack\n") {
			t.Errorf("%s is about another CloudProfile", file)
		}
	}
	file := filepath.Join(t.TempDir(), "cloudprofile.yaml")
	if err := os.WriteFile(file, []byte(read(t, before)), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, status := run(t, before, "capkit migrate -w --provider-config "+file); status != 0 {
		t.Fatal(output)
	}
	_, want, _ := strings.Cut(read(t, file), "\n") // without the comment that says what the file is
	_, got, _ := strings.Cut(read(t, during), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not what capkit migrate makes of %s: %s", during, before, diff)
	}
}
