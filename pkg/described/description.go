// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package described

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capkit/capkit/internal/strictyaml"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// APIVersion and Kind identify a description.
const (
	APIVersion = "capkit/v1"
	Kind       = "ProviderDescription"
)

// configKind is the kind of the described configs.
const configKind = "CloudProfileConfig"

// description is a decoded description. The zero value of a part means that it is absent. Paths of fields may be nested, with dots.
type description struct {
	// providerType is the spec.type of CloudProfiles.
	providerType string
	// kinds are the accepted kinds of the provider config, one for each API version.
	kinds []schema.GroupVersionKind
	// images has the fields of images. If absent, the config maps no images, and all references are derived.
	images struct{ path, name, versions, version string }
	// flavors has the fields of a version's flavors. If absent, there is only the legacy format.
	flavors struct{ path, capabilities string }
	// regions has the fields of a list of regions, each with a reference. If absent, a reference applies to all regions.
	regions struct{ path, name string }
	// reference lists the fields of a reference. They are in the entry of a region or, without regions, in a flavor, and in a legacy
	// version.
	reference []string
	// fallback lists the fields of a reference for all regions without their own, next to the list of regions. It is discouraged. In the
	// legacy format it applies to the default architecture.
	fallback []string
	// architecture has the field for the architecture of a legacy version, next to its reference, and its default. Without a field, a
	// legacy version has the default architecture. If absent, a legacy version is one image for all architectures.
	architecture struct{ field, standard string }
	// overrides has the fields of a list of regions with their own lists of images, whose references apply only to the region.
	overrides struct{ path, name string }
	// derived are the values for the fields of a reference that an entry, or a missing entry, does not define. They contain placeholders
	// for the names of image and version.
	derived []string
	// unmapped are patterns of [path.Match] for IMAGE@VERSION. Matching versions need no entry. If absent, none match if there are images.
	unmapped []string
	// shared reports that one reference may stand for several architectures or versions.
	shared bool
}

// These are the placeholders in derived.
const (
	placeImage   = "{image}"
	placeVersion = "{version}"
)

// Read makes a provider from a description. file is the file's name, for messages. known are existing provider types, which must not be
// described again, each with the file that describes it, or "" for a type with a provider of its own. The error joins all errors with
// [errors.Join], each as FILE:LINE:COLUMN: MESSAGE.
func Read(file string, text []byte, known map[string]string) (provider.Provider[Reference], error) {
	r := &reader{Reader: strictyaml.Reader{File: file}, known: known, description: &description{}}
	if err := r.Read(text, "write each description into a file of its own", r.read); err != nil {
		return nil, err
	}
	return newProvider(r.description), nil
}

// TypeOf returns the provider type that a text describes, even if the description has errors; empty if it cannot be read.
func TypeOf(text []byte) string {
	r := &reader{description: &description{}}
	_ = r.Read(text, "", r.read)
	return r.providerType
}

// reader reads YAML nodes into a description.
type reader struct {
	strictyaml.Reader
	*description
	known map[string]string
}

// read reads the whole description.
func (r *reader) read(n *yaml.Node) {
	if strictyaml.Null(n) {
		r.Fault(n, "there is no description: write an object with apiVersion: %s, kind: %s", APIVersion, Kind)
		return
	}
	var derived *yaml.Node
	keys := r.Mapping(n, map[string]strictyaml.Key{
		"apiVersion":   {Read: func(n *yaml.Node) { r.only(n, APIVersion) }},
		"kind":         {Read: func(n *yaml.Node) { r.only(n, Kind) }},
		"type":         {Read: r.readType},
		"apiVersions":  {Read: r.readVersions},
		"images":       {Read: r.readImages, Optional: true},
		"flavors":      {Read: r.readFlavors, Optional: true},
		"regions":      {Read: r.readRegions, Optional: true},
		"reference":    {Read: func(n *yaml.Node) { r.reference = r.paths(n) }},
		"fallback":     {Read: func(n *yaml.Node) { r.fallback = r.paths(n) }, Optional: true},
		"architecture": {Read: r.readArchitecture, Optional: true},
		"overrides":    {Read: r.readOverrides, Optional: true},
		"derived":      {Read: func(n *yaml.Node) { derived = n }, Optional: true},
		"unmapped":     {Read: r.readUnmapped, Optional: true},
		"shared":       {Read: func(n *yaml.Node) { r.shared = r.Choice(n, "true", "false") == "true" }, Optional: true},
	})
	if derived != nil {
		r.readDerived(derived)
	}
	if r.Err() == nil {
		r.relate(n, keys)
	}
	if r.Err() == nil {
		r.collide(keys)
	}
}

