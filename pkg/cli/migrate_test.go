// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/capkit/capkit/internal/cli/clouds"
)

// legacyProfile and suffixes are examples in the legacy format.
const (
	legacyProfile = "../../example/cloudprofile-legacy.yaml"
	suffixes      = "../../docs/examples/suffixes.yaml"
	foldSuffixes  = "--fold=-baremetal=hypervisor:baremetal,virtualized"
)

// legacyChild is a NamespacedCloudProfile of legacyProfile.
const legacyChild = `apiVersion: core.gardener.cloud/v1beta1
kind: NamespacedCloudProfile
metadata:
  name: team
  namespace: garden-demo
spec:
  parent:
    kind: CloudProfile
    name: openstack-legacy
  machineTypes:
  - name: arm_large
    cpu: "16"
    gpu: "0"
    memory: 32Gi
    architecture: arm64
  machineImages:
  - name: coreos
    versions:
    - version: 2135.6.0 # the parent's
      expirationDate: "2037-12-31T00:00:00Z"
    - version: 3000.1.0
      architectures: [arm64]
      cri: [{name: containerd}]
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImages:
    - name: coreos
      versions:
      - version: 3000.1.0
        regions:
        - {name: europe, id: 'img', architecture: arm64} # in brackets
        - {name: asia, id: "far", architecture: arm64}
`

