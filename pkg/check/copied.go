// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/memo"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
)

// copies finds references to more artifacts than one reference can have (semantics S9).
type copies[R any] struct {
	// first maps each reference to its first use. more has the further uses of the few references that have some: the first one for each
	// version and set of architectures.
	first map[any]referenceUse[R]
	more  map[any][]referenceUse[R]
	// among holds the references to consider; nil for all.
	among map[any]bool
	// plain records for which types of references equality is that of Go.
	plain map[reflect.Type]bool
}

// maxUses bounds the recorded uses of a reference, because each further use is compared with all of them.
const maxUses = 16

// referenceUse is a flavor with a reference.
type referenceUse[R any] struct {
	*referringFlavor[R]
	// at is the path of the reference, or nil if it is in the parent.
	at *field.Path
}

// referringFlavor is a flavor of an image version.
type referringFlavor[R any] struct {
	*imageselector.Flavor[R]
	id provider.ImageVersion
}

// architectures returns the architectures that the flavor declares; empty if it leaves them out.
func (f *referringFlavor[R]) architectures() []string { return f.Capabilities[capability.Architecture] }

// areReleases reports whether two image versions are different releases of one image. A version with an additional suffix, such as
// 1.2.3-baremetal, is the same release as 1.2.3: it predates flavors, or is being folded into 1.2.3.
func areReleases(v, other provider.ImageVersion) bool {
	return v.Image == other.Image && v.Version != other.Version &&
		!strings.HasPrefix(v.Version, other.Version+"-") && !strings.HasPrefix(other.Version, v.Version+"-")
}

// alike reports whether one artifact can have the architectures of both flavors.
func (f *referringFlavor[R]) alike(other *referringFlavor[R]) bool {
	own, others := f.architectures(), other.architectures()
	return len(own) == 0 || len(others) == 0 || slices.ContainsFunc(own, func(name string) bool { return slices.Contains(others, name) })
}

// same reports whether both flavors belong to one image version and declare the same architectures.
func (f *referringFlavor[R]) same(other *referringFlavor[R]) bool {
	return f.id == other.id && (slices.Equal(f.architectures(), other.architectures()) ||
		sets.New(f.architectures()...).Equal(sets.New(other.architectures()...)))
}

// copiedReference is a reference that a flavor of another architecture, or of another version of the image, already has.
type copiedReference[R any] struct {
	at    *field.Path
	text  string
	first referenceUse[R]
}

// copied warns about references that stand for two architectures, once for each flavor. It also warns about references that stand for two
// releases of an image, once for each pair of versions, at the newer one, which was probably copied. The parent's references come first.
func (c *checker[R]) copied() {
	if sharer, shares := provider.As[provider.ReferenceSharer](c.profile.Provider()); shares && sharer.SharesReferences() {
		return
	}
	known := &copies[R]{first: map[any]referenceUse[R]{}, more: map[any][]referenceUse[R]{}, plain: map[reflect.Type]bool{}}
	if c.Spec != c.profile.Spec() { // it has a parent
		c.addInherited(known)
	}
	versions := copiedVersions[R]{found: map[versionPair][]copiedReference[R]{}}
	for id, version := range entries.Mappings(c.Images) {
		if c.profile.Version(id) == nil {
			continue // unusable, which another warning reports
		}
		for i := range version.Flavors {
			flavor := &version.Flavors[i]
			ofArchitectures, ofVersions := known.look(id, flavor)
			c.copiedArchitecture(id, flavor, ofArchitectures)
			for _, found := range ofVersions {
				versions.add(id, found)
			}
		}
	}
	for _, pair := range versions.pairs {
		found := versions.found[pair]
		name, more := named(found)
		are := "is that"
		if more {
			are = "are those"
		}
		c.Report.Found(ruleReferenceCopied, field.ErrorTypeDuplicate, found[0].at, nil,
			"%s: %s %s of %s, so that machines of both versions boot the same; write the images of %s here, or remove "+
				"one of the two versions", pair[0], name, are, pair[1], pair[0])
	}
}

// versionPair is a pair of image versions with a common reference, the newer one first.
type versionPair [2]provider.ImageVersion

// copiedVersions maps pairs of versions to their common references. pairs lists them in the order of discovery.
type copiedVersions[R any] struct {
	found map[versionPair][]copiedReference[R]
	pairs []versionPair
}

// add adds a reference that another version already has.
func (c *copiedVersions[R]) add(id provider.ImageVersion, reference copiedReference[R]) {
	pair := versionPair{id, reference.first.id}
	if reference.first.at != nil && isNewer(reference.first.id, id) {
		pair, reference.at = versionPair{reference.first.id, id}, reference.first.at
	}
	if c.found[pair] == nil {
		c.pairs = append(c.pairs, pair)
	}
	c.found[pair] = append(c.found[pair], reference)
}

// isNewer reports whether an image version is newer than another one. It is false if they cannot be compared.
func isNewer(id, other provider.ImageVersion) bool {
	a, err := semver.NewVersion(id.Version)
	b, otherErr := semver.NewVersion(other.Version)
	return err == nil && otherErr == nil && a.GreaterThan(b)
}

