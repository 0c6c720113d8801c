// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"
	"strings"
	"sync"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/fieldpath"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/profile/internal/onetoone"
	"github.com/capkit/capkit/pkg/provider"
)

// causes are the errors of a profile that may explain why a worker pool gets no image. Each list is in the order of paths. The zero value
// means that the profile has no errors.
type causes struct {
	versions map[provider.ImageVersion][]cause
	// types maps machine types to the place of their first error. typeName is the place of the first invalid machine type name, which any
	// unknown machine type may mean.
	types    map[string]string
	typeName string
}

// cause is an error of the profile about an image version.
type cause struct {
	// where is the place of the error, in words: "at FIELD".
	where string
	// set holds the capabilities of the affected flavor, as far as they are understood. The zero Set means the version as a whole.
	set capability.Set
	// regions are the affected regions; nil for all.
	regions []string
}

// part is the content of a path in a profile: whole image versions, a flavor, a flavor's references in some regions, or a machine type.
type part struct {
	versions    []provider.ImageVersion
	set         capability.Set
	regions     []string
	machineType string
}

// WithFaults returns the profile with additional errors, for example from Gardener's own validation, at paths below the one given to
// [Compile]. Its choices stay the same. But if nothing fits, the answer names an error that may be the cause, and entries with an error are
// not suggested. An error with [finding.Finding.Parts] affects the entries of its parts.
func (p *Profile[R]) WithFaults(errs finding.List) *Profile[R] {
	if len(errs) == 0 {
		return p
	}
	faulty := *p
	faulty.blame(slices.Concat(p.faults.Errors, errs))
	return &faulty
}

// blame sets the errors that may explain why worker pools get no image. They are evaluated on first use.
func (p *Profile[R]) blame(errs finding.List) {
	errs = slices.Clone(errs)
	errs.Sort()
	p.causes = sync.OnceValue(func() causes { return p.causesIn(errs) })
}

// findLost records the image versions of core that seem to be missing in the provider config, but may be in an unreadable place.
func (p *Profile[R]) findLost(r *Reading[R]) {
	if !r.Unread.Any() {
		return
	}
	p.lost = map[provider.ImageVersion]string{}
	parts, places := sync.OnceValue(p.parts), map[string]string{}
	for _, f := range r.Report.Silenced {
		if f.Origin != ruleImageMissing.Name && f.Origin != ruleVersionMissing.Name {
			continue
		}
		for _, id := range parts()[f.Field].versions {
			place := memo.Get(places, id.Image, func() string { return r.unreadOf(id.Image) })
			p.lost[id] = p.whereIs(place, id.Image)
		}
	}
}

// unreadOf returns the first unreadable place in an image of the provider config. If there is none, it tries images without a readable
// name, and then the whole config.
func (r *Reading[R]) unreadOf(image string) string {
	for _, name := range []string{image, ""} {
		for i := range r.Images {
			if r.Images[i].Name == name && r.Unread.Touches(r.Images[i].Path) {
				if place := r.Unread.First(r.Images[i].Path); place != "" {
					return place
				}
			}
		}
	}
	return r.Unread.First(nil)
}

// causesIn groups errors of the profile, sorted by path, by the entries that they affect.
func (p *Profile[R]) causesIn(errs finding.List) causes {
	parts := p.parts()
	found := causes{versions: map[provider.ImageVersion][]cause{}, types: map[string]string{}}
	names := p.at.Child("machineTypes").String()
	for _, err := range errs {
		p.addCause(&found, partAt(parts, err.Field), err.Field)
		for _, one := range err.Parts {
			p.addCause(&found, partAt(parts, one.Field), err.Field)
		}
		if found.typeName == "" && strings.HasPrefix(err.Field, names) && strings.HasSuffix(err.Field, "].name") {
			found.typeName = p.whereIs(err.Field, "the name of a machine type")
		}
	}
	return found
}