// changes returns the removed and added lines of a diff.
func changes(diff string) (lines []string) {
	for line := range strings.Lines(diff) {
		if (line[0] == '+' || line[0] == '-') && !strings.HasPrefix(line, "+++ ") && !strings.HasPrefix(line, "--- ") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func TestMigrateRegisters(t *testing.T) {
	r := run(t, "", "migrate", legacyProfile)
	want := []string{"+  machineCapabilities:", "+  - name: architecture", "+    values: [amd64, arm64]"}
	if diff := cmp.Diff(want, changes(r.stdout)); diff != "" || r.status != 0 || r.stderr != "" {
		t.Errorf("status %d, %q: %s", r.status, r.stderr, diff)
	}
	contains(t, r.stdout, "--- a/../../example/cloudprofile-legacy.yaml\n+++ b/../../example/cloudprofile-legacy.yaml\n@@ -5,6 +5,9 @@")
	answer := decoded[struct {
		Files []struct{ File, Diff string }
		Kept  []any
	}](t, run(t, "", "migrate", "-o", "json", legacyProfile))
	if len(answer.Files) != 1 || answer.Files[0].File != legacyProfile || answer.Files[0].Diff != r.stdout || answer.Kept == nil {
		t.Errorf("as JSON: %+v", answer)
	}
	if piped := run(t, read(t, legacyProfile), "migrate", "-"); !cmp.Equal(changes(piped.stdout), want) || !strings.HasPrefix(piped.stdout, "--- <stdin>\n") {
		t.Errorf("standard input: %+v", piped)
	}
	if done := run(t, "", "migrate", "../../example/cloudprofile.yaml"); done.status != 0 || done.stdout != "" {
		t.Errorf("what is migrated already: %+v", done)
	}
}

// Written files keep their permissions. If one cannot be written, none is.
func TestMigrateWrites(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "profile.yaml"), filepath.Join(folder, "link.yaml")
	write(t, file, read(t, legacyProfile))
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("profile.yaml", link); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(folder, "bad.yaml")
	write(t, bad, strings.ReplaceAll(strings.Replace(legacyChild, "openstack-legacy", "nobody", 1), "team", "other"))
	if r := run(t, "", "migrate", "-w", link, bad); r.status != 1 || read(t, file) != read(t, legacyProfile) {
		t.Errorf("with another file that cannot be migrated: %+v", r)
	}
	if r := run(t, "", "migrate", "-w", link); r.status != 0 || r.stdout != "" {
		t.Errorf("%+v", r)
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode().Perm() != 0o640 || !strings.Contains(read(t, file), "machineCapabilities") {
		t.Errorf("%v, %v\n%s", info.Mode(), err, read(t, file))
	}
	if info, err = os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	if r := run(t, "", "lint", "--fail-on=warning", file, bad[:len(bad)-len("bad.yaml")]+"link.yaml"); r.status > 1 {
		t.Errorf("%+v", r)
	}
}

// Diffs of files that are reached through links can be applied, although git and patch refuse to change links.
func TestDiffsThroughLinks(t *testing.T) {
	legacy, err := filepath.Abs(legacyProfile)
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, legacy)
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	err = errors.Join(err, os.Mkdir("profiles", 0o750), os.Symlink("profiles/profile.yaml", "link.yaml"), os.Symlink("profiles", "folder"),
		os.Symlink(filepath.Join(here, "profiles/profile.yaml"), "absolute.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"profiles", "link.yaml", "absolute.yaml", "folder", "folder/profile.yaml", "."} {
		write(t, "profiles/profile.yaml", text)
		apply := exec.CommandContext(t.Context(), "git", "apply", "-")
		apply.Stdin = strings.NewReader(run(t, "", "migrate", name).stdout)
		if said, err := apply.CombinedOutput(); err != nil || read(t, "profiles/profile.yaml") == text {
			t.Errorf("%s: %s %v", name, said, err)
		}
	}
}

// A NamespacedCloudProfile is migrated together with its parent, in both directions.
func TestMigrateNamespaced(t *testing.T) {
	folder := t.TempDir()
	both := []string{filepath.Join(folder, "parent.yaml"), filepath.Join(folder, "child.yaml")}
	write(t, both[0], read(t, legacyProfile))
	write(t, both[1], legacyChild)
	must := func(args ...string) {
		t.Helper()
		if r := run(t, "", append(args, both...)...); r.status != 0 {
			t.Fatalf("%v: %+v", args, r)
		}
	}
	must("lint", "--fail-on=warning")
	ask := []string{
		"select", "--profile=team", "--image=coreos", "--version=3000.1.0", "--machine-type=arm_large", "--region=europe", both[0], both[1],
	}
	before := run(t, "", ask...)
	must("migrate", "-w")
	if read(t, both[1]) != legacyChild {
		t.Errorf("the child needs no change:\n%s", read(t, both[1]))
	}
	must("migrate", "-w", "--provider-config")
	contains(t, read(t, both[1]), `      - version: 3000.1.0
        capabilityFlavors:
        - capabilities:
            architecture: [arm64]
          regions:
          - {name: europe, id: 'img'} # in brackets
          - {name: asia, id: "far"}
`)
	must("lint", "--fail-on=warning")
	if after := run(t, "", ask...); after != before || after.status != 0 {
		t.Errorf("%+v, not %+v", after, before)
	}
	if r := run(t, "", "migrate", both[1]); r.status != 1 || r.stdout != "" {
		t.Errorf("without the parent: %+v", r)
	} else {
		contains(t, r.stderr, "child.yaml:9:5: error: CloudProfile openstack-legacy is not among the inputs")
	}
	must("migrate", "-w", "--back")
	must("lint", "--fail-on=warning")
	if after := run(t, "", ask...); after != before || strings.Contains(read(t, both[0])+read(t, both[1]), "apabilities:") {
		t.Errorf("%+v, not %+v\n%s", after, before, read(t, both[1]))
	}
}

// A mapping may be for any architecture. A NamespacedCloudProfile that goes back before its parent must then list its versions'
// architectures.
func TestMigrateNamespacedBackByAnyArchitecture(t *testing.T) {
	folder := examples + "/hcloud/"
	inFolder(t, map[string]string{"parent.yaml": read(t, folder+"cloudprofile.yaml"), "child.yaml": read(t, folder+"namespacedcloudprofile.yaml")})
	r := runFor(table, "", "migrate", "-w", "--back", "parent.yaml", "child.yaml")
	if after := read(t, "child.yaml"); r.status != 0 || !strings.Contains(after, "      architectures: [amd64]\n  providerConfig") {
		t.Fatalf("%+v\n%s", r, after)
	}
	if r := runFor(table, "", "lint", "--fail-on=warning", "parent.yaml", "child.yaml"); r.status != 0 {
		t.Errorf("%+v", r)
	}
}

// Versions that differ only in a suffix are merged, except those in use, which follow in a second step once they are not.
func TestMigrateFolds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "suffixes.yaml")
	write(t, file, read(t, suffixes))
	args := []string{"migrate", "-w", foldSuffixes, "--machine-types=bare_*", file}
	r := run(t, "", args...)
	if r.status != 0 || r.stdout != "" {
		t.Fatalf("%+v", r)
	}
	kept := ": gardenlinux@1592.9.0-baremetal is kept, because it is used by Shoot garden-demo/hosts; step 2, " + file + ".step-2, leaves it out: " +
		"apply that once it is not\n"
	contains(t, r.stderr, "note: "+file+":24"+kept)
	first, second := read(t, file), read(t, file+".step-2")
	if strings.Contains(first, "1877.5.0-baremetal") || strings.Count(first, "1592.9.0-baremetal") != 3 {
		t.Errorf("it is now\n%s", first)
	}
	if strings.Contains(second, "-baremetal\n") || strings.Count(second, "version: 1592.9.0\n") != 3 {
		t.Errorf("the second step is\n%s", second)
	}
	for _, boots := range [][2]string{
		{"--version=1877.5.0 --machine-type=bare_8_16", "1234-amd64-bare\n"}, {"--version=1877.5.0 --machine-type=medium_4_8", "1234-amd64-virt\n"},
		{"--version=1592.9.0-baremetal --machine-type=bare_8_16", "1234-amd64-old-bare\n"},
	} {
		ask := append(strings.Fields(boots[0]), "select", "--image=gardenlinux", "--region=europe", file)
		if r := run(t, "", ask...); r.status != 0 || !strings.HasSuffix(r.stdout, boots[1]) {
			t.Errorf("%v: %+v", boots, r)
		}
	}
	if r = run(t, "", args...); r.status != 0 || read(t, file) != first || read(t, file+".step-2") != second {
		t.Errorf("once more: %+v", r)
	}
	write(t, file, strings.Replace(first, "version: 1592.9.0-baremetal\n      zones", "version: 1592.9.0\n      zones", 1))
	if r = run(t, "", args...); r.status != 0 || read(t, file) != second || r.stderr != "written: "+file+"\n" {
		t.Errorf("when nobody uses it: %+v\n%s", r, read(t, file))
	}
	if r = run(t, "", "lint", "--fail-on=warning", file); r.status != 0 {
		t.Errorf("%+v", r)
	}
}

