// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"maps"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/words"
)

// The references to published images in Garden Linux's metadata, by cloud.

// published describes how a platform's images are published.
type published struct {
	// provider is the type of the platform's cloud.
	provider string
	// list is the key of the image list in the metadata; region and id are keys in its entries.
	list, region, id string
	// field is the provider config's field for the ID.
	field string
}

// platforms are the known platforms. GCP has no list, and Azure has two.
var platforms = map[string]published{
	"ali":                {"alicloud", "published_alicloud_images", "region_id", "image_id", "id"},
	"aws":                {"aws", "published_aws_images", "aws_region_id", "ami_id", "ami"},
	"azure":              {provider: "azure"},
	"gcp":                {provider: "gcp"},
	"openstack":          {"openstack", "published_openstack_images", "region_name", "image_id", "id"},
	"openstackbaremetal": {"openstack", "published_openstack_images", "region_name", "image_id", "id"},
}

// publishedOnAzure is a list of images: its key, the value of published_in, the key of the IDs, and their provider config field.
type publishedOnAzure struct{ list, in, id, field string }

// onAzure are the lists of Azure.
var onAzure = []publishedOnAzure{
	{"published_gallery_images", "gallery", "community_gallery_image_id", "communityGalleryImageID"},
	{"published_marketplace_images", "marketplace", "urn", "urn"},
}

// publicAzure is the instance of images that do not name one.
const publicAzure = "public"

// artifacts returns a file's images, or records why it has none.
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

// listAt returns a platform's required list of images; nil if there is a fault.
func (m *metadata) listAt(n *yaml.Node, key, platform string) *yaml.Node {
	list := member(n, key)
	if list == nil || list.Kind != yaml.SequenceNode {
		m.fail(field.ErrorTypeRequired, n, keyPublished, "there is no list %s, which platform %s has: it is metadata of another cloud", key, platform)
		return nil
	}
	return list
}

// textAt returns an entry's required text under a key.
func (m *metadata) textAt(n *yaml.Node, path, key string) string {
	value := member(n, key)
	if value == nil || value.Kind != yaml.ScalarNode || value.Value == "" || value.ShortTag() == "!!null" {
		m.fail(field.ErrorTypeRequired, n, path, "%s is missing", key)
		return ""
	}
	return value.Value
}

// ofRegions returns one artifact for a list with an image in each region.
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

// ofAzure returns the artifacts of Azure's lists. Older releases have only one of them.
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

// ofListOnAzure returns an artifact for each Azure instance and hypervisor generation in a list.
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

// ofGCP returns the artifact of an image for all regions.
func (m *metadata) ofGCP(n *yaml.Node, a Artifact) []Artifact {
	project, name := m.textAt(n, keyPublished, "gcp_project_name"), m.textAt(n, keyPublished, "gcp_image_name")
	a.Global = map[string]any{"image": "projects/" + project + "/global/images/" + name}
	return []Artifact{a}
}