// addInherited adds the uses in inherited image versions, but only of references that the object itself uses.
func (c *checker[R]) addInherited(known *copies[R]) {
	known.among = map[any]bool{}
	defer func() { known.among = nil }()
	for _, version := range entries.Mappings(c.Images) {
		for i := range version.Flavors {
			for ref := range referencesOf(&version.Flavors[i]) {
				known.among[known.key(ref)] = true
			}
		}
	}
	for v := range c.profile.Versions() {
		if len(c.Catalog.Flavors(v.ID.Image, v.ID.Version)) > 0 || !c.Inherits(v.ID) {
			continue
		}
		flavors := c.profile.Catalog().Flavors(v.ID.Image, v.ID.Version)
		for i := range flavors {
			known.look(v.ID, &flavors[i])
		}
	}
	known.forgetPlaces()
}

func (c *checker[R]) copiedArchitecture(id provider.ImageVersion, flavor *imageselector.Flavor[R], found []copiedReference[R]) {
	if len(found) == 0 {
		return
	}
	first := found[0].first
	of := "flavor " + c.profile.Vocabulary().Format(first.Capabilities)
	if first.id != id {
		of += " of " + first.id.String()
	}
	name, more := named(found)
	are := "is"
	if more {
		are = "are"
	}
	c.Report.Found(ruleReferenceCopied, field.ErrorTypeDuplicate, found[0].at, nil,
		"%s: %s %s also used for %s, and an image has one architecture; write the image for %s here",
		id, name, are, of, c.profile.Vocabulary().Format(flavor.Capabilities))
}

// named names the first reference and the number of further ones: "id 1234 and 2 more". more reports whether there are any.
func named[R any](found []copiedReference[R]) (name string, more bool) {
	distinct := sets.New[string]()
	for _, one := range found {
		distinct.Insert(one.text)
	}
	if distinct.Len() == 1 {
		return found[0].text, false
	}
	return fmt.Sprintf("%s and %d more", found[0].text, distinct.Len()-1), true
}

// look adds the references of a flavor. It returns those that another flavor already has, for another version of the image or else for
// another architecture.
func (c *copies[R]) look(id provider.ImageVersion, flavor *imageselector.Flavor[R]) (ofArchitectures, ofVersions []copiedReference[R]) {
	referring := &referringFlavor[R]{flavor, id}
	for ref, at := range referencesOf(flavor) {
		if c.among != nil && c.isPlain(ref) && !c.among[ref] {
			continue
		}
		key, use := c.key(ref), referenceUse[R]{referring, at}
		first, used := c.first[key]
		if !used {
			c.first[key] = use
			continue
		}
		uses := append([]referenceUse[R]{first}, c.more[key]...)
		k := slices.IndexFunc(uses, func(first referenceUse[R]) bool { return areReleases(first.id, id) && first.alike(referring) })
		alike := func(known referenceUse[R]) bool { return known.alike(referring) }
		if k >= 0 || !slices.ContainsFunc(uses, alike) {
			text := referenceText(ref)
			switch {
			case text == "":
				continue
			case k >= 0:
				ofVersions = append(ofVersions, copiedReference[R]{at, text, uses[k]})
			default:
				ofArchitectures = append(ofArchitectures, copiedReference[R]{at, text, first})
			}
		}
		if len(uses) < maxUses && !slices.ContainsFunc(uses, func(known referenceUse[R]) bool { return known.same(referring) }) {
			c.more[key] = append(c.more[key], use)
		}
	}
	return ofArchitectures, ofVersions
}

// forgetPlaces marks all uses so far as those of a parent.
func (c *copies[R]) forgetPlaces() {
	for key, use := range c.first {
		use.at = nil
		c.first[key] = use
	}
	for _, uses := range c.more {
		for i := range uses {
			uses[i].at = nil
		}
	}
}

// referencesOf yields the references of a flavor and their paths, those for single regions first.
func referencesOf[R any](flavor *imageselector.Flavor[R]) iter.Seq2[R, *field.Path] {
	return func(yield func(R, *field.Path) bool) {
		for i := range flavor.Regional {
			if !yield(flavor.Regional[i].Ref, flavor.Regional[i].Path) {
				return
			}
		}
		if flavor.Global != nil {
			yield(flavor.Global.Ref, flavor.Global.Path)
		}
	}
}

// key returns a comparable key of a reference: the reference itself or, if equality is not that of Go, its JSON.
func (c *copies[R]) key(ref R) any {
	if c.isPlain(ref) {
		return ref
	}
	raw, _ := json.Marshal(ref)
	return string(raw)
}

// isPlain reports whether equality of references of this type is that of Go.
func (c *copies[R]) isPlain(ref R) bool {
	t := reflect.TypeOf(ref)
	return memo.Get(c.plain, t, func() bool { return t != nil && isPlain(t) })
}

// isPlain reports whether a type consists only of strings, numbers and booleans.
func isPlain(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return t.Kind() == reflect.String || t.Kind() <= reflect.Complex128
	}
	for i := range t.NumField() {
		if !isPlain(t.Field(i).Type) {
			return false
		}
	}
	return true
}

// referenceText formats a reference for messages by its fields and values: "id 1234". It returns "" for an empty reference.
func referenceText(ref any) string {
	raw, _ := json.Marshal(ref)
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return strings.Trim(string(raw), `"`)
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if value := fmt.Sprint(fields[name]); value != "" {
			words = append(words, name+" "+value)
		}
	}
	return strings.Join(words, ", ")
}
