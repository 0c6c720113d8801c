// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// own is the path of the module in the root, and the prefix of the other modules' paths.
const own = "github.com/capkit/capkit"

// programs is the folder of the module with the programs. Go does not install programs of a module that replaces or excludes anything.
const programs = "cmd"

// module is a module of this repository, as go mod edit -json prints it.
type module struct {
	// Folder has slashes; the root's folder is a dot.
	Folder  string `json:"-"`
	Module  struct{ Path string }
	Require []struct{ Path, Version string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
	Exclude []struct{ Path, Version string }
}

// published reports whether others can require the module. Modules in hack and test are internal to this repository.
func (m module) published() bool {
	first, _, _ := strings.Cut(m.Folder, "/")
	return first != "hack" && first != "test"
}

// tag returns the git tag of a version of the module.
func (m module) tag(version string) string { return strings.TrimPrefix(m.Folder+"/v"+version, "./") }

// ours reports whether the module is one of this repository.
func ours(modulePath string) bool { return modulePath == own || strings.HasPrefix(modulePath, own+"/") }

// modules returns the modules of the repository, ordered by folder.
func modules(ctx context.Context) (all []module, err error) {
	files, err := output(ctx, ".", nil, "git", "ls-files", "--", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	for _, file := range strings.Fields(files) {
		content, err := output(ctx, ".", nil, "go", "mod", "edit", "-json", file)
		if err != nil {
			return nil, err
		}
		m := module{Folder: path.Dir(file)}
		if err := json.Unmarshal([]byte(content), &m); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if ours(m.Module.Path) { // others are test data
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Folder, b.Folder) })
	return all, nil
}

// placeholder is the version in a requirement of a replaced module.
const placeholder = "v0.0.0-00010101000000-000000000000"

// check returns errors that would break users who require a module, because Go ignores replacements in required modules.
func check(all []module) (faults []error) {
	published := map[string]bool{}
	for _, m := range all {
		published[m.Module.Path] = m.published()
		if want := strings.TrimSuffix(own+"/"+strings.TrimPrefix(m.Folder, "."), "/"); m.published() && m.Module.Path != want {
			faults = append(faults, fmt.Errorf("%s/go.mod: the module is %s, and must be %s to be found there", m.Folder, m.Module.Path, want))
		}
	}
	for _, m := range all {
		if !m.published() {
			continue
		}
		for _, r := range m.Replace {
			if !ours(r.Old.Path) {
				faults = append(faults, fmt.Errorf("%s/go.mod: it replaces %s, which those who require it do not get", m.Folder, r.Old.Path))
			}
		}
		for _, r := range m.Require {
			switch {
			case ours(r.Path) && !published[r.Path]:
				faults = append(faults, fmt.Errorf("%s/go.mod: it requires %s, which is not published", m.Folder, r.Path))
			case !ours(r.Path) && r.Version == placeholder:
				faults = append(faults, fmt.Errorf("%s/go.mod: it requires %s %s, a version that there is not", m.Folder, r.Path, r.Version))
			}
		}
	}
	return faults
}

var (
	// requirement matches the requirement of a module of this repository.
	requirement = regexp.MustCompile(`(?m)^(\t|require )(` + regexp.QuoteMeta(own) + `(?:/\S+)?) v\S+`)
	// special matches directives that Go ignores outside the main module, with the comments above them.
	special = regexp.MustCompile(`(?m)^((//.*\n)*(exclude|replace) (\(\n(.*\n)*?\)|.*)\n\n?)`)
)

// requiring returns a go.mod that requires the other modules in a version. The programs' go.mod loses its replacements and exclusions.
func requiring(folder, text, version string) string {
	text = requirement.ReplaceAllString(text, "${1}${2} v"+version)
	if folder == programs {
		text = strings.TrimRight(special.ReplaceAllString(text, ""), "\n") + "\n"
	}
	return text
}

// sums adds the published modules at HEAD to cmd/go.sum. Go computes the sums as if from a repository with the tags, which is a clone here.
// So the module cmd can be built alone once the modules are published, and only from these sources.
func sums(ctx context.Context, o options) error {
	all, err := modules(ctx)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	clone := filepath.Join(folder, "clone")
	if _, err := output(ctx, ".", nil, "git", "clone", "--quiet", "--bare", ".", clone); err != nil {
		return err
	}
	var wanted []string
	for _, m := range all {
		if !m.published() {
			continue
		}
		if _, err := output(ctx, clone, nil, "git", "tag", "--no-sign", m.tag(o.version), "HEAD"); err != nil {
			return err
		}
		if m.Folder != programs {
			wanted = append(wanted, m.Module.Path+"@v"+o.version)
		}
	}
	// Use a separate module cache: unpublished modules would remain in the user's.
	env := append(insteadOf(clone), "GOWORK=off", "GOFLAGS=-modcacherw", "GOMODCACHE="+filepath.Join(folder, "modules"))
	downloaded, err := output(ctx, folder, env, "go", append([]string{"mod", "download", "-json"}, wanted...)...)
	if err != nil {
		return err
	}
	var lines []string
	for decoder := json.NewDecoder(strings.NewReader(downloaded)); decoder.More(); {
		var m struct{ Path, Version, Sum, GoModSum string }
		if err := decoder.Decode(&m); err != nil {
			return err
		}
		lines = append(lines, m.Path+" "+m.Version+" "+m.Sum, m.Path+" "+m.Version+"/go.mod "+m.GoModSum)
	}
	write, err := replace(filepath.Join(programs, "go.sum"), func(text string) (string, error) { return summed(text, lines), nil })
	if err != nil {
		return err
	}
	return write()
}

// insteadOf returns environment variables that make Go and git use a folder as the repository.
func insteadOf(folder string) []string {
	return []string{
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + folder + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + own,
		"GOPRIVATE=" + own, "GOVCS=*:git",
	}
}

// summed returns a go.sum with more lines, in Go's order: by module.
func summed(text string, more []string) string {
	lines := append(strings.Split(strings.TrimSpace(text), "\n"), more...)
	slices.SortStableFunc(lines, func(a, b string) int {
		one, _, _ := strings.Cut(a, " ")
		other, _, _ := strings.Cut(b, " ")
		return strings.Compare(one, other)
	})
	return strings.Join(lines, "\n") + "\n"
}
