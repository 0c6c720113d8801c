// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// correspond checks core's image versions and the provider's images one to one (semantics S8). It returns the images
// that selection works with, in core's order: the flavors that both sides have. Selection is more tolerant than the
// check (S7): the references of a flavor that is there twice are added up, and names that the vocabulary does not know
// count for nothing. The paths of such flavors are kept in doubtful.
func (p *compiler[R]) correspond() ([]imageselector.Image[R], finding.List) {
	provided, errs := p.byName()
	seen := map[imageVersion]bool{}
	usable := make([]imageselector.Image[R], 0, len(p.spec.MachineImages))
	for i := range p.spec.MachineImages {
		image := &p.spec.MachineImages[i]
		path := p.at.Child("machineImages").Index(i)
		entries, found := provided[image.Name]
		if !found && p.definesVersions(image) {
			errs = append(errs, p.unlessUnread(p.maybeUnreadImage(), p.imageMissing(image, path))...)
		}
		versions := make([]imageselector.Version[R], 0, len(image.Versions))
		for k := range image.Versions {
			version := &image.Versions[k]
			id := imageVersion{image.Name, version.Version}
			if seen[id] {
				continue // core refuses the second one
			}
			seen[id] = true
			errs = append(errs, p.checkInherited(id, version, entries, path.Child("versions").Index(k))...)
			if p.inherits(id) && !redefined(version, entries) {
				continue
			}
			flavors, versionErrs := p.correspondVersion(id, version, entries, path.Child("versions").Index(k))
			errs = append(errs, versionErrs...)
			if entries != nil && len(entries.versions[version.Version]) > 0 {
				versions = append(versions, imageselector.Version[R]{
					Version: version.Version, Flavors: flavors, Undeclared: undeclaredBy(version),
				})
			}
		}
		if found {
			usable = append(usable, imageselector.Image[R]{Name: image.Name, Versions: versions})
		}
	}
	return usable, errs
}

// silence takes down errors that others explain.
func (p *compiler[R]) silence(errs ...finding.Finding) {
	p.report.Silenced = append(p.report.Silenced, errs...)
}

// unlessUnread returns errors, or silences them if they may be there because something could not be read.
func (p *compiler[R]) unlessUnread(unread bool, errs ...finding.Finding) finding.List {
	if unread {
		p.silence(errs...)
		return nil
	}
	return errs
}

// imageMissing returns the error for an image of core, which stands at the path at, that the provider config lacks. It
// stands for the errors that its versions are missing.
func (p *compiler[R]) imageMissing(image *v1beta1.MachineImage, at *field.Path) finding.Finding {
	list := p.at.Child("providerConfig", "machineImages")
	missing := finding.New(ruleImageMissing, field.ErrorTypeRequired, at, nil, fmt.Sprintf(
		"%s: the provider config has no image of that name; add it, with its versions, under %s", image.Name, list))
	for i := range image.Versions {
		if id := (imageVersion{image.Name, image.Versions[i].Version}); !p.inherits(id) {
			missing.Parts = append(missing.Parts, versionMissing(id, at.Child("versions").Index(i), list))
		}
	}
	return missing
}

// versionMissing returns the error for an image version of core, which stands at the path at, that the provider config
// lacks. It belongs to the list under.
func versionMissing(id imageVersion, at, under *field.Path) finding.Finding {
	return finding.New(ruleVersionMissing, field.ErrorTypeRequired, at, nil,
		fmt.Sprintf("%s: the provider config has no entry for this version; add one under %s", id, under))
}

// correspondVersion checks one version of core, which stands at the path at, with the provider's entries for its image;
// nil if the provider config does not have the image.
func (p *compiler[R]) correspondVersion(
	id imageVersion, version *v1beta1.MachineImageVersion, entries *imageEntries[R], at *field.Path,
) ([]imageselector.Flavor[R], finding.List) {
	c := p.newCorrespondence(id, version, at)
	if entries == nil {
		return nil, c.errs
	}
	c.entries = entries.versions[version.Version]
	switch {
	case len(c.entries) > 0:
		ofCore := len(c.errs)
		c.check()
		if slices.ContainsFunc(c.entries, func(e *imageselector.Version[R]) bool { return p.unread.Touches(e.Path) }) {
			p.silence(c.errs[ofCore:]...)
			c.errs = c.errs[:ofCore]
		}
	default:
		missing := versionMissing(id, at, entries.images[0].Path.Child("versions"))
		c.errs = append(c.errs, p.unlessUnread(p.maybeUnreadVersion(entries), missing)...)
	}
	p.silence(c.silenced...)
	return c.usable, c.errs
}

