// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"
)

// github replaces the command gh, which would need GitHub: a release is a folder beside the work tree, with its assets.
const github = `#!/usr/bin/env bash
set -euo pipefail
assets=../github/$3
case "$1 $2" in
"release view") [[ -d $assets ]] && ls "$assets" ;;
"release create") mkdir -p "$assets" && shift 9 && (($# == 0)) ;;
"release download") cp "$assets"/* "$5" ;;
"release upload")
  shift 3
  for file; do
    [[ ! -e $assets/${file##*/} && $file != "${UNREACHABLE-}" ]]
    cp "$file" "$assets"
  done ;;
"release edit") touch ../github/published ;;
*) exit 1 ;;
esac
`

// publication is a release with an image and two files, together with its targets: a repository, a registry and a folder.
type publication struct {
	t                         *testing.T
	tree, registry, home, bin string
	commit                    string
	artifact                  pushed
}

func newPublication(t *testing.T) publication {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	p := publication{t: t, tree: filepath.Join(folder, "tree"), home: filepath.Join(folder, "home"), bin: t.TempDir()}
	p.registry = strings.TrimPrefix(server.URL, "http://")
	find, err := output(t.Context(), "../..", []string{"GOWORK=off"}, "go", "tool", "-n", "-modfile=hack/usertools/go.mod", "minisign")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(find, filepath.Join(p.bin, "minisign")); err != nil {
		t.Fatal(err)
	}
	if _, err := output(t.Context(), "../..", nil, "go", "build", "-ldflags=-w", "-o", p.bin, "github.com/google/go-containerregistry/cmd/crane"); err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(p.bin, "gh"), github)
	if err := os.Chmod(filepath.Join(p.bin, "gh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(p.home, ".minisign"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"minisign", "-G", "-W", "-p", p.home + "/minisign.pub", "-s", p.home + "/.minisign/minisign.key"},
		{"git", "init", "--quiet", "--bare", "-b", "main", folder + "/origin"}, {"git", "clone", "--quiet", folder + "/origin", p.tree},
	} {
		p.run(folder, args...)
	}
	p.commit = p.commits()
	p.run(p.tree, "git", "push", "--quiet", "origin", "HEAD")
	p.artifact = p.image()
	p.pack()
	return p
}

