// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/inventory"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// booted is the image that a flavor refers to in a region.
type booted struct {
	*region
	*inventory.Image
	at *field.Path
	// value is the reference as written.
	value string
}

// version checks the references of an image version in core. It skips expired versions, because nothing boots them.
func (v *verifier[R]) version(listed entries.Version) {
	core := v.profile.Version(listed.ID)
	if core == nil {
		core = listed.MachineImageVersion
	}
	if versions.ExpiredAt(core.ExpirableVersion, v.At) {
		return
	}
	flavors, moved := v.flavors(listed.ID)
	var instead *field.Path
	if moved {
		instead = listed.PathIn(field.NewPath("spec")).Child("version")
	}
	byFlavor := make([]map[string]booted, len(flavors))
	for i := range flavors {
		f := &flavorImages[R]{verifier: v, flavor: &flavors[i], id: listed.ID, instead: instead}
		f.look()
		byFlavor[i] = f.byRegion
	}
	v.disks(listed.ID, byFlavor)
}

// flavorImages checks the images of one flavor.
type flavorImages[R any] struct {
	*verifier[R]
	flavor *imageselector.Flavor[R]
	id     provider.ImageVersion
	// instead is the path for findings if the flavor is written in another object; otherwise nil.
	instead *field.Path
	found   []booted
	// byRegion has the images found, by the name of the region.
	byRegion map[string]booted
}

// reference returns the reference of the flavor in a region, and its path.
func (f *flavorImages[R]) reference(region string) (ref inventory.Ref, at *field.Path, found bool) {
	var written any
	entry := false
	for i := range slices.Backward(f.flavor.Regional) {
		if r := &f.flavor.Regional[i]; r.Region == region {
			written, at, entry = r.Ref, r.Path, r.NamedAt == nil
			break
		}
	}
	if at == nil && f.flavor.Global != nil {
		written, at = f.flavor.Global.Ref, f.flavor.Global.Path
	}
	referrer, is := written.(inventory.Referrer)
	if !is {
		return ref, nil, false
	}
	ref = referrer.InInventory()
	if entry && ref.Field != "" {
		at = at.Child(ref.Field)
	}
	if f.instead != nil {
		at = f.instead
	}
	return ref, at, ref.ID != "" || ref.Name != ""
}

// look finds the images in all regions, and reports problems with them.
func (f *flavorImages[R]) look() {
	f.byRegion = map[string]booted{}
	type missing struct {
		region *region
		ref    inventory.Ref
		at     *field.Path
	}
	var lost []missing
	for _, r := range f.known {
		ref, at, written := f.reference(r.Name)
		if !written || !f.has(r, inventory.ListImages) {
			continue
		}
		images, known := f.find(r, ref)
		value := cmp.Or(ref.ID, ref.Name)
		switch {
		case len(images) == 0 && known:
			lost = append(lost, missing{r, ref, at})
		case len(images) == 0:
			f.gapsOf(r).references = append(f.gapsOf(r).references, value)
		case len(images) > 1:
			f.ambiguous(r, images, ref.Name, at)
		case len(images) == 1:
			b := booted{r, images[0], at, value}
			f.found = append(f.found, b)
			f.byRegion[r.Name] = b
		}
	}
	for _, b := range f.found {
		f.judge(b)
	}
	for _, m := range lost {
		f.missing(m.region, m.ref, m.at)
	}
	f.differs()
}

// claim adds a claim about an image of the flavor.
func (f *flavorImages[R]) claim(found claim, region string) {
	found.what, found.subject = f.id.String()+": "+found.what, finding.Subject{Image: f.id.Image, Version: f.id.Version}
	f.claims.add(found, region)
}

// missing reports that a region lacks an image, and suggests the one that was probably meant.
func (f *flavorImages[R]) missing(r *region, ref inventory.Ref, at *field.Path) {
	if ref.ID == "" {
		var hint string
		meant := r.spellNames().Slip(ref.Name)
		key, _ := f.key(ref.Name)
		switch image := r.byID[key]; {
		case image != nil:
			hint, meant = "; it is the ID of one, "+words.Quoted(image.Name)+": write it in regions", ""
		case meant != "":
			hint = words.DidYouMean(meant)
		default:
			hint = f.elsewhere(r, ref)
		}
		f.claim(claim{
			rule: ruleImageMissing, kind: field.ErrorTypeNotFound, at: at, value: ref.Name, hint: hint, meant: meant,
			what: "the cloud has no image named " + words.Quoted(ref.Name),
		}, r.Name)
		return
	}
	hint, meant := f.meantID(r, ref)
	f.claim(claim{
		rule: ruleImageMissing, kind: field.ErrorTypeNotFound, at: at, value: ref.ID, hint: hint, meant: meant,
		what: "the cloud has no image " + words.Quoted(ref.ID),
	}, r.Name)
}

