// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

//go:build long

package release

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const (
	root = "../.."
	// version is unused by releases: version 2 comes earlier, and changes the paths of the modules.
	version  = "1.99.99"
	registry = "registry.example.org/mirror"
)

// origin is a repository that the release is pushed to. clones are clones of it. The script has run in released, the first
// clone, and printed said.
var (
	origin         string
	clones         [2]string
	released, said string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "release-test-")
		if err != nil {
			panic(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		if err := release(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// release creates origin and the clones below a folder, and makes a release in the first one.
func release(folder string) error {
	origin = filepath.Join(folder, "origin")
	source := filepath.Join(folder, "source")
	if err := workTree(source); err != nil {
		return err
	}
	if _, err := run(source, nil, "git", "clone", "--quiet", "--bare", ".", origin); err != nil {
		return err
	}
	for i := range clones {
		clones[i] = filepath.Join(folder, "clones", fmt.Sprint(i), "capkit")
		if _, err := run(folder, nil, "git", "clone", "--quiet", origin, clones[i]); err != nil {
			return err
		}
	}
	var err error
	released = clones[0]
	said, err = script(released)
	return err
}

// script runs the release script in a clone, and returns its output.
func script(clone string) (string, error) {
	output, err := run(clone, nil, "make", "release", "RELEASE="+version, "NEXT=2.0.0-dev",
		"REGISTRY="+registry, "PLATFORMS=linux/"+runtime.GOARCH, "DIST_PLATFORMS=linux/"+runtime.GOARCH)
	if err != nil {
		return "", err
	}
	if tags, err := run(clone, nil, "git", "tag", "--list"); tags != "" || err != nil {
		return "", fmt.Errorf("the script tags: %s %w", tags, err)
	}
	return output, nil
}

// run runs a command with a fixed release identity and time, and returns its output. The error includes the output, too.
func run(folder string, env []string, name string, args ...string) (string, error) {
	command := exec.CommandContext(context.Background(), name, args...)
	command.Dir = folder
	// make passes its variables on to its children, including these tests.
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "MAKE") || strings.HasPrefix(variable, "MFLAGS") || strings.HasPrefix(variable, "GOWORK=")
	})
	command.Env = append(append(command.Env, "SOURCE_DATE_EPOCH=1800000000", "GIT_AUTHOR_NAME=Somebody", "GIT_AUTHOR_EMAIL=somebody@example.com",
		"GIT_COMMITTER_NAME=Somebody", "GIT_COMMITTER_EMAIL=somebody@example.com", "GIT_CONFIG_GLOBAL=/dev/null"), env...)
	output, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, output)
	}
	return string(output), err
}

// workTree creates a repository with one commit of this work tree, including uncommitted changes. Its changelog has an unreleased entry.
func workTree(folder string) error {
	listed, err := run(root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted
		} else if err != nil {
			return err
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, info.Mode()); err != nil {
			return err
		}
	}
	changelog := filepath.Join(folder, "CHANGELOG.md")
	content, err := os.ReadFile(changelog)
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(content, []byte("\n## ["))
	if !bytes.HasPrefix(after, []byte("Unreleased]\n")) {
		after = append([]byte("Unreleased]\n\n"), append([]byte("\n## ["), after...)...)
	}
	after = bytes.Replace(after, []byte("\n"), []byte("\n\n### Upgrade\n\n- Read this.\n\n### Added\n\n- A test.\n"), 1)
	if err := os.WriteFile(changelog, slices.Concat(before, []byte("\n## ["), after), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "--quiet", "-b", "main"}, {"add", "--all"}, {"commit", "--quiet", "-m", "Before"}} {
		if _, err := run(folder, nil, "git", args...); err != nil {
			return err
		}
	}
	return nil
}

