// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
)

// Shoot returns the errors and warnings of a Shoot: worker pools that get no image from its profile, with suggestions (semantics S13),
// errors in their providerConfig (S3), and the findings of the provider's own rules. scope is that of the Shoot's credentials, or nil if
// unknown, see [provider.ShootQuestion].
//
// If the Shoot has another provider type, that is the only error. If the profile lacks the region, errors that only follow from it are
// silenced. A pool that leaves its image to Gardener is not reported. The report of a Shoot without workers is empty. Only the first 32
// pools without an image get suggestions.
func Shoot[R any](p *profile.Profile[R], shoot *v1beta1.Shoot, scope *string) finding.Report {
	pools := provider.PoolsOf(shoot)
	if len(pools) == 0 {
		return finding.Report{}
	}
	if other := OtherType(p, shoot); other != nil {
		return finding.Failed(*other)
	}
	var report finding.Report
	unknown := resolve.Region(p, shoot.Spec.Region, field.NewPath("spec", "region"))
	if unknown != nil {
		report.Errors = append(report.Errors, unknown.In(uncheckedWithoutRegion(shoot)...))
	}
	withoutImages := unknown != nil && !p.HasImages(shoot.Spec.Region)
	resolver, refused := resolve.NewResolver(p), 0
	for _, pool := range pools {
		if report.LeavesOut() {
			break
		}
		resolver.Mute = refused >= maxAdvised
		r := resolver.Pool(pool)
		if r.Err != nil {
			refused++
		}
		switch {
		case r.Err == nil || r.Open:
		case withoutImages && lacksRegion(&r):
			report.Silenced = append(report.Silenced, *r.Err)
		default:
			report.Errors = append(report.Errors, *r.Err)
		}
		if r.Image != nil {
			report.Errors = append(report.Errors, *r.Image)
		}
		report.Errors = append(report.Errors, r.Further...)
		report.Warnings = append(report.Warnings, r.Warnings...)
		warnIgnored(p, &r, &report)
	}
	if validator := p.Validator(); validator != nil {
		report.Add(validator.ValidateShoot(provider.ShootQuestion{Shoot: shoot, Profile: p.Spec(), Scope: scope}))
	}
	report.End(field.NewPath("spec", "provider"))
	return report.Sorted()
}

// maxAdvised is the number of a Shoot's worker pools without an image that get suggestions, because finding them takes longer than finding
// the error.
const maxAdvised = 32

// uncheckedWithoutRegion returns the parts that a provider's own rules do not check if the profile lacks the region.
func uncheckedWithoutRegion(shoot *v1beta1.Shoot) []*field.Path {
	at := field.NewPath("spec", "provider")
	parts := []*field.Path{at.Child("infrastructureConfig"), at.Child("controlPlaneConfig")}
	for i := range shoot.Spec.Provider.Workers {
		parts = append(parts, at.Child("workers").Index(i).Child("zones"))
	}
	return parts
}

// OtherType returns an error if a Shoot's provider has another type than its profile. It returns nil if either type is missing, because
// Gardener reports that.
func OtherType[R any](p *profile.Profile[R], shoot *v1beta1.Shoot) *finding.Finding {
	at := field.NewPath("spec", "provider")
	name, want := shoot.Spec.Provider.Type, p.Spec().Type
	if name == "" || want == "" || name == want {
		return nil
	}
	other := ruleProviderType.Fault(field.ErrorTypeInvalid, at.Child("type"), name,
		"the Shoot is for provider type %s, and its profile for %s; write %s, or refer to a profile of the other type", name, want, want).In(at)
	return &other
}

// NeedsScope reports whether the result of [Shoot] may depend on the scope of the credentials. If not, callers need not read them.
func NeedsScope[R any](p *profile.Profile[R], shoot *v1beta1.Shoot) bool {
	scoped, ok := provider.As[provider.ScopedValidator](p.Validator())
	return ok && len(shoot.Spec.Provider.Workers) > 0 && scoped.NeedsScope(shoot)
}

// lacksRegion reports whether any flavor is excluded only because of the region.
func lacksRegion[R any](r *resolve.Resolution[R]) bool {
	return slices.ContainsFunc(r.Decision.Verdicts, func(v imageselector.Verdict[R]) bool {
		return v.Reason == imageselector.ReasonRegion
	})
}

// ParentMissing returns the error about a reference, at the path at, to a NamespacedCloudProfile with the given name whose parent does not
// exist.
func ParentMissing(at *field.Path, name, parent string) finding.Finding {
	detail := "the parent of NamespacedCloudProfile " + name + ", CloudProfile " + parent +
		", does not exist; create it first, or name another profile"
	return finding.New(RuleProfileMissing, field.ErrorTypeNotFound, at, name, detail).In(field.NewPath("spec", "provider"))
}

// ProfileMissing returns the error about a reference, at the path at, to a profile that does not exist.
func ProfileMissing(at *field.Path, kind, name string) finding.Finding {
	return finding.New(RuleProfileMissing, field.ErrorTypeNotFound, at, name, kind+" "+name+" does not exist; correct the name, or create it first").
		In(field.NewPath("spec", "provider"))
}

// warnIgnored warns about requirements of a pool without effect, because the profile does not register them.
func warnIgnored[R any](p *profile.Profile[R], r *resolve.Resolution[R], report *finding.Report) {
	for _, q := range r.Ignored {
		why, chosen := "which the profile does not register", "so an image is chosen that may not support it; if all do"
		remedy := fmt.Sprintf("register it in spec.machineCapabilities, with the values [%s], "+
			"and declare it on the flavors that do, in spec.machineImages and %s", strings.Join(p.ValuesOf(q.Capability), ", "), resolve.MappingField(p))
		name := p.Misspelt(q.Capability)
		switch {
		case name != "":
			why, remedy = "which the profile registers as "+name, "correct that name in spec.machineCapabilities"
		case p.Vocabulary().MachineTypesOnly(q.Capability):
			chosen = "so nobody knows whether the machine type supports it; if all do"
			remedy = fmt.Sprintf("register it in spec.machineCapabilities, with the values [%s], and declare it on %s",
				strings.Join(p.ValuesOf(q.Capability), ", "), resolve.DeclaredOn(p, &q))
		case q.OnlyIfRegistered:
			why, remedy = "which no flavor of the profile declares", "declare it on the flavors that do, in "+resolve.MappingField(p)+" only"
		}
		report.Found(RuleRequestIgnored, field.ErrorTypeNotSupported, resolve.SettingOf(&r.Pool, &q), field.OmitValueType{},
			"%s%s, %s, %s, nothing has to be done; if not, the operator can %s",
			resolve.PoolName(r.Pool), resolve.Asks(&q), why, chosen, remedy)
	}
}