// relate reports keys that require or exclude other keys.
func (r *reader) relate(n *yaml.Node, keys map[string]*yaml.Node) {
	needs := func(key, other string) {
		if keys[key] != nil && keys[other] == nil {
			r.Fault(keys[key], "%s needs %s: add that, or remove %s", key, other, key)
		}
	}
	for _, key := range []string{"flavors", "regions", "architecture", "overrides"} {
		needs(key, "images")
	}
	needs("fallback", "regions")
	needs("unmapped", "derived")
	needs("unmapped", "images")
	for _, key := range []string{"overrides", "derived"} {
		if keys[key] != nil && keys["regions"] != nil {
			r.Fault(keys[key], "%s and regions exclude each other: references that stand in a list of regions have no %s", key, key)
		}
	}
	if keys["images"] == nil && keys["derived"] == nil {
		r.Fault(n, "images and derived are both missing: write where the config maps images, or how a reference is made of the names of image and version")
	}
}

// collide reports fields of the same object that are equal or nested in each other.
func (r *reader) collide(keys map[string]*yaml.Node) {
	legacyArchitecture := named{"architecture", []string{r.architecture.field}}
	references := []named{{"reference", r.reference}}
	if r.regions.path != "" {
		r.apart(keys, "the entry of a region", named{"regions", []string{r.regions.name}}, references[0], legacyArchitecture)
		references = []named{{"fallback", r.fallback}, {"regions", []string{r.regions.path}}}
		legacyArchitecture.paths = nil
	}
	version := append([]named{{"images", []string{r.images.version}}, {"flavors", []string{r.flavors.path}}, legacyArchitecture}, references...)
	r.apart(keys, "a version", version...)
	if r.flavors.path != "" {
		for _, n := range references { // among each other they are compared already, in a version
			for _, path := range n.paths {
				r.apart(keys, "a flavor", named{"flavors", []string{r.flavors.capabilities}}, named{n.key, []string{path}})
			}
		}
	}
	images := named{"images", []string{r.images.path}}
	r.apart(keys, "the config", named{"kind", []string{"kind"}}, named{"apiVersion", []string{"apiVersion"}}, images,
		named{"overrides", []string{r.overrides.path}})
	r.apart(keys, "the entry of a region", images, named{"overrides", []string{r.overrides.name}})
}

// named holds the field paths under a key.
type named struct {
	key   string
	paths []string
}

// apart reports paths of fields in an object that are equal to, within or above another one.
func (r *reader) apart(keys map[string]*yaml.Node, of string, all ...named) {
	type taken struct{ path, key string }
	var before []taken
	for _, n := range all {
		for _, path := range n.paths {
			for _, other := range before {
				if path != "" && (strings.HasPrefix(path+".", other.path+".") || strings.HasPrefix(other.path+".", path+".")) {
					r.Fault(keys[n.key], "%s leads nowhere: in %s, %s stands there, which %s names; write another field, or remove one", path, of, other.path, other.key)
				}
			}
			if path != "" {
				before = append(before, taken{path, n.key})
			}
		}
	}
}

