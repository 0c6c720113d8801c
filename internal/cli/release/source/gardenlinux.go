// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/words"
)

// The metadata that Garden Linux publishes, one file for each image.

// The keys of the metadata.
const (
	keyPlatform     = "platform"
	keyArchitecture = "architecture"
	keyVersion      = "version"
	keyModifiers    = "modifiers"
	keyPublished    = "published_image_metadata"
	keyGeneration   = "hyper_v_generation"
	keyInstance     = "azure_cloud"
	// keyName and keyPublishedIn are added to the metadata: the file's name, and the Azure list that contains the image.
	keyName        = "name"
	keyPublishedIn = "published_in"
)

// required are the keys that every file has.
var required = []string{keyArchitecture, keyModifiers, keyPlatform, keyPublished, keyVersion}

// metadata is one file.
type metadata struct {
	file   string
	root   *yaml.Node
	last   int
	facts  map[string][]string
	faults []Fault
	// version is x.y.z, and at is its place.
	version string
	at      *yaml.Node
	// other describes the file if it cannot be metadata of a release; empty otherwise.
	other string
}

func (m *metadata) place(n *yaml.Node) Place {
	if n == nil {
		return Place{m.file, m.last, 1}
	}
	return Place{m.file, n.Line, n.Column}
}

func (m *metadata) fail(kind field.ErrorType, n *yaml.Node, key, format string, args ...any) {
	m.faults = append(m.faults, Fault{Place: m.place(n), Rule: RuleSource, Type: kind, Field: key, Message: fmt.Sprintf(format, args...)})
}

// readGardenLinux reads metadata. All files must be of one release, even files for other clouds. In a folder, files
// that are not metadata are skipped.
func readGardenLinux(s Source) (*Contents, []Fault, error) {
	files, isFolder, err := filesIn(s.Path)
	if err != nil {
		return nil, nil, err
	}
	left := leftOut{platforms: map[string]int{}}
	var faults []Fault
	var read []*metadata
	var all []Artifact
	for _, file := range files {
		text, err := readFile(file)
		if err != nil {
			return nil, nil, err
		}
		m := parseMetadata(file, text, s.Version != "")
		switch {
		case m.other != "" && isFolder:
			left.others = append(left.others, fmt.Sprintf("%s (%s)", m.shortName(), m.other))
			continue
		case m.other != "":
			m.fail(field.ErrorTypeInvalid, m.root, "", "this is not metadata of a Garden Linux release, but %s: name the file or folder with the metadata", m.other)
		case len(m.faults) == 0:
			all = append(all, m.artifacts(&left)...)
		}
		if faults = append(faults, m.faults...); len(m.faults) == 0 {
			read = append(read, m)
		}
	}
	if len(left.others) == len(files) {
		return nil, nil, fmt.Errorf("%s has no metadata of a Garden Linux release, but %s", s.Path, words.Few(left.others))
	}
	mixed(read)
	twice(read)
	for _, m := range read {
		faults = append(faults, m.faults...)
	}
	byDefault, _ := parseMap("", gardenLinuxMap, GardenLinux)
	contents := &Contents{Map: byDefault, Matched: s.matched(), Notes: left.notes()}
	if len(faults) > 0 {
		return contents, faults, nil
	}
	contents.Artifacts, err = s.choose(all)
	return contents, sameReference(contents.Artifacts), err
}

// choose returns the artifacts that meet all conditions, with the user's image and version. It fails if there are none.
func (s *Source) choose(all []Artifact) (chosen []Artifact, err error) {
	var facts []map[string][]string
	for i := range all {
		a := &all[i]
		facts = append(facts, a.Facts)
		if a.Image = s.Image; s.Version != "" {
			a.Version = s.Version
		}
		if s.chosen(a.Facts) {
			chosen = append(chosen, *a)
		}
	}
	if len(chosen) == 0 && len(all) > 0 {
		err = s.noneChosen(facts)
	}
	return chosen, err
}

// leftOut are the parts of the files that no profile imports.
type leftOut struct {
	// others are the files that are not metadata, with descriptions; unpublished are those without a published image.
	others, unpublished []string
	// platforms counts files by platform, for platforms without a known form of references.
	platforms map[string]int
}

