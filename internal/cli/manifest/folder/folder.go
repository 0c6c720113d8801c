// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package folder finds the manifests in a folder of a repository. Start reading at [Files].
package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"go.yaml.in/yaml/v3"
)

// Skipped is a folder, a file or a document that is not read, or of which nothing is made.
type Skipped struct {
	File string
	// Line is 0 if it is about all of the file or folder.
	Line   int
	Reason string
}

// String is FILE[:LINE]: REASON.
func (s Skipped) String() string {
	if s.Line == 0 {
		return s.File + ": " + s.Reason
	}
	return fmt.Sprintf("%s:%d: %s", s.File, s.Line, s.Reason)
}

// The reasons why something is skipped.
const (
	reasonChart         = "a Helm chart: its templates and values are not manifests, check what helm template renders"
	reasonKustomization = "a kustomization: its patches are not manifests, check what kustomize build makes of it"
)

// mostText is the size of a text, in bytes, from which on it is not read.
const mostText = 32 << 20

// found are the files of a folder, and what of it is left out.
type found struct {
	files   []string
	skipped []Skipped
	// left are the files to leave out, by their clean paths.
	left map[string]bool
}

// Files returns the *.yaml, *.yml and *.json files of a folder and of those below it, in lexical order, but for what its .capkitignore
// lists. With manifests it leaves out what repositories have beside these. The error is about what cannot be read, and the result complete
// for the rest.
func Files(dir string, manifests bool) (files []string, skipped []Skipped, err error) {
	ignored, err := readIgnoreFile(dir)
	if err != nil {
		return nil, nil, err
	}
	var f found
	if err = f.below(dir, "", ignored); manifests {
		f.sort()
	}
	return f.files, f.skipped, err
}

// Nowhere says where a symbolic link leads that cannot be followed because of an error; empty if that is no link to nothing.
func Nowhere(path string, err error) string {
	info, failed := os.Lstat(path)
	switch {
	case failed != nil || info.Mode()&fs.ModeSymlink == 0:
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "it is a link to a file that does not exist"
	case errors.Is(err, syscall.ELOOP):
		return "it is a link that leads back to itself"
	}
	return ""
}

// Ends returns an error about a file that nobody has named, and that may never end: a pipe, a socket or a device, or a link to one. Whatever
// else is wrong with it, reading it says.
func Ends(name string) error {
	what := "a socket"
	switch info, err := os.Stat(name); {
	case err != nil, info.Mode().IsRegular(), info.IsDir():
		return nil //nolint:nilerr // reading says what is wrong
	case info.Mode()&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case info.Mode()&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%s is %s, and not read: write a file, or rename it", name, what)
}

// ReadFile returns what is in a file that is no manifest: one that a repository has beside these, or that is named. It is an error if that
// is larger than 32 MiB: the file may be a link to a device that has no end.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := Read(f, name)
	return text, errors.Join(err, f.Close())
}

// Read is ReadFile of what is open already, under a name.
func Read(from io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, mostText+1))
	if err == nil && len(text) > mostText {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is larger than %d MiB", mostText>>20)}
	}
	return text, err
}

// readIgnoreFile returns what the ignore file of a directory matches; nothing if there is none.
func readIgnoreFile(dir string) (*patternmatcher.PatternMatcher, error) {
	name := filepath.Join(dir, ".capkitignore")
	if err := Ends(name); err != nil {
		return nil, err
	}
	content, err := ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []string
	line := 0
	for text := range bytes.Lines(content) {
		line++
		patterns, err := ignorefile.ReadAll(bytes.NewReader(text))
		if err == nil {
			err = checkPatterns(patterns)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: the pattern %s cannot be read: %w; put \\ before a bracket that stands for itself",
				name, line, bytes.TrimSpace(text), err)
		}
		all = append(all, patterns...)
	}
	return patternmatcher.New(all)
}

// checkPatterns returns what is wrong with patterns. The matcher finds some of it only when it uses them, an exception not before
// something else has matched.
func checkPatterns(patterns []string) error {
	for _, pattern := range patterns {
		matcher, err := patternmatcher.New([]string{pattern, strings.TrimPrefix(pattern, "!")})
		if err == nil {
			_, err = matcher.MatchesOrParentMatches("a")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below adds the manifest files of a directory, which is a path below root. With an error it adds those it could find.
func (f *found) below(root, dir string, ignored *patternmatcher.PatternMatcher) error {
	entries, err := os.ReadDir(filepath.Join(root, dir))
	errs := []error{err}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		skip, err := ignored.MatchesOrParentMatches(path)
		errs = append(errs, err)
		switch {
		case skip && !entry.IsDir() || strings.HasPrefix(entry.Name(), "."):
		case entry.IsDir():
			errs = append(errs, f.below(root, path, ignored))
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			errs = append(errs, f.add(filepath.Join(root, path)))
		}
	}
	return errors.Join(errs...)
}

// add adds a file, unless it is none.
func (f *found) add(file string) error {
	info, err := os.Stat(file)
	if link := Nowhere(file, err); link != "" {
		f.skipped = append(f.skipped, Skipped{File: file, Reason: link})
		return nil
	}
	if err == nil && info.Mode().IsRegular() {
		f.files = append(f.files, file)
	}
	return err
}

// sort finds out which of the files of a folder are no manifests.
func (f *found) sort() {
	f.left = map[string]bool{}
	for _, file := range f.files {
		dir := filepath.Dir(file)
		switch filepath.Base(file) {
		case "Chart.yaml":
			f.skipped = append(f.skipped, Skipped{File: dir, Reason: reasonChart})
			f.leaveChart(dir)
		case "kustomization.yaml", "kustomization.yml":
			f.skipped = append(f.skipped, Skipped{File: file, Reason: reasonKustomization})
			f.left[filepath.Clean(file)] = true
			for _, patch := range patchesOf(file) {
				f.left[filepath.Join(dir, filepath.FromSlash(patch))] = true
			}
		}
	}
	f.files = slices.DeleteFunc(f.files, func(file string) bool { return f.left[filepath.Clean(file)] })
}

// leaveChart leaves out the files of a chart that are no manifests.
func (f *found) leaveChart(dir string) {
	templates := filepath.Join(dir, "templates") + string(filepath.Separator)
	for _, file := range f.files {
		path := filepath.Clean(file)
		own := filepath.Dir(path) == filepath.Clean(dir)
		name := filepath.Base(path)
		if strings.HasPrefix(path, templates) || own && (strings.HasPrefix(name, "Chart.") || strings.HasPrefix(name, "values")) {
			f.left[path] = true
		}
	}
}

// patchesOf returns the paths that a kustomization names for something else than resources. It is empty for one that
// cannot be read.
func patchesOf(file string) []string {
	text, err := ReadFile(file)
	if err != nil {
		return nil
	}
	type ofPath struct{ Path string }
	var k struct {
		Patches, Replacements                                []ofPath
		JSON                                                 []ofPath `yaml:"patchesJson6902"`
		Strategic                                            []string `yaml:"patchesStrategicMerge"`
		Transformers, Generators, Configurations, Validators []string
	}
	func() {
		defer func() { _ = recover() }()                      // no input may bring the command down
		_ = yaml.NewDecoder(bytes.NewReader(text)).Decode(&k) // what can be read of it
	}()
	var paths []string
	for _, of := range slices.Concat(k.Patches, k.JSON, k.Replacements) {
		paths = append(paths, of.Path)
	}
	for _, path := range slices.Concat(k.Strategic, k.Transformers, k.Generators, k.Configurations, k.Validators) {
		if !strings.Contains(path, "\n") { // else it is the patch itself
			paths = append(paths, path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}
