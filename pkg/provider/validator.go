// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
)

// Validator holds a provider's own rules over one provider config: about what it says besides its images, and about the
// Shoots of its profile. It is immutable and safe for concurrent use. The Origin of each finding is the name of its
// rule, which a [RuleDescriber] describes.
type Validator interface {
	// ValidateCloudProfile reports what is wrong with the config, which stands at the path at in a CloudProfile with this
	// spec. It is not asked about a NamespacedCloudProfile. What could not be decoded is reported already, and a Required
	// that only follows from that is left out.
	ValidateCloudProfile(spec *v1beta1.CloudProfileSpec, at *field.Path) finding.Report
	// ValidateShoot reports what is wrong with a Shoot apart from the images of its worker pools, and what it may not have
	// in its profile.
	ValidateShoot(question ShootQuestion) finding.Report
}

// ScopedValidator is a [Validator] whose rules may depend on the scope of a Shoot's credentials: whatever in a cloud has users
// and decides what they may use, such as a domain of OpenStack.
type ScopedValidator interface {
	Validator
	// NeedsScope reports whether what ValidateShoot says about a Shoot may depend on the scope. If not, nobody looks for
	// the credentials.
	NeedsScope(shoot *v1beta1.Shoot) bool
}

// ShootQuestion is what a [Validator] is asked about. None of it may be changed.
type ShootQuestion struct {
	Shoot *v1beta1.Shoot
	// Profile is the spec of the Shoot's profile: of its CloudProfile, or what is rendered of its
	// NamespacedCloudProfile.
	Profile *v1beta1.CloudProfileSpec
	// Scope is that of the Shoot's credentials, see [CredentialsValidator]. Nil: it is not known. Then what would be an
	// error for some scopes only is reported as not checked.
	Scope *string
}

// ShootUpdateValidator is a [Provider] with rules about what can be changed in a Shoot.
type ShootUpdateValidator interface {
	// ValidateShootUpdate reports what an update changes in a Shoot that cannot be changed, at paths of the updated Shoot,
	// and as warnings what follows from it. Neither of the two is being deleted.
	ValidateShootUpdate(updated, old *v1beta1.Shoot) finding.Report
}

// CredentialsValidator is a [Provider] that checks credentials. Its admission component has webhooks for Secrets and the
// bindings that refer to them, and needs the right to read them.
type CredentialsValidator interface {
	// ValidateCredentials returns what is wrong with the data of a Secret, which stands at the path at, that a Shoot is
	// created with, and the scope that they are of; empty if they name none. No error holds a value of the data.
	ValidateCredentials(data map[string][]byte, at *field.Path) (scope string, errs field.ErrorList)
}
