// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChangelog(t *testing.T) {
	const head, earlier = "# Changelog\n\n", "\n## [0.1.0] - 2026-11-28\n\n### Added\n\n- All.\n"
	for name, tc := range map[string]struct{ section, want string }{
		"new things":                     {"### Added\n\n- A command.\n", ""},
		"changes, and what to do":        {"### Upgrade\n\n- Read.\n\n### Changed\n\n- A flag.\n", ""},
		"changes, and not what to do":    {"### Changed\n\n- A flag.\n", `something has changed, and "### Upgrade" does not say what to do`},
		"something goes":                 {"### Removed\n\n- A flag.\n", `something has changed, and "### Upgrade" does not say what to do`},
		"nothing":                        {"", "nothing is unreleased: say what is new"},
		"headings, and nothing below it": {"### Added\n", "nothing is unreleased: say what is new"},
	} {
		text, err := released(head+"## [Unreleased]\n\n"+tc.section+earlier, "0.2.0", "2026-12-01")
		if got := message(err); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if want := head + "## [0.2.0] - 2026-12-01\n\n" + tc.section + earlier; tc.want == "" && text != want {
			t.Errorf("%s: %s", name, cmp.Diff(want, text))
		}
	}
	_, err := released(head+earlier, "0.1.0", "2026-12-01")
	if got, want := message(err), "there is a section 0.1.0 already\nthere is no \"## [Unreleased]\""; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	text, err := begun(head + earlier[1:])
	if want := head + "## [Unreleased]\n" + earlier; err != nil || text != want {
		t.Errorf("%v: %s", err, cmp.Diff(want, text))
	}
	if _, err := begun(text); err == nil {
		t.Error("it is begun twice")
	}
}

// message returns an error's text; empty for nil.
func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestModulesThatNobodyWouldGetAsTheyAre(t *testing.T) {
	of := func(folder, path string) module {
		m := module{Folder: folder}
		m.Module.Path = path
		return m
	}
	root, hack, moved, cmd := of(".", own), of("hack", own+"/hack"), of("pkg/cli", own+"/cli"), of("cmd", own+"/cmd")
	cmd.Require = append(cmd.Require, struct{ Path, Version string }{own + "/hack", placeholder}, struct{ Path, Version string }{"example.com/a", placeholder})
	var fork struct {
		Old, New struct{ Path, Version string }
	}
	fork.Old.Path, fork.New.Path = "example.com/a", "example.com/b"
	cmd.Replace, hack.Replace = append(cmd.Replace, fork), append(hack.Replace, fork)
	want := `pkg/cli/go.mod: the module is github.com/capkit/capkit/cli, and must be github.com/capkit/capkit/pkg/cli to be found there
cmd/go.mod: it replaces example.com/a, which those who require it do not get
cmd/go.mod: it requires github.com/capkit/capkit/hack, which is not published
cmd/go.mod: it requires example.com/a v0.0.0-00010101000000-000000000000, a version that there is not`
	if diff := cmp.Diff(want, message(errors.Join(check([]module{root, hack, moved, cmd})...))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"v1.2.3", "pkg/cli/v1.2.3", "cmd/v1.2.3"}, tags([]module{root, hack, moved, cmd}, "1.2.3")); diff != "" {
		t.Error(diff)
	}
}

func TestRequiring(t *testing.T) {
	const mod = `module github.com/capkit/capkit/cmd

go 1.26.5

require (
	github.com/capkit/capkit v0.0.0-00010101000000-000000000000
	github.com/capkit/capkit/pkg/cli v0.0.0-00010101000000-000000000000 // indirect
	github.com/capkit/capkitten v1.0.0
)

require github.com/capkit/capkit/internal/cli v0.0.0-00010101000000-000000000000
`
	const rest = `
// A comment on exclusions.
exclude (
	example.com/a v1.0.0
	example.com/a v1.1.0
)

exclude example.com/b v1.0.0

replace (
	github.com/capkit/capkit => ..
	github.com/capkit/capkit/pkg/cli => ../pkg/cli
)
`
	want := strings.NewReplacer("capkit/capkit v0.0.0-00010101000000-000000000000", "capkit/capkit v1.2.3",
		"pkg/cli v0.0.0-00010101000000-000000000000", "pkg/cli v1.2.3", "internal/cli v0.0.0-00010101000000-000000000000", "internal/cli v1.2.3").Replace(mod)
	if diff := cmp.Diff(want, requiring("cmd", mod+rest, "1.2.3")); diff != "" {
		t.Errorf("that of the programs: %s", diff)
	}
	if diff := cmp.Diff(want+rest, requiring("pkg/admission", mod+rest, "1.2.3")); diff != "" {
		t.Errorf("another one: %s", diff)
	}
}