// A worker pool whose version Gardener filled in is moved from it like any other.
func TestMigrateMovesWhatGardenerFilledIn(t *testing.T) {
	const filled = head + `  type: local
  regions: [{name: local}]
  kubernetes: {versions: [{version: 1.33.2}]}
  machineTypes:
  - {name: bare, architecture: arm64, cpu: "4", gpu: "0", memory: 8Gi}
  - {name: small, cpu: "4", gpu: "0", memory: 8Gi}
  machineImages:
  - name: linux
    versions:
    - version: 1.1.0
    - version: 1.1.0-baremetal
      architectures: [arm64]
  providerConfig:
    apiVersion: local.provider.extensions.gardener.cloud/v1alpha1
    kind: CloudProfileConfig
    machineImages:
    - name: linux
      versions:
      - {version: 1.1.0, image: "node:1"}
      - {version: 1.1.0-baremetal, image: "node:1-bare"}
---
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: hosts, namespace: garden-demo}
spec:
  cloudProfile: {name: awkward}
  region: local
  kubernetes: {version: 1.33.2}
  provider:
    type: local
    workers:
    - {name: db, minimum: 1, maximum: 1, machine: {type: bare, architecture: arm64}}
`
	file := filepath.Join(t.TempDir(), "profile.yaml")
	write(t, file, filled)
	args := []string{"migrate", foldSuffixes, "--machine-types=bare", file}
	r := runFor(clouds.All(), "", args...)
	if r.status != 0 || !strings.Contains(r.stdout, "\n# Step 2 of 2, once nobody uses linux@1.1.0-baremetal any more:\n") {
		t.Errorf("%+v", r)
	}
	answer := decoded[struct {
		Steps []struct{ Moves []map[string]string }
	}](t, runFor(clouds.All(), "", append(args, "-o=json")...))
	want := []map[string]string{{"shoot": "garden-demo/hosts", "pool": "db", "image": "linux", "from": "1.1.0-baremetal", "to": "1.1.0"}}
	if len(answer.Steps) != 1 || !cmp.Equal(answer.Steps[0].Moves, want) {
		t.Errorf("%+v", answer)
	}
}

// Lint's warnings about the result are sorted by line, and use the given name of standard input.
func TestMigrateNamesStandardInput(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "testdata/migrate-reserved.txtar"), "-- too little is registered/profile.yaml --\n")
	text, _, _ = strings.Cut(text, "-- too little is registered/run --")
	r := run(t, text, "migrate", "--reserved", "--stdin-name=signed.yaml", "-", "-o=json")
	answer := decoded[struct{ Findings []struct{ File string } }](t, r)
	if len(answer.Findings) != 1 || answer.Findings[0].File != "signed.yaml" || !strings.HasPrefix(r.stderr, "signed.yaml:14:7: warning: after the migration: ") {
		t.Errorf("%+v", r)
	}
}

