// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package gardener

import (
	"time"

	v1beta1helper "github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/capkit/capkit/pkg/versions"
)

// RuleVersionExpired is the origin of warnings about expired versions in a profile.
const RuleVersionExpired = "version-expired"

// Expired warns about the expired image versions and Kubernetes versions of a profile. kubernetes may be nil.
func Expired(images []v1beta1.MachineImage, kubernetes *v1beta1.KubernetesSettings) field.ErrorList {
	var warnings field.ErrorList
	warn := func(v v1beta1.ExpirableVersion, at *field.Path, what, where string) {
		if !v1beta1helper.VersionIsExpired(v) {
			return
		}
		when := "has expired"
		if expiry := versions.ExpiryOf(v); expiry != nil {
			when = "expired on " + expiry.Format(time.DateOnly)
		}
		if ptr.Deref(v.Classification, "") == v1beta1.ClassificationSupported { //nolint:staticcheck // as people write it
			when = "is classified as supported, but " + when
		}
		if v.ExpirationDate != nil { //nolint:staticcheck // as people write it
			at = at.Child("expirationDate")
		}
		warnings = append(warnings, &field.Error{
			Type: field.ErrorTypeInvalid, Field: at.String(), BadValue: v.Version, Origin: RuleVersionExpired,
			Detail: what + " " + when + ": give it a new date, or remove it" + where,
		})
	}
	spec := field.NewPath("spec")
	for i := range images {
		for k := range images[i].Versions {
			v := images[i].Versions[k].ExpirableVersion
			warn(v, spec.Child("machineImages").Index(i).Child("versions").Index(k), images[i].Name+"@"+v.Version,
				" (and its mapping in the provider config)")
		}
	}
	if kubernetes != nil {
		for i, v := range kubernetes.Versions {
			warn(v, spec.Child("kubernetes", "versions").Index(i), "Kubernetes version "+v.Version, "")
		}
	}
	return warnings
}
