// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

// Change is one operation of a JSON patch (RFC 6902).
type Change struct {
	// Op is "add" or "replace".
	Op string `json:"op"`
	// Path is a JSON pointer below the document that is changed; empty for the document as a whole.
	Path string `json:"path"`
	// Value is the new value.
	Value json.RawMessage `json:"value"`
}

// RenderConfig returns the changes that turn a provider config into that of a rendered NamespacedCloudProfile (semantics
// S11): its images and versions are added or replaced. base is the parent's provider config, or one that has been
// rendered before; then what is rendered already is not changed again. What base has and the profile does not define
// keeps its place and its bytes; additions come after it, in the profile's order. Several entries of one version replace
// those of base one by one. Versions are converted to the parent's format, which capabilities, its
// spec.machineCapabilities, decide; one that has errors, or that the other format cannot express, stays as it is.
//
// There are no changes if the profile has no provider config, and one, the whole config, if base is nil or has no content.
// The error says that one of the two configs is not a JSON object with lists of images and versions, or that the profile's
// has one without a name. The arguments are not changed.
func RenderConfig[R any](provider Provider[R], capabilities []v1beta1.CapabilityDefinition, profile *v1beta1.NamespacedCloudProfile, base *runtime.RawExtension) ([]Change, error) {
	config := ownConfig(profile)
	if config == nil {
		return nil, nil
	}
	own, err := readConfig(config)
	if err == nil {
		err = own.checkNames()
	}
	if err != nil {
		return nil, fmt.Errorf("spec.providerConfig: %w", err)
	}
	p := &Profile[R]{
		provider: provider, at: field.NewPath("spec"), machines: map[string]machine{},
		spec:   &v1beta1.CloudProfileSpec{MachineImages: profile.Spec.MachineImages, ProviderConfig: config},
		parent: &parent[R]{profile: &Profile[R]{spec: &v1beta1.CloudProfileSpec{}}},
	}
	p.vocabulary, _ = capability.Compile(capabilities, nil, p.provider.Workers().definitions...)
	p.compile()
	p.convert(own)
	own.unite()
	if !hasContent(base) {
		return []Change{{Op: "add", Value: own.whole()}}, nil
	}
	rendered, err := readConfig(base)
	if err != nil {
		return nil, fmt.Errorf("the provider config of the parent: %w", err)
	}
	return rendered.merge(own), nil
}

// rawConfig holds the machine images of a provider config as they stand there. All known providers share this shape.
type rawConfig struct {
	members map[string]json.RawMessage
	images  []rawImage
}

type rawImage struct {
	name     string
	raw      json.RawMessage
	versions []rawVersion
	// changed tells that raw does not have these versions.
	changed bool
}

type rawVersion struct {
	version string
	raw     json.RawMessage
}

func readConfig(config *runtime.RawExtension) (*rawConfig, error) {
	c := &rawConfig{}
	if err := json.Unmarshal(config.Raw, &c.members); err != nil {
		return nil, fmt.Errorf("not an object: %w", err)
	}
	images, err := readList(c.members["machineImages"], "name")
	if err != nil {
		return nil, fmt.Errorf("machineImages: %w", err)
	}
	for i, image := range images {
		versions, err := readList(image.members["versions"], "version")
		if err != nil {
			return nil, fmt.Errorf("machineImages[%d].versions: %w", i, err)
		}
		r := rawImage{name: image.name, raw: image.raw}
		for _, version := range versions {
			r.versions = append(r.versions, rawVersion{version.name, version.raw})
		}
		c.images = append(c.images, r)
	}
	return c, nil
}

// checkNames demands that images and versions have names, without which nobody can use them.
func (c *rawConfig) checkNames() error {
	for i, image := range c.images {
		if image.name == "" {
			return fmt.Errorf("machineImages[%d]: no name", i)
		}
		for k, version := range image.versions {
			if version.version == "" {
				return fmt.Errorf("machineImages[%d].versions[%d]: no version", i, k)
			}
		}
	}
	return nil
}

// unite puts the versions of images with one name into the first of them, and writes what has changed into the raw form
// of the images.
func (c *rawConfig) unite() {
	var united []rawImage
	for _, image := range c.images {
		if at := byImageName(united, image.name); at < 0 {
			united = append(united, image)
		} else if len(image.versions) > 0 {
			united[at].versions, united[at].changed = slices.Concat(united[at].versions, image.versions), true
		}
	}
	for i := range united {
		united[i].rebuild()
	}
	c.images = united
}

// rebuild writes the versions of an image into its raw form, if they have changed.
func (i *rawImage) rebuild() {
	var members map[string]json.RawMessage
	if !i.changed || json.Unmarshal(i.raw, &members) != nil {
		return
	}
	members["versions"] = rawVersions(i.versions)
	i.raw, i.changed = marshal(members), false
}

