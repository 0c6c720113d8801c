// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/manifest"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/strictjson"
	"github.com/capkit/capkit/pkg/words"
)

// The project's own format for the images of a release.

// The API version and kinds of the formats.
const (
	APIVersion = "capkit/v1"
	kindList   = "ImageList"
	kindMap    = "ImageMap"
)

// imageList is an ImageList.
type imageList struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Images     []listedImage `json:"images"`
}

type listedImage struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Flavors []listedFlavor `json:"flavors"`
}

// listedFlavor is a flavor as in the provider config. The provider defines the fields of a reference.
type listedFlavor struct {
	capabilities v1beta1.Capabilities
	regions      []map[string]any
	global       map[string]any
}

// UnmarshalJSON accepts any field, because the provider config of some cloud may have it.
func (f *listedFlavor) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return fmt.Errorf("a flavor is a mapping with capabilities and regions: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var err error
		switch raw := members[name]; name {
		case "capabilities":
			err = json.Unmarshal(raw, &f.capabilities)
		case "regions":
			err = json.Unmarshal(raw, &f.regions)
		default:
			var value any
			if err = json.Unmarshal(raw, &value); err == nil {
				if f.global == nil {
					f.global = map[string]any{}
				}
				f.global[name] = value
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// located is a file with one object, and its faults.
type located struct {
	file   string
	object *manifest.Object
	faults []Fault
}

func (l *located) place(path string) Place {
	if l.object == nil {
		return Place{l.file, 1, 1}
	}
	line, column := l.object.Position(path)
	return Place{l.file, line, column}
}

func (l *located) fail(kind field.ErrorType, path, format string, args ...any) {
	l.faults = append(l.faults, Fault{l.place(path), RuleSource, kind, path, fmt.Sprintf(format, args...)})
}

// readObject reads a file with one object of a kind, strictly.
func readObject(file, text, kind string, into any) *located {
	l := &located{file: file}
	read := manifest.Parse(file, text, nil)
	objects := read.Objects
	for _, p := range read.Problems {
		l.faults = append(l.faults, Fault{Place{file, p.Line, p.Column}, RuleSource, field.ErrorTypeInvalid, "", p.Message})
	}
	switch {
	case len(read.Problems) > 0:
		return l
	case len(objects) == 0:
		l.fail(field.ErrorTypeRequired, "", "the file is empty: it has to have an object with apiVersion: %s and kind: %s", APIVersion, kind)
		return l
	case len(objects) != 1:
		l.fail(field.ErrorTypeInvalid, "", "the file has %s: it has to have one, with apiVersion: %s and kind: %s",
			words.Count(len(objects), "document"), APIVersion, kind)
		return l
	}
	l.object = objects[0]
	if l.object.APIVersion != APIVersion {
		l.fail(field.ErrorTypeNotSupported, "apiVersion", "apiVersion is %s, and not %s", words.Quoted(l.object.APIVersion), APIVersion)
	}
	if l.object.Kind != kind {
		l.fail(field.ErrorTypeNotSupported, "kind", "kind is %s, and not %s", words.Quoted(l.object.Kind), kind)
	}
	if len(l.faults) == 0 {
		l.take(strictjson.Decode(l.object.JSON, into, nil))
	}
	return l
}

// take adds faults for errors at paths of the object.
func (l *located) take(errs finding.List) {
	for _, f := range errs {
		at := f.Field
		if at == (*field.Path)(nil).String() { // about the whole object
			at = ""
		}
		l.fail(f.Type, at, "%s", MessageOf(f.Error))
	}
}

// MessageOf returns an error's message without its path.
func MessageOf(err *field.Error) string {
	if err.Detail != "" {
		return err.Detail
	}
	return err.ErrorBody()
}

// readList reads an ImageList.
func readList(s Source) (*Contents, []Fault, error) {
	text, err := readFile(s.Path)
	if err != nil {
		return nil, nil, err
	}
	list := &imageList{}
	l := readObject(s.Path, text, kindList, list)
	contents := &Contents{}
	if len(l.faults) > 0 {
		return contents, l.faults, nil
	}
	if len(list.Images) == 0 {
		l.fail(field.ErrorTypeRequired, "images", "there are no images: list some")
	}
	first := map[string]string{}
	for i := range list.Images {
		image, at := &list.Images[i], fmt.Sprintf("images[%d]", i)
		l.checkImage(image, at)
		key := image.Name + "@" + image.Version
		if other := first[key]; other != "" && image.Name != "" {
			l.fail(field.ErrorTypeDuplicate, at, "%s is listed already, as %s: put their flavors together", key, other)
		}
		first[key] = at
		if s.Image != "" && s.Image != image.Name || s.Version != "" && s.Version != image.Version {
			continue
		}
		for k := range image.Flavors {
			contents.Artifacts = append(contents.Artifacts, l.artifact(image, k, fmt.Sprintf("%s.flavors[%d]", at, k)))
		}
	}
	if len(l.faults) == 0 && len(contents.Artifacts) == 0 {
		l.fail(field.ErrorTypeNotFound, "images", "none of the images is the one that --image and --version name")
	}
	return contents, l.faults, nil
}

func (l *located) checkImage(image *listedImage, at string) {
	if image.Name == "" {
		l.fail(field.ErrorTypeRequired, at+".name", "name the image, as in spec.machineImages")
	}
	if version, is := Complete(image.Version); !is || version != image.Version {
		l.fail(field.ErrorTypeInvalid, at+".version", "%s is not a semantic version: write it as 1877.3.0", words.Quoted(image.Version))
	}
	if len(image.Flavors) == 0 {
		l.fail(field.ErrorTypeRequired, at+".flavors", "there are no flavors: list at least one, with what refers to the image")
	}
}

// artifact returns a flavor as an artifact, and checks its regions.
func (l *located) artifact(image *listedImage, index int, at string) Artifact {
	f := &image.Flavors[index]
	a := Artifact{Image: image.Name, Version: image.Version, Capabilities: f.capabilities, Global: f.global, At: l.place(at)}
	if a.Capabilities == nil {
		l.fail(field.ErrorTypeRequired, at+".capabilities", "write the capabilities, as in capabilities: {architecture: [amd64]}")
	}
	for _, name := range slices.Sorted(maps.Keys(f.capabilities)) {
		if len(f.capabilities[name]) == 0 {
			l.fail(field.ErrorTypeRequired, at+".capabilities."+name, "list values, or leave the capability out")
		}
	}
	if len(f.regions) == 0 && f.global == nil {
		l.fail(field.ErrorTypeRequired, at, "nothing refers to the image: write regions, or the reference for all of them")
	}
	var known []string
	for i, entry := range f.regions {
		path := fmt.Sprintf("%s.regions[%d]", at, i)
		name, _ := entry["name"].(string)
		switch {
		case name == "":
			l.fail(field.ErrorTypeRequired, path+".name", "name the region")
		case slices.Contains(known, name):
			l.fail(field.ErrorTypeDuplicate, path+".name", "region %s is listed already", words.Quoted(name))
		}
		known = append(known, name)
		fields := maps.Clone(entry)
		delete(fields, "name")
		a.Regions = append(a.Regions, Region{name, fields})
		a.Places = append(a.Places, l.place(path))
	}
	return a
}
