// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/words"
)

// Unreadable returns the Further errors that leave the pool's requirements uncertain. Other errors, such as an unknown field, do not affect
// the answer.
func (r *Resolution[R]) Unreadable() finding.List {
	var found finding.List
	for _, f := range r.Further {
		if profile.Unreadable(f) {
			found = append(found, f)
		}
	}
	return found
}

// unmet returns the errors about requirements that no image can meet, because the profile does not register their capability or value.
func (p Resolver[R]) unmet(pool provider.Pool, requirements []capability.Requirement) finding.List {
	var errs finding.List
	for _, q := range requirements {
		registers := "does not register"
		if name := p.Misspelt(q.Capability); name != "" {
			registers += fmt.Sprintf(" (it registers %s, which is none of this provider's)", name)
		}
		if p.Vocabulary().IsRegistered(q.Capability) {
			registers = fmt.Sprintf("registers with [%s] only", words.Few(p.Vocabulary().Registered(q.Capability)))
		}
		leave := "leave the setting out, or "
		if q.Implied {
			leave = ""
		}
		errs = append(errs, RuleRequestUnregistered.Fault(field.ErrorTypeNotSupported, SettingOf(&pool, &q), field.OmitValueType{},
			"%s%s, which the profile %s; %shave its operator register it in spec.machineCapabilities, with the values [%s], "+
				"and declare it on %s",
			PoolName(pool), Asks(&q), registers, leave, strings.Join(p.ValuesOf(q.Capability), ", "), DeclaredOn(p.Profile, &q)).
			In(profile.Decisive(&pool)...))
	}
	return errs
}

// DeclaredOn says where an operator declares a requested capability once it is registered: "the flavors that support it, in …".
func DeclaredOn[R any](p *profile.Profile[R], q *capability.Requirement) string {
	if p.Vocabulary().MachineTypesOnly(q.Capability) {
		return "the machine types that do not support all of them, in spec.machineTypes"
	}
	return "the flavors that support it, in spec.machineImages and " + MappingField(p)
}

// MappingField returns the field where a profile maps images, in words for its operator.
func MappingField[R any](p *profile.Profile[R]) string {
	return Resolver[R]{Profile: p}.mapping("spec.providerConfig")
}

// Asks describes a requirement: the setting that makes it, or the pool if it is implied, with the capability and values.
func Asks(q *capability.Requirement) string {
	what := fmt.Sprintf("asks for %s [%s]", q.Capability, strings.Join(q.Values, ", "))
	if q.Implied {
		return "it " + what + ", as it says nothing else (" + q.Setting + ")"
	}
	return q.Setting + " " + what
}

// others names the other explicit requirements of a pool that are not ignored.
func (p Resolver[R]) others(requirements []capability.Requirement, q *capability.Requirement) string {
	var settings []string
	for i := range requirements {
		if other := &requirements[i]; other != q && !other.Implied && !p.Vocabulary().Ignores(*other) {
			settings = append(settings, other.Setting)
		}
	}
	if len(settings) == 0 {
		return ""
	}
	return " together with " + strings.Join(settings, ", ")
}

// SettingOf returns the path for errors about a requirement: that of the setting or, if no manifest has it, of the machine type.
func SettingOf(pool *provider.Pool, q *capability.Requirement) *field.Path {
	if q.Because == nil {
		return pool.Path.Child("machine", "type")
	}
	return q.Because
}

// culprit returns the requirement that leaves a worker pool without an image. It is the first requirement without which the others are met,
// explicit before implied ones. If there is none, it is the first explicit one, or else the first. It returns nil if the pool would get no
// image even without requirements.
func (p Resolver[R]) culprit(r *Resolution[R]) *capability.Requirement {
	request := r.Decision.Request
	request.Worker = capability.Set{}
	if !p.Boots(request) {
		return nil
	}
	for _, implied := range []bool{false, true} {
		for i := range r.Requirements {
			request.Worker, _ = p.Vocabulary().Request(slices.Delete(slices.Clone(r.Requirements), i, i+1))
			if r.Requirements[i].Implied == implied && p.Boots(request) {
				return &r.Requirements[i]
			}
		}
	}
	own := slices.IndexFunc(r.Requirements, func(q capability.Requirement) bool { return !q.Implied && !p.Vocabulary().Ignores(q) })
	return &r.Requirements[max(own, 0)]
}

// unmetRequest returns the error about a requirement that the machine type, or its flavors, cannot meet.
func (p Resolver[R]) unmetRequest(r *Resolution[R], q *capability.Requirement) finding.Finding {
	has, rule := r.Machine.Values(q.Capability), ruleRequestUnmet
	detail := fmt.Sprintf("%s, and machine type %s has [%s]", Asks(q), r.Pool.MachineType, words.Few(has))
	if p.Vocabulary().MachineTypesOnly(q.Capability) {
		rule = RuleMachineUnmet
	}
	r.lacking = q.Capability
	if slices.ContainsFunc(has, func(value string) bool { return slices.Contains(q.Values, value) }) {
		r.lacking = ""
		detail = fmt.Sprintf("%s, and no flavor of %s@%s for machine type %s in region %s has that%s: %s",
			Asks(q), r.Pool.Image, r.Pool.Version, r.Pool.MachineType, words.Quoted(r.Pool.Region),
			p.others(r.Requirements, q), p.rejections(r, q))
		rule = ruleRequestUnmet
	}
	return finding.New(rule.Name, field.ErrorTypeInvalid, SettingOf(&r.Pool, q), field.OmitValueType{}, detail)
}
