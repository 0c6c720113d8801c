// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/internal/cli/input"
	"github.com/capkit/capkit/internal/cli/report"
	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/check"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/gardenerrules"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/words"
)

// This file checks Shoots with Gardener's code and with the engine.

// Shoot checks a Shoot, with its profile if that is among the inputs. It skips one that is being deleted.
func Shoot(g *input.Given, s *input.Source[v1beta1.Shoot]) {
	if s.Object == nil || s.Aside || s.Object.DeletionTimestamp != nil {
		return
	}
	found := len(g.Findings)
	g.AddErrors(s.Manifest, gardener.ProfileNameIgnored(s.Object)...)
	p, fault := g.ProfileOf(s.Object)
	spec, known := &v1beta1.CloudProfileSpec{}, (*v1beta1.CloudProfileSpec)(nil)
	shoot, fillings := s.Object, []input.Filling(nil) // as a webhook may correct it
	var works func(worker int) gardener.Works
	if fault == nil {
		spec, known = p.Spec(), g.SpecForAdmission(p)
		shoot, fillings = g.FilledIn(p, s.Object)
		pools := provider.PoolsOf(shoot)
		works = func(worker int) gardener.Works { return resolve.Works(p, pools[worker]) }
	}
	invalid := withArchitectures(withTimes(s.Object, g.Server.ValidateShoot(shoot, known, g.Beside(s.Object))))
	errs, warnings := gardener.ValidateShootIn(s.Object, spec, works)
	g.AddErrors(s.Manifest, errs...)
	g.AddWarnings(s.Manifest, warnings...)
	switch {
	case fault == nil:
		report := check.Shoot(p, shoot, g.Domain)
		report.Errors = slices.DeleteFunc(report.Errors, func(f finding.Finding) bool { // follows from an unknown architecture
			return f.Origin == "pool-architecture-mismatch" && slices.ContainsFunc(invalid, func(err *field.Error) bool { return err.Field == f.Field })
		})
		if shoot.Spec.Provider.Type == p.Spec().Type { // otherwise its worker pools are not checked
			g.AddErrors(s.Manifest, sayFilledIn(p, shoot, fillings, report.Errors)...)
		}
		invalid = withoutInPlace(p, shoot, invalid, report.Errors)
		g.AddReport(s.Manifest, report)
	case fault.Origin == input.RuleProviderUnknown, fault.Type == field.ErrorTypeRequired: // reported already
	case fault.Origin == check.RuleProfileMissing:
		g.AddErrors(s.Manifest, fault)
	default:
		g.AddWarnings(s.Manifest, fault)
	}
	invalid = withoutSaid(invalid, g.Findings[found:])
	if fault == nil {
		withCauses(p, shoot, invalid)
	}
	g.AddErrors(s.Manifest, invalid...)
}

// withCauses appends the profile's error about a machine type to admission's errors about worker pools with that type.
func withCauses(p input.AnyProfile, shoot *v1beta1.Shoot, errs field.ErrorList) {
	types := map[string]string{}
	for i, w := range shoot.Spec.Provider.Workers {
		types[fmt.Sprintf("spec.provider.workers[%d].machine.type", i)] = w.Machine.Type
	}
	for _, err := range errs {
		machineType, isType := types[err.Field]
		if !isType || err.Origin != gardener.RuleAdmission {
			continue
		}
		if cause := p.CauseOf(machineType, imageselector.Request{}); cause != "" {
			err.Detail += "; the profile has an error " + cause + "; repair that first"
		}
	}
}

// withoutInPlace removes errors of Gardener's admission about images that do not support the updates in place of their worker pools, if an
// error about the update strategy says so, with what would work. Admission has no other error about the machines of such a pool.
func withoutInPlace(p input.AnyProfile, shoot *v1beta1.Shoot, errs field.ErrorList, said finding.List) field.ErrorList {
	strategies := sets.New[string]()
	for _, f := range said {
		strategies.Insert(f.Field)
	}
	repeated := sets.New[string]()
	for i, pool := range provider.PoolsOf(shoot) {
		version := p.Version(provider.ImageVersion{Image: pool.Image, Version: pool.Version})
		if gardenerrules.UpdatedInPlace(&shoot.Spec.Provider.Workers[i]) && strategies.Has(pool.Path.Child("updateStrategy").String()) &&
			version != nil && (version.InPlaceUpdates == nil || !version.InPlaceUpdates.Supported) {
			repeated.Insert(pool.Path.Child("machine", "image").String())
		}
	}
	return slices.DeleteFunc(errs, func(err *field.Error) bool { return err.Origin == gardener.RuleAdmission && repeated.Has(err.Field) })
}

