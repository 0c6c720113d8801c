// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"
	"strings"
	"sync"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/profile/internal/onetoone"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// correspond checks core's image versions and the provider's images one to one (semantics S8). It returns the images for selection, in
// core's order: the flavors that both sides have. Selection is more tolerant than the check (S7): it combines the references of repeated
// flavors, and ignores unregistered names. doubtful records the paths of these flavors.
func (r *Reading[R]) correspond() []imageselector.Image[R] {
	provided := r.byName()
	mayBeThere := sync.OnceValue(func() bool { return r.maybeUnreadImage() || len(r.nameless(provided)) > 0 })
	usable := make([]imageselector.Image[R], 0, len(r.Spec.MachineImages))
	for i := range r.Spec.MachineImages {
		image := &r.Spec.MachineImages[i]
		path := r.At.Child("machineImages").Index(i)
		entries, found := provided[image.Name]
		switch {
		case image.Name == "": // reported by core
			onetoone.ReportUnless(true, &r.Report, r.imageMissing(image, path))
		case found:
			r.checkVersions(image, path, entries)
		case r.derivesSome(image) && !mayBeThere():
			entries = withoutEntries[R]()
		case r.definesVersions(image) && !r.Report.LeavesOut():
			onetoone.ReportUnless(mayBeThere(), &r.Report, r.imageMissing(image, path))
		}
		versions := make([]imageselector.Version[R], 0, len(image.Versions))
		for k := range image.Versions {
			version, at := &image.Versions[k], path.Child("versions").Index(k)
			id := provider.ImageVersion{Image: image.Name, Version: version.Version}
			if id.Version == "" { // reported by core; errors in its flavors do not depend on the name
				r.Report.Add(r.compareVersion(id, version, at).Report)
				onetoone.ReportUnless(true, &r.Report, r.versionMissing(id, at, r.images()))
				continue
			}
			if !r.isCompared(id, version, entries) {
				continue
			}
			c := r.correspondVersion(id, version, entries, at)
			r.Report.Add(c.Report)
			r.plain += c.Plain
			if len(c.Entries) > 0 || len(c.Usable) > 0 {
				versions = append(versions, imageselector.Version[R]{
					Version: version.Version, Flavors: c.Usable, Undeclared: c.Undeclared,
				})
			}
		}
		if entries != nil {
			usable = append(usable, imageselector.Image[R]{Name: image.Name, Versions: versions})
		}
	}
	return usable
}

// checkVersions reports an image of core, at the path at, of which the provider config has no version, if core lists several to map.
func (r *Reading[R]) checkVersions(image *v1beta1.MachineImage, at *field.Path, entries *imageEntries[R]) {
	if r.deriver != nil || len(entries.versions) > 0 || len(r.eachMissing(image, at, at)) < 2 || r.Report.LeavesOut() {
		return
	}
	onetoone.ReportUnless(entries.mayBeUnread(), &r.Report, r.versionsMissing(image, at, entries.images[0].Path.Child("versions")))
	entries.told = true
}

// definesVersions reports whether an image of core has versions that need mappings, because they are not the parent's. Core itself reports
// an image without versions.
func (r *Reading[R]) definesVersions(image *v1beta1.MachineImage) bool {
	return slices.ContainsFunc(image.Versions, func(v v1beta1.MachineImageVersion) bool {
		return !r.Inherits(provider.ImageVersion{Image: image.Name, Version: v.Version})
	})
}

// isCompared reports whether a version of core is compared. A repeated version, which core refuses, is not. One of the parent is if the
// object describes it on both sides: it may only do so if it had the version first, but in any case this description is rendered.
func (r *Reading[R]) isCompared(id provider.ImageVersion, version *v1beta1.MachineImageVersion, entries *imageEntries[R]) bool {
	return r.core[id] == version &&
		(!r.Inherits(id) || Describes(version) && entries != nil && len(entries.versions[version.Version]) > 0)
}

// Describes reports whether a version of core lists flavors or architectures.
func Describes(version *v1beta1.MachineImageVersion) bool {
	return len(version.CapabilityFlavors)+len(version.Architectures) > 0
}

// SupportsTheSame reports whether a version that a NamespacedCloudProfile shares with its parent supports the same as the parent's mapping.
func (r *Reading[R]) SupportsTheSame(parent *Profile[R], v entries.Version) bool {
	c := r.compareVersion(v.ID, v.MachineImageVersion, r.At)
	mapped := sets.New[capability.Set]()
	for _, f := range parent.catalog.Flavors(v.ID.Image, v.ID.Version) {
		if !parent.doubtful[f.Path] {
			set, _ := r.vocabulary.Flavor(f.Capabilities, c.Undeclared, nil)
			mapped.Insert(c.AsCore(f.Capabilities, set))
		}
	}
	return mapped.Equal(c.Sets())
}