// Links in release notes are absolute, because the notes are read outside the repository.
func TestAbsolute(t *testing.T) {
	got := absolute("[a](docs/a.md#b), [c](https://example.com/c), (d)\n", "1.2.3")
	if want := "[a](https://github.com/capkit/capkit/blob/v1.2.3/docs/a.md#b), [c](https://example.com/c), (d)\n"; got != want {
		t.Error(got)
	}
}

// Lines are sorted as by go mod tidy.
func TestSums(t *testing.T) {
	got := summed("github.com/a/a v1.0.0 h1:a\ngithub.com/capkit/capkitten v1.0.0 h1:b\n", []string{
		"github.com/capkit/capkit/pkg/cli v1.2.3 h1:c", "github.com/capkit/capkit v1.2.3 h1:d", "github.com/capkit/capkit v1.2.3/go.mod h1:e",
	})
	want := "github.com/a/a v1.0.0 h1:a\ngithub.com/capkit/capkit v1.2.3 h1:d\ngithub.com/capkit/capkit v1.2.3/go.mod h1:e\n" +
		"github.com/capkit/capkit/pkg/cli v1.2.3 h1:c\ngithub.com/capkit/capkitten v1.0.0 h1:b\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A candidate precedes its release, and a fix for an earlier version ignores a later one on another branch.
func TestVersions(t *testing.T) {
	t.Chdir(t.TempDir())
	git := func(args ...string) {
		t.Helper()
		env := []string{
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x",
		}
		if _, err := output(t.Context(), ".", env, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(version string) {
		t.Helper()
		if err := os.WriteFile("VERSION", []byte(version+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", "VERSION")
		git("commit", "--quiet", "--allow-empty", "-m", version)
	}
	says := func(version, next, want string) {
		t.Helper()
		faults, err := mistakes(t.Context(), options{version: version, next: next, date: "2026-12-01"})
		if err := errors.Join(append(faults, err)...); message(err) != want {
			t.Errorf("%s, then %s: %q, want %q", version, next, message(err), want)
		}
	}
	git("init", "--quiet", "--initial-branch=main")
	begin("0.1.0-dev")
	says("0.1.0-rc.1", "0.1.0-dev", "")
	says("0.1.0", "0.1.0-dev", "the next version, 0.1.0-dev, is not newer than 0.1.0")
	git("tag", "v0.1.0-rc.1")
	says("0.1.0-rc.1", "0.2.0-dev", "version 0.1.0-rc.1 is not newer than v0.1.0-rc.1, which is tagged")
	says("0.1.0", "0.2.0-dev", "")
	git("tag", "v0.1.0")
	git("switch", "--quiet", "--create", "fixes")
	begin("0.1.1-dev")
	git("switch", "--quiet", "main")
	begin("0.2.0-dev")
	git("tag", "v0.2.0")
	git("switch", "--quiet", "fixes")
	says("0.1.1", "0.1.2-dev", "")
	says("0.2.0", "0.3.0-dev", "version 0.2.0 is not newer than v0.2.0, which is tagged")
}

func TestACandidateIsNotTheLatest(t *testing.T) {
	for version, want := range map[string]bool{"1.2.3": false, "1.2.3-rc.1": true} {
		var script strings.Builder
		if err := publish.Execute(&script, map[string]any{"Version": version}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(script.String(), "gh release create v"+version+" --verify-tag --draft --prerelease "); got != want {
			t.Errorf("%s: %s", version, script.String())
		}
	}
}