func (l *leftOut) notes() (notes []string) {
	say := func(names []string, what, whats string) {
		if n := len(names); n > 0 {
			notes = append(notes, fmt.Sprintf("%s of the source %s, and %s skipped: %s",
				words.Count(n, "file"), either(n, what, whats), either(n, "is", "are"), words.Few(names)))
		}
	}
	say(l.others, "is not metadata of a release", "are not metadata of a release")
	say(l.unpublished, "has no published image", "have no published image")
	var unknown []string
	files := 0
	for _, name := range slices.Sorted(maps.Keys(l.platforms)) {
		files += l.platforms[name]
		unknown = append(unknown, words.Quoted(name))
	}
	if files > 0 {
		notes = append(notes, fmt.Sprintf("%s of the source %s for a platform whose images are not known here, and %s skipped: %s",
			words.Count(files, "file"), either(files, "is", "are"), either(files, "is", "are"), words.And(unknown)))
	}
	return notes
}

func either(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// shortName returns the file's name without folder and extension.
func (m *metadata) shortName() string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(m.file), filepath.Ext(m.file)), ".s3_metadata")
}

// lineOf matches the line in a parser error.
var lineOf = regexp.MustCompile(`line (\d+): `)

// parseMetadata reads the required parts of a file. With anyVersion, the version need not be semantic.
func parseMetadata(file, text string, anyVersion bool) *metadata {
	m := &metadata{file: file, last: max(1, strings.Count(strings.TrimRight(text, "\n"), "\n")+1), facts: map[string][]string{}}
	if m.readRoot(text); m.other != "" || len(m.faults) > 0 {
		return m
	}
	var missing []string
	for _, key := range required {
		if member(m.root, key) == nil {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		m.fail(field.ErrorTypeRequired, nil, missing[0], "the file ends without %s: it is truncated, or no metadata of a Garden Linux release; fetch it again",
			words.And(missing))
		return m
	}
	m.facts[keyName] = []string{m.shortName()}
	for pair := range slices.Chunk(m.root.Content, 2) {
		m.readFact(pair[0].Value, pair[1])
	}
	if m.at = member(m.root, keyVersion); len(m.faults) == 0 {
		m.readVersion(anyVersion)
	}
	return m
}

// readRoot reads the file's only document.
func (m *metadata) readRoot(text string) {
	documents, err := documentsIn(text)
	if len(documents) > 0 {
		m.root = documents[0]
		m.other = otherThan(m.root)
	}
	switch {
	case m.other != "":
	case err != nil:
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		at := &yaml.Node{Line: m.last, Column: 1}
		if found := lineOf.FindStringSubmatch(message); found != nil {
			at.Line, _ = strconv.Atoi(found[1])
			message = strings.Replace(message, found[0], "", 1)
		}
		m.fail(field.ErrorTypeInvalid, at, "", "not valid YAML: %s; the file may be truncated: fetch it again", message)
	case len(documents) == 0:
		m.fail(field.ErrorTypeRequired, nil, "", "the file is empty: fetch it again")
	case len(documents) > 1:
		m.fail(field.ErrorTypeInvalid, documents[1], "", "the file has %d documents: metadata of an image is a file of its own", len(documents))
	default:
		m.repeated(m.root)
	}
}

// documentsIn returns the documents of a text that are not empty, and the error after them.
func documentsIn(text string) (roots []*yaml.Node, err error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		if err = decoder.Decode(&document); err != nil {
			break
		}
		if len(document.Content) > 0 && document.Content[0].ShortTag() != "!!null" {
			roots = append(roots, document.Content[0])
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return roots, err
}

// otherThan describes a document that cannot be metadata of a release, not even truncated; empty if it may be.
func otherThan(root *yaml.Node) string {
	kind := member(root, "kind")
	switch {
	case root.Kind == yaml.SequenceNode:
		return "a list"
	case root.Kind != yaml.MappingNode: // a truncated file may end within its first key
		return ""
	case kind != nil && kind.Kind == yaml.ScalarNode && kind.Value != "":
		return "kind " + words.Quoted(kind.Value)
	case member(root, "apiVersion") != nil:
		return "a file with an apiVersion"
	case !slices.ContainsFunc(required, func(key string) bool { return key != keyVersion && member(root, key) != nil }):
		return fmt.Sprintf("a file without %s", words.Or([]string{keyArchitecture, keyModifiers, keyPlatform}))
	}
	return ""
}

// repeated reports duplicate keys of a mapping, as in two concatenated files.
func (m *metadata) repeated(n *yaml.Node) {
	first := map[string]int{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if line := first[child.Value]; line > 0 {
				m.fail(field.ErrorTypeDuplicate, child, child.Value, "%s is here already, in line %d: two files may have become one; fetch them again",
					words.Quoted(child.Value), line)
			} else {
				first[child.Value] = child.Line
			}
		}
		m.repeated(child)
	}
}

// readFact adds a scalar, or a list of scalars, to the facts.
func (m *metadata) readFact(key string, n *yaml.Node) {
	text := func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" }
	switch {
	case text(n):
		m.facts[key] = []string{n.Value}
	case n.Kind == yaml.SequenceNode && !slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return !text(item) }):
		m.facts[key] = []string{}
		for _, item := range n.Content {
			m.facts[key] = append(m.facts[key], item.Value)
		}
	}
	_, is := m.facts[key]
	switch {
	case slices.Contains([]string{keyArchitecture, keyPlatform, keyVersion}, key) && (!text(n) || n.Value == ""):
		m.fail(field.ErrorTypeInvalid, n, key, "%s has to be text", key)
	case key == keyModifiers && (!is || text(n)):
		m.fail(field.ErrorTypeInvalid, n, key, "%s has to be a list of text", key)
	case key == keyArchitecture && n.Value != "amd64" && n.Value != "arm64":
		m.fail(field.ErrorTypeNotSupported, n, key, "%s is not an architecture of Gardener: there are amd64 and arm64", words.Quoted(n.Value))
	}
}

