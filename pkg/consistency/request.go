// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/strictjson"
)

// ask returns what a worker pool asks for, as an answer without an image; if there can be none, with the reason. The
// request is without unmet, the requirements that no image can ever meet. The pool asks for more as well, whatever it says.
func (p *Profile[R]) ask(
	pool provider.Pool, more ...capability.Requirement,
) (r Resolution[R], request imageselector.Request, unmet []capability.Requirement) {
	own, report := p.provider.Workers().Requirements(pool)
	errs := report.Errors
	for i := range errs {
		if unreadable(errs[i]) {
			errs[i] = errs[i].In(decisive(&pool)...)
		}
	}
	r = Resolution[R]{Pool: pool, Further: errs, Warnings: report.Warnings, Decision: imageselector.Decision[R]{Chosen: -1}}
	all := append(append(pool.Worker.Requirements(pool.Path), own...), more...)
	for _, q := range all {
		// What is implied does not count where it is asked for expressly: a provider may ask for a reserved capability.
		if q.Implied && slices.ContainsFunc(all, func(other capability.Requirement) bool {
			return other.Capability == q.Capability && !other.Implied
		}) {
			continue
		}
		q.OnlyIfRegistered = q.OnlyIfRegistered && !p.offered.Has(q.Capability)
		r.Requirements = append(r.Requirements, q)
		if p.vocabulary.Ignores(q) {
			r.Ignored = append(r.Ignored, q)
		}
	}
	worker, unmet := p.vocabulary.Request(r.Requirements)
	machine, found := p.machineOf(pool)
	switch r.Machine = machine; {
	case !found:
		r.Reason = ReasonUnknownMachineType
	case !suits(machine, pool.Architecture):
		r.Reason = imageselector.ReasonCapability
	case len(unmet) > 0:
		r.Reason = ReasonUnregistered
	}
	return r, requestOf(pool, machine, worker), unmet
}

// unreadable reports whether it is not known, with an error of a providerConfig, what a setting asks for.
func unreadable(f finding.Finding) bool {
	switch f.Origin {
	case provider.RuleConfigKind, strictjson.OriginFieldType, strictjson.OriginDuplicateKey:
		return true
	}
	return false
}

// Unreadable returns those of the Further errors with which it is not known what the pool asks for. Others, a field that
// is unknown for example, leave the answer as it is.
func (r *Resolution[R]) Unreadable() finding.List {
	var found finding.List
	for _, f := range r.Further {
		if unreadable(f) {
			found = append(found, f)
		}
	}
	return found
}

// warnIgnored warns about what a pool asks for in vain, because the profile does not register it.
func (p *Profile[R]) warnIgnored(r *Resolution[R], report *finding.Report) {
	for _, q := range r.Ignored {
		why, remedy := "which the profile does not register", fmt.Sprintf("register it in spec.machineCapabilities, with the values [%s], "+
			"and declare it on the flavors that do, in spec.machineImages and spec.providerConfig", strings.Join(p.valuesOf(q.Capability), ", "))
		if q.OnlyIfRegistered {
			why, remedy = "which no flavor of the profile declares", "declare it on the flavors that do, in spec.providerConfig only"
		}
		report.Found(RuleRequestIgnored, field.ErrorTypeNotSupported, settingOf(&r.Pool, &q), field.OmitValueType{},
			"%s%s, %s, so an image is chosen that may not support it; if all do, nothing has to be done; if not, the operator can %s",
			poolName(r.Pool), asks(&q), why, remedy)
	}
}

// unmet returns the errors about requirements that no image can meet, because the profile does not register them.
func (p *Profile[R]) unmet(pool provider.Pool, requirements []capability.Requirement) finding.List {
	var errs finding.List
	for _, q := range requirements {
		registers := "does not register"
		if name := p.misspelt(q.Capability); name != "" {
			registers += fmt.Sprintf(" (it registers %s, which is none of this provider's)", name)
		}
		if p.vocabulary.IsRegistered(q.Capability) {
			registers = fmt.Sprintf("registers with [%s] only", finding.Few(p.vocabulary.Registered(q.Capability)))
		}
		leave := "leave the setting out, or "
		if q.Implied {
			leave = ""
		}
		errs = append(errs, fault(RuleRequestUnregistered, field.ErrorTypeNotSupported, settingOf(&pool, &q), field.OmitValueType{},
			"%s%s, which the profile %s; %shave its operator register it in spec.machineCapabilities, with the values [%s], "+
				"and declare it on the flavors that support it, in spec.machineImages and spec.providerConfig",
			poolName(pool), asks(&q), registers, leave, strings.Join(p.valuesOf(q.Capability), ", ")).In(decisive(&pool)...))
	}
	return errs
}