// withoutSaid removes errors of Gardener's admission that repeat a finding, or an error of Gardener's validation: at the same place, about
// the machines of a worker pool with an error, or about zones of a region with one. It also removes missing fields that have been reported.
func withoutSaid(errs field.ErrorList, found []report.Finding) field.ErrorList {
	all := slices.Clone(errs)
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		if err.Origin == gardener.RuleAdmission && slices.ContainsFunc(all, func(other *field.Error) bool {
			return other.Origin != err.Origin && other.Type == err.Type && other.Field == err.Field
		}) {
			return true
		}
		if err.Type == field.ErrorTypeRequired && slices.ContainsFunc(found, func(f report.Finding) bool {
			return f.Rule == err.Origin && f.Type == err.Type && f.Field == err.Field
		}) {
			return true
		}
		return err.Origin == gardener.RuleAdmission && slices.ContainsFunc(found, func(f report.Finding) bool {
			return samePlace(err.Field, f.Field) || f.Severity == finding.SeverityError && (sameMachine(err.Field, f.Field) ||
				f.Field == "spec.region" && zone.MatchString(err.Field))
		})
	})
}

var (
	// inPool matches the path of a worker pool, or of a part of it, whose name is the first group.
	inPool = regexp.MustCompile(`^spec\.provider\.workers\[\d+\](?:\.(\w+))?`)
	// zone matches the path of a zone of a worker pool.
	zone = regexp.MustCompile(`^spec\.provider\.workers\[\d+\]\.zones\[\d+\]$`)
)

// samePlace reports whether two paths are equal or, within a worker pool, one contains the other.
func samePlace(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if rest, within := strings.CutPrefix(b, a); !within || rest == "" || rest[0] != '.' {
		return a == b
	}
	in := inPool.FindStringSubmatch(a)
	return len(in) > 1 && in[1] != ""
}

// sameMachine reports whether two paths concern the machines of the same worker pool. Gardener reports a missing image at the pool itself.
func sameMachine(byGardener, found string) bool {
	if pool, _, _ := strings.Cut(byGardener, "]"); !strings.HasPrefix(found, pool) { // a fast check: usually it is another pool
		return false
	}
	a, b := inPool.FindStringSubmatch(byGardener), inPool.FindStringSubmatch(found)
	if a == nil || b == nil || b[1] != "machine" || a[1] != "machine" && a[1] != "" {
		return false
	}
	return strings.TrimSuffix(a[0], ".machine") == strings.TrimSuffix(b[0], ".machine")
}

// clock matches a time of day that Gardener's message calls unreadable, timeOfDay one in a Shoot.
var (
	clock     = regexp.MustCompile(`parsing time "([01]\d|2[0-3]):([0-5]\d)"`)
	timeOfDay = regexp.MustCompile(`^([01]\d|2[0-3]):([0-5]\d)$`)
)

// withTimes appends the right notation of a time of day to errors about maintenance windows.
func withTimes(shoot *v1beta1.Shoot, errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		if at := clock.FindStringSubmatch(err.Detail); at != nil && strings.HasPrefix(err.Field, "spec.maintenance.timeWindow") {
			written := fmt.Sprintf("; write %s%s00+0000 for %s:%s UTC", at[1], at[2], at[1], at[2])
			if end := timeOfDay.FindStringSubmatch(shoot.Spec.Maintenance.TimeWindow.End); end != nil && strings.Contains(err.Detail, "begin") {
				written += fmt.Sprintf(", and %s%s00+0000 for %s:%s", end[1], end[2], end[1], end[2]) // Gardener does not report this one yet
			}
			err.Detail += written
		}
	}
	return errs
}

// withArchitectures appends the probable architecture to errors about architectures of worker pools.
func withArchitectures(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		if value, _ := err.BadValue.(string); strings.HasSuffix(err.Field, ".machine.architecture") {
			err.Detail += words.DidYouMean(capability.MeantValue(capability.Architecture, value, v1beta1constants.ValidArchitectures))
		}
	}
	return errs
}

// sayFilledIn appends the origin of filled-in images to the errors about them. It returns errors about pools for which Gardener finds no
// image to fill in, if they have no error yet.
func sayFilledIn(p input.AnyProfile, shoot *v1beta1.Shoot, fillings []input.Filling, errs finding.List) field.ErrorList {
	var none field.ErrorList
	for i, pool := range provider.PoolsOf(shoot) {
		if fillings[i] == (input.Filling{}) {
			continue
		}
		refused, about := resolve.Pool(p, pool).Err, fillings[i].About()
		if refused == nil {
			continue
		}
		k := slices.IndexFunc(errs, func(f finding.Finding) bool {
			return f.Origin == refused.Origin && f.Field == refused.Field && f.Subject == refused.Subject
		})
		switch {
		case k >= 0:
			errs[k].Detail += about
		case fillings[i].Err != nil:
			at := pool.Path.Child("machine", "image").String()
			none = append(none, input.Problem(gardener.RuleCore, field.ErrorTypeInvalid, at, pool.Image, "%s", refused.Detail+about))
		}
	}
	return none
}
