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
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/strictjson"
)

// asked is what a worker pool asks for.
type asked struct {
	requirements []capability.Requirement
	// set is the request, without unmet, which no image can ever meet.
	set   capability.Set
	unmet []capability.Requirement
	// ignored are those that count for nothing in this profile.
	ignored []capability.Requirement
	// errs are about the worker's providerConfig.
	errs finding.List
}

// askedBy returns what a worker pool asks for.
func (p *Profile[R]) askedBy(pool provider.Pool) asked {
	a := asked{requirements: pool.Worker.Requirements(pool.Path)}
	own, errs := p.provider.Workers().Requirements(pool)
	for i := range errs {
		switch errs[i].Origin { // with these it is not known what the setting asks for
		case provider.RuleConfigKind, strictjson.OriginFieldType, strictjson.OriginDuplicateKey:
			errs[i] = errs[i].In(decisive(&pool)...)
		}
	}
	a.requirements, a.errs = append(a.requirements, own...), errs
	a.requirements = withoutOverruled(a.requirements)
	a.set, a.unmet = p.vocabulary.Request(a.requirements)
	for _, q := range a.requirements {
		if p.vocabulary.Ignores(q) {
			a.ignored = append(a.ignored, q)
		}
	}
	return a
}

// withoutOverruled leaves out what is implied of a capability that is asked for expressly as well: a provider may ask
// for a reserved capability.
func withoutOverruled(requirements []capability.Requirement) []capability.Requirement {
	var left []capability.Requirement
	for _, q := range requirements {
		overruled := q.Implied && slices.ContainsFunc(requirements, func(other capability.Requirement) bool {
			return other.Capability == q.Capability && !other.Implied
		})
		if !overruled {
			left = append(left, q)
		}
	}
	return left
}

// ignored warns about what a pool asks for in vain, because the profile does not register it.
func (p *Profile[R]) ignored(r *Resolution[R]) finding.List {
	var warnings finding.List
	for _, q := range r.Ignored {
		warnings = append(warnings, finding.New(RuleRequestIgnored, field.ErrorTypeNotSupported, settingPath(&r.Pool, &q), field.OmitValueType{}, fmt.Sprintf(
			"%s%s, which the profile does not register, so it counts for nothing in the choice of an image; "+
				"the operator can register it in spec.machineCapabilities, with the values [%s]",
			poolName(r.Pool), asks(&q), strings.Join(p.valuesOf(q.Capability), ", "))))
	}
	return warnings
}

// without returns the request without one of its requirements.
func (p *Profile[R]) without(a asked, i int) capability.Set {
	set, _ := p.vocabulary.Request(slices.Delete(slices.Clone(a.requirements), i, i+1))
	return set
}

// unmet returns the errors about requirements that no image can meet, because the profile does not register what they
// ask for.
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
		errs = append(errs, finding.New(RuleRequestUnregistered, field.ErrorTypeNotSupported, settingPath(&pool, &q), field.OmitValueType{}, fmt.Sprintf(
			"%s%s, which the profile %s; the operator has to register it in spec.machineCapabilities, with the values [%s], and to declare it on the flavors of images that support it%s",
			poolName(pool), asks(&q), registers, strings.Join(p.valuesOf(q.Capability), ", "), untilThen(&q))).In(decisive(&pool)...))
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

// untilThen says what to do as long as the operator has not done his part.
func untilThen(q *capability.Requirement) string {
	if q.Implied {
		return ""
	}
	return "; until then leave the setting out"
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

// settingPath is the path at which an error about a requirement is reported: that of the setting or, if this stands
// nowhere, of the machine type.
func settingPath(pool *provider.Pool, q *capability.Requirement) *field.Path {
	if q.Because != nil {
		return q.Because
	}
	return pool.Path.Child("machine", "type")
}

// culprit returns the requirement for which a worker pool gets no image: without what it asks for there would be one.
// It is the first requirement without which the others are met, those that the pool itself makes before those that are
// implied; or, if there is none, the first of them. Nil: the pool would get no image in any case.
func (p *Profile[R]) culprit(r *Resolution[R], asked asked) *capability.Requirement {
	pool := &r.Pool
	fits := func(worker capability.Set) bool {
		return p.fits(r.Machine, worker, pool.Image, pool.Version, pool.Region)
	}
	if !fits(capability.Set{}) {
		return nil
	}
	var ranked []int
	for _, implied := range []bool{false, true} {
		for i := range asked.requirements {
			if asked.requirements[i].Implied == implied {
				ranked = append(ranked, i)
			}
		}
	}
	for _, i := range ranked {
		if fits(p.without(asked, i)) {
			return &asked.requirements[i]
		}
	}
	return &asked.requirements[ranked[0]]
}

// unmetRequest says why a requirement keeps a worker pool from getting an image: its machine type lacks what it asks
// for, or the flavors do.
func (p *Profile[R]) unmetRequest(r *Resolution[R], asked asked, q *capability.Requirement) finding.Finding {
	at := settingPath(&r.Pool, q)
	has := r.Machine.Values(q.Capability)
	if !slices.ContainsFunc(has, func(value string) bool { return slices.Contains(q.Values, value) }) {
		return finding.New(ruleRequestUnmet, field.ErrorTypeInvalid, at, field.OmitValueType{}, fmt.Sprintf("%s%s, and machine type %s has [%s]",
			poolName(r.Pool), asks(q), r.Pool.MachineType, finding.Few(has)))
	}
	return finding.New(ruleRequestUnmet, field.ErrorTypeInvalid, at, field.OmitValueType{}, fmt.Sprintf(
		"%s%s, and no flavor of %s@%s that fits machine type %s in region %s supports that%s: %s", poolName(r.Pool), asks(q),
		r.Pool.Image, r.Pool.Version, r.Pool.MachineType, finding.Quoted(r.Pool.Region), others(asked.requirements, q), p.rejections(r)))
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
	switch {
	case c.Cause == capability.CauseMachine:
		return fmt.Sprintf("%s, the machine type [%s]", has, finding.Few(c.Need))
	case c.Cause == capability.CauseBoth:
		return fmt.Sprintf("%s, the machine type [%s], the worker pool asks for [%s]", has, finding.Few(c.Need), finding.Few(c.Asked))
	}
	return fmt.Sprintf("%s, the worker pool asks for [%s]", has, finding.Few(c.Asked))
}
