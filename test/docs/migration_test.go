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

// Each state of the migration in capabilities.md passes lint, under the same name. capkit migrate turns the first state into the second.
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
	_, want, _ := strings.Cut(read(t, file), "\n") // without the comment that describes the file
	_, got, _ := strings.Cut(read(t, during), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not what capkit migrate makes of %s: %s", during, before, diff)
	}
}

// The two commands in migrate.md merge two versions of an image into one with flavors, and register its capability. At every step each
// worker pool boots the same image as before, and the profile passes lint, in the end also for a later Gardener.
func TestMigrationOfUpdatesInPlace(t *testing.T) {
	const folder = "docs/examples/in-place/"
	file := filepath.Join(t.TempDir(), "profile.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(read(t, folder+"before.yaml"))
	is := func(name, lint string) {
		t.Helper()
		if output, status := run(t, name, "capkit lint --fail-on=warning --feature-gates=InPlaceNodeUpdates=true "+lint+file); status != 0 {
			t.Errorf("%s: %s", name, output)
		}
		output, status := run(t, name, "capkit select "+file)
		if boots := strings.Split(strings.TrimSpace(output), "\n"); status != 0 || len(boots) != 2 ||
			!strings.HasSuffix(boots[0], " boots id 2150-amd64") || !strings.HasSuffix(boots[1], " boots id 2150-amd64-inplace") {
			t.Errorf("%s: %s", name, output)
		}
		_, want, _ := strings.Cut(read(t, folder+name), "\napiVersion:") // without the comment that describes the file
		_, got, _ := strings.Cut(read(t, file), "\napiVersion:")
		if diff := cmp.Diff(want, got); diff != "" && name != "before.yaml" {
			t.Errorf("%s is not what capkit migrate makes: %s", name, diff)
		}
	}
	is("before.yaml", "")
	commands := map[string]string{}
	for _, block := range blocks(t, "docs/commands/migrate.md", "console") {
		for line := range strings.Lines(block) {
			if args, found := strings.CutPrefix(line, "$ capkit migrate "); found {
				flag, manifest, _ := strings.Cut(strings.TrimSpace(args), " ")
				commands[manifest] = flag
			}
		}
	}
	if output, status := run(t, "the first command", "capkit migrate -w "+commands[folder+"before.yaml"]+" "+file); status != 0 {
		t.Fatal(output)
	}
	write(read(t, file+".step-2"))
	is("folded.yaml", "")
	if output, status := run(t, "the second command", "capkit migrate -w "+commands[folder+"folded.yaml"]+" "+file); status != 0 {
		t.Fatal(output)
	}
	is("registered.yaml", "--reserved-in-core ")
	if output, status := run(t, "back", "capkit migrate -w --reserved --back "+file); status != 0 {
		t.Fatal(output)
	}
	const supported, flavors = "        supported: true\n", "      capabilityFlavors:\n      - architecture: [amd64]\n"
	want := strings.Replace(read(t, folder+"folded.yaml"), supported, supported+flavors, 1)
	_, want, _ = strings.Cut(want, "\napiVersion:")
	_, got, _ := strings.Cut(read(t, file), "\napiVersion:")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("back, but for the flavor that core has: %s", diff)
	}
}