// meantID suggests the image of a region that was probably meant by an unknown ID.
func (f *flavorImages[R]) meantID(r *region, ref inventory.Ref) (hint, meant string) {
	if named := r.byName[ref.ID]; len(named) == 1 {
		return fmt.Sprintf("; that is the name of image %s: write its ID", words.Quoted(named[0].ID)), named[0].ID
	}
	for _, b := range f.found {
		if alike := r.byName[b.Name]; len(alike) == 1 && f.active(alike[0]) {
			return fmt.Sprintf("; there, image %s, which region %s has for this flavor, is %s",
				words.Quoted(b.Name), b.region.Name, words.Quoted(alike[0].ID)), alike[0].ID
		}
	}
	if meant := r.spellIDs().Slip(ref.ID); meant != "" {
		return words.DidYouMean(meant), meant
	}
	return f.elsewhere(r, ref), ""
}

// elsewhere names the other regions that have an image.
func (f *flavorImages[R]) elsewhere(r *region, ref inventory.Ref) string {
	var regions []string
	for _, name := range f.names {
		if other := f.regions[name]; other != r {
			if images, _ := f.find(other, ref); len(images) > 0 {
				regions = append(regions, name)
			}
		}
	}
	switch len(regions) {
	case 0:
		return ""
	case 1:
		return "; region " + regions[0] + " has it"
	}
	return "; regions " + words.Few(regions) + " have it"
}

// ambiguous reports that several images have the same name.
func (f *flavorImages[R]) ambiguous(r *region, images []*inventory.Image, name string, at *field.Path) {
	var ids []string
	for _, image := range images {
		ids = append(ids, image.ID)
	}
	slices.Sort(ids)
	f.claim(claim{
		rule: ruleImageAmbiguous, kind: field.ErrorTypeInvalid, at: at, value: name,
		what: fmt.Sprintf("%d images have the name %s", len(images), words.Quoted(name)), hint: fmt.Sprintf(": %s; refer to one by its ID", words.Few(ids)),
	}, r.Name)
}

// judge reports problems of a single image.
func (f *flavorImages[R]) judge(b booted) {
	say := func(rule finding.Rule, what, hint string) {
		f.claim(claim{
			rule: rule, kind: field.ErrorTypeInvalid, at: b.at, value: b.value, what: "image " + words.Quoted(shown(b.Image)), about: what,
			hint: " " + what + hint,
		}, b.region.Name)
	}
	if !f.active(b.Image) {
		say(ruleImageInactive, "is "+words.Quoted(b.Status)+", and not active", f.replacement(b))
	}
	switch visibility := strings.ToLower(b.Visibility); visibility {
	case "private":
		say(ruleImageHidden, "is private", "; other projects cannot boot it: make it public, or a community image")
	case "shared":
		say(ruleImageHidden, "is shared", "; projects that it is not shared with cannot boot it: make it public, or a community image")
	}
	set, _ := f.profile.Vocabulary().Flavor(f.flavor.Supported(f.profile.Vocabulary()), nil, nil)
	supported := set.Values(capability.Architecture)
	other := b.Architecture != "" && !slices.Contains(supported, b.Architecture)
	if other {
		is := words.Or(supported)
		say(ruleImageArchitecture, "is for "+words.Quoted(b.Architecture)+", and the flavor for "+is, "; refer to an image for "+is)
	}
	f.properties(b, other, say)
}

// shown returns the name of an image for messages, or its ID if it has none.
func shown(image *inventory.Image) string { return cmp.Or(image.Name, image.ID) }

// replacement suggests an active image with the same name as an inactive one. If there are several, it is the first by ID.
func (f *flavorImages[R]) replacement(b booted) string {
	first := ""
	for _, other := range b.byName[b.Image.Name] {
		if f.active(other) && (first == "" || other.ID < first) {
			first = other.ID
		}
	}
	if first != "" {
		return fmt.Sprintf("; image %s of the same name is active", words.Quoted(first))
	}
	return "; activate it, or refer to another one"
}

// differs reports images whose content differs from that in most regions. If there is a tie, the content of the first region wins.
func (f *flavorImages[R]) differs() {
	regions, order := map[string][]string{}, []string(nil)
	for _, b := range f.found {
		if b.Checksum == "" {
			continue
		}
		if regions[b.Checksum] == nil {
			order = append(order, b.Checksum)
		}
		regions[b.Checksum] = append(regions[b.Checksum], b.region.Name)
	}
	algorithm := func(checksum string) string {
		before, _, _ := strings.Cut(checksum, ":")
		return before
	}
	for _, b := range f.found {
		most := ""
		for _, checksum := range order {
			if b.Checksum != "" && algorithm(checksum) == algorithm(b.Checksum) && len(regions[checksum]) > len(regions[most]) {
				most = checksum
			}
		}
		if most != "" && most != b.Checksum {
			f.claim(claim{
				rule: ruleImageDiffers, kind: field.ErrorTypeInvalid, at: b.at, value: b.value, what: "image " + words.Quoted(shown(b.Image)), about: b.Checksum,
				hint: fmt.Sprintf(" has other content (%s) than in %s %s (%s)", short(b.Checksum), words.Plural(regions[most], "region"),
					words.Few(regions[most]), short(most)),
			}, b.region.Name)
		}
	}
}

// short shortens a checksum to a length that still distinguishes it from others.
func short(checksum string) string {
	const digits = 12
	if end := strings.Index(checksum, ":") + 1 + digits; end < len(checksum) {
		checksum = checksum[:end] + "…"
	}
	return words.Quoted(checksum)
}