// A file that has the name of the second step, but other contents, prevents all changes.
func TestMigrateLeavesOtherFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "suffixes.yaml")
	write(t, file, read(t, suffixes))
	write(t, file+".step-2", "mine")
	r := run(t, "", "migrate", "-w", foldSuffixes, "--machine-types=bare_*", file)
	if r.status != 2 || r.stdout != "" || read(t, file) != read(t, suffixes) || read(t, file+".step-2") != "mine" {
		t.Errorf("%+v", r)
	}
	contains(t, r.stderr, "nothing is written, because "+file+".step-2 is there already and says something else: move it away\n")
	if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 2 {
		t.Errorf("%v", entries)
	}
}

// If the second step cannot be written, nothing is: because of a folder with its name, or because its name is too long.
func TestMigrateWritesAllOrNothing(t *testing.T) {
	for name, tc := range map[string]struct{ link, want string }{
		"a folder":        {"suffixes.yaml", ".step-2 is there already and says something else: move it away\n"},
		"a name too long": {strings.Repeat("a", 245) + ".yaml", ".step-2 cannot be written: file name too long\n"},
	} {
		file, link := filepath.Join(t.TempDir(), "suffixes.yaml"), filepath.Join(t.TempDir(), tc.link)
		write(t, file, read(t, suffixes))
		if err := errors.Join(os.Symlink(file, link), os.Mkdir(filepath.Join(filepath.Dir(link), "suffixes.yaml.step-2"), 0o750)); err != nil {
			t.Fatal(err)
		}
		r := run(t, "", "migrate", "-w", foldSuffixes, "--machine-types=bare_*", link)
		if r.status != 2 || r.stdout != "" || !strings.HasSuffix(r.stderr, link+tc.want) || read(t, file) != read(t, suffixes) {
			t.Errorf("%s: %+v", name, r)
		}
		if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 1 {
			t.Errorf("%s: %v", name, entries)
		}
	}
}

// Each step is shown separately: the first one as a diff, and the next ones as comments, which programs that apply diffs skip.
func TestMigrateShowsSteps(t *testing.T) {
	args := []string{"migrate", foldSuffixes, "--machine-types=bare_*", suffixes}
	r := run(t, "", args...)
	if r.status != 0 || !strings.HasPrefix(r.stdout, "# Step 1 of 2, now:\n--- a/") {
		t.Fatalf("%+v", r)
	}
	now, then, found := strings.Cut(r.stdout, "\n# Step 2 of 2, once nobody uses gardenlinux@1592.9.0-baremetal any more:\n")
	if !found || strings.Contains(now, "\n# ") {
		t.Fatalf("%s", r.stdout)
	}
	for line := range strings.Lines(then) {
		if !strings.HasPrefix(line, "# ") {
			t.Errorf("%q would be applied", line)
		}
	}
	wants := []string{
		"-    - version: 1592.9.0-baremetal # still in use", "+    # still in use",
		"-      - version: 1592.9.0-baremetal", "-        regions:", "-        - name: europe", "-          id: 1234-amd64-old-bare",
		"-          version: 1592.9.0-baremetal", "+          version: 1592.9.0",
	}
	answer := decoded[struct {
		Files []struct{ File, Diff string }
		Kept  []struct{ Version string }
		Steps []struct {
			Step  int
			Moves []struct{ Shoot, Pool, Image, From, To string }
			Files []struct{ File, Of, Diff string }
		}
	}](t, run(t, "", append(args, "-o", "json")...))
	if len(answer.Steps) != 1 || answer.Steps[0].Step != 2 || len(answer.Steps[0].Files) != 1 || len(answer.Kept) != 1 {
		t.Fatalf("as JSON: %+v", answer)
	}
	step := answer.Steps[0]
	if diff := cmp.Diff(wants, changes(step.Files[0].Diff)); diff != "" || step.Files[0].File != suffixes+".step-2" || step.Files[0].Of != suffixes {
		t.Errorf("%+v: %s", step, diff)
	}
	if "# "+strings.ReplaceAll(strings.TrimSuffix(step.Files[0].Diff, "\n"), "\n", "\n# ")+"\n" != then {
		t.Errorf("as text: %s\nas JSON: %s", then, step.Files[0].Diff)
	}
	want := []struct{ Shoot, Pool, Image, From, To string }{{"garden-demo/hosts", "db", "gardenlinux", "1592.9.0-baremetal", "1592.9.0"}}
	if diff := cmp.Diff(want, step.Moves); diff != "" {
		t.Error(diff)
	}
	if piped := run(t, read(t, suffixes), append(args[:3:3], "-")...); piped.status != 0 || !strings.Contains(piped.stdout, "\n# +++ <stdin>.step-2\n") {
		t.Errorf("standard input: %+v", piped)
	}
}

