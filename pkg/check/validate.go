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

// CloudProfile reports the errors and warnings of a CloudProfile (semantics S6 to S9), ordered by path. It checks this object alone. The
// profile is that of [profile.Compile].
func CloudProfile[R any](cloud provider.Provider[R], object *v1beta1.CloudProfile) (*profile.Profile[R], finding.Report) {
	at := field.NewPath("spec")
	p, r := profile.Read(cloud, &object.Spec, at)
	c := newChecker(p, r, at.Child("regions").String())
	c.size(object)
	c.workerCapabilities()
	return p, c.withWarnings()
}

// CloudProfileUpdate reports on an update of a CloudProfile what [CloudProfile] reports on the object. stored is old, compiled.
// Errors that old has already are warnings (semantics S10). For the effects on the profile's users, see [Effects]. None of the
// arguments is changed.
func CloudProfileUpdate[R any](stored *profile.Profile[R], updated, old *v1beta1.CloudProfile) (*profile.Profile[R], finding.Report) {
	p, report := CloudProfile(stored.Provider(), updated)
	before := ratchet.Judged{Object: old, Report: stored.Faults()}
	return p, ratchet.Excuse(ratchet.Judged{Object: updated, Report: report}, before).Sorted()
}

// NamespacedCloudProfile reports everything that is wrong with a NamespacedCloudProfile whose parent is given,
// and everything in it that is worth a warning (semantics S11), ordered by path. What is wrong with the parent is not
// reported. Paths are those of the NamespacedCloudProfile, which is neither changed nor kept. The profile is what the two result in.
func NamespacedCloudProfile[R any](
	parent *profile.Profile[R], object *v1beta1.NamespacedCloudProfile,
) (*profile.Profile[R], finding.Report) {
	own := readNamespaced(parent, object)
	p, err := namespaced.Extend(parent, object)
	c := newChecker(p, own, "the regions of CloudProfile "+object.Spec.Parent.Name)
	c.unrendered = err != nil
	return p, c.withWarnings()
}

// NamespacedCloudProfileUpdate reports on an update of a NamespacedCloudProfile what [NamespacedCloudProfile] reports on the object.
// Errors that old has already are warnings (semantics S10).
func NamespacedCloudProfileUpdate[R any](
	parent *profile.Profile[R], updated, old *v1beta1.NamespacedCloudProfile,
) (*profile.Profile[R], finding.Report) {
	p, report := NamespacedCloudProfile(parent, updated)
	before := ratchet.Judged{Object: old, Report: readNamespaced(parent, old).Report}
	return p, ratchet.Excuse(ratchet.Judged{Object: updated, Report: report}, before).Sorted()
}

// checker looks for what is worth a warning in an object, a CloudProfile or a NamespacedCloudProfile.
type checker[R any] struct {
	*profile.Reading[R]
	// profile is what the object results in.
	profile *profile.Profile[R]
	// unrendered says that profile lacks what the provider config of a NamespacedCloudProfile adds.
	unrendered bool
	// regions says in messages where the regions are listed.
	regions string
	// slips are the misspelt regions of the provider config. followed has, by misspelt region, the warnings that follow from it.
	slips    slips
	followed map[string]finding.List
	// bare are the regions in which nothing has an image; of a NamespacedCloudProfile none, since they are its parent's.
	bare sets.Set[string]
	// imaged are the others, in the order of the profile.
	imaged []string
	// kinds are those of usable machine types, of which a check looks at what maxLooks allows. looks counts for one check.
	kinds []kind
	looks int
}

func newChecker[R any](p *profile.Profile[R], r *profile.Reading[R], regions string) *checker[R] {
	return &checker[R]{Reading: r, profile: p, regions: regions}
}

// machine returns what a machine type supports; the zero Set if there is none of that name.
func (c *checker[R]) machine(name string) capability.Set {
	m, _ := c.profile.Machine(name)
	return m.Set
}
