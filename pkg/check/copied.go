// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
)

// copies looks for references that stand for more than one artifact can be (semantics S9).
type copies struct {
	// seen has the uses of each reference so far, by what it is as JSON: the first of each version and set of architectures.
	seen map[string][]referenceUse
}

// maxUses bounds the uses of a reference that are kept: another one is compared with all of them.
const maxUses = 16

// referenceUse is a flavor that has a reference.
type referenceUse struct {
	id      provider.ImageVersion
	written string
	// architectures that the flavor declares; empty if it leaves them out.
	architectures sets.Set[string]
	// at is where the reference stands; nil if it stands in the parent.
	at *field.Path
}

// areReleases reports whether two image versions are of the same image and of different releases. One is of the same release that
// has a suffix in addition, as 1.2.3-baremetal: from before there were flavors, or while it is folded into 1.2.3.
func areReleases(v, other provider.ImageVersion) bool {
	return v.Image == other.Image && v.Version != other.Version &&
		!strings.HasPrefix(v.Version, other.Version+"-") && !strings.HasPrefix(other.Version, v.Version+"-")
}

// alike reports whether one artifact can have the architectures of both flavors.
func (u referenceUse) alike(other referenceUse) bool {
	return u.architectures.Len() == 0 || other.architectures.Len() == 0 || u.architectures.HasAny(other.architectures.UnsortedList()...)
}

// copiedReference is a reference that another flavor has already: of another architecture, or of another version of the image.
type copiedReference struct {
	at    *field.Path
	text  string
	first referenceUse
}

// copied warns about references that stand for two architectures, once for each flavor, and about those for two releases of an
// image, once for each pair of versions: at the newer one, which was probably copied. What a parent lists comes first.
func (c *checker[R]) copied() {
	if sharer, shares := provider.As[provider.ReferenceSharer](c.profile.Provider()); shares && sharer.SharesReferences() {
		return
	}
	known := &copies{seen: map[string][]referenceUse{}}
	c.addInherited(known)
	versions := copiedVersions{found: map[versionPair][]copiedReference{}}
	for id, version := range profile.Mappings(c.Images) {
		if c.profile.Version(id) == nil {
			continue // nobody can use it, which is a warning already
		}
		for i := range version.Flavors {
			flavor := &version.Flavors[i]
			ofArchitectures, ofVersions := lookForCopies(known, id, flavor, c.profile.Vocabulary())
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

// versionPair are two image versions with a reference in common, the newer one first.
type versionPair [2]provider.ImageVersion

// copiedVersions are the references that two versions have in common, by these. pairs has them in the order in which they came up.
type copiedVersions struct {
	found map[versionPair][]copiedReference
	pairs []versionPair
}

// add adds a reference of a version that another one has already.
func (c *copiedVersions) add(id provider.ImageVersion, reference copiedReference) {
	pair := versionPair{id, reference.first.id}
	if reference.first.at != nil && isNewer(reference.first.id, id) {
		pair, reference.at = versionPair{reference.first.id, id}, reference.first.at
	}
	if c.found[pair] == nil {
		c.pairs = append(c.pairs, pair)
	}
	c.found[pair] = append(c.found[pair], reference)
}

// isNewer reports whether an image version is newer than another one. If they cannot be compared, it is not.
func isNewer(id, other provider.ImageVersion) bool {
	a, err := semver.NewVersion(id.Version)
	b, otherErr := semver.NewVersion(other.Version)
	return err == nil && otherErr == nil && a.GreaterThan(b)
}

// addInherited adds the references of all image versions that the object has from its parent.
func (c *checker[R]) addInherited(known *copies) {
	for v := range c.profile.Versions() {
		if len(c.Catalog.Flavors(v.ID.Image, v.ID.Version)) > 0 || !c.Inherits(v.ID) {
			continue
		}
		flavors := c.profile.Catalog().Flavors(v.ID.Image, v.ID.Version)
		for i := range flavors {
			lookForCopies(known, v.ID, &flavors[i], c.profile.Vocabulary())
		}
	}
	for _, uses := range known.seen {
		for i := range uses {
			uses[i].at = nil
		}
	}
}

func (c *checker[R]) copiedArchitecture(id provider.ImageVersion, flavor *imageselector.Flavor[R], found []copiedReference) {
	if len(found) == 0 {
		return
	}
	first := found[0].first
	of := "flavor " + first.written
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

// named names the first reference, and says how many more there are: "id 1234 and 2 more".
func named(found []copiedReference) (name string, more bool) {
	distinct := sets.New[string]()
	for _, one := range found {
		distinct.Insert(one.text)
	}
	if distinct.Len() == 1 {
		return found[0].text, false
	}
	return fmt.Sprintf("%s and %d more", found[0].text, distinct.Len()-1), true
}

// lookForCopies adds the references of a flavor, and returns those that another flavor has already: one of another
// architecture, or else of another version of the image.
func lookForCopies[R any](
	c *copies, id provider.ImageVersion, flavor *imageselector.Flavor[R], vocabulary *capability.Vocabulary,
) (ofArchitectures, ofVersions []copiedReference) {
	use := referenceUse{
		id: id, written: vocabulary.Format(flavor.Capabilities), architectures: sets.New(flavor.Capabilities[capability.Architecture]...),
	}
	look := func(ref R, at *field.Path) {
		key, text := referenceText(ref)
		if text == "" {
			return
		}
		uses := c.seen[key]
		k := slices.IndexFunc(uses, func(first referenceUse) bool { return areReleases(first.id, id) && first.alike(use) })
		switch {
		case k >= 0:
			ofVersions = append(ofVersions, copiedReference{at, text, uses[k]})
		case len(uses) > 0 && !slices.ContainsFunc(uses, use.alike):
			ofArchitectures = append(ofArchitectures, copiedReference{at, text, uses[0]})
		}
		if len(uses) < maxUses && !slices.ContainsFunc(uses, func(known referenceUse) bool {
			return known.id == id && known.architectures.Equal(use.architectures)
		}) {
			use.at = at
			c.seen[key] = append(uses, use)
		}
	}
	for i := range flavor.Regional {
		look(flavor.Regional[i].Ref, flavor.Regional[i].Path)
	}
	if flavor.Global != nil {
		look(flavor.Global.Ref, flavor.Global.Path)
	}
	return ofArchitectures, ofVersions
}

// referenceText returns a reference as JSON, and as messages print it, by its fields and their values: "id 1234". Both are
// empty for one without content.
func referenceText(ref any) (key, text string) {
	raw, err := json.Marshal(ref)
	if err != nil {
		return "", ""
	}
	key = string(raw)
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		return key, strings.Trim(key, `"`)
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if value := fmt.Sprint(fields[name]); value != "" {
			words = append(words, name+" "+value)
		}
	}
	return key, strings.Join(words, ", ")
}