func byImageName(images []rawImage, name string) int {
	return slices.IndexFunc(images, func(i rawImage) bool { return i.name == name })
}

// parseConfig is readConfig for a config that has been checked: one with errors is empty.
func parseConfig(config *runtime.RawExtension) *rawConfig {
	c, err := readConfig(config)
	if err != nil {
		return &rawConfig{}
	}
	return c
}

// find returns the version that stands at a path below that of the config; nil if there is none.
func (c *rawConfig) find(version, config *field.Path) (*rawImage, *rawVersion) {
	var i, k int
	below := strings.TrimPrefix(version.String(), config.String())
	if n, err := fmt.Sscanf(below, ".machineImages[%d].versions[%d]", &i, &k); err != nil || n != 2 ||
		i >= len(c.images) || k >= len(c.images[i].versions) {
		return nil, nil
	}
	return &c.images[i], &c.images[i].versions[k]
}

// element is an object in a list, known by a name.
type element struct {
	name    string
	raw     json.RawMessage
	members map[string]json.RawMessage
}

func readList(raw json.RawMessage, key string) ([]element, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("not a list: %w", err)
	}
	elements := make([]element, 0, len(list))
	for i, raw := range list {
		e := element{raw: raw}
		if err := json.Unmarshal(raw, &e.members); err != nil {
			return nil, fmt.Errorf("[%d]: not an object: %w", i, err)
		}
		if name, found := e.members[key]; found {
			if err := json.Unmarshal(name, &e.name); err != nil {
				return nil, fmt.Errorf("[%d].%s: not a string: %w", i, key, err)
			}
		}
		elements = append(elements, e)
	}
	return elements, nil
}

// merge returns the changes that put the images of own into c, in which every name is there once. Of c's images with one
// name the first counts.
func (c *rawConfig) merge(own *rawConfig) []Change {
	if len(c.images) == 0 {
		if len(own.images) == 0 {
			return nil
		}
		return []Change{{"add", "/machineImages", own.list()}}
	}
	var changes []Change
	for _, image := range own.images {
		if at := byImageName(c.images, image.name); at >= 0 {
			changes = append(changes, c.images[at].merge(image.versions, "/machineImages/"+strconv.Itoa(at)+"/versions")...)
		} else {
			changes = append(changes, Change{"add", "/machineImages/-", image.raw})
		}
	}
	return changes
}

// merge returns the changes that put versions into an image, whose versions stand at the pointer at. The first entry of a
// version replaces the first one that the image has, the second the second, and so on. If the image has more of them, the
// list is written anew without those.
func (i *rawImage) merge(own []rawVersion, at string) []Change {
	if len(i.versions) == 0 && len(own) > 0 {
		return []Change{{"add", at, rawVersions(own)}}
	}
	replacements, used := map[string][]rawVersion{}, map[string]int{}
	for _, v := range own {
		replacements[v.version] = append(replacements[v.version], v)
	}
	var changes []Change
	merged := make([]rawVersion, 0, len(i.versions))
	for k, v := range i.versions {
		entries, n := replacements[v.version], used[v.version]
		if len(entries) > 0 && n == len(entries) {
			continue
		}
		if len(entries) > 0 {
			used[v.version]++
			if !sameJSON(v.raw, entries[n].raw) {
				v = entries[n]
				changes = append(changes, Change{"replace", at + "/" + strconv.Itoa(k), v.raw})
			}
		}
		merged = append(merged, v)
	}
	surplus := len(i.versions) > len(merged)
	for _, v := range own {
		if used[v.version] > 0 {
			used[v.version]--
			continue
		}
		merged = append(merged, v)
		changes = append(changes, Change{"add", at + "/-", v.raw})
	}
	if surplus {
		return []Change{{"replace", at, rawVersions(merged)}}
	}
	return changes
}

// whole returns the config with c's images.
func (c *rawConfig) whole() json.RawMessage {
	members := maps.Clone(c.members)
	if len(c.images) > 0 {
		members["machineImages"] = c.list()
	}
	return marshal(members)
}

func (c *rawConfig) list() json.RawMessage {
	return rawList(c.images, func(i rawImage) json.RawMessage { return i.raw })
}

func rawVersions(versions []rawVersion) json.RawMessage {
	return rawList(versions, func(v rawVersion) json.RawMessage { return v.raw })
}

func rawList[T any](elements []T, raw func(T) json.RawMessage) json.RawMessage {
	raws := make([][]byte, 0, len(elements))
	for _, e := range elements {
		raws = append(raws, raw(e))
	}
	return slices.Concat([]byte("["), bytes.Join(raws, []byte(",")), []byte("]"))
}

// sameJSON tells whether two documents say the same, in whatever spacing and order of keys.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && equality.Semantic.DeepEqual(x, y)
}