// Versions are kept, with a note, if a worker pool could not boot its image from the version without the suffix, or if a
// NamespacedCloudProfile extends the version. Then there is no second step for them.
func TestMigrateKeeps(t *testing.T) {
	silent := read(t, suffixes)
	profile, shoot, _ := strings.Cut(silent, "---\n")
	child := `apiVersion: core.gardener.cloud/v1beta1
kind: NamespacedCloudProfile
metadata: {name: team, namespace: garden-demo}
spec:
  parent: {kind: CloudProfile, name: suffixes}
  machineImages:
  - name: gardenlinux
    versions:
    - {version: 1592.9.0-baremetal, expirationDate: "2037-12-31T00:00:00Z"}
`
	const expired = "      expirationDate: \"2020-01-01T00:00:00Z\"\n"
	for name, c := range map[string]struct {
		text, args, want string
		steps            bool
	}{
		"machine types that say nothing": {silent, "", "run the command again once it is not; with gardenlinux@1592.9.0, worker pool db would not boot " +
			`id 1234-amd64-old-bare, but id 1234-amd64-old: --machine-types says which machine types support what`, false},
		"an expired version": {
			replacing(t)(replacing(t)(silent, "    - version: 1592.9.0\n", "    - version: 1592.9.0\n"+expired),
				"-baremetal # still in use\n", "-baremetal # still in use\n"+expired),
			"--machine-types=bare_*", "worker pool db cannot have gardenlinux@1592.9.0, which has expired", false,
		},
		"a NamespacedCloudProfile that extends it": {
			profile + "---\n" + child, "--machine-types=bare_*", "because it is used by NamespacedCloudProfile garden-demo/team; run the command again", false,
		},
		"both": {
			silent + "---\n" + child, "--machine-types=bare_*",
			"because it is used by NamespacedCloudProfile garden-demo/team, Shoot garden-demo/hosts; run the command again", false,
		},
		"a Shoot of the child": {
			profile + "---\n" + strings.Replace(child, "1592.9.0-baremetal, exp", "1592.9.0, exp", 1) + "---\n" +
				strings.Replace(shoot, "    name: suffixes", "    kind: NamespacedCloudProfile\n    name: team", 1),
			"--machine-types=bare_*", "because it is used by Shoot garden-demo/hosts; step 2, ", true,
		},
	} {
		file := filepath.Join(t.TempDir(), "file.yaml")
		write(t, file, c.text)
		r := run(t, "", append([]string{"migrate", "-w", file, foldSuffixes}, strings.Fields(c.args)...)...)
		if _, err := os.Stat(file + ".step-2"); r.status != 0 || !strings.Contains(r.stderr, c.want) || c.steps != (err == nil) {
			t.Errorf("%s: %+v, %v, want %q", name, r, err, c.want)
		}
		if !strings.Contains(read(t, file), "1592.9.0-baremetal") {
			t.Errorf("%s: it is not kept", name)
		}
	}
}

