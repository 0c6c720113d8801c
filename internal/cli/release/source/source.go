// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/capkit/capkit/internal/cli/manifest/folder"
	"github.com/capkit/capkit/pkg/words"
)

// The location of a release.

// Source is the location of a release, with conditions on its images.
type Source struct {
	// Kind is one of the Source constants.
	Kind string
	// Path names a file or, for some kinds, a folder.
	Path string
	// Match selects images: all conditions must be met. Empty selects all.
	Match []Match
	// Image and Version are used for all artifacts if the source does not name them, otherwise they select artifacts. Empty: not set.
	Image, Version string
}

// The kinds of sources.
const (
	// GardenLinux is the published metadata of a Garden Linux release: a file, or a folder of them.
	GardenLinux = "gardenlinux"
	// Inventory is a cloud's inventory.
	Inventory = "inventory"
	// List is an ImageList.
	List = "list"
)

// kinds are the kinds of sources, the recommended ones first.
var kinds = []string{GardenLinux, Inventory, List}

// Match is a condition on a fact of an image.
type Match struct{ Key, Glob string }

// Parse parses KIND:PATH.
func Parse(text string) (Source, error) {
	kind, file, found := strings.Cut(text, ":")
	switch {
	case !found || !slices.Contains(kinds, kind):
		return Source{}, fmt.Errorf("--from %q is not a source: write gardenlinux:FILE_OR_DIR, inventory:FILE or list:FILE%s",
			text, words.DidYouMean(words.Choice(kind, kinds)))
	case file == "":
		return Source{}, fmt.Errorf("--from %q names no file: write one behind the colon", text)
	case file == "-":
		return Source{}, errors.New("--from: a source is a file, and not standard input: name the file")
	}
	return Source{Kind: kind, Path: file}, nil
}

// ParseMatch parses KEY=GLOB.
func ParseMatch(text string) (Match, error) {
	key, glob, found := strings.Cut(text, "=")
	if !found || key == "" || glob == "" {
		return Match{}, fmt.Errorf("--match %q is not a condition: write KEY=GLOB, as in name=gardenlinux-*", text)
	}
	if !isGlob(glob) {
		return Match{}, fmt.Errorf("--match %q is not a pattern: * stands for any text, ? for one character, [ab] for one of several", text)
	}
	return Match{key, glob}, nil
}

func isGlob(glob string) bool {
	_, err := path.Match(glob, "")
	return err == nil
}

// fits reports whether facts meet a condition. One matching value of a list is enough. Wildcards also match slashes.
func fits(facts map[string][]string, key, glob string) bool {
	return slices.ContainsFunc(facts[key], func(value string) bool {
		fits, _ := path.Match(strings.ReplaceAll(glob, "/", "\x00"), strings.ReplaceAll(value, "/", "\x00"))
		return fits
	})
}

// chosen reports whether facts meet all conditions.
func (s *Source) chosen(facts map[string][]string) bool {
	return !slices.ContainsFunc(s.Match, func(m Match) bool { return !fits(facts, m.Key, m.Glob) })
}

// matched returns the keys of the conditions.
func (s *Source) matched() (keys []string) {
	for _, m := range s.Match {
		keys = append(keys, m.Key)
	}
	return keys
}

// noneChosen returns the error that no image meets all conditions. It names the first key that no image has.
func (s *Source) noneChosen(all []map[string][]string) error {
	var known []string
	for _, facts := range all {
		known = slices.AppendSeq(known, maps.Keys(facts))
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, m := range s.Match {
		if !slices.Contains(known, m.Key) {
			return fmt.Errorf("--match: no image has %s; the keys are %s%s", words.Quoted(m.Key), words.And(known), words.DidYouMean(words.Choice(m.Key, known)))
		}
	}
	return errors.New("no image meets all conditions of --match: --match name=* would choose all that have a name")
}

// readFile returns a file's content.
func readFile(name string) (string, error) {
	text, err := folder.ReadFile(name)
	var fault *fs.PathError
	if errors.As(err, &fault) {
		err = fmt.Errorf("%s: %w", name, fault.Err)
	}
	return string(text), err
}

// Read reads a source. With any faults, the contents must not be used. The error means that a file cannot be read, or
// that no image meets the conditions.
func Read(s Source) (*Contents, []Fault, error) {
	switch s.Kind {
	case GardenLinux:
		return readGardenLinux(s)
	case Inventory:
		return readInventory(s)
	}
	return readList(s)
}

// filesIn returns the metadata files of a source, and whether name is a folder. Of a folder, it returns the YAML and
// JSON files at any depth, by name. It skips devices and pipes, and links to them, because they may never end.
func filesIn(name string) (files []string, isFolder bool, err error) {
	info, err := os.Stat(name)
	if isFolder = err == nil && info.IsDir(); !isFolder {
		return []string{name}, false, nil // the reader reports what is wrong
	}
	folder := name + string(filepath.Separator) // the separator follows a symbolic link
	err = filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			if info, err := os.Stat(file); err != nil || info.Mode().IsRegular() || info.IsDir() { // the reader reports what is wrong
				files = append(files, file)
			}
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no YAML or JSON files: name the folder with the metadata of a release", name)
	}
	return files, true, err
}

// numbers matches a version of two numbers, with an optional suffix.
var numbers = regexp.MustCompile(`^(\d+\.\d+)(-.+)?$`)

// Complete returns a version as x.y.z, and reports whether it then is a semantic version.
func Complete(version string) (string, bool) {
	if m := numbers.FindStringSubmatch(version); m != nil {
		version = m[1] + ".0" + m[2]
	}
	_, err := semver.StrictNewVersion(version)
	return version, err == nil
}

// Older reports whether version a is older than b; false if either is not a semantic version.
func Older(a, b string) bool {
	x, err := semver.NewVersion(a)
	y, also := semver.NewVersion(b)
	return err == nil && also == nil && x.LessThan(y)
}

// NewestFirst compares versions for sorting, the newest first. A version that is not semantic equals every version.
func NewestFirst(a, b string) int {
	switch {
	case Older(b, a):
		return -1
	case Older(a, b):
		return 1
	}
	return 0
}
