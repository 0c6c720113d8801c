// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// correspond checks core's image versions and the provider's images one to one (semantics S8). It returns the images
// that selection works with, in core's order: the flavors that both sides have. Selection is more tolerant than the
// check (S7): the references of a flavor that is there twice are added up, and names that the vocabulary does not know
// count for nothing. The paths of such flavors are kept in doubtful.
func (p *compiler[R]) correspond() []imageselector.Image[R] {
	provided, mayBeUnread := p.byName(), sync.OnceValue(p.maybeUnreadImage)
	usable := make([]imageselector.Image[R], 0, len(p.spec.MachineImages))
	for i := range p.spec.MachineImages {
		image := &p.spec.MachineImages[i]
		path := p.at.Child("machineImages").Index(i)
		entries, found := provided[image.Name]
		if !found && p.definesVersions(image) && !p.leavesOut() {
			reportUnless(mayBeUnread(), &p.report, p.imageMissing(image, path))
		}
		versions := make([]imageselector.Version[R], 0, len(image.Versions))
		for k := range image.Versions {
			version, at := &image.Versions[k], path.Child("versions").Index(k)
			id := imageVersion{image.Name, version.Version}
			if p.core[id] != version {
				continue // core refuses the second one
			}
			p.checkInherited(id, version, entries, at)
			if p.inherits(id) && !redefined(version, entries) {
				continue
			}
			c := p.correspondVersion(id, version, entries, at)
			p.report.Add(c.report)
			if len(c.entries) > 0 {
				versions = append(versions, imageselector.Version[R]{
					Version: version.Version, Flavors: c.usable, Undeclared: c.undeclaredValues,
				})
			}
		}
		if found {
			usable = append(usable, imageselector.Image[R]{Name: image.Name, Versions: versions})
		}
	}
	return usable
}

// reportUnless adds errors to a report, unless that is full; as silenced ones if others may explain them.
func reportUnless(explained bool, report *finding.Report, errs ...finding.Finding) {
	if report.Full() && len(errs) > 0 {
		report.ErrorsLeftOut = true
		return
	}
	list := &report.Errors
	if explained {
		list = &report.Silenced
	}
	*list = append(*list, errs...)
}

// imageMissing returns the error for an image of core, at the path at, which stands for those about its versions.
func (p *compiler[R]) imageMissing(image *v1beta1.MachineImage, at *field.Path) finding.Finding {
	list := p.at.Child("providerConfig", "machineImages")
	missing := fault(ruleImageMissing, field.ErrorTypeRequired, at, nil,
		"%s: the provider config has no image of that name; add it, with its versions, under %s", image.Name, list)
	for i := range image.Versions {
		if id := (imageVersion{image.Name, image.Versions[i].Version}); !p.inherits(id) {
			missing.Parts = append(missing.Parts, versionMissing(id, at.Child("versions").Index(i), list))
		}
	}
	return missing
}

// versionMissing returns the error for an image version of core, at the path at, that belongs to the list under.
func versionMissing(id imageVersion, at, under *field.Path) finding.Finding {
	return fault(ruleVersionMissing, field.ErrorTypeRequired, at, nil,
		"%s: the provider config has no entry for this version; add one under %s", id, under)
}

// correspondVersion checks one version of core, which stands at the path at, with the provider's entries for its image;
// nil if the provider config does not have the image.
func (p *compiler[R]) correspondVersion(
	id imageVersion, version *v1beta1.MachineImageVersion, entries *imageEntries[R], at *field.Path,
) *correspondence[R] {
	c := p.newCorrespondence(id, version, at)
	if entries == nil {
		return c
	}
	c.entries = entries.versions[version.Version]
	if len(c.entries) == 0 {
		if c.leavesOut() {
			return c
		}
		missing := versionMissing(id, at, entries.images[0].Path.Child("versions"))
		if entry := entries.meant(id.version); entry != nil {
			missing = fault(ruleVersionMissing, field.ErrorTypeRequired, at, nil,
				"%s: the provider config has no entry for this version; if %s at %s is for it, write %s there, for versions are compared as text",
				id, entry.Version, entry.Path, id.version)
		}
		reportUnless(entries.mayBeUnread(), &c.report, missing)
		return c
	}
	ofCore := len(c.report.Errors)
	c.check()
	if slices.ContainsFunc(c.entries, p.unreadIn) {
		c.report.Silenced = slices.Concat(c.report.Errors[ofCore:], c.report.Silenced)
		c.report.Errors = c.report.Errors[:ofCore]
	}
	return c
}

// meantFor returns what finds the first entry of the provider config for an image version that core does not list, and that has
// more parts than one that is missing, or fewer; nil if there is none.
func (p *compiler[R]) meantFor(entries *imageEntries[R]) func(version string) *imageselector.Version[R] {
	var unlisted []*imageselector.Version[R]
	var names []string
	for _, image := range entries.images {
		for i := range image.Versions {
			if entry := &image.Versions[i]; p.core[imageVersion{image.Name, entry.Version}] == nil {
				unlisted, names = append(unlisted, entry), append(names, entry.Version)
			}
		}
	}
	find := findAlike(names)
	return func(version string) *imageselector.Version[R] {
		if i := find(version); i >= 0 {
			return unlisted[i]
		}
		return nil
	}
}