func (p publication) write(path, content string) {
	p.t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// try runs a command in a folder.
func (p publication) try(folder string, env []string, args ...string) (string, error) {
	command := exec.CommandContext(p.t.Context(), "env", args...) // env looks commands up in this PATH
	command.Dir, command.Env = folder, append([]string{
		"PATH=" + p.bin + ":" + os.Getenv("PATH"), "HOME=" + p.home, "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x",
	}, env...)
	said, err := command.CombinedOutput()
	return strings.TrimSpace(string(said)), err
}

func (p publication) run(folder string, args ...string) string {
	p.t.Helper()
	said, err := p.try(folder, nil, args...)
	if err != nil {
		p.t.Fatalf("%q: %v: %s", args, err, said)
	}
	return said
}

// commits creates a commit in the work tree.
func (p publication) commits() string {
	p.t.Helper()
	p.run(p.tree, "git", "commit", "--quiet", "--allow-empty", "-m", "A commit")
	return p.run(p.tree, "git", "rev-parse", "HEAD")
}

// image creates a random image in the folder to be pushed.
func (p publication) image() pushed {
	p.t.Helper()
	made := []pushed{{Folder: filepath.Join(p.tree, "image"), Reference: p.registry + "/capkit:v1.2.3"}}
	image, err := random.Image(100, 1)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.RemoveAll(made[0].Folder); err != nil {
		p.t.Fatal(err)
	}
	at, err := layout.Write(made[0].Folder, empty.Index)
	if err == nil {
		err = at.AppendImage(image)
	}
	if err == nil {
		err = digest(made)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return made[0]
}

// pack writes the remaining steps.
func (p publication) pack() {
	p.t.Helper()
	data := map[string]any{
		"Version": "1.2.3", "Revision": p.commit, "Artifacts": []pushed{p.artifact}, "Tags": []string{"v1.2.3", "cmd/v1.2.3"},
		"Files": "release/files", "Notes": "release/notes.md",
	}
	if err := save(filepath.Join(p.tree, "release"), map[string][]byte{"a.txt": []byte("a"), "SHA256SUMS": []byte("sums")}, data); err != nil {
		p.t.Fatal(err)
	}
}

// publish runs the script. It wants success if want is empty, otherwise an error with this text.
func (p publication) publish(want string, env ...string) {
	p.t.Helper()
	said, err := p.try(p.tree, env, "bash", "release/publish.sh")
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(said, want)) {
		p.t.Errorf("%v: %s; want %q", err, said, want)
	}
}

// After an interruption or a missing right, running the script again continues where it stopped.
func TestPublishingGoesOn(t *testing.T) {
	p := newPublication(t)
	asset := func(name string) string { return filepath.Join(p.tree, "..", "github", "v1.2.3", name) }
	published := filepath.Join(p.tree, "..", "github", "published")
	p.publish("", "UNREACHABLE=none")
	first := p.run(p.tree, "git", "ls-remote", "origin")
	signature, err := os.ReadFile(asset("SHA256SUMS.minisig"))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.run(p.tree, "crane", "digest", p.artifact.Reference); got != p.artifact.Digest {
		t.Errorf("pushed is %s, not %s", got, p.artifact.Digest)
	}

	// Nothing is left to do, although others have committed since.
	other := filepath.Join(t.TempDir(), "other")
	p.run(p.tree, "git", "clone", "--quiet", "../origin", other)
	p.run(other, "git", "commit", "--quiet", "--allow-empty", "-m", "Later")
	p.run(other, "git", "push", "--quiet", "origin", "HEAD:main")
	p.publish("")
	if got := p.run(p.tree, "git", "ls-remote", "--tags", "origin"); !strings.HasSuffix(first, got) {
		t.Errorf("tags have changed: %s, before %s", got, first)
	}
	if again, err := os.ReadFile(asset("SHA256SUMS.minisig")); err != nil || !bytes.Equal(again, signature) {
		t.Errorf("it is signed again: %v", err)
	}

	// One file is missing; the release is not visible until it is there.
	for _, file := range []string{asset("a.txt"), published} {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.try(p.tree, []string{"UNREACHABLE=release/files/a.txt"}, "bash", "release/publish.sh"); err == nil {
		t.Error("it is done without a file")
	}
	if _, err := os.Stat(published); err == nil {
		t.Error("it is published without a file")
	}
	p.publish("")
	for _, file := range []string{asset("a.txt"), published} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}

	p.write(asset("a.txt"), "b")
	p.publish("a.txt of release v1.2.3 is there with other bytes than release/files/a.txt")
}

// Published artifacts are never replaced.
func TestPublishingReplacesNothing(t *testing.T) {
	p := newPublication(t)
	p.run(p.tree, "git", "tag", "cmd/v1.2.3")
	p.publish("")

	before := p.artifact.Digest
	p.artifact = p.image()
	p.pack()
	p.publish(p.artifact.Reference + " is there with the digest " + before + ", and not with " + p.artifact.Digest)

	before = p.commit
	p.commit = p.commits()
	p.pack()
	p.publish("tag v1.2.3 is of commit " + before + ", and not of that of the release, " + p.commit)

	p.run(p.tree, "git", "tag", "--force", "v1.2.3")
	p.publish("would clobber existing tag")
	if got := p.run(p.tree, "git", "ls-remote", "origin", "refs/heads/main"); !strings.HasPrefix(got, before) {
		t.Errorf("it is pushed: %s", got)
	}
}

// A registry that does not answer may have the image. The 404 in this error is part of a port, not a status.
func TestPublishingIsSureOfWhatIsThere(t *testing.T) {
	p := newPublication(t)
	crane := filepath.Join(p.bin, "crane")
	if err := os.Remove(crane); err != nil {
		t.Fatal(err)
	}
	p.write(crane, "#!/bin/sh\ntest $1 = push || { echo dial tcp 10.0.0.1:4045: i/o timeout >&2; exit 1; }\n")
	if err := os.Chmod(crane, 0o700); err != nil {
		t.Fatal(err)
	}
	p.publish("10.0.0.1:4045: i/o timeout")
}
