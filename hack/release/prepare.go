// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
)

// prepare checks whether the repository can be released as a version, and writes the files of the release commit.
func prepare(ctx context.Context, o options) error {
	faults, err := mistakes(ctx, o)
	if err != nil {
		return err
	}
	all, err := modules(ctx)
	if err != nil {
		return err
	}
	faults = append(faults, check(all)...)
	writes := map[string]func(string) (string, error){
		"CHANGELOG.md": func(text string) (string, error) { return released(text, o.version, o.date) },
		"VERSION":      func(string) (string, error) { return o.version + "\n", nil },
	}
	for _, m := range all {
		writes[filepath.Join(filepath.FromSlash(m.Folder), "go.mod")] = func(text string) (string, error) { return requiring(m.Folder, text, o.version), nil }
	}
	named, err := output(ctx, ".", nil, "git", "grep", "-lE", naming.String(), "--", "docs", ":!docs/releasing.md")
	if err != nil {
		return err
	}
	for _, file := range strings.Fields(named) {
		writes[filepath.FromSlash(file)] = func(text string) (string, error) { return naming.ReplaceAllString(text, "${1}v"+o.version), nil }
	}
	return write(writes, faults)
}

// naming matches references to the newest release in documents: as an action, for go install, and for pre-commit.
var naming = regexp.MustCompile(`(uses: capkit/capkit@|/cmd/capkit@|rev: )v[0-9]+[.][0-9]+[.][0-9]+(-[0-9a-z.]+)?`)

// write changes the files, unless there are errors, including those of a change.
func write(changes map[string]func(string) (string, error), faults []error) error {
	var writes []func() error
	for _, file := range slices.Sorted(maps.Keys(changes)) {
		write, err := replace(file, changes[file])
		if err != nil {
			faults = append(faults, err)
		}
		writes = append(writes, write)
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	for _, write := range writes {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// mistakes returns errors in the version, the date, and the state of the repository.
func mistakes(ctx context.Context, o options) (faults []error, err error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if _, err := time.Parse(time.DateOnly, o.date); err != nil {
		fault("date %q: write it as 2026-12-01", o.date)
	}
	changed, err := output(ctx, ".", nil, "git", "status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changed != "" {
		fault("the work tree has changes, and a release is of a commit:\n%s", changed)
	}
	following, unusable := nextVersion(o.next)
	if unusable != nil {
		faults = append(faults, unusable)
	}
	version, wrong := semver.StrictNewVersion(o.version)
	if wrong != nil || version.Metadata() != "" {
		fault("version %q: write it as 1.2.3 or 1.2.3-rc.1", o.version)
		return faults, nil //nolint:nilerr // it is a fault
	}
	// 1.2.3-rc.1 is followed by 1.2.3-dev, which leads to 1.2.3.
	if following != nil && !semver.New(following.Major(), following.Minor(), following.Patch(), "", "").GreaterThan(version) {
		fault("the next version, %s, is not newer than %s", following, version)
	}
	if version.Major() > 1 {
		fault("version %s: from 2 on, the paths of all modules end in /v%d", version, version.Major())
	}
	text, err := os.ReadFile("VERSION")
	if err != nil {
		return nil, err
	}
	if current, err := semver.StrictNewVersion(strings.TrimSpace(string(text))); err != nil || version.LessThan(current) {
		fault("version %s is older than that in VERSION, %s", version, strings.TrimSpace(string(text)))
	}
	// Other branches may have later versions, but not this one.
	tags, err := output(ctx, ".", nil, "git", "tag", "--merged", "HEAD", "--list", "v*")
	if err != nil {
		return nil, err
	}
	same, err := output(ctx, ".", nil, "git", "tag", "--no-merged", "HEAD", "--list", "v"+o.version)
	if err != nil {
		return nil, err
	}
	for _, tag := range strings.Fields(tags + " " + same) {
		if earlier, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v")); err == nil && !version.GreaterThan(earlier) {
			fault("version %s is not newer than %s, which is tagged", version, tag)
		}
	}
	return faults, nil
}

// nextVersion parses the version that begins after a release.
func nextVersion(text string) (*semver.Version, error) {
	version, err := semver.StrictNewVersion(text)
	if err != nil || version.Prerelease() != "dev" || version.Metadata() != "" {
		return nil, fmt.Errorf("the next version, %q: write it as 1.3.0-dev", text)
	}
	return version, nil
}

// next begins the next version, in the commit after a release.
func next(ctx context.Context, o options) error {
	var faults []error
	if _, err := nextVersion(o.version); err != nil {
		faults = append(faults, err)
	}
	all, err := modules(ctx)
	if err != nil {
		return err
	}
	// As before the release, the modules of this repository require placeholder versions of each other.
	changes := map[string]func(string) (string, error){
		"CHANGELOG.md": begun,
		"VERSION":      func(string) (string, error) { return o.version + "\n", nil },
	}
	files := []string{programs + "/go.sum"}
	for _, m := range all {
		files = append(files, strings.TrimPrefix(m.Folder+"/go.mod", "./"))
	}
	for _, file := range files {
		earlier, err := output(ctx, ".", nil, "git", "show", "HEAD~1:"+file)
		if err != nil {
			return err
		}
		changes[filepath.FromSlash(file)] = func(string) (string, error) { return earlier + "\n", nil }
	}
	return write(changes, faults)
}
