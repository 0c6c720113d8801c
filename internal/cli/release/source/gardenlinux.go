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

// The metadata that Garden Linux publishes for each image that it builds, in a file for each.

// The keys of the metadata that are read.
const (
	keyPlatform     = "platform"
	keyArchitecture = "architecture"
	keyVersion      = "version"
	keyModifiers    = "modifiers"
	keyPublished    = "published_image_metadata"
	keyGeneration   = "hyper_v_generation"
	keyInstance     = "azure_cloud"
	// keyName and keyPublishedIn are not in the metadata: the name of the file, and in which of the lists of Azure an image is.
	keyName        = "name"
	keyPublishedIn = "published_in"
)

// required are the keys that every file has.
var required = []string{keyArchitecture, keyModifiers, keyPlatform, keyPublished, keyVersion}

// published says how the images of a platform are published.
type published struct {
	// provider is the type of its cloud.
	provider string
	// list is the key of the images in the metadata; in each, region and id are the keys of these.
	list, region, id string
	// field is that of the provider config for the ID.
	field string
}

// platforms are those of clouds that are known. GCP has no list, and Azure has two.
var platforms = map[string]published{
	"ali":                {"alicloud", "published_alicloud_images", "region_id", "image_id", "id"},
	"aws":                {"aws", "published_aws_images", "aws_region_id", "ami_id", "ami"},
	"azure":              {provider: "azure"},
	"gcp":                {provider: "gcp"},
	"openstack":          {"openstack", "published_openstack_images", "region_name", "image_id", "id"},
	"openstackbaremetal": {"openstack", "published_openstack_images", "region_name", "image_id", "id"},
}

// publishedOnAzure is a list of images, with what published_in is of them, the key of their IDs, and the field of the provider config for that.
type publishedOnAzure struct{ list, in, id, field string }

// onAzure are the lists of Azure.
var onAzure = []publishedOnAzure{
	{"published_gallery_images", "gallery", "community_gallery_image_id", "communityGalleryImageID"},
	{"published_marketplace_images", "marketplace", "urn", "urn"},
}

// publicAzure is the instance of images that do not say it.
const publicAzure = "public"

// metadata is one file.
type metadata struct {
	file   string
	root   *yaml.Node
	last   int
	facts  map[string][]string
	faults []Fault
	// version as x.y.z, and where it is written.
	version string
	at      *yaml.Node
	// other says what the file is if it is no metadata of a release; empty if it is, or may be.
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

// readGardenLinux reads metadata. All files have to be of one release, also those of other clouds. Of a folder, files that are something
// else are left out.
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
			m.fail(field.ErrorTypeInvalid, m.root, "", "this is no metadata of a Garden Linux release, but %s: name the file, or the folder, with the metadata", m.other)
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
	faults = slices.Concat(faults, mixed(read), twice(read))
	contents := &Contents{Map: GardenLinuxMap(), Matched: s.matched(), Notes: left.notes()}
	if len(faults) > 0 {
		return contents, faults, nil
	}
	contents.Artifacts, err = s.choose(all)
	return contents, sameReference(contents.Artifacts), err
}

// choose returns the artifacts that meet all conditions, with image and version as the user says them. The error says that none does.
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

// leftOut is what of the files is not imported into any profile.
type leftOut struct {
	// others are files that are no metadata, with what they are instead; unpublished are those without a published image.
	others, unpublished []string
	// platforms are those that no profile is known to refer to, with how many files are for each.
	platforms map[string]int
}

func (l *leftOut) notes() (notes []string) {
	say := func(names []string, what, whats string) {
		if n := len(names); n > 0 {
			notes = append(notes, fmt.Sprintf("%s of the source %s, and %s skipped: %s",
				words.Count(n, "file"), either(n, what, whats), either(n, "is", "are"), words.Few(names)))
		}
	}
	say(l.others, "is no metadata of a release", "are no metadata of a release")
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

// shortName is the name of the file without folder and ending.
func (m *metadata) shortName() string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(m.file), filepath.Ext(m.file)), ".s3_metadata")
}

