// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package described makes providers from descriptions: ten lines of YAML that tell where a cloud's CloudProfileConfig has its images. It
// fits the shape of most clouds: images, versions, perhaps flavors, and a reference of one or more fields, by region or not. Any other
// shape needs a [provider.Provider] in Go.
//
// Start reading at [Read]. docs/authors/description.md documents the format. [BuiltIn] returns the providers whose descriptions are part of
// this package. description.go reads YAML, shape.go makes Go types from it, decode.go and encode.go implement the wire format.
//
// No code here is specific to a cloud: a rule about the form of its IDs, for example, does not belong here.
package described

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/words"
)

// Provider is a [provider.Provider] made by [Read] from a description. It is immutable, and safe for concurrent use. It has no worker
// settings and no rules of its own.
type Provider struct {
	*description
	*shape
	// regional is the form of references for one region. global is the form of references for all regions, or of the fallback if the format
	// has regions. They are nil if the format has no such references.
	regional, global *form
	// regionsPath and architecturePath are the segments of these paths in the description.
	regionsPath, architecturePath []string
}

// deriving is a Provider that derives references.
type deriving struct{ Provider }

var (
	_ provider.Provider[Reference]         = Provider{}
	_ provider.ReferenceDescriber          = Provider{}
	_ provider.ReferenceSharer             = Provider{}
	_ provider.ListExtender                = Provider{}
	_ providerconfig.FieldIgnorer          = Provider{}
	_ providerconfig.LegacyKeeper          = Provider{}
	_ provider.ReferenceDeriver[Reference] = deriving{}
)

// newProvider returns the provider of a valid description.
func newProvider(d *description) provider.Provider[Reference] {
	p := Provider{description: d, shape: shapeOf(d), regionsPath: pathOf(d.regions.path), architecturePath: pathOf(d.architecture.field)}
	if d.regions.path == "" {
		p.global = newForm(d.reference, false)
	} else {
		p.regional = newForm(d.reference, true)
	}
	if len(d.fallback) > 0 { // which needs regions
		p.global = newForm(d.fallback, false)
	}
	if len(d.unmapped) > 0 || d.images.path == "" {
		return deriving{p}
	}
	return p
}

// Type returns the provider type that the description is for.
func (p Provider) Type() string { return p.providerType }

// ConfigType returns the struct type that configs are decoded into. It has the fields that the description names, with JSON tags, and below
// them structs, lists, strings and capabilities. Only the fields for an architecture are pointers. Configs may have other fields, which are
// not read.
func (p Provider) ConfigType() reflect.Type { return p.config }

// ConfigVersions returns the API versions of the config, in the order of the description. The caller owns the slice.
func (p Provider) ConfigVersions() []string {
	versions := make([]string, 0, len(p.kinds))
	for _, kind := range p.kinds {
		versions = append(versions, kind.GroupVersion().String())
	}
	return versions
}

// KeepsLegacy reports whether the description has no flavors.
func (p Provider) KeepsLegacy() bool { return p.flavors.path == "" }

// Workers returns no worker settings, because descriptions have none.
func (Provider) Workers() provider.Workers { return provider.Workers{} }

// SharesReferences returns the setting of the description. Derived references are always shared, because they are the same for all
// architectures.
func (p Provider) SharesReferences() bool { return p.shared || len(p.derived) > 0 }

// ReferenceForm names the fields of a reference, with the list of regions if they belong there.
func (p Provider) ReferenceForm() string {
	if p.regional == nil {
		return words.And(p.reference)
	}
	fields := make([]string, 0, len(p.reference))
	for _, name := range p.reference {
		fields = append(fields, name+": "+strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:]))
	}
	return p.regions.path + ", as in " + p.regions.path + ": [{" + p.regions.name + ": REGION, " + strings.Join(fields, ", ") + "}]"
}

// NamespacedLists returns the list of regions with their own images, if the description has one.
func (p Provider) NamespacedLists() []provider.List {
	if p.overrides.path == "" {
		return nil
	}
	versions := provider.List{Field: p.images.versions, Key: p.images.version}
	images := provider.List{Field: p.images.path, Key: p.images.name, Lists: []provider.List{versions}}
	return []provider.List{{Field: p.overrides.path, Key: p.overrides.name, Lists: []provider.List{images}}}
}

// ValidateReference requires that all fields of a reference have values.
func (p Provider) ValidateReference(ref Reference, at *field.Path) (errs field.ErrorList) {
	of := ref.form
	if of == nil { // the zero Reference
		of = p.regional
		if of == nil {
			of = p.global
		}
	}
	what := "the image"
	if len(of.fields) > 1 {
		what = "a part of the reference to the image"
	}
	for i, segments := range of.segments {
		if ref.value(i) != "" {
			continue
		}
		here := at
		if of.inEntry {
			here = childOf(at, segments)
		}
		errs = append(errs, providerconfig.ReferenceMissing(here, what))
	}
	return errs
}

// DeriveReference makes the reference for a version that needs no entry. derived is false for other versions.
func (p deriving) DeriveReference(version provider.ImageVersion, _ v1beta1.Capabilities) (ref Reference, derived bool) {
	needsNone := func(pattern string) bool {
		matches, _ := path.Match(pattern, version.String())
		return matches
	}
	if p.images.path != "" && !slices.ContainsFunc(p.unmapped, needsNone) {
		return ref, false
	}
	return p.made(version), true
}

// made makes a reference from the names of an image and its version.
func (p Provider) made(version provider.ImageVersion) Reference {
	names := strings.NewReplacer(placeImage, version.Image, placeVersion, version.Version)
	ref := Reference{form: p.global}
	for _, template := range p.derived {
		ref.values = append(ref.values, names.Replace(template))
	}
	return ref
}

// childOf returns the path of a field, which may be nested, below a path.
func childOf(at *field.Path, segments []string) *field.Path {
	return at.Child(segments[0], segments[1:]...)
}

// pathOf splits a path of fields.
func pathOf(text string) []string {
	var segments []string
	for _, s := range fieldpath.Parse(text) {
		segments = append(segments, s.Name)
	}
	return segments
}