func (r *reader) readType(n *yaml.Node) {
	r.providerType = r.Text(n, "the provider type, which is spec.type of a CloudProfile")
	other, known := r.known[r.providerType]
	switch {
	case r.providerType == "":
	case len(validation.IsDNS1123Label(r.providerType)) > 0: // Gardener makes labels of it
		r.Fault(n, "%s is not a provider type: write up to %d lower-case letters, digits and dashes", words.Quoted(r.providerType),
			validation.DNS1123LabelMaxLength)
	case known && other != "":
		r.Fault(n, "the type %s is described in %s already: remove one of the two descriptions, or correct the type", r.providerType, other)
	case known:
		r.Fault(n, "the type %s is known already, and cannot be described again: remove the description, or correct the type", r.providerType)
	}
}

func (r *reader) readVersions(n *yaml.Node) {
	for _, item := range r.items(n, "API versions, like [acme.provider.extensions.gardener.cloud/v1alpha1]") {
		version := r.Text(item, "an API version, like acme.provider.extensions.gardener.cloud/v1alpha1")
		if version == "" {
			continue
		}
		group, name, _ := strings.Cut(version, "/")
		kind := schema.GroupVersionKind{Group: group, Version: name, Kind: configKind}
		switch {
		case len(validation.IsDNS1123Subdomain(group)) > 0 || len(validation.IsDNS1123Label(name)) > 0:
			r.Fault(item, "%s is not an API version: write GROUP/VERSION, like acme.provider.extensions.gardener.cloud/v1alpha1", words.Quoted(version))
		case slices.Contains(r.kinds, kind):
			r.Fault(item, "%s is there twice; remove one of the two", version)
		}
		r.kinds = append(r.kinds, kind)
	}
}

// These names of lists and fields are fixed, because the code that merges and rewrites configs relies on them.
const (
	machineImages     = "machineImages"
	name              = "name"
	versions          = "versions"
	version           = "version"
	capabilityFlavors = "capabilityFlavors"
	capabilities      = "capabilities"
)

func (r *reader) readImages(n *yaml.Node) {
	r.Mapping(n, map[string]strictyaml.Key{
		"path":     {Read: func(n *yaml.Node) { r.images.path = r.standard(n, machineImages) }},
		"name":     {Read: func(n *yaml.Node) { r.images.name = r.standard(n, name) }},
		"versions": {Read: func(n *yaml.Node) { r.images.versions = r.standard(n, versions) }},
		"version":  {Read: func(n *yaml.Node) { r.images.version = r.standard(n, version) }},
	})
}

func (r *reader) readFlavors(n *yaml.Node) {
	r.Mapping(n, map[string]strictyaml.Key{
		"path":         {Read: func(n *yaml.Node) { r.flavors.path = r.standard(n, capabilityFlavors) }},
		"capabilities": {Read: func(n *yaml.Node) { r.flavors.capabilities = r.standard(n, capabilities) }},
	})
}

func (r *reader) readRegions(n *yaml.Node) {
	r.Mapping(n, map[string]strictyaml.Key{
		"path": {Read: func(n *yaml.Node) { r.regions.path = r.path(n) }},
		"name": {Read: func(n *yaml.Node) { r.regions.name = r.standard(n, name) }},
	})
}

func (r *reader) readOverrides(n *yaml.Node) {
	r.Mapping(n, map[string]strictyaml.Key{
		"path": {Read: func(n *yaml.Node) {
			if r.overrides.path = r.path(n); strings.Contains(r.overrides.path, ".") {
				r.Fault(n, "%s leads nowhere: the list of regions with images of their own stands in the config itself", r.overrides.path)
			}
		}},
		"name": {Read: func(n *yaml.Node) { r.overrides.name = r.standard(n, name) }},
	})
}

func (r *reader) readArchitecture(n *yaml.Node) {
	r.Mapping(n, map[string]strictyaml.Key{
		"field":   {Read: func(n *yaml.Node) { r.architecture.field = r.path(n) }, Optional: true},
		"default": {Read: func(n *yaml.Node) { r.architecture.standard = r.Choice(n, constants.ValidArchitectures...) }},
	})
}