// newCorrespondence compiles the core flavors of a version.
func (p *compiler[R]) newCorrespondence(
	id imageVersion, version *v1beta1.MachineImageVersion, at *field.Path,
) *correspondence[R] {
	n := len(version.CapabilityFlavors)
	c := &correspondence[R]{
		vocabulary: p.vocabulary, name: id.String(), at: at, namespaced: p.parent != nil,
		quiet: p.report.Full(), undeclaredValues: undeclaredBy(version), carried: carriedBy(p.vocabulary, version),
		bySet: make(map[capability.Set]*coreFlavor[R], n), taken: make(map[capability.Set]*imageselector.Flavor[R], n),
		stray: map[capability.Set]*imageselector.Flavor[R]{},
		fits:  map[shape]fit[R]{}, doubtful: p.doubtful,
	}
	c.addCoreFlavors(version)
	return c
}

// bothUpdates is what an image supports whose version core lists as fit for updates in place.
var bothUpdates = v1beta1.Capabilities{capability.UpdateType: {capability.UpdateTypeInPlace, capability.UpdateTypeRolling}}

// undeclaredBy returns what a version of core supports of worker capabilities that its flavors do not declare, apart
// from what holds for all versions (semantics S3); nothing for nil. It must not be changed.
func undeclaredBy(version *v1beta1.MachineImageVersion) v1beta1.Capabilities {
	if version != nil && version.InPlaceUpdates != nil && version.InPlaceUpdates.Supported {
		return bothUpdates
	}
	return nil
}

// carriedBy returns the reserved capabilities, not registered, that core declares. Gardener v1.150 refuses them.
func carriedBy(vocabulary *capability.Vocabulary, version *v1beta1.MachineImageVersion) sets.Set[string] {
	carried := sets.New[string]()
	for i := range version.CapabilityFlavors {
		for name := range version.CapabilityFlavors[i].Capabilities {
			if onlyReserved(vocabulary, name) {
				carried.Insert(name)
			}
		}
	}
	return carried
}

// onlyReserved reports whether a capability is a reserved one that is not registered.
func onlyReserved(vocabulary *capability.Vocabulary, name string) bool {
	return strings.HasPrefix(name, capability.ReservedPrefix) && !vocabulary.IsRegistered(name)
}

// imageEntries holds the provider images of one name. Several entries of one version are one (semantics S7).
type imageEntries[R any] struct {
	images   []*imageselector.Image[R]
	versions map[string][]*imageselector.Version[R]
	// meant is that of meantFor, and mayBeUnread that of maybeUnreadVersion. Many versions may ask.
	meant       func(version string) *imageselector.Version[R]
	mayBeUnread func() bool
}

// byName indexes the provider's images, and reports names that are used twice, or missing, unless that is because the
// entry could not be read.
func (p *compiler[R]) byName() map[string]*imageEntries[R] {
	index := make(map[string]*imageEntries[R], len(p.images))
	for i := range p.images {
		image := &p.images[i]
		entry := index[image.Name]
		switch {
		case image.Name == "":
			reportUnless(p.unread.Touches(image.Path), &p.report, nameMissing(image.Path, "name", "image"))
			entry = &imageEntries[R]{versions: map[string][]*imageselector.Version[R]{}}
		case entry != nil:
			p.report.Found(ruleImageDuplicate, field.ErrorTypeDuplicate, image.Path.Child("name"), image.Name,
				"image %s is in %s already; put its versions there", image.Name, entry.images[0].Path)
		default:
			entry = &imageEntries[R]{versions: make(map[string][]*imageselector.Version[R], len(image.Versions))}
			index[image.Name] = entry
		}
		entry.images = append(entry.images, image)
		for k := range image.Versions {
			version := &image.Versions[k]
			if version.Version == "" && !p.leavesOut() {
				missing := nameMissing(version.Path, "version", "image version")
				reportUnless(p.unread.Touches(version.Path), &p.report, missing)
			}
			entry.versions[version.Version] = append(entry.versions[version.Version], version)
		}
	}
	for _, entry := range index {
		meant := sync.OnceValue(func() func(string) *imageselector.Version[R] { return p.meantFor(entry) })
		entry.meant = func(version string) *imageselector.Version[R] { return meant()(version) }
		entry.mayBeUnread = sync.OnceValue(func() bool { return p.maybeUnreadVersion(entry) })
	}
	return index
}

// leavesOut reports whether the report is full, for an error that is then left out.
func (p *compiler[R]) leavesOut() bool {
	full := p.report.Full()
	if full {
		p.report.ErrorsLeftOut = true
	}
	return full
}

func nameMissing(at *field.Path, name, what string) finding.Finding {
	return fault(ruleNameMissing, field.ErrorTypeRequired, at.Child(name), nil,
		"every %s needs a %s; write one, or remove the entry", what, name)
}

// maybeUnreadImage reports whether an image that seems to be missing may be one that could not be read: the list as a
// whole, perhaps for a misspelt key, or an image without a name.
func (p *compiler[R]) maybeUnreadImage() bool {
	if !p.unread.Any() {
		return false
	}
	nameless := func(image imageselector.Image[R]) bool { return image.Name == "" && p.unread.Touches(image.Path) }
	return len(p.images) == 0 || p.unread.Covers(p.at.Child("providerConfig", "machineImages")) ||
		slices.ContainsFunc(p.images, nameless)
}

// maybeUnreadVersion does the same for a version of an image.
func (p *compiler[R]) maybeUnreadVersion(entries *imageEntries[R]) bool {
	unread := func(image *imageselector.Image[R]) bool {
		return len(image.Versions) == 0 && p.unread.Touches(image.Path) || p.unread.Covers(image.Path.Child("versions"))
	}
	return p.unread.Any() && (slices.ContainsFunc(entries.images, unread) || slices.ContainsFunc(entries.versions[""], p.unreadIn))
}

// unreadIn reports whether a part of a version could not be read.
func (p *compiler[R]) unreadIn(version *imageselector.Version[R]) bool {
	return p.unread.Touches(version.Path)
}