func (m *metadata) readVersion(anyVersion bool) {
	version, is := Complete(m.at.Value)
	if !is && !anyVersion {
		m.fail(field.ErrorTypeInvalid, m.at, keyVersion, "%s is not a semantic version, as 1877.3 or 1877.3.0 are: name the version with --version",
			words.Quoted(m.at.Value))
	}
	m.version = version
}

// member returns the value of a key; nil if there is none.
func member(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for pair := range slices.Chunk(n.Content, 2) {
		if pair[0].Value == key {
			return pair[1]
		}
	}
	return nil
}

// mixed reports each file of another release than the first.
func mixed(read []*metadata) {
	for _, m := range read {
		if m.version != read[0].version {
			m.fail(field.ErrorTypeInvalid, m.at, keyVersion, "this is release %s, and %s is of %s: import one release at a time",
				m.at.Value, read[0].file, read[0].at.Value)
		}
	}
}

// twice reports each file with an image that an earlier file has.
func twice(read []*metadata) {
	first := map[string]*metadata{}
	for _, m := range read {
		modifiers := slices.Clone(m.facts[keyModifiers])
		slices.Sort(modifiers)
		key := strings.Join(append([]string{m.version, m.facts[keyPlatform][0], m.facts[keyArchitecture][0]}, slices.Compact(modifiers)...), " ")
		if other := first[key]; other != nil {
			m.fail(field.ErrorTypeDuplicate, m.root, keyPlatform, "this is the image that %s is of, by %s, %s and %s: remove one of the two",
				other.file, keyPlatform, keyArchitecture, keyModifiers)
			continue
		}
		first[key] = m
	}
}

// sameReference returns a fault for each reference that an earlier artifact has in the same region.
func sameReference(artifacts []Artifact) (faults []Fault) {
	first := map[string]Place{}
	look := func(a *Artifact, region string, fields map[string]any, at Place) {
		key := fmt.Sprint(a.Provider, " ", region, " ", fields)
		if other, found := first[key]; found {
			faults = append(faults, Fault{at, RuleSource, field.ErrorTypeDuplicate, keyPublished,
				fmt.Sprintf("this image is in %s:%d already: one of the two files has the wrong one", other.File, other.Line)})
			return
		}
		first[key] = at
	}
	for i := range artifacts {
		a := &artifacts[i]
		if a.Global != nil {
			look(a, "", a.Global, a.At)
		}
		for k, r := range a.Regions {
			look(a, r.Name, r.Fields, a.Places[k])
		}
	}
	return faults
}
