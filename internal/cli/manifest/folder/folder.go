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

// Skipped is a folder, file or document that is not read, or that contributes no objects.
type Skipped struct {
	File string
	// Line is 0 if the whole file or folder is skipped.
	Line   int
	Reason string
}

// String returns FILE[:LINE]: REASON.
func (s Skipped) String() string {
	if s.Line == 0 {
		return s.File + ": " + s.Reason
	}
	return fmt.Sprintf("%s:%d: %s", s.File, s.Line, s.Reason)
}

// The reasons for skipping a file or folder.
const (
	reasonChart         = "a Helm chart: its templates and values are not manifests, check what helm template renders"
	reasonKustomization = "a kustomization: its patches are not manifests, check what kustomize build makes of it"
	// ReasonLink is the reason for a link to a folder, whether or not something is read from that by another path.
	ReasonLink = "a link to a folder, which is not followed: name it as well if its manifests belong to these"
)

// mostText bounds the size of a text that is read, in bytes.
const mostText = 32 << 20

// found are the files of a folder, and the skipped ones.
type found struct {
	files   []string
	skipped []Skipped
	// left are the clean paths of files to leave out.
	left map[string]bool
}

// Files returns the *.yaml, *.yml and *.json files below a folder in lexical order, except those that its .capkitignore lists. With
// manifests it leaves out other files of repositories: charts and kustomizations. An error is about unreadable files and folders; the
// result is complete for the others.
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

// Nowhere describes a symbolic link that cannot be followed because of err. It returns "" for anything but a broken link.
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

// Ends returns an error if a file found by the command, not named by the user, may never end: a pipe, a socket or a device, or a link to
// one. It returns nil for other problems, which reading reports.
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

// ReadFile returns the content of a file that is not a manifest: one found in a repository, or one that the user names. It fails if the
// file is larger than 32 MiB, because it may be a link to an endless device.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	text, err := Read(f, name)
	return text, errors.Join(err, f.Close())
}

// Read is ReadFile for an open file with a name.
func Read(from io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, mostText+1))
	if err == nil && len(text) > mostText {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it is larger than %d MiB", mostText>>20)}
	}
	return text, err
}

// readIgnoreFile returns the patterns in the ignore file of a directory. They match nothing if there is none.
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

// checkPatterns returns the first error in patterns. The matcher finds some errors only when it uses a pattern, and those of an exception
// only after another pattern has matched.
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

// below adds the manifest files of the directory dir below root. If it returns an error, it has added the files that it could find.
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
		case linksToFolder(entry, filepath.Join(root, path)):
			f.skipped = append(f.skipped, Skipped{File: filepath.Join(root, path), Reason: ReasonLink})
		case slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			errs = append(errs, f.add(filepath.Join(root, path)))
		}
	}
	return errors.Join(errs...)
}

func linksToFolder(entry fs.DirEntry, path string) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// add adds a file if it is regular. It skips broken links.
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

// sort removes the files of a folder that are not manifests.
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

// leaveChart leaves out the files of a chart that are not manifests.
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

// patchesOf returns the paths that a kustomization names for purposes other than resources. It returns none if the file is unreadable.
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
		defer func() { _ = recover() }()                      // no input may crash the command
		_ = yaml.NewDecoder(bytes.NewReader(text)).Decode(&k) // as far as it is readable
	}()
	var paths []string
	for _, of := range slices.Concat(k.Patches, k.JSON, k.Replacements) {
		paths = append(paths, of.Path)
	}
	for _, path := range slices.Concat(k.Strategic, k.Transformers, k.Generators, k.Configurations, k.Validators) {
		if !strings.Contains(path, "\n") { // otherwise it is the patch itself
			paths = append(paths, path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" })
}