// imageMissing returns the error about an image of core, at the path at, that the provider config lacks. It stands for those about its
// versions.
func (r *Reading[R]) imageMissing(image *v1beta1.MachineImage, at *field.Path) finding.Finding {
	add := "add it there, with its versions"
	if r.inConfig {
		add = "add it, with its versions, under " + r.images().String()
	}
	missing := ruleImageMissing.Fault(field.ErrorTypeRequired, at, nil,
		"%s: %s has no image of that name; %s", image.Name, r.policies.Mapping("the provider config"), r.remedy(add, image.Name, image.Versions...))
	missing.Parts = r.eachMissing(image, at, r.images())
	return missing
}

// versionsMissing returns the error about an image of core, at the path at, without versions in the provider config, where they belong in
// the list at the path under. It stands for the errors about each version.
func (r *Reading[R]) versionsMissing(image *v1beta1.MachineImage, at, under *field.Path) finding.Finding {
	missing := ruleVersionMissing.Fault(field.ErrorTypeRequired, at, nil,
		"%s: %s has no versions of this image; %s", image.Name, r.policies.Mapping("the provider config"),
		r.remedy("add them under "+under.String(), image.Name, image.Versions...))
	missing.Parts = r.eachMissing(image, at, under)
	return missing
}

// eachMissing returns one error for each version that core lists for an image, except inherited ones.
func (r *Reading[R]) eachMissing(image *v1beta1.MachineImage, at, under *field.Path) (errs finding.List) {
	for i := range image.Versions {
		if id := (provider.ImageVersion{Image: image.Name, Version: image.Versions[i].Version}); !r.Inherits(id) {
			errs = append(errs, r.versionMissing(id, at.Child("versions").Index(i), under))
		}
	}
	return errs
}

// images returns the path of the provider config's images.
func (r *Reading[R]) images() *field.Path { return r.At.Child("providerConfig", "machineImages") }

// versionMissing returns the error about an image version of core, at the path at, without an entry, which belongs in the list at the path
// under if the provider config maps images.
func (r *Reading[R]) versionMissing(id provider.ImageVersion, at, under *field.Path) finding.Finding {
	add := "add one there"
	if r.inConfig {
		add = "add one under " + under.String()
	}
	if version := r.core[id]; version != nil {
		add = r.remedy(add, id.Image, *version)
	}
	return ruleVersionMissing.Fault(field.ErrorTypeRequired, at, nil,
		"%s: %s has no entry for this version; %s", id, r.policies.Mapping("the provider config"), add)
}

// remedy returns what to do about missing versions of an image: to add them, except those that only extend a version of the parent, which
// lacks it.
func (r *Reading[R]) remedy(add, image string, versions ...v1beta1.MachineImageVersion) string {
	var astray []string
	own := false
	for i := range versions {
		switch v := &versions[i]; {
		case r.Inherits(provider.ImageVersion{Image: image, Version: v.Version}):
		case r.inherited != nil && gardenerrules.Extends(v):
			astray = append(astray, v.Version)
		default:
			own = true
		}
	}
	if len(astray) == 0 {
		return add
	}
	correct := "the parent has no " + image + "@" + words.And(astray) + " that could be extended: correct the version, or remove it"
	if own {
		return add + "; " + correct
	}
	return correct
}

// correspondVersion checks a version of core, at the path at, against the provider's entries for its image. entries is nil if the provider
// config lacks the image.
func (r *Reading[R]) correspondVersion(
	id provider.ImageVersion, version *v1beta1.MachineImageVersion, entries *imageEntries[R], at *field.Path,
) *onetoone.Comparison[R] {
	c := r.compareVersion(id, version, at)
	if entries == nil {
		return c
	}
	c.Entries = entries.versions[version.Version]
	if r.deriver != nil && !slices.ContainsFunc(c.Entries, r.unreadIn) && !r.unreadRegion() && (len(c.Entries) > 0 || !entries.mayBeUnread()) {
		c.Derive = func(set capability.Set, at *field.Path) *imageselector.Global[R] { return r.derive(id, set, at) }
	}
	if len(c.Entries) == 0 && c.DeriveMissing() {
		c.ReportMissing()
		return c
	}
	if len(c.Entries) == 0 {
		if entries.told || c.LeavesOut() {
			return c
		}
		list := r.images()
		if images := entries.images; len(images) > 0 && strings.HasPrefix(images[0].Path.String(), list.String()) {
			list = images[0].Path.Child("versions")
		}
		missing := r.versionMissing(id, at, list)
		if entry := entries.meant(id.Version); entry != nil {
			missing = ruleVersionMissing.Fault(field.ErrorTypeRequired, at, nil,
				"%s: the provider config has no entry for this version; if %s at %s is for it, write %s there, because versions are compared as text",
				id, entry.Version, entry.Path, id.Version)
		}
		onetoone.ReportUnless(entries.mayBeUnread() || len(entries.nameless()) > 0, &c.Report, missing)
		return c
	}
	ofCore := len(c.Report.Errors)
	if images := entries.images; len(images) > 1 {
		c.Image = images[0].Path
	}
	c.Check()
	if slices.ContainsFunc(c.Entries, r.unreadIn) {
		c.Report.Silenced = slices.Concat(c.Report.Errors[ofCore:], c.Report.Silenced)
		c.Report.Errors = c.Report.Errors[:ofCore]
	}
	return c
}

