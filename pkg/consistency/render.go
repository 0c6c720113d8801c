// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

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
// keeps its place and its bytes; additions come after it, in the profile's order. Versions are converted to the parent's
// format, which capabilities, its spec.machineCapabilities, decide.
//
// The error says that one of the two configs is not a JSON object with lists of named images and versions. The arguments
// are not changed.
func RenderConfig[R any](provider Provider[R], capabilities []v1beta1.CapabilityDefinition, profile *v1beta1.NamespacedCloudProfile, base *runtime.RawExtension) ([]Change, error) {
	if profile.Spec.ProviderConfig == nil {
		return nil, nil
	}
	own, err := readConfig(profile.Spec.ProviderConfig)
	if err != nil {
		return nil, fmt.Errorf("spec.providerConfig: %w", err)
	}
	p := &Profile[R]{
		provider: provider, at: field.NewPath("spec"), machines: map[string]machine{},
		spec: &v1beta1.CloudProfileSpec{
			MachineImages: profile.Spec.MachineImages, ProviderConfig: profile.Spec.ProviderConfig,
		},
		parent: &parent[R]{profile: &Profile[R]{spec: &v1beta1.CloudProfileSpec{}}},
	}
	p.vocabulary, _ = capability.Compile(capabilities, nil)
	p.compile()
	p.convert(own)
	if base == nil || len(base.Raw) == 0 {
		value, err := own.replaceIn(profile.Spec.ProviderConfig.Raw)
		return []Change{{Op: "add", Value: value}}, err
	}
	rendered, err := readConfig(base)
	if err != nil {
		return nil, fmt.Errorf("the provider config of the parent: %w", err)
	}
	return rendered.merge(own), nil
}

// rawConfig holds the machine images of a provider config as they stand there. All known providers share this shape.
type rawConfig struct {
	images []rawImage
	// listed tells that there is a list of images, be it an empty one.
	listed bool
}

type rawImage struct {
	name     string
	raw      json.RawMessage
	versions []rawVersion
}

type rawVersion struct {
	version string
	raw     json.RawMessage
}

func readConfig(config *runtime.RawExtension) (*rawConfig, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(config.Raw, &top); err != nil {
		return nil, fmt.Errorf("not an object: %w", err)
	}
	images, err := readList(top["machineImages"], "name")
	if err != nil {
		return nil, fmt.Errorf("machineImages: %w", err)
	}
	c := &rawConfig{listed: len(top["machineImages"]) > 0 && string(top["machineImages"]) != "null"}
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

// parseConfig is readConfig for a config that has been checked: one with errors is empty.
func parseConfig(config *runtime.RawExtension) *rawConfig {
	c, err := readConfig(config)
	if err != nil {
		return &rawConfig{}
	}
	return c
}

// at returns a version as it stands in the config, nil if it does not.
func (c *rawConfig) at(image, version int) json.RawMessage {
	if image >= len(c.images) || version >= len(c.images[image].versions) {
		return nil
	}
	return c.images[image].versions[version].raw
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

// merge returns the changes that put the images of own into c.
func (c *rawConfig) merge(own *rawConfig) []Change {
	if !c.listed && len(own.images) > 0 {
		return []Change{{"add", "/machineImages", rawList(own.images, func(i rawImage) json.RawMessage { return i.raw })}}
	}
	var changes []Change
	for _, image := range own.images {
		at := slices.IndexFunc(c.images, func(i rawImage) bool { return i.name == image.name })
		if at < 0 {
			changes = append(changes, Change{"add", "/machineImages/-", image.raw})
			c.images = append(c.images, image)
			continue
		}
		changes = append(changes, c.images[at].merge(image, "/machineImages/"+strconv.Itoa(at)+"/versions")...)
	}
	return changes
}

// merge returns the changes that put the versions of own into an image, whose versions stand at the pointer at.
func (i *rawImage) merge(own rawImage, at string) []Change {
	merged, changes := i.mergeVersions(own, at)
	whole := len(i.versions) == 0
	for _, c := range changes {
		whole = whole || c.Op == ""
	}
	if whole && len(changes) > 0 {
		changes = []Change{{"add", at, rawList(merged, func(v rawVersion) json.RawMessage { return v.raw })}}
	}
	i.versions = merged
	return changes
}

// mergeVersions returns the versions after the merge, and the changes that lead there. A change without Op says that
// single operations do not, because a version has several entries.
func (i *rawImage) mergeVersions(own rawImage, at string) ([]rawVersion, []Change) {
	byVersion := map[string][]rawVersion{}
	for _, v := range own.versions {
		byVersion[v.version] = append(byVersion[v.version], v)
	}
	var merged []rawVersion
	var changes []Change
	before := map[string]int{}
	for _, v := range i.versions {
		before[v.version]++
	}
	placed := map[string]bool{}
	for k, v := range i.versions {
		entries, replaced := byVersion[v.version]
		switch {
		case !replaced:
			merged = append(merged, v)
		case placed[v.version]: // its entries stand where the first one was
		case len(entries) == 1 && before[v.version] == 1:
			merged = append(merged, entries[0])
			if !sameJSON(v.raw, entries[0].raw) {
				changes = append(changes, Change{"replace", at + "/" + strconv.Itoa(k), entries[0].raw})
			}
		default:
			merged = append(merged, entries...)
			if !i.has(entries) {
				changes = append(changes, Change{})
			}
		}
		placed[v.version] = true
	}
	for _, v := range own.versions {
		if !placed[v.version] {
			merged = append(merged, v)
			changes = append(changes, Change{"add", at + "/-", v.raw})
		}
	}
	return merged, changes
}

// has tells whether the entries of one version are those that the image has, in their order.
func (i *rawImage) has(entries []rawVersion) bool {
	var present []rawVersion
	for _, v := range i.versions {
		if v.version == entries[0].version {
			present = append(present, v)
		}
	}
	return slices.EqualFunc(present, entries, func(a, b rawVersion) bool { return sameJSON(a.raw, b.raw) })
}

// replaceIn returns the config that c was read from, with c's images.
func (c *rawConfig) replaceIn(config json.RawMessage) (json.RawMessage, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(config, &top); err != nil {
		return nil, err
	}
	if c.listed {
		top["machineImages"] = rawList(c.images, func(i rawImage) json.RawMessage { return i.raw })
	}
	return json.Marshal(top)
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
