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
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/profile/internal/onetoone"
	"github.com/capkit/capkit/pkg/provider"
)

// causes are the errors of a profile for which worker pools may get no image, each in the order of their paths. The zero causes
// are those of a profile without errors.
type causes struct {
	versions map[provider.ImageVersion][]cause
	// types says where the first one about each machine type is, and typeName where the first name of a machine type is wrong: that
	// may be any that a worker pool asks for.
	types    map[string]string
	typeName string
}

// cause is an error of the profile about an image version.
type cause struct {
	// where it is, as messages say it: "at FIELD".
	where string
	// set is what the flavor supports that it is about, as far as that is understood. The zero Set: it is about the version
	// as a whole.
	set capability.Set
	// regions are those in which it may be why; nil for all.
	regions []string
}

// part is what stands at a path of a profile: one or more image versions as a whole, or a flavor of one, or what it has for some
// regions; or a machine type.
type part struct {
	versions    []provider.ImageVersion
	set         capability.Set
	regions     []string
	machineType string
}

// WithFaults returns the profile with errors that others have found in it, such as Gardener's own validation, at paths below the
// one that [Compile] was given. What it answers is the same. But where nothing fits, an error is named that may be why; and
// nothing is suggested that one is about. An error that has [finding.Finding.Parts] is about what these are about.
func (p *Profile[R]) WithFaults(errs finding.List) *Profile[R] {
	if len(errs) == 0 {
		return p
	}
	faulty := *p
	faulty.blame(slices.Concat(p.faults.Errors, errs))
	return &faulty
}

// blame makes errors known as those for which worker pools may get no image. They are looked at once somebody asks.
func (p *Profile[R]) blame(errs finding.List) {
	errs = slices.Clone(errs)
	errs.Sort()
	p.causes = sync.OnceValue(func() causes { return p.causesIn(errs) })
}

// findLost notes which image versions of core seem to be missing in the provider config, and may be what could not be read.
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
			if _, known := places[id.Image]; !known {
				places[id.Image] = r.unreadOf(id.Image)
			}
			p.lost[id] = p.whereIs(places[id.Image], id.Image)
		}
	}
}

// unreadOf returns the first place that could not be read in an image of the provider config; if there is none, in one whose
// name could not be read; or else at all.
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

// causesIn sorts errors of the profile, in the order of their paths, by what they are about.
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

// addCause adds an error at a path to the causes: it is about this part of the profile.
func (p *Profile[R]) addCause(found *causes, about part, path string) {
	for _, id := range about.versions {
		c := cause{where: p.whereIs(path, id.String()), set: about.set, regions: about.regions}
		found.versions[id] = append(found.versions[id], c)
	}
	if _, known := found.types[about.machineType]; !known && about.machineType != "" {
		found.types[about.machineType] = p.whereIs(path, "machine type "+about.machineType)
	}
}

// partAt returns what stands at a path, or next above it.
func partAt(parts map[string]part, path string) part {
	for above := range fieldpath.Upward(path) {
		if found, known := parts[above]; known {
			return found
		}
	}
	return part{}
}

// parts returns what stands where in the profile, by paths, on both sides.
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

// addFlavor adds a flavor of the provider config, and its references, to the parts of the profile.
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

// CauseOf says where there is an error of the profile that may be why a request gets no image: the first about the machine type of
// this name or, if there is none, about the image version or a flavor of it that may fit. It is empty if there is none.
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

// whereIs says where an error about something is: at its path or, in a profile that nobody has written as it is, in that.
func (p *Profile[R]) whereIs(path, about string) string {
	if p.at == nil {
		return "in " + about
	}
	return "at " + path
}

// MisnamedType says where the first machine type with a wrong name is; empty if there is none.
func (p *Profile[R]) MisnamedType() string {
	if p.causes == nil {
		return ""
	}
	return p.causes().typeName
}

// LostIn says where something could not be read that may be the entry of the provider config for an image version; empty if the
// provider config does have the version, or lacks it for certain.
func (p *Profile[R]) LostIn(id provider.ImageVersion) string { return p.lost[id] }