// meantFor returns a function that finds the entry that was probably meant for a missing version, or nil: the first that core does not list
// and that has more or fewer parts.
func (r *Reading[R]) meantFor(entries *imageEntries[R]) func(version string) *imageselector.Version[R] {
	var unlisted []*imageselector.Version[R]
	var names []string
	for _, image := range entries.images {
		for i := range image.Versions {
			if entry := &image.Versions[i]; r.core[provider.ImageVersion{Image: image.Name, Version: entry.Version}] == nil {
				unlisted, names = append(unlisted, entry), append(names, entry.Version)
			}
		}
	}
	find := words.FindAlike(names)
	return func(version string) *imageselector.Version[R] {
		if i := find(version); i >= 0 {
			return unlisted[i]
		}
		return nil
	}
}

// compareVersion returns the comparison of a version of core, at the path at, without entries of the provider config.
func (r *Reading[R]) compareVersion(id provider.ImageVersion, version *v1beta1.MachineImageVersion, at *field.Path) *onetoone.Comparison[R] {
	c := onetoone.New[R](onetoone.Version{
		Listed: version, Name: id.String(), At: at, Vocabulary: r.vocabulary, EitherFormat: r.eitherFormat, Undeclared: Undeclared(version),
		Quiet: r.Report.Full(),
	})
	c.Doubtful, c.Where = r.doubtful, r.whereMissing
	return c
}

// bothUpdates are the update types of an image version that core marks as fit for updates in place.
var bothUpdates = v1beta1.Capabilities{capability.UpdateType: {capability.UpdateTypeInPlace, capability.UpdateTypeRolling}}

// Undeclared returns the values of worker capabilities that a version of core supports if its flavors do not declare them, as far as they
// differ from the definitions (semantics S3). It returns nil for nil. The result must not be modified.
func Undeclared(version *v1beta1.MachineImageVersion) v1beta1.Capabilities {
	if version != nil && version.InPlaceUpdates != nil && version.InPlaceUpdates.Supported {
		return bothUpdates
	}
	return nil
}

// imageEntries holds the provider images of one name. Several entries of one version are treated as one (semantics S7).
type imageEntries[R any] struct {
	images   []*imageselector.Image[R]
	versions map[string][]*imageselector.Version[R]
	// meant, mayBeUnread and nameless memoize meantFor, maybeUnreadVersion and absent, because many versions may need them.
	meant       func(version string) *imageselector.Version[R]
	mayBeUnread func() bool
	nameless    func() []string
	// told is set once it has been reported that the image has no versions.
	told bool
}

// byName indexes the provider's images. It reports names that are used twice, and missing names, except those of unreadable entries.
func (r *Reading[R]) byName() map[string]*imageEntries[R] {
	index := make(map[string]*imageEntries[R], len(r.Images))
	for i := range r.Images {
		image := &r.Images[i]
		entry := index[image.Name]
		switch {
		case image.Name == "":
			entry = &imageEntries[R]{versions: map[string][]*imageselector.Version[R]{}}
		case entry != nil:
			r.Report.Found(ruleImageDuplicate, field.ErrorTypeDuplicate, image.Path.Child("name"), image.Name,
				"image %s is in %s already; put there what that lacks, and remove this entry", image.Name, entry.images[0].Path)
		default:
			entry = &imageEntries[R]{versions: make(map[string][]*imageselector.Version[R], len(image.Versions))}
			index[image.Name] = entry
		}
		entry.images = append(entry.images, image)
		for k := range image.Versions {
			version := &image.Versions[k]
			entry.versions[version.Version] = append(entry.versions[version.Version], version)
		}
	}
	inCore := sync.OnceValue(r.imagesByName)
	for _, entry := range index {
		meant := sync.OnceValue(func() func(string) *imageselector.Version[R] { return r.meantFor(entry) })
		entry.meant = func(version string) *imageselector.Version[R] { return meant()(version) }
		entry.mayBeUnread = sync.OnceValue(func() bool { return r.maybeUnreadVersion(entry) })
		entry.nameless = sync.OnceValue(func() []string { return r.absent(entry, inCore()) })
	}
	r.checkNames(index)
	return index
}

