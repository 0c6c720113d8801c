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

// Where a release is read from.

// Source names where a release is read from.
type Source struct {
	// Kind is one of the Source constants.
	Kind string
	// Path is that of a file or, of some kinds, of a folder.
	Path string
	// Match chooses among the images, if any are given: all of them have to fit.
	Match []Match
	// Image and Version of all artifacts of a source that does not say them; of one that does, the ones to choose. Empty: not said.
	Image, Version string
}

// The kinds of sources.
const (
	// GardenLinux is the metadata of a release of Garden Linux, as published: a file, or a folder of them.
	GardenLinux = "gardenlinux"
	// Inventory is an inventory of a cloud.
	Inventory = "inventory"
	// List is an ImageList.
	List = "list"
)

// Kinds returns the kinds of sources, in the order in which people should think of them. The caller owns the slice.
func Kinds() []string { return []string{GardenLinux, Inventory, List} }

// Match is a condition on a fact of an image.
type Match struct{ Key, Glob string }

// Parse parses KIND:PATH.
func Parse(text string) (Source, error) {
	kind, file, found := strings.Cut(text, ":")
	switch {
	case !found || !slices.Contains(Kinds(), kind):
		return Source{}, fmt.Errorf("--from %q is not a source: write gardenlinux:FILE_OR_DIR, inventory:FILE or list:FILE%s",
			text, words.DidYouMean(words.Choice(kind, Kinds())))
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

// globs reports whether a pattern matches a text, slashes included.
func globs(glob, text string) bool {
	fits, _ := path.Match(strings.ReplaceAll(glob, "/", "\x00"), strings.ReplaceAll(text, "/", "\x00"))
	return fits
}

// fits reports whether facts meet a condition: if any value of a list does.
func fits(facts map[string][]string, key, glob string) bool {
	return slices.ContainsFunc(facts[key], func(value string) bool { return globs(glob, value) })
}

// chosen reports whether facts meet all conditions.
func (s *Source) chosen(facts map[string][]string) bool {
	return !slices.ContainsFunc(s.Match, func(m Match) bool { return !fits(facts, m.Key, m.Glob) })
}

// matched are the keys of the conditions.
func (s *Source) matched() (keys []string) {
	for _, m := range s.Match {
		keys = append(keys, m.Key)
	}
	return keys
}

// noneChosen says that none of several images, by their facts, meets all conditions, and which key none has.
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

// readFile returns what is in a file.
func readFile(name string) (string, error) {
	text, err := folder.ReadFile(name)
	var fault *fs.PathError
	if errors.As(err, &fault) {
		err = fmt.Errorf("%s: %w", name, fault.Err)
	}
	return string(text), err
}

// Read reads a source. The faults are everything that is wrong with it; with any, the contents are of no use. The error says that a file
// cannot be read.
func Read(s Source) (*Contents, []Fault, error) {
	switch s.Kind {
	case GardenLinux:
		return readGardenLinux(s)
	case Inventory:
		return readInventory(s)
	}
	return readList(s)
}

// filesIn returns the files of a source with metadata: the one that is named, or those in a folder and below it that are YAML or JSON, by
// name. What is a device or a pipe there, or a link to one, may have no end, and is passed over. It reports whether it is a folder.
func filesIn(name string) (files []string, isFolder bool, err error) {
	info, err := os.Stat(name)
	if isFolder = err == nil && info.IsDir(); !isFolder {
		return []string{name}, false, nil // who reads it says what is wrong
	}
	folder := name + string(filepath.Separator) // by which a link is followed
	err = filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)) {
			if info, err := os.Stat(file); err != nil || info.Mode().IsRegular() || info.IsDir() { // who reads it says what is wrong
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

// numbers matches a version of two numbers, with or without a suffix.
var numbers = regexp.MustCompile(`^(\d+\.\d+)(-.+)?$`)

// Complete returns a version as x.y.z. It reports whether it is a semantic version then.
func Complete(version string) (string, bool) {
	if m := numbers.FindStringSubmatch(version); m != nil {
		version = m[1] + ".0" + m[2]
	}
	_, err := semver.StrictNewVersion(version)
	return version, err == nil
}

// Older reports whether a version is older than another one. Of what is no semantic version it is not.
func Older(a, b string) bool {
	x, err := semver.NewVersion(a)
	y, also := semver.NewVersion(b)
	return err == nil && also == nil && x.LessThan(y)
}

// NewestFirst compares versions, to be sorted. Those that are no semantic versions are equal to all.
func NewestFirst(a, b string) int {
	switch {
	case Older(b, a):
		return -1
	case Older(a, b):
		return 1
	}
	return 0
}