// Profiles that cannot be migrated are reported with the line, and nothing is written.
func TestMigrateRefuses(t *testing.T) {
	legacy, replaced := read(t, legacyProfile), replacing(t)
	unreadable := strings.SplitAfter(read(t, "../../example/cloudprofile.yaml"), "\n    machineImages:")[0] + " 'abc'\n"
	for name, c := range map[string]struct {
		text string
		args string
		want string
	}{
		"a Shoot whose NamespacedCloudProfile is missing": {
			replaced(read(t, suffixes), "    name: suffixes\n  region", "    kind: NamespacedCloudProfile\n    name: team\n  region"), foldSuffixes,
			":69:5: error: NamespacedCloudProfile garden-demo/team is not among the inputs: give its manifest as well, or correct the name [profile-missing]",
		},
		"what would be lost of a version": {
			replaced(replaced(read(t, suffixes), "1592.9.0-baremetal # still in use\n", "1592.9.0-baremetal # still in use\n"+
				"      classification: preview\n      expirationDate: \"2037-12-31T00:00:00Z\"\n"),
				"    - version: 1592.9.0\n", "    - version: 1592.9.0\n      cri: [{name: containerd}]\n      kubeletVersionConstraint: '< 1.40'\n"),
			foldSuffixes, ":26:7: error: gardenlinux@1592.9.0-baremetal cannot become a flavor of 1592.9.0: they differ in " +
				`classification (1592.9.0-baremetal: "preview", 1592.9.0: "supported"), ` +
				`expirationDate (1592.9.0-baremetal: "2037-12-31T00:00:00Z", 1592.9.0: not set) and ` +
				`kubeletVersionConstraint (1592.9.0-baremetal: not set, 1592.9.0: "< 1.40"), ` +
				"which a version says once for all its flavors; make them equal first, or remove one of the two versions [migration]",
		},
		"a preview with a suffix less": {
			replaced(read(t, suffixes), "    - version: 1592.9.0\n", "    - version: 1592.9.0\n      classification: preview\n"), foldSuffixes,
			`they differ in classification (1592.9.0-baremetal: "supported", 1592.9.0: "preview")`,
		},
		"a version with the suffix twice": {
			replaced(replaced(read(t, suffixes),
				"    - version: 1877.5.0-baremetal\n", "    - version: 1877.5.0-baremetal\n    - version: 1877.5.0-baremetal-baremetal\n"),
				"of the new hosts\n", "of the new hosts\n      - version: 1877.5.0-baremetal-baremetal\n        regions: [{name: europe, id: other}]\n"),
			foldSuffixes,
			":23:7: error: gardenlinux@1877.5.0-baremetal-baremetal cannot become a flavor of 1877.5.0-baremetal, which becomes one of 1877.5.0: " +
				"remove one of the three versions first [migration]",
		},
		"images that cannot be read": {
			unreadable, "", ":76:5: error: expected a list of objects, got a string [field-type]",
		},
		"images that cannot be read, back": {
			unreadable, "--back", ":76:5: error: expected a list of objects, got a string [field-type]",
		},
		"a type that is misspelt": {
			strings.Replace(legacy, "type: openstack", "type: openstck", 1), "",
			"local, openstack; --provider-file describes another one; did you mean openstack? [provider-unknown]",
		},
		"a field of an image that would be lost": {
			strings.Replace(legacy, "        regions:\n", "        region: x\n        regions:\n", 1), "--provider-config", `unknown field "region"`,
		},
		"a Shoot that would boot another image": {
			strings.Replace(read(t, suffixes), "version: 1592.9.0-baremetal\n      zones", "version: 1592.9.0\n      zones", 1),
			foldSuffixes + " --machine-types=bare_*",
			`:92:7: error: worker pool db: gardenlinux@1592.9.0 on bare_8_16 in europe would boot id 1234-amd64-old-bare ` +
				`instead of id 1234-amd64-old [migration]`,
		},
		"an alias of what changes": {
			"x: &types\n" + "- {name: m, cpu: \"1\", gpu: \"0\", memory: 1Gi}\n" + legacy, "", "unknown field",
		},
		"an alias": {
			strings.Replace(legacy, "regions:\n        - name: europe\n", "regions: &all\n        - name: europe\n", 1) +
				"      - version: 2135.4.0\n        regions: *all\n", "--provider-config",
			":44:18: error: what has to change is used by an alias (*all) as well; write the value there instead of the alias [migration]",
		},
		"a merge key": {
			legacy + "      - version: 2135.4.0\n        regions:\n        - &region {name: europe, id: one}\n        - <<: *region\n          architecture: arm64\n",
			"--provider-config", ":64:11: error: what has to change is used by an alias (*region) as well; write the value there instead of the alias [migration]",
		},
		"capabilities": {
			read(t, "../../example/cloudprofile.yaml"), "--back",
			":12:5: error: capability hypervisor says more than an architecture, which the legacy format has no place for; remove it everywhere first [migration]",
		},
		"no profile":       {shoot(t), "", "file.yaml:1:1: error: no CloudProfile or NamespacedCloudProfile among the files: name those to migrate [migration]"},
		"nothing":          {"", "", "file.yaml is empty: name those to migrate [migration]"},
		"what is no YAML":  {"a: [\n", "", "not valid YAML"},
		"another provider": {strings.Replace(legacy, "type: openstack", "type: mars", 1), "", "[provider-unknown]"},
		"a value that is preferred already": {
			strings.Replace(read(t, suffixes), "  machineTypes:", "  machineCapabilities: [{name: architecture, values: [amd64]}, "+
				"{name: hypervisor, values: [baremetal, virtualized]}]\n  machineTypes:", 1),
			foldSuffixes, "would boot id 1234-amd64-old-bare instead of id 1234-amd64-old (and 3 more); " +
				"baremetal is preferred: write virtualized before it in spec.machineCapabilities[1].values, or add --machine-types [migration]",
		},
	} {
		file := filepath.Join(t.TempDir(), "file.yaml")
		write(t, file, c.text)
		r := run(t, "", append([]string{"migrate", "-w", file}, strings.Fields(c.args)...)...)
		if r.status != 1 || r.stdout != "" || !strings.Contains(r.stderr, c.want) || read(t, file) != c.text {
			t.Errorf("%s: %+v, want %q", name, r, c.want)
		}
	}
}