// in runs a command in a clone, and returns its output.
func in(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	output, err := run(folder, nil, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(output)
}

func read(t *testing.T, names ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(names...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// changed returns a commit's changed lines in files, each beginning with a plus or minus.
func changed(t *testing.T, commit string, files ...string) string {
	t.Helper()
	return in(t, released, "git", append([]string{"show", "--format=", "--unified=0", commit, "--"}, files...)...)
}

// The commit of the release has its version everywhere. The next commit reverts the changes that are for the release only.
// The remaining steps are printed.
func TestCommits(t *testing.T) {
	if said == "" || !strings.HasSuffix(said, read(t, released, "bin/release/publish.sh")) {
		t.Errorf("what is left to do is not what was printed last: %s", said)
	}
	for file, want := range map[string]string{
		"VERSION":                     "+" + version,
		"CHANGELOG.md":                "+## [" + version + "] - 2027-01-15",
		"example/extension.yaml":      ":" + version,
		"pkg/cli/go.mod":              "+\tgithub.com/capkit/capkit/internal/cli v" + version,
		"cmd/go.sum":                  "+github.com/capkit/capkit/pkg/worker/kit v" + version + "/go.mod h1:",
		"docs/examples":               "+    - uses: capkit/capkit@v" + version,
		"docs/commands/lint.md":       "+  rev: v" + version,
		"test/authors/convert/go.mod": "+\tgithub.com/capkit/capkit v" + version,
	} {
		if diff := changed(t, "HEAD~1", file); !strings.Contains(diff, want) {
			t.Errorf("%s: no %q: %s", file, want, diff)
		}
	}
	programs := in(t, released, "git", "show", "HEAD~1:cmd/go.mod")
	if regexp.MustCompile(`(?m)^(replace|exclude)`).MatchString(programs) {
		t.Errorf("go install takes no program of a module that replaces or excludes something: %s", programs)
	}
	if diff := in(t, released, "git", "diff", "--stat", "HEAD~2", "HEAD", "--", "*go.mod", "*go.sum"); diff != "" {
		t.Errorf("after the release, modules are not what they were: %s", diff)
	}
	if diff := changed(t, "HEAD", "VERSION", "CHANGELOG.md"); !strings.Contains(diff, "+2.0.0-dev") || !strings.Contains(diff, "+## [Unreleased]") {
		t.Error(diff)
	}
	if state := in(t, released, "git", "status", "--porcelain"); state != "" {
		t.Errorf("something is not committed: %s", state)
	}
}

// The script reports all mistakes at once, and leaves the repository unchanged.
func TestMistakes(t *testing.T) {
	clone := filepath.Join(t.TempDir(), "capkit")
	in(t, root, "git", "clone", "--quiet", "--no-tags", released, clone)
	for file, add := range map[string]string{
		"pkg/cli/go.mod": "\nreplace example.com/unused => example.com/fork v1.0.0\n", "stray": "x",
	} {
		before, _ := os.ReadFile(filepath.Join(clone, file))
		if err := os.WriteFile(filepath.Join(clone, file), append(before, add...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output, err := run(clone, nil, "hack/release.sh", "0.0.1", "0.0.1-dev")
	if err == nil {
		t.Error("it is released")
	}
	for _, want := range []string{
		"the work tree has changes, and a release is of a commit:\n", "?? stray\n", "version 0.0.1 is older than that in VERSION, 2.0.0-dev",
		"the next version, 0.0.1-dev, is not newer than 0.0.1",
		"pkg/cli/go.mod: it replaces example.com/unused, which those who require it do not get", "CHANGELOG.md: nothing is unreleased: say what is new",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("not said: %q, but: %s", want, output)
		}
	}
	if commit := in(t, clone, "git", "rev-parse", "HEAD"); commit != in(t, released, "git", "rev-parse", "HEAD") || read(t, clone, "stray") != "x" {
		t.Error("something has changed")
	}
	if output, err := run(clone, nil, "hack/release.sh", "0.0.1"); err == nil || !strings.HasPrefix(output, "usage: make release RELEASE=1.2.3 NEXT=1.3.0-dev") {
		t.Errorf("%v: %s", err, output)
	}
}