// lineOf finds the line in the error of the parser.
var lineOf = regexp.MustCompile(`line (\d+): `)

// parseMetadata reads what every file has to have. The version may be any if another one is said.
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

// readRoot reads the document, of which there has to be one.
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

// documentsIn returns the documents of a text that say anything, and what is wrong with the one behind them.
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

// otherThan says what a document is that is no metadata of a release, not even a truncated one; empty if it may be.
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

// repeated reports keys that a mapping has twice: of two files in one, say.
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

// readFact takes a scalar, or a list of them, into the facts.
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
		m.fail(field.ErrorTypeNotSupported, n, key, "%s is no architecture of Gardener: there are amd64 and arm64", words.Quoted(n.Value))
	}
}

func (m *metadata) readVersion(anyVersion bool) {
	version, is := Complete(m.at.Value)
	if !is && !anyVersion {
		m.fail(field.ErrorTypeInvalid, m.at, keyVersion, "%s is no semantic version, as 1877.3 or 1877.3.0 are: say by --version which one it is",
			words.Quoted(m.at.Value))
	}
	m.version = version
}

// member returns the value of a key; nil if it is not there.
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

// artifacts returns the images of a file, or notes why it has none.
func (m *metadata) artifacts(left *leftOut) []Artifact {
	platform := m.facts[keyPlatform][0]
	how, known := platforms[platform]
	if !known {
		left.platforms[platform]++
		return nil
	}
	n := member(m.root, keyPublished)
	switch {
	case isNull(n):
		left.unpublished = append(left.unpublished, m.shortName())
		return nil
	case n.Kind != yaml.MappingNode:
		m.fail(field.ErrorTypeInvalid, n, keyPublished, "%s has to be a mapping, or null if nothing was published", keyPublished)
		return nil
	}
	base := Artifact{Provider: how.provider, Version: m.version, Facts: m.facts, At: m.place(n)}
	var artifacts []Artifact
	switch platform {
	case "gcp":
		return m.ofGCP(n, base)
	case "azure":
		artifacts = m.ofAzure(n, base)
	default:
		if list := m.listAt(n, how.list, platform); list != nil && len(list.Content) > 0 {
			artifacts = m.ofRegions(list, how, base)
		}
	}
	if len(artifacts)+len(m.faults) == 0 {
		left.unpublished = append(left.unpublished, m.shortName())
	}
	return artifacts
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// listAt returns a list that the images of a platform have to be in; nil if there is a fault.
func (m *metadata) listAt(n *yaml.Node, key, platform string) *yaml.Node {
	list := member(n, key)
	if list == nil || list.Kind != yaml.SequenceNode {
		m.fail(field.ErrorTypeRequired, n, keyPublished, "there is no list %s, which platform %s has: it is metadata of another cloud", key, platform)
		return nil
	}
	return list
}

// textAt returns the text of a key of an entry, which has to be there.
func (m *metadata) textAt(n *yaml.Node, path, key string) string {
	value := member(n, key)
	if value == nil || value.Kind != yaml.ScalarNode || value.Value == "" || value.ShortTag() == "!!null" {
		m.fail(field.ErrorTypeRequired, n, path, "%s is missing", key)
		return ""
	}
	return value.Value
}

// ofRegions makes an artifact of a list with an image for each region.
func (m *metadata) ofRegions(list *yaml.Node, how published, a Artifact) []Artifact {
	first := map[string]int{}
	for i, n := range list.Content {
		path := fmt.Sprintf("%s.%s[%d]", keyPublished, how.list, i)
		region, id := m.textAt(n, path, how.region), m.textAt(n, path, how.id)
		if line := first[region]; line > 0 && region != "" {
			m.fail(field.ErrorTypeDuplicate, n, path, "region %s has an image already, in line %d", words.Quoted(region), line)
			continue
		}
		first[region] = n.Line
		a.Regions = append(a.Regions, Region{region, map[string]any{how.field: id}})
		a.Places = append(a.Places, m.place(n))
	}
	return []Artifact{a}
}

// ofAzure makes artifacts of the lists of Azure. Older releases have one of them.
func (m *metadata) ofAzure(n *yaml.Node, base Artifact) (artifacts []Artifact) {
	found := false
	for i := range onAzure {
		if list := member(n, onAzure[i].list); list == nil || isNull(list) {
			continue
		}
		found = true
		if list := m.listAt(n, onAzure[i].list, "azure"); list != nil {
			artifacts = append(artifacts, m.ofListOnAzure(list, &onAzure[i], base)...)
		}
	}
	if !found {
		m.listAt(n, onAzure[0].list, "azure")
	}
	return artifacts
}

// ofListOnAzure makes artifacts of a list with an image for each instance of Azure and generation of its hypervisor.
func (m *metadata) ofListOnAzure(list *yaml.Node, how *publishedOnAzure, base Artifact) (artifacts []Artifact) {
	first := map[string]int{}
	for i, n := range list.Content {
		path := fmt.Sprintf("%s.%s[%d]", keyPublished, how.list, i)
		id, instance, generation := m.textAt(n, path, how.id), publicAzure, m.textAt(n, path, keyGeneration)
		if member(n, keyInstance) != nil {
			instance = m.textAt(n, path, keyInstance)
		}
		key := instance + " " + generation
		if line := first[key]; line > 0 && instance != "" && generation != "" {
			m.fail(field.ErrorTypeDuplicate, n, path, "%s %s and %s %s have an image already, in line %d", keyInstance, instance, keyGeneration, generation, line)
			continue
		}
		first[key] = n.Line
		a := base
		a.Instance, a.Global, a.At, a.Facts = instance, map[string]any{how.field: id}, m.place(n), maps.Clone(base.Facts)
		a.Facts[keyInstance], a.Facts[keyGeneration], a.Facts[keyPublishedIn] = []string{instance}, []string{generation}, []string{how.in}
		artifacts = append(artifacts, a)
	}
	return artifacts
}

// ofGCP makes an artifact of an image for all regions.
func (m *metadata) ofGCP(n *yaml.Node, a Artifact) []Artifact {
	project, name := m.textAt(n, keyPublished, "gcp_project_name"), m.textAt(n, keyPublished, "gcp_image_name")
	a.Global = map[string]any{"image": "projects/" + project + "/global/images/" + name}
	return []Artifact{a}
}

// mixed returns a fault for each file of another release than the first.
func mixed(read []*metadata) (faults []Fault) {
	for _, m := range read {
		if m.version != read[0].version {
			m.fail(field.ErrorTypeInvalid, m.at, keyVersion, "this is release %s, and %s is of %s: import one release at a time",
				m.at.Value, read[0].file, read[0].at.Value)
			faults = append(faults, m.faults...)
		}
	}
	return faults
}

// twice returns a fault for each file that has an image which another file has.
func twice(read []*metadata) (faults []Fault) {
	first := map[string]*metadata{}
	for _, m := range read {
		modifiers := slices.Clone(m.facts[keyModifiers])
		slices.Sort(modifiers)
		key := strings.Join(append([]string{m.version, m.facts[keyPlatform][0], m.facts[keyArchitecture][0]}, slices.Compact(modifiers)...), " ")
		if other := first[key]; other != nil {
			m.fail(field.ErrorTypeDuplicate, m.root, keyPlatform, "this is the image that %s is of, by %s, %s and %s: remove one of the two",
				other.file, keyPlatform, keyArchitecture, keyModifiers)
			faults = append(faults, m.faults...)
			continue
		}
		first[key] = m
	}
	return faults
}

// sameReference returns a fault for each reference that another artifact has in the same region.
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