// newCorrespondence compiles the core flavors of a version.
func (p *compiler[R]) newCorrespondence(
	id imageVersion, version *v1beta1.MachineImageVersion, at *field.Path,
) *correspondence[R] {
	n := len(version.CapabilityFlavors)
	c := &correspondence[R]{
		vocabulary: p.vocabulary, name: id.String(), at: at, namespaced: p.parent != nil,
		undeclaredValues: undeclaredBy(version), carried: carriedBy(p.vocabulary, version),
		bySet: make(map[capability.Set]int, n), taken: make(map[capability.Set]*imageselector.Flavor[R], n),
		stray: map[capability.Set]*imageselector.Flavor[R]{},
		fits:  map[shape]fit[R]{}, doubtful: p.doubtful,
	}
	c.addCoreFlavors(version)
	return c
}

// bothUpdates is what an image supports whose version core lists as fit for updates in place.
var bothUpdates = v1beta1.Capabilities{capability.UpdateType: {capability.UpdateTypeInPlace, capability.UpdateTypeRolling}}

// undeclaredBy returns what a version of core supports of worker capabilities that its flavors do not declare, apart
// from what holds for all versions (semantics S3). It must not be changed.
func undeclaredBy(version *v1beta1.MachineImageVersion) v1beta1.Capabilities {
	if version.InPlaceUpdates != nil && version.InPlaceUpdates.Supported {
		return bothUpdates
	}
	return nil
}

// carriedBy returns the reserved capabilities, not registered, that core flavors of a version declare. Gardener v1.150
// refuses them.
func carriedBy(vocabulary *capability.Vocabulary, version *v1beta1.MachineImageVersion) map[string]bool {
	var carried map[string]bool
	for i := range version.CapabilityFlavors {
		for name := range version.CapabilityFlavors[i].Capabilities {
			if !strings.HasPrefix(name, capability.ReservedPrefix) || vocabulary.IsRegistered(name) {
				continue
			}
			if carried == nil {
				carried = map[string]bool{}
			}
			carried[name] = true
		}
	}
	return carried
}

// imageEntries holds the provider images of one name and their versions. Several entries of one version are one
// (semantics S7).
type imageEntries[R any] struct {
	images   []*imageselector.Image[R]
	versions map[string][]*imageselector.Version[R]
}

// byName indexes the provider's images, and reports names that are missing or used twice.
func (p *compiler[R]) byName() (map[string]*imageEntries[R], finding.List) {
	var errs finding.List
	index := make(map[string]*imageEntries[R], len(p.images))
	for i := range p.images {
		image := &p.images[i]
		entry := index[image.Name]
		switch {
		case image.Name == "":
			errs = append(errs, p.nameMissing(image.Path, "name", "image")...)
			entry = &imageEntries[R]{versions: map[string][]*imageselector.Version[R]{}}
		case entry != nil:
			errs = append(errs, finding.New(ruleImageDuplicate, field.ErrorTypeDuplicate, image.Path.Child("name"), image.Name,
				fmt.Sprintf("image %s stands in %s already; put its versions there", image.Name, entry.images[0].Path)))
		default:
			entry = &imageEntries[R]{versions: make(map[string][]*imageselector.Version[R], len(image.Versions))}
			index[image.Name] = entry
		}
		entry.images = append(entry.images, image)
		for k := range image.Versions {
			version := &image.Versions[k]
			if version.Version == "" {
				errs = append(errs, p.nameMissing(version.Path, "version", "image version")...)
			}
			entry.versions[version.Version] = append(entry.versions[version.Version], version)
		}
	}
	return index, errs
}

// nameMissing reports a name that is not there, unless that is because the entry could not be read.
func (p *compiler[R]) nameMissing(at *field.Path, name, what string) finding.List {
	return p.unlessUnread(p.unread.Touches(at), nameMissing(at, name, what))
}

func nameMissing(at *field.Path, name, what string) finding.Finding {
	return finding.New(ruleNameMissing, field.ErrorTypeRequired, at.Child(name), nil, "every "+what+" needs a "+name)
}
