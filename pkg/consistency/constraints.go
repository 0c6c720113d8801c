// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Constraints are a provider's own rules over one provider config: about what it says beside its images, and about the
// Shoots of its profile. They are immutable and safe for concurrent use. The Origin of each finding is the name of its
// rule, which [Extended] describes.
type Constraints interface {
	// CheckCloudProfile reports what is wrong with the config, which stands at the path at in a CloudProfile with this
	// spec. It is not asked about a NamespacedCloudProfile, whose config has images only. What could not be decoded is
	// reported already, and a Required that only follows from that is left out.
	CheckCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) Report
	// CheckShoot reports what is wrong with a Shoot apart from the images of its worker pools, and what it may not have
	// in its profile.
	CheckShoot(question ShootQuestion) Report
	// DependsOnDomain tells whether what CheckShoot says about a Shoot may depend on the domain.
	DependsOnDomain(shoot *v1beta1.Shoot) bool
}

// ShootQuestion is what [Constraints] are asked about. None of it may be changed.
type ShootQuestion struct {
	Shoot *v1beta1.Shoot
	// Profile is the spec of the Shoot's profile: of its CloudProfile, or what is rendered of its
	// NamespacedCloudProfile.
	Profile *v1beta1.CloudProfileSpec
	// Domain is that of the Shoot's credentials, see [Extended]. Nil: it is not known. Then what would be an error for
	// some domains only is reported as not checked.
	Domain *string
}

// Extended is a [Provider] that has rules of its own beside those about images. A provider without any leaves these
// methods out; admission and command ask for them by a type assertion.
type Extended interface {
	// Rules is the catalogue of the provider's own rules, in any order. The caller owns it.
	Rules() []Rule
	// CheckShootUpdate reports what an update changes in a Shoot that cannot be changed, at paths of the updated Shoot,
	// and as warnings what follows from it. Neither of the two is being deleted.
	CheckShootUpdate(old, shoot *v1beta1.Shoot) Report
	// CheckCredentials returns what is wrong with the data of a Secret, which stands at the path at, that a Shoot is
	// created with, and the domain that they are of: whatever in a cloud has users and decides what they may use; empty
	// if they name none. No error holds a value of the data.
	CheckCredentials(data map[string][]byte, at *field.Path) (domain string, errs field.ErrorList)
}

// checkConstraints asks the provider's own rules about the config of a CloudProfile.
func (p *Profile[R]) checkConstraints() Report {
	config := p.at.Child("providerConfig")
	if p.unread.covers(config) {
		p.constraints = nil // nothing of it is known
	}
	if p.constraints == nil || p.parent != nil {
		return Report{}
	}
	report := p.constraints.CheckCloudProfile(p.spec, config)
	return Report{Errors: p.unread.explained(report.Errors), Warnings: p.unread.explained(report.Warnings)}
}