// What cannot be read is reported together with the obstacles in other profiles, and nothing that only follows from it.
func TestMigrateRefusesAllAtOnce(t *testing.T) {
	const head = "apiVersion: core.gardener.cloud/v1beta1\nkind: "
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		write(t, path, text)
		return path
	}
	profile, unread := read(t, "../../example/cloudprofile.yaml"), head+"CloudProfile\nmetadata: {name: unread}\nspec: {type: openstack, machineTypes: 5}\n"
	child := func(name, parent, more string) string {
		return head + "NamespacedCloudProfile\nmetadata: {name: " + name + ", namespace: garden-demo}\nspec: {parent: {kind: CloudProfile, name: " + parent + "}" +
			more + "}\n"
	}
	below := child("below", "openstack", ", machineTypes: [{name: a, cpu: 1, gpu: 0, memory: 1Gi, capabilities: {hypervisor: [baremetal]}}]")
	files := []string{
		file("broken.yaml", "a: [\n"), file("unread.yaml", unread), file("profile.yaml", profile),
		file("children.yaml", child("of-unread", "unread", "")+"---\n"+child("wrong", "openstack", ", machineTypes: 5")+"---\n"+below+
			"---\n"+child("of-broken", "broken", "")),
		file("shoot.yaml", replacing(t)(shoot(t), "    kind: CloudProfile\n    name: openstack\n", "    kind: NamespacedCloudProfile\n    name: wrong\n")),
	}
	legacy := read(t, legacyProfile)
	aliased := strings.Replace(legacy, "regions:\n        - name: europe\n", "regions: &all\n        - name: europe\n", 1) +
		"      - version: 2135.4.0\n        regions: *all\n"
	for args, want := range map[string][]string{
		"--back " + strings.Join(files, " "): {
			"broken.yaml:1:1 [syntax]", "children.yaml:9:55 [field-type]", "children.yaml:14:124 [migration]", "children.yaml:19:37 [profile-missing]",
			"unread.yaml:4:25 [field-type]",
		},
		"--provider-config " + file("aliased.yaml", aliased) + " " + file("mars.yaml", head+"CloudProfile\nmetadata: {name: mars}\nspec: {type: mars}\n"): {
			"aliased.yaml:44:18 [migration]", "mars.yaml:4:8 [provider-unknown]",
		},
	} {
		r := run(t, "", append([]string{"migrate"}, strings.Fields(args)...)...)
		var said []string
		for line := range strings.Lines(r.stderr) {
			if at, message, found := strings.Cut(strings.TrimSpace(line), ": error: "); found {
				said = append(said, strings.TrimPrefix(at, folder+"/")+message[strings.LastIndex(message, " ["):])
			}
		}
		if r.status != 1 || r.stdout != "" || !slices.Equal(said, want) {
			t.Errorf("%d: %q, want %q\n%s", r.status, said, want, r.stderr)
		}
	}
}

// A Shoot of a missing CloudProfile does not prevent the migration of another one.
func TestMigrateBesideOtherShoots(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file.yaml")
	write(t, file, replacing(t)(read(t, suffixes), "    name: suffixes\n  region", "    name: other\n  region"))
	if r := run(t, "", append([]string{"migrate", "-w", file}, strings.Fields(foldSuffixes)...)...); r.status != 0 || strings.Contains(r.stderr, "is used by") {
		t.Errorf("%+v", r)
	}
}

// Refusals are also in the JSON output, as lint's findings.
func TestMigrateRefusesInJSON(t *testing.T) {
	r := run(t, shoot(t), "migrate", "-o", "json", "-")
	answer := decoded[struct {
		Files, Kept, Steps []any
		Findings           []struct {
			Severity, Rule, Message, File string
			Line                          int
		}
	}](t, r)
	if r.status != 1 || answer.Files == nil || answer.Kept == nil || answer.Steps == nil || len(answer.Findings) != 1 {
		t.Fatalf("%+v", r)
	}
	if f := answer.Findings[0]; f.Severity != "error" || f.Rule != "migration" || f.File != "<stdin>" || f.Line != 1 {
		t.Errorf("%+v", f)
	}
}