// checkNames reports images and versions of the provider config without a name.
func (r *Reading[R]) checkNames(index map[string]*imageEntries[R]) {
	nameless := sync.OnceValue(func() []string { return r.nameless(index) })
	for i := range r.Images {
		image := &r.Images[i]
		if image.Name == "" {
			onetoone.ReportUnless(r.Unread.Touches(image.Path), &r.Report, NameMissing(image.Path, "name", "image", nameless()...))
		}
		for k := range image.Versions {
			version := &image.Versions[k]
			if version.Version != "" || r.Report.LeavesOut() {
				continue
			}
			var meant []string
			if entry := index[image.Name]; entry != nil {
				meant = entry.nameless()
			}
			onetoone.ReportUnless(r.Unread.Touches(version.Path), &r.Report, NameMissing(version.Path, "version", "image version", meant...))
		}
	}
}

// nameless returns the images of core that the provider config lacks, as probable names of its unnamed images. It returns nil if they
// outnumber these.
func (r *Reading[R]) nameless(index map[string]*imageEntries[R]) (names []string) {
	unnamed := 0
	for i := range r.Images {
		if r.Images[i].Name == "" {
			unnamed++
		}
	}
	for i := range r.Spec.MachineImages {
		image := &r.Spec.MachineImages[i]
		if image.Name != "" && index[image.Name] == nil && r.definesVersions(image) && len(names) <= unnamed {
			names = append(names, image.Name)
		}
	}
	if len(names) > unnamed {
		return nil
	}
	return names
}

// imagesByName returns the images of core by name.
func (r *Reading[R]) imagesByName() map[string][]*v1beta1.MachineImage {
	byName := map[string][]*v1beta1.MachineImage{}
	for i := range r.Spec.MachineImages {
		image := &r.Spec.MachineImages[i]
		byName[image.Name] = append(byName[image.Name], image)
	}
	return byName
}

// absent returns the versions of an image of core without an entry, as probable names of its unnamed entries. It returns nil if they
// outnumber these.
func (r *Reading[R]) absent(entries *imageEntries[R], inCore map[string][]*v1beta1.MachineImage) (names []string) {
	unnamed, name := len(entries.versions[""]), entries.images[0].Name
	for _, image := range inCore[name] {
		for k := range image.Versions {
			id := provider.ImageVersion{Image: name, Version: image.Versions[k].Version}
			if id.Version != "" && !r.Inherits(id) && len(entries.versions[id.Version]) == 0 && len(names) <= unnamed {
				names = append(names, id.Version)
			}
		}
	}
	if len(names) > unnamed {
		return nil
	}
	return names
}

// NameMissing returns the error about an entry, at the path at, without a name. name is the field for it, what the kind of entry, and meant
// its probable names.
func NameMissing(at *field.Path, name, what string, meant ...string) finding.Finding {
	one := "one"
	if len(meant) > 0 {
		one = words.JoinFew(meant, " or ") + ", which has no entry"
	}
	return ruleNameMissing.Fault(field.ErrorTypeRequired, at.Child(name), nil,
		"every %s needs a %s; write %s, or remove the entry", what, name, one)
}

// maybeUnreadImage reports whether a seemingly missing image may be unreadable: because the whole list is, perhaps under a misspelt key, or
// because an image has no name.
func (r *Reading[R]) maybeUnreadImage() bool {
	if !r.Unread.Any() || !r.inConfig {
		return false
	}
	nameless := func(image imageselector.Image[R]) bool { return image.Name == "" && r.Unread.Touches(image.Path) }
	return len(r.Images) == 0 || r.Unread.Covers(r.images()) || r.unreadRegion() ||
		slices.ContainsFunc(r.Images, nameless)
}

// maybeUnreadVersion reports whether a seemingly missing version of an image may be unreadable.
func (r *Reading[R]) maybeUnreadVersion(entries *imageEntries[R]) bool {
	unread := func(image *imageselector.Image[R]) bool {
		return len(image.Versions) == 0 && r.Unread.Touches(image.Path) || r.Unread.Covers(image.Path.Child("versions"))
	}
	return r.Unread.Any() && r.inConfig && (r.unreadRegion() || slices.ContainsFunc(entries.images, unread) || slices.ContainsFunc(entries.versions[""], r.unreadIn))
}

// unreadIn reports whether a part of a version could not be read.
func (r *Reading[R]) unreadIn(version *imageselector.Version[R]) bool {
	return r.Unread.Touches(version.Path)
}
