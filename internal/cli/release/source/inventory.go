// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// Images in a cloud's inventory.

// versionInName finds a version in an image's name, if --version does not name it.
var versionInName = regexp.MustCompile(`(?:^|[^0-9.])(\d+\.\d+(?:\.\d+)?)(?:[^0-9.]|$)`)

// readInventory returns an artifact for each selected image in each region.
func readInventory(s Source) (*Contents, []Fault, error) {
	text, err := readFile(s.Path)
	if err != nil {
		return nil, nil, err
	}
	l := &located{file: s.Path}
	if objects := manifest.Parse(s.Path, text, nil).Objects; len(objects) == 1 {
		l.object = objects[0]
	}
	contents := &Contents{Matched: s.matched()}
	read, wrong := inventory.Read([]byte(text))
	if l.take(wrong); len(wrong) > 0 {
		return contents, l.faults, nil
	}
	contents.Map = &Map{Source: Inventory, Rows: []Row{{Name: "architecture", From: "architecture"}}}
	versions := map[string]bool{}
	var all []map[string][]string
	var unknown []string
	for i := range read.Regions {
		region := &read.Regions[i]
		if region.Images == nil {
			unknown = append(unknown, region.Name)
		}
		for k := range region.Images {
			image, at := &region.Images[k], fmt.Sprintf("regions[%d].images[%d]", i, k)
			facts := factsOf(image)
			if all = append(all, facts); !s.chosen(facts) {
				continue
			}
			a := Artifact{Image: s.Image, Version: s.Version, Provider: read.Provider, Facts: facts, At: l.place(at)}
			if a.Version == "" {
				a.Version = l.versionOf(image, at, versions)
			}
			l.refer(&a, region.Name, image, at)
			contents.Artifacts = append(contents.Artifacts, a)
		}
	}
	if len(unknown) > 0 && len(all) > 0 {
		contents.Notes = []string{"the inventory does not know the images of " + words.Few(unknown)}
	}
	if len(versions) > 1 {
		l.fail(field.ErrorTypeInvalid, "regions", "the images are of %s: choose those of one with --match, or name the version with --version",
			words.And(slices.Sorted(maps.Keys(versions))))
	}
	switch {
	case len(all) == 0 && len(unknown) > 0:
		l.fail(field.ErrorTypeRequired, "regions", "the inventory does not know the images of %s: take one with credentials that may read them", words.Few(unknown))
	case len(all) == 0:
		l.fail(field.ErrorTypeRequired, "regions", "the inventory has no images")
	case len(contents.Artifacts) == 0:
		return nil, nil, s.noneChosen(all)
	}
	return contents, l.faults, nil
}

// factsOf returns the facts for a map: the image's ID, name, architecture, status, visibility and properties.
func factsOf(image *inventory.Image) map[string][]string {
	facts := map[string][]string{"id": {image.ID}}
	for key, value := range image.Properties {
		facts[key] = []string{value}
	}
	for key, value := range map[string]string{"name": image.Name, "architecture": image.Architecture, "status": image.Status, "visibility": image.Visibility} {
		if value != "" {
			facts[key] = []string{value}
		}
	}
	return facts
}

// versionOf returns the version in an image's name, and records it in versions.
func (l *located) versionOf(image *inventory.Image, at string, versions map[string]bool) string {
	if m := versionInName.FindStringSubmatch(image.Name); m != nil {
		if version, is := Complete(m[1]); is {
			versions[version] = true
			return version
		}
	}
	l.fail(field.ErrorTypeRequired, at+".name", "the name of the image, %s, has no version: name it with --version", words.Quoted(image.Name))
	return ""
}

// ways are the prefixes of Azure's image IDs, in lower case, with the provider config's fields for them.
var ways = [][2]string{{"/communitygalleries/", "communityGalleryImageID"}, {"/sharedgalleries/", "sharedGalleryImageID"}, {"/subscriptions/", "id"}}

// refer adds the image's reference in the form of the cloud's provider config.
func (l *located) refer(a *Artifact, region string, image *inventory.Image, at string) {
	regional := map[string]string{"openstack": "id", "aws": "ami", "alicloud": "id"}
	switch name, is := regional[a.Provider]; {
	case is:
		a.Regions, a.Places = []Region{{region, map[string]any{name: image.ID}}}, []Place{l.place(at)}
	case a.Provider == "gcp":
		path := image.ID
		if i := strings.Index(path, "projects/"); i > 0 {
			path = path[i:]
		}
		a.Global = map[string]any{"image": path}
	case a.Provider == "azure":
		a.Global = map[string]any{"urn": image.ID}
		for _, way := range ways {
			if strings.HasPrefix(strings.ToLower(image.ID), way[0]) {
				a.Global = map[string]any{way[1]: image.ID}
			}
		}
	default:
		if len(l.faults) == 0 {
			l.fail(field.ErrorTypeNotSupported, "provider", "nothing is known of how profiles of provider %s refer to images of an inventory: write an ImageList",
				words.Quoted(a.Provider))
		}
	}
}

// TableOf returns rows for the image properties that the provider knows.
func TableOf(cloud provider.Provider[any]) (rows []Row) {
	describer, describes := provider.As[inventory.Describer](cloud)
	if !describes {
		return nil
	}
	for _, p := range describer.DescribeInventories().Properties {
		for _, name := range p.Names {
			switch values := slices.Concat(p.Only, p.Some); {
			case p.Capability == "":
				rows = append(rows, Row{From: name, registered: true})
			case len(values) > 0:
				rows = append(rows, Row{Name: p.Capability, When: map[string]string{name: p.Value}, Values: values})
			}
		}
	}
	return rows
}