// readDerived reads the values for the fields of a reference, which must have been read before.
func (r *reader) readDerived(n *yaml.Node) {
	parts := map[string]strictyaml.Key{}
	r.derived = make([]string, len(r.reference))
	for i, path := range r.reference {
		parts[path] = strictyaml.Key{Read: func(n *yaml.Node) { r.derived[i] = r.template(n) }}
	}
	if len(parts) > 0 { // else the missing fields are already reported
		r.Mapping(n, parts)
	}
}

func (r *reader) readUnmapped(n *yaml.Node) {
	for _, item := range r.items(n, `patterns for IMAGE@VERSION, like ["debian@??"]`) {
		pattern := r.Text(item, `a pattern for IMAGE@VERSION, like "debian@??"`)
		if _, err := path.Match(pattern, ""); err != nil || pattern != "" && !strings.Contains(pattern, "@") {
			r.Fault(item, "%s is not a pattern for IMAGE@VERSION: write one like \"debian@??\"", words.Quoted(pattern))
		} else if slices.Contains(r.unmapped, pattern) && pattern != "" {
			r.Fault(item, "%s is there twice; remove one of the two", pattern)
		}
		r.unmapped = append(r.unmapped, pattern)
	}
}

// template reads a value with placeholders for the names of image and version.
func (r *reader) template(n *yaml.Node) string {
	value := r.Text(n, "a value like \"{image}-{version}\"")
	rest := strings.NewReplacer(placeImage, "", placeVersion, "").Replace(value)
	switch {
	case value == "":
	case strings.ContainsAny(rest, "{}"):
		r.Fault(n, "%s has a place for what is not known: there are %s and %s", words.Quoted(value), placeImage, placeVersion)
	case !strings.Contains(value, placeImage) || !strings.Contains(value, placeVersion):
		r.Fault(n, "%s is the same for several versions: write %s and %s into it", words.Quoted(value), placeImage, placeVersion)
	}
	return value
}

// only reads a text with a single permitted value.
func (r *reader) only(n *yaml.Node, value string) {
	if n.Kind != yaml.ScalarNode || n.Value != value {
		r.Fault(n, "write %s", value)
	}
}

// standard reads the path of a list or field that has the same name in all configs.
func (r *reader) standard(n *yaml.Node, value string) string {
	if named := r.path(n); pathForm.MatchString(named) && named != value {
		r.Fault(n, "%s leads nowhere: in the configs that capkit merges and rewrites, the name here is %s", named, value)
	}
	return value
}

// pathForm matches well-formed paths of fields.
var pathForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_][A-Za-z0-9_-]*)*$`)

// most bounds the names in a path, and the fields of a reference. The cost of making types for them grows faster than linearly.
const most = 16

// path reads the path of a field.
func (r *reader) path(n *yaml.Node) string {
	named := r.Text(n, "the name of a field, or a path like a.b")
	switch names := strings.Count(named, ".") + 1; {
	case names > most:
		r.Fault(n, "the path has %d names: a field stands within at most %d others", names, most-1)
	case named != "" && !pathForm.MatchString(named):
		r.Fault(n, "%s leads nowhere: write the name of a field, or names with dots between them, like a.b", words.Quoted(named))
	}
	return named
}

// paths reads a list of paths.
func (r *reader) paths(n *yaml.Node) (paths []string) {
	items := r.items(n, "fields, like [image]")
	if len(items) > most {
		r.Fault(n, "there are %d fields: a reference has at most %d", len(items), most)
		return nil
	}
	for _, item := range items {
		paths = append(paths, r.path(item))
	}
	return paths
}

// items returns the items of a list, which must not be empty.
func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.Fault(n, "write a list of %s", what)
		return nil
	}
	return n.Content
}