// valuesOf returns the values that a worker capability is defined with.
func (p *Profile[R]) valuesOf(name string) []string {
	for _, d := range p.vocabulary.WorkerCapabilities() {
		if d.Name == name {
			return d.Values
		}
	}
	return nil
}

// asks says what asks for what: a setting, or the pool which says nothing else.
func asks(q *capability.Requirement) string {
	what := fmt.Sprintf("asks for %s [%s]", q.Capability, strings.Join(q.Values, ", "))
	if q.Implied {
		return "it " + what + ", as it says nothing else (" + q.Setting + ")"
	}
	return q.Setting + " " + what
}

// others names what a pool asks for itself beside one requirement.
func others(requirements []capability.Requirement, q *capability.Requirement) string {
	var settings []string
	for i := range requirements {
		if other := &requirements[i]; other != q && !other.Implied {
			settings = append(settings, other.Setting)
		}
	}
	if len(settings) == 0 {
		return ""
	}
	return " together with " + strings.Join(settings, ", ")
}

// settingOf returns where a requirement is reported: at the setting or, if this stands nowhere, at the machine type.
func settingOf(pool *provider.Pool, q *capability.Requirement) *field.Path {
	if q.Because == nil {
		return pool.Path.Child("machine", "type")
	}
	return q.Because
}

// culprit returns the requirement for which a worker pool gets no image: without what it asks for there would be one.
// It is the first requirement without which the others are met, those that the pool itself makes before those that are
// implied; or, if there is none, the first of them. Nil: the pool would get no image in any case.
func (p *Profile[R]) culprit(r *Resolution[R]) *capability.Requirement {
	request := r.Decision.Request
	request.Worker = capability.Set{}
	if !p.boots(request) {
		return nil
	}
	for _, implied := range []bool{false, true} {
		for i := range r.Requirements {
			request.Worker, _ = p.vocabulary.Request(slices.Delete(slices.Clone(r.Requirements), i, i+1))
			if r.Requirements[i].Implied == implied && p.boots(request) {
				return &r.Requirements[i]
			}
		}
	}
	own := slices.IndexFunc(r.Requirements, func(q capability.Requirement) bool { return !q.Implied })
	return &r.Requirements[max(own, 0)]
}

// unmetRequest says what lacks that for which a worker pool gets no image: its machine type, or the flavors.
func (p *Profile[R]) unmetRequest(r *Resolution[R], q *capability.Requirement) finding.Finding {
	has := r.Machine.Values(q.Capability)
	detail := fmt.Sprintf("%s, and machine type %s has [%s]", asks(q), r.Pool.MachineType, finding.Few(has))
	if slices.ContainsFunc(has, func(value string) bool { return slices.Contains(q.Values, value) }) {
		known := fmt.Sprintf(", the worker pool asks for [%s]", finding.Few(q.Values)) // which the message begins with
		detail = fmt.Sprintf("%s, and no flavor of %s@%s for machine type %s in region %s has that%s: %s",
			asks(q), r.Pool.Image, r.Pool.Version, r.Pool.MachineType, finding.Quoted(r.Pool.Region),
			others(r.Requirements, q), strings.ReplaceAll(p.rejections(r), known, ""))
	}
	return finding.New(ruleRequestUnmet.Name, field.ErrorTypeInvalid, settingOf(&r.Pool, q), field.OmitValueType{}, detail)
}

// rejectedFor says in one clause, with the flavor as its subject, what a conflict is.
func rejectedFor(c capability.Conflict) string {
	has := fmt.Sprintf("has %s [%s]", c.Capability, finding.Few(c.Offer))
	if c.Undeclared {
		has = "does not declare " + c.Capability
		if len(c.Offer) > 0 {
			has += fmt.Sprintf(", so it has [%s]", finding.Few(c.Offer))
		}
	}
	asked := fmt.Sprintf("the worker pool asks for [%s]", finding.Few(c.Asked))
	switch c.Cause {
	case capability.CauseMachine:
		return fmt.Sprintf("%s, the machine type [%s]", has, finding.Few(c.Need))
	case capability.CauseBoth:
		return fmt.Sprintf("%s, the machine type [%s], %s", has, finding.Few(c.Need), asked)
	}
	return has + ", " + asked
}
