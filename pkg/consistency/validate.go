// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/ratchet"
)

// ValidateCloudProfile reports everything that is wrong with a CloudProfile, and everything in it that is worth a
// warning (semantics S6 to S9), ordered by path. It looks at one object alone. The profile is that of [Compile].
func ValidateCloudProfile[R any](cloud provider.Provider[R], object *v1beta1.CloudProfile) (*Profile[R], finding.Report) {
	p := compileProfile(cloud, &object.Spec, field.NewPath("spec"))
	p.checkSize(object)
	return p.Profile, p.withWarnings()
}

// ValidateCloudProfileUpdate does the same for an update. stored is old, compiled. Errors that old has already are
// warnings (semantics S10), and what the update does to those who use the profile is a warning (S9): other flavors for
// machine types; machine types and mappings removed that worker pools use. uses are the Shoots with the profile, be it
// directly or through a NamespacedCloudProfile, with the machine types and image versions that such a one defines
// itself left out. None of the arguments is changed.
func ValidateCloudProfileUpdate[R any](stored *Profile[R], updated, old *v1beta1.CloudProfile, uses []Use) (*Profile[R], finding.Report) {
	p, report := ValidateCloudProfile(stored.provider, updated)
	before := ratchet.Judged{Object: old, Report: stored.faults}
	report = ratchet.Excuse(ratchet.Judged{Object: updated, Report: report}, before)
	report.Warnings = append(report.Warnings, stored.Compare(p, uses)...)
	return p, report.Sorted()
}

// ValidateNamespacedCloudProfile reports everything that is wrong with a NamespacedCloudProfile whose parent is given,
// and everything in it that is worth a warning (semantics S11), ordered by path. What is wrong with the parent is not
// reported. Paths are those of the NamespacedCloudProfile, which is neither changed nor kept.
func ValidateNamespacedCloudProfile[R any](parent *Profile[R], object *v1beta1.NamespacedCloudProfile) finding.Report {
	return compileNamespaced(parent, object).withWarnings()
}

// ValidateNamespacedCloudProfileUpdate does the same for an update, as [ValidateCloudProfileUpdate] does.
func ValidateNamespacedCloudProfileUpdate[R any](parent *Profile[R], updated, old *v1beta1.NamespacedCloudProfile, uses []Use) finding.Report {
	was, is := compileNamespaced(parent, old), compileNamespaced(parent, updated)
	before := ratchet.Judged{Object: old, Report: was.report}
	report := ratchet.Excuse(ratchet.Judged{Object: updated, Report: is.withWarnings()}, before)
	report.Warnings = append(report.Warnings, was.Compare(is.Profile, uses)...)
	return report.Sorted()
}