// addCause records that an error at a path affects a part of the profile.
func (p *Profile[R]) addCause(found *causes, about part, path string) {
	for _, id := range about.versions {
		c := cause{where: p.whereIs(path, id.String()), set: about.set, regions: about.regions}
		found.versions[id] = append(found.versions[id], c)
	}
	if _, known := found.types[about.machineType]; !known && about.machineType != "" {
		found.types[about.machineType] = p.whereIs(path, "machine type "+about.machineType)
	}
}

// partAt returns the part at a path, or at the nearest path above it.
func partAt(parts map[string]part, path string) part {
	for above := range fieldpath.Upward(path) {
		if found, known := parts[above]; known {
			return found
		}
	}
	return part{}
}

// parts maps the paths of the profile, on both sides, to their content.
func (p *Profile[R]) parts() map[string]part {
	parts := map[string]part{}
	for i := range p.spec.MachineTypes {
		parts[p.at.Child("machineTypes").Index(i).String()] = part{machineType: p.spec.MachineTypes[i].Name}
	}
	for v := range entries.Versions(p.spec) {
		at := v.PathIn(p.at)
		core := onetoone.New[R](onetoone.Version{
			Listed: v.MachineImageVersion, Name: v.ID.String(), At: at, Vocabulary: p.vocabulary, Undeclared: Undeclared(v.MachineImageVersion),
		})
		for _, flavor := range core.Core {
			parts[flavor.At.String()] = part{versions: []provider.ImageVersion{v.ID}, set: flavor.Set}
		}
		parts[at.String()] = part{versions: []provider.ImageVersion{v.ID}}
		ofImage := p.at.Child("machineImages").Index(v.Image).String()
		parts[ofImage] = part{versions: append(parts[ofImage].versions, v.ID)}
	}
	for id, version := range entries.Mappings(p.mapped) {
		parts[version.Path.String()] = part{versions: []provider.ImageVersion{id}}
		for i := range version.Flavors {
			p.addFlavor(parts, id, &version.Flavors[i])
		}
	}
	return parts
}

// addFlavor adds a flavor of the provider config and its references to the parts of the profile.
func (p *Profile[R]) addFlavor(parts map[string]part, id provider.ImageVersion, flavor *imageselector.Flavor[R]) {
	set := p.Supports(id, flavor)
	whole := part{versions: []provider.ImageVersion{id}, set: set}
	within := whole
	for i := range flavor.Regional {
		r := &flavor.Regional[i]
		parts[r.NamePath().String()] = whole // any region may be meant
		parts[r.Path.String()] = part{versions: whole.versions, set: set, regions: []string{r.Region}}
		within.regions = append(within.regions, r.Region)
	}
	if flavor.Global != nil {
		within.regions = nil
	}
	parts[flavor.Path.String()], parts[flavor.Path.Child("capabilities").String()] = whole, within
}

// CauseOf returns the place of an error of the profile that may explain why a request gets no image. It returns the first error about the
// named machine type. If there is none, it returns the first about the image version, or about one of its flavors that may fit. It returns
// "" if there is none.
func (p *Profile[R]) CauseOf(machineType string, request imageselector.Request) string {
	if p.causes == nil {
		return ""
	}
	all := p.causes()
	if where, found := all.types[machineType]; found {
		return where
	}
	for _, c := range all.versions[provider.ImageVersion{Image: request.Image, Version: request.Version}] {
		if (c.regions == nil || slices.Contains(c.regions, request.Region)) && onetoone.MayFit(c.set, request.Machine, request.Worker) {
			return c.where
		}
	}
	return ""
}

// whereIs describes the place of an error: its path or, if the profile is not from a manifest, the affected entry.
func (p *Profile[R]) whereIs(path, about string) string {
	if p.at == nil {
		return "in " + about
	}
	return "at " + path
}

// MisnamedType returns the place of the first machine type with an invalid name, or "" if there is none.
func (p *Profile[R]) MisnamedType() string {
	if p.causes == nil {
		return ""
	}
	return p.causes().typeName
}

// LostIn returns the unreadable place that may hold the provider config's entry for an image version, or "" if there is no doubt about the
// entry.
func (p *Profile[R]) LostIn(id provider.ImageVersion) string { return p.lost[id] }
