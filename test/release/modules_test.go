// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package release

import (
	"bytes"
	"debug/buildinfo"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/capkit/capkit"

// modules lists the folders of the modules that others can require.
var modules = []string{".", "cmd", "internal/cli", "pkg/admission", "pkg/cli", "pkg/gardenerlib", "pkg/openstack/machines", "pkg/worker/kit"}

// published runs the remaining steps of the release, and returns an environment in which Go and git use the pushed
// repository. Scripts in place of crane, gh and minisign only record their arguments, so that nothing leaves this machine.
func published(t *testing.T) (env []string) {
	t.Helper()
	programs, home := t.TempDir(), t.TempDir()
	for name, absent := range map[string]string{"crane": "digest", "gh": "view", "minisign": "nothing"} {
		script := "#!/bin/sh\ncase \"$1 $2\" in *" + absent + "*) echo 404 Not Found >&2; exit 1;; esac\n" +
			"printf '%s' " + name + " >> " + programs + "/said\nprintf ' %s' \"$@\" >> " + programs + "/said\necho >> " + programs + "/said\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := run(released, []string{"PATH=" + programs + ":" + os.Getenv("PATH"), "HOME=" + home}, "bash", "bin/release/publish.sh"); err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, folder := range modules {
		tags = append(tags, strings.TrimPrefix(folder+"/v"+version, "./"))
	}
	slices.Sort(tags)
	if diff := cmp.Diff(tags, strings.Fields(in(t, origin, "git", "tag", "--list"))); diff != "" {
		t.Errorf("tags: %s", diff)
	}
	for _, tag := range tags {
		if got, want := in(t, origin, "git", "rev-parse", tag+"^{commit}"), in(t, released, "git", "rev-parse", "HEAD~1"); got != want {
			t.Errorf("%s is at %s", tag, got)
		}
	}
	if got, want := in(t, origin, "git", "rev-parse", "main"), in(t, released, "git", "rev-parse", "HEAD"); got != want {
		t.Errorf("main is at %s", got)
	}
	said := read(t, programs, "said")
	if !strings.HasPrefix(said, "minisign -Sm SHA256SUMS\ncrane push bin/charts/") || strings.Count(said, "\ncrane push ") < 15 ||
		!strings.Contains(said, "\ncrane push bin/images/capkit "+registry+"/capkit:v"+version+"\n") ||
		!strings.Contains(said, "\ngh release create v"+version+" --verify-tag ") {
		t.Error(said)
	}
	return append(moduleCache(t),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+origin+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+module,
		"GOPRIVATE="+module, "GONOSUMDB=*", "GOVCS=*:git", "GOWORK=off", "CGO_ENABLED=0")
}

// moduleCache returns the environment of a module cache with links to the user's modules, except capkit, whose unpublished
// versions must not get into the user's cache.
func moduleCache(t *testing.T) []string {
	t.Helper()
	cache := in(t, root, "go", "env", "GOMODCACHE")
	folder := t.TempDir()
	link := func(below string, but ...string) {
		t.Helper()
		entries, err := os.ReadDir(filepath.Join(cache, below))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(folder, below), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if slices.Contains(but, entry.Name()) {
				continue
			}
			if err := os.Symlink(filepath.Join(cache, below, entry.Name()), filepath.Join(folder, below, entry.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	link(".", "cache", "github.com")
	link("github.com", "capkit")
	link("cache", "download", "vcs", "lock")
	link("cache/download", "github.com")
	link("cache/download/github.com", "capkit")
	return []string{"GOMODCACHE=" + folder, "GOFLAGS=-trimpath -buildvcs=false -gcflags=all=-dwarf=false -modcacherw"}
}

// Go installs the command at the version, with the same modules as in the archive. Extension authors can require the other modules.
func TestModules(t *testing.T) {
	env := published(t)
	bin := t.TempDir()
	if _, err := run(bin, append(env, "GOBIN="+bin), "go", "install", "-ldflags=-w", module+"/cmd/capkit@v"+version); err != nil {
		t.Fatal(err)
	}
	installed := filepath.Join(bin, "capkit")
	if output := capkit(t, installed, bin, "version"); !strings.HasPrefix(output, "capkit version "+version+" (with the rules of Gardener ") {
		t.Error(output)
	}
	if diff := cmp.Diff(linked(t, filepath.Join(unpack(t), "capkit")), linked(t, installed)); diff != "" {
		t.Errorf("go install links other modules than the archive has: %s", diff)
	}

	// The module of the programs is complete, with the checksums of the other modules as tagged.
	checkout := filepath.Join(t.TempDir(), "capkit")
	in(t, root, "git", "clone", "--quiet", "--branch", "cmd/v"+version, origin, checkout)
	if _, err := run(filepath.Join(checkout, "cmd"), env, "go", "list", "-deps", "./..."); err != nil {
		t.Error(err)
	}

	// An extension that builds a command of its own, and uses the other modules.
	folder := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/extension\n\ngo 1.26.5\n\n" + exclusion(t) + "\n",
		"main.go": `package main

import (
	"os"

	"github.com/capkit/capkit/pkg/cli"
	"github.com/capkit/capkit/pkg/openstack"
)

func main() { os.Exit(cli.Run(os.Args, os.Stdin, os.Stdout, os.Stderr, cli.For(openstack.Provider{}))) }
`,
		"parts/parts.go": `package parts

import (
	_ "github.com/capkit/capkit/pkg/admission"
	_ "github.com/capkit/capkit/pkg/provider"
	_ "github.com/capkit/capkit/pkg/worker/kit/command"
)
`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var wanted []string
	for _, folder := range []string{"", "/pkg/admission", "/pkg/cli", "/pkg/worker/kit"} {
		wanted = append(wanted, module+folder+"@v"+version)
	}
	for _, args := range [][]string{
		append([]string{"get"}, wanted...), {"mod", "tidy"}, {"build", "-ldflags=-w", "-o", "extension", "."}, {"list", "-deps", "./parts"},
	} {
		if _, err := run(folder, env, "go", args...); err != nil {
			t.Fatal(err)
		}
	}
	if output := capkit(t, filepath.Join(folder, "extension"), released, "lint", "example/cloudprofile.yaml"); !strings.Contains(output, "no errors") {
		t.Error(output)
	}
	for _, line := range strings.Split(strings.TrimSpace(in(t, folder, "grep", module, "go.mod")), "\n") {
		if !strings.HasPrefix(line, "module") && !strings.Contains(line, " v"+version) {
			t.Errorf("another version: %s", line)
		}
	}
}

// exclusion returns the exclude directive that authors must add to their go.mod.
func exclusion(t *testing.T) string {
	t.Helper()
	line := regexp.MustCompile("(?m)^exclude .*$").FindString(read(t, root, "docs/authors/README.md"))
	if line == "" {
		t.Error("docs/authors/README.md has no exclusion")
	}
	return line
}

// unpack unpacks the archive, and returns its folder.
func unpack(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	in(t, assets(), "bash", "-c", "tar --strip-components=1 -xzf capkit_"+version+"_linux_*.tar.gz -C "+folder)
	return folder
}

// linked returns the modules of others in a program, with their versions and checksums.
func linked(t *testing.T, program string) (modules []string) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader([]byte(read(t, program))))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		if !strings.HasPrefix(m.Path, module) {
			modules = append(modules, m.Path+" "+m.Version+" "+m.Sum)
		}
	}
	return modules
}
