// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tool returns a command of hack/usertools in a folder, without an environment except HOME.
func tool(t *testing.T, folder, home, name string, args ...string) *exec.Cmd {
	t.Helper()
	find := exec.CommandContext(t.Context(), "go", "tool", "-n", "-modfile=hack/usertools/go.mod", name)
	find.Dir, find.Env = root, append(os.Environ(), "GOWORK=off")
	path, err := find.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	command := exec.CommandContext(t.Context(), strings.TrimSpace(string(path)), args...)
	command.Dir, command.Env = folder, []string{"PATH=/usr/bin:/bin", "HOME=" + home}
	return command
}

// krew itself installs the archive from the manifest, and refuses any other archive.
func TestKrewInstalls(t *testing.T) {
	home, archive := t.TempDir(), release.Name(here)+".tar.gz"
	changed := filepath.Join(t.TempDir(), archive)
	if err := os.WriteFile(changed, append(read(t, packed, archive), 0), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := tool(t, packed, home, "krew", "install", "--manifest=capkit.yaml", "--archive="+changed).CombinedOutput(); err == nil {
		t.Errorf("another archive is installed: %s", output)
	}
	if output, err := tool(t, packed, home, "krew", "install", "--manifest=capkit.yaml", "--archive="+archive).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	plugin := exec.CommandContext(t.Context(), filepath.Join(home, ".krew", "bin", "kubectl-capkit"), "lint", "example/")
	plugin.Dir, plugin.Env = unpacked, []string{}
	if output, err := plugin.CombinedOutput(); err != nil || !strings.Contains(string(output), " objects checked: no errors") {
		t.Errorf("%v: %s", err, output)
	}
}

// The commands that sign and verify checksums are those in docs/releasing.md and docs/install.md.
func TestSignedChecksums(t *testing.T) {
	const sign, verify = "minisign -Sm SHA256SUMS", "minisign -Vm SHA256SUMS -P "
	for document, command := range map[string]string{"docs/releasing.md": sign, "docs/install.md": verify} {
		if !strings.Contains(string(read(t, root, document)), command) {
			t.Errorf("%s has no %q", document, command)
		}
	}
	folder, home := t.TempDir(), t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(packed)); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) error {
		t.Helper()
		output, err := tool(t, folder, home, args[0], args[1:]...).CombinedOutput()
		t.Logf("%q: %s", args, output)
		return err
	}
	if err := run("minisign", "-G", "-W"); err != nil { // it looks for the key there
		t.Fatal(err)
	}
	_, key, _ := strings.Cut(strings.TrimSpace(string(read(t, folder, "minisign.pub"))), "\n")
	if err := run(strings.Fields(sign)...); err != nil {
		t.Fatal(err)
	}
	check := strings.Fields(verify + key)
	if err := run(check...); err != nil {
		t.Error(err)
	}
	sums := append(read(t, folder, "SHA256SUMS"), '\n')
	if err := os.WriteFile(filepath.Join(folder, "SHA256SUMS"), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(check...); err == nil {
		t.Error("other checksums are taken for those that were signed")
	}
}