// A version with the suffix, but without a counterpart, stays and is reported. Repeating a fold changes nothing.
func TestMigrateNamesWhatIsNotFolded(t *testing.T) {
	file, replaced := filepath.Join(t.TempDir(), "profile.yaml"), replacing(t)
	profile, _, _ := strings.Cut(read(t, suffixes), "---\n")
	alone := replaced(profile, "    - version: 1592.9.0\n", "")
	alone = replaced(alone, "      - version: 1592.9.0\n        regions:\n        - name: europe\n          id: 1234-amd64-old\n", "")
	for _, c := range []struct{ text, args, want string }{
		{alone, "", "note: " + file + ":23: gardenlinux@1592.9.0-baremetal: not folded, because the profile does not list it without the suffix\n"},
		{
			strings.Replace(alone, "    - version: 1592.9.0-b", "    - version: 1592.9.0\n    - version: 1592.9.0-b", 1), "",
			":24: gardenlinux@1592.9.0-baremetal: not folded, because the provider config has no image for it without the suffix\n",
		},
		{
			replaced(profile, "      - version: 1592.9.0-baremetal\n        regions:\n        - name: europe\n          id: 1234-amd64-old-bare\n", ""), "",
			":24: gardenlinux@1592.9.0-baremetal: not folded, because the provider config has no image for it\n",
		},
		{
			strings.Replace(alone, "    - version: 1592.9.0-b",
				"    - version: 1-baremetal\n    - version: 2-baremetal\n    - version: 3-baremetal\n    - version: 1592.9.0-b", 1),
			"",
			":23: gardenlinux@1-baremetal, gardenlinux@2-baremetal, gardenlinux@3-baremetal, gardenlinux@1592.9.0-baremetal: not folded, because the " +
				"profile does not list it without the suffix; the same 3 times more: " + file + ":24, " + file + ":25, " + file + ":26\n",
		},
		{profile, "--machine-types=bare_*", ""},
	} {
		write(t, file, c.text)
		args := append([]string{"migrate", "-w", foldSuffixes, file}, strings.Fields(c.args)...)
		if r := run(t, "", args...); r.status != 0 || !strings.HasSuffix(r.stderr, c.want+"written: "+file+"\n") {
			t.Errorf("%+v, want %q", r, c.want)
		}
	}
	again := run(t, "", "migrate", "-w", foldSuffixes, "--machine-types=bare_*", file)
	if want := "note: no version is left to fold, so --machine-types changes nothing; to change what a machine type supports, " +
		"change its capabilities in the file\nnothing to migrate\n"; again.status != 0 || again.stderr != want {
		t.Errorf("once more: %+v", again)
	}
}

// A pipe cannot be changed, because it cannot be read again.
func TestPipesAreNotChanged(t *testing.T) {
	for text, args := range map[string][]string{
		read(t, legacyProfile): {"migrate"}, read(t, examples+"/broken/field-type.yaml"): {"lint", "--fix"},
		read(t, examples+"/cloudprofile.yaml"): {"import", "--from=list:../../docs/examples/import/images.yaml"},
	} {
		for _, more := range [][]string{nil, {"-w"}} {
			out, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			_, err = in.WriteString(text) // it fits into the pipe's buffer
			name := fmt.Sprintf("/dev/fd/%d", out.Fd())
			want := "capkit: " + name + " cannot be read twice: name a file that can, or use - for standard input\n"
			if err = errors.Join(err, in.Close()); err != nil {
				t.Fatal(err)
			}
			if r := run(t, "", slices.Concat(args, more, []string{name})...); r.status != 2 || r.stdout != "" || r.stderr != want {
				t.Errorf("%v: %+v", args, r)
			}
			if err := out.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// For a profile without a type, the error tells the user to write one, instead of naming an empty provider.
func TestProfileWithoutAType(t *testing.T) {
	profile := strings.Replace(read(t, examples+"/cloudprofile-legacy.yaml"), "  type: openstack\n", "", 1)
	r := run(t, profile, "migrate", "-")
	contains(t, r.stderr, ": error: a profile without a type cannot be migrated: write one; this command knows local, openstack [provider-unknown]")
	r = run(t, profile, "select", "--image=gardenlinux", "-")
	contains(t, r.stderr, `this command knows local, openstack, not ""; write the type`)
}

// Findings about capabilities without a name do not suggest registering it.
func TestCapabilitiesWithoutANameOrAValue(t *testing.T) {
	profile := strings.NewReplacer("      - architecture: [amd64] # no hypervisor: it boots on either\n", "      - {architecture: [amd64], '': [x]}\n",
		"            hypervisor: [baremetal]\n", "            hypervisor: ['']\n            '': [x]\n").Replace(read(t, examples+"/cloudprofile.yaml"))
	r := run(t, profile, "lint", "-")
	contains(t, r.stdout, `supported values: "architecture", "hypervisor"; write the name of a capability, or remove it [gardener-core]`,
		`registered are [architecture, hypervisor]; write the name of a capability, or remove it [capability-unregistered]`,
		`registered are [virtualized, baremetal]; write a value, or remove it [capability-value-unregistered]`)
}
