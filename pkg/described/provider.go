// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package described makes a provider of a description: ten lines of YAML that say where the images stand in the CloudProfileConfig of a
// cloud. It is for the shape that most clouds have, image, version, perhaps flavors, and a reference of one or several fields, by region
// or not. What a description cannot say needs a [provider.Provider] in Go.
//
// Start reading at [Read]; docs/authors/description.md says what it reads. [BuiltIn] are the clouds whose descriptions are part of this
// package. description.go reads YAML, shape.go makes the types to decode of it, decode.go and encode.go are the wire format.
//
// Nothing here knows a cloud: a rule about the form of its IDs, say, has no place.
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

// Provider is a [provider.Provider] by description, which [Read] makes. It is immutable, and safe for concurrent use. It has no worker
// settings and no rules of its own.
type Provider struct {
	*description
	*shape
	// regional is the form of references for one region, and global that of those for all, or for the other ones if the format has
	// regions. They are nil for references that it does not have.
	regional, global *form
	// regionsPath and architecturePath are those paths of the description, taken apart.
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

// newProvider returns the provider of a description without faults.
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

// ConfigType is the struct that a config is decoded into: the fields that the description names, by their tags for JSON, and below them
// structs, lists, text and capabilities. A config may have others, which nothing here reads.
func (p Provider) ConfigType() reflect.Type { return p.config }

// ConfigVersions are the API versions of the config, in the order of the description. The caller owns the slice.
func (p Provider) ConfigVersions() []string {
	versions := make([]string, 0, len(p.kinds))
	for _, kind := range p.kinds {
		versions = append(versions, kind.GroupVersion().String())
	}
	return versions
}

// KeepsLegacy reports whether the description has no flavors.
func (p Provider) KeepsLegacy() bool { return p.flavors.path == "" }

// Workers returns nothing: a description says nothing of worker pools.
func (Provider) Workers() provider.Workers { return provider.Workers{} }

// SharesReferences returns what the description says. References that are derived are shared: they are the same for all architectures.
func (p Provider) SharesReferences() bool { return p.shared || len(p.derived) > 0 }

// ReferenceForm names the fields of a reference, with the list of regions if it stands there.
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

// NamespacedLists returns the list of regions with images of their own, if the description has one.
func (p Provider) NamespacedLists() []provider.List {
	if p.overrides.path == "" {
		return nil
	}
	versions := provider.List{Field: p.images.versions, Key: p.images.version}
	images := provider.List{Field: p.images.path, Key: p.images.name, Lists: []provider.List{versions}}
	return []provider.List{{Field: p.overrides.path, Key: p.overrides.name, Lists: []provider.List{images}}}
}

// ValidateReference demands that all fields of a reference are there.
func (p Provider) ValidateReference(ref Reference, at *field.Path) (errs field.ErrorList) {
	of := ref.form
	if of == nil { // nothing is said
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

// DeriveReference makes a reference for a version that needs no entry.
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

// made makes a reference of the names of an image and its version.
func (p Provider) made(version provider.ImageVersion) Reference {
	names := strings.NewReplacer(placeImage, version.Image, placeVersion, version.Version)
	ref := Reference{form: p.global}
	for _, template := range p.derived {
		ref.values = append(ref.values, names.Replace(template))
	}
	return ref
}

// childOf returns the path of a field, which may be nested, of what stands at a path.
func childOf(at *field.Path, segments []string) *field.Path {
	return at.Child(segments[0], segments[1:]...)
}

// pathOf takes a path of fields apart.
func pathOf(text string) []string {
	var segments []string
	for _, s := range fieldpath.Parse(text) {
		segments = append(segments, s.Name)
	}
	return segments
}
