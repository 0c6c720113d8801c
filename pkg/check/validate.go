// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/namespaced"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/ratchet"
)

// CloudProfile returns the errors and warnings of a single CloudProfile (semantics S6 to S9), sorted by path, and the profile as compiled
// by [profile.Compile].
func CloudProfile[R any](cloud provider.Provider[R], object *v1beta1.CloudProfile) (*profile.Profile[R], finding.Report) {
	at := field.NewPath("spec")
	p, r := profile.Read(cloud, &object.Spec, at)
	c := newChecker(p, r, at.Child("regions").String())
	c.size(object)
	c.workerCapabilities()
	return p, c.withWarnings()
}

// CloudProfileUpdate is like [CloudProfile] for an update. stored is the compiled old. Errors that old already has become warnings
// (semantics S10). For the effects on the profile's users, see [Effects]. The arguments are not modified.
func CloudProfileUpdate[R any](stored *profile.Profile[R], updated, old *v1beta1.CloudProfile) (*profile.Profile[R], finding.Report) {
	p, report := CloudProfile(stored.Provider(), updated)
	before := ratchet.Judged{Object: old, Report: stored.Faults()}
	return p, ratchet.Excuse(ratchet.Judged{Object: updated, Report: report}, before).Sorted()
}

// NamespacedCloudProfile returns the errors and warnings of a NamespacedCloudProfile (semantics S11), sorted by path, without those of its
// parent, and the profile that results from both. Paths refer to the object, which is neither modified nor kept.
func NamespacedCloudProfile[R any](
	parent *profile.Profile[R], object *v1beta1.NamespacedCloudProfile,
) (*profile.Profile[R], finding.Report) {
	own := readNamespaced(parent, object)
	p, err := namespaced.Extend(parent, object)
	c := newChecker(p, own, "the regions of CloudProfile "+object.Spec.Parent.Name)
	c.parent, c.unrendered = parent, err != nil
	return p, c.withWarnings()
}

// NamespacedCloudProfileUpdate is like [NamespacedCloudProfile] for an update. Errors that old already has become warnings (semantics S10).
func NamespacedCloudProfileUpdate[R any](
	parent *profile.Profile[R], updated, old *v1beta1.NamespacedCloudProfile,
) (*profile.Profile[R], finding.Report) {
	p, report := NamespacedCloudProfile(parent, updated)
	before := ratchet.Judged{Object: old, Report: readNamespaced(parent, old).Report}
	return p, ratchet.Excuse(ratchet.Judged{Object: updated, Report: report}, before).Sorted()
}

// checker finds the warnings of a CloudProfile or NamespacedCloudProfile.
type checker[R any] struct {
	*profile.Reading[R]
	// profile is the profile that results from the object.
	profile *profile.Profile[R]
	// parent is that of a NamespacedCloudProfile, otherwise nil.
	parent *profile.Profile[R]
	// unrendered reports that profile lacks the additions of a NamespacedCloudProfile's provider config.
	unrendered bool
	// regions names the place where the regions are listed, for messages.
	regions string
	// slips are the misspelt regions of the provider config. followed maps each to the warnings that follow from it.
	slips    slips
	followed map[string]finding.List
	// bare are the regions without any image. It is empty for a NamespacedCloudProfile, because its parent has the regions.
	bare sets.Set[string]
	// imaged are the other regions, in the order of the profile.
	imaged []string
	// kinds are the kinds of usable machine types. looks counts the comparisons of one check, which maxLooks bounds.
	kinds []kind
	looks int
}

func newChecker[R any](p *profile.Profile[R], r *profile.Reading[R], regions string) *checker[R] {
	return &checker[R]{Reading: r, profile: p, regions: regions}
}

// machine returns the capabilities of a machine type, or the zero Set if there is none of that name.
func (c *checker[R]) machine(name string) capability.Set {
	m, _ := c.profile.Machine(name)
	return m.Set
}
