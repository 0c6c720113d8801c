// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
)

// Workers says which capabilities a provider's workers can ask for, and by which settings (semantics S3). The zero Workers
// is that of a provider whose workers ask for nothing of its own; their providerConfig is then not looked at. [WorkersOf]
// makes others. It is immutable and safe for concurrent use.
type Workers struct {
	kind         schema.GroupVersionKind
	definitions  []capability.Definition
	settings     []Setting
	requirements func(raw *runtime.RawExtension, at *field.Path) ([]capability.Requirement, field.ErrorList)
}

// Setting is one setting of a worker's providerConfig that asks for a capability.
type Setting struct {
	// Setting in words, as the user writes it: "trustedLaunch.enabled: true".
	Setting string `json:"setting"`
	// Field of the providerConfig that errors are reported at.
	Field string `json:"field"`
	// Capability is the name of what it asks for, Values those that will do.
	Capability string   `json:"capability"`
	Values     []string `json:"values"`
}

// WorkersOf returns the Workers of a provider whose WorkerConfig, W, is of the given kind: the capabilities that it
// defines, and the rules by which settings ask for them. The arguments must not be changed any more. [CheckProvider]
// tells what is wrong with them.
func WorkersOf[W any, P interface {
	*W
	Config
}](kind schema.GroupVersionKind, definitions []capability.Definition, rules capability.Rules[W]) Workers {
	w := Workers{kind: kind, definitions: definitions}
	for _, r := range rules {
		w.settings = append(w.settings, Setting{r.Setting, r.Field, r.Capability, r.Values})
	}
	w.requirements = func(raw *runtime.RawExtension, at *field.Path) ([]capability.Requirement, field.ErrorList) {
		config := P(new(W))
		if !hasContent(raw) {
			return rules.Requirements(config, at), nil
		}
		errs := DecodeConfig(raw, kind, config, at)
		return rules.Requirements(config, at), errs
	}
	return w
}

// Kind returns the kind of the WorkerConfig; the zero kind if the provider's workers ask for nothing of its own.
func (w Workers) Kind() schema.GroupVersionKind { return w.kind }

// Definitions returns the worker capabilities that the provider defines, in the order of their priority. The caller owns
// the slice, but not what its elements hold.
func (w Workers) Definitions() []capability.Definition { return slices.Clone(w.definitions) }

// Settings returns the settings that ask for them, in the order of the rules. The caller owns the slice, but not what its
// elements hold.
func (w Workers) Settings() []Setting { return slices.Clone(w.settings) }

// Requirements returns what a worker's providerConfig that stands at the path at asks for. A worker without one, or with
// one that is null, asks for what follows from saying nothing. The errors are those of [DecodeConfig]; what could be read
// counts all the same.
func (w Workers) Requirements(raw *runtime.RawExtension, at *field.Path) ([]capability.Requirement, field.ErrorList) {
	if w.requirements == nil {
		return nil, nil
	}
	return w.requirements(raw, at)
}

// CheckProvider returns what is wrong with a provider itself, so that it is found when an extension starts, and not at a
// user's request (semantics S3): worker capabilities without the prefix of the provider, which is its type and a dash;
// rules that ask for what is not defined. The error has a line for each fault. Nil: nothing is wrong.
func CheckProvider[R any](provider Provider[R]) error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("provider %s: "+format, append([]any{provider.Type()}, args...)...))
	}
	workers, prefix := provider.Workers(), provider.Type()+"-"
	defined := map[string]sets.Set[string]{}
	for _, d := range workers.definitions {
		values := sets.New(d.Values...)
		_, twice := defined[d.Name]
		defined[d.Name] = values
		switch {
		case twice:
			wrong("worker capability %q is defined twice", d.Name)
		case !strings.HasPrefix(d.Name, prefix) || d.Name == prefix:
			wrong("worker capability %q must begin with %q, the prefix of this provider", d.Name, prefix)
		case len(validation.IsQualifiedName(d.Name)) > 0:
			wrong("%q is no name for a capability: %s", d.Name, strings.Join(validation.IsQualifiedName(d.Name), "; "))
		}
		switch {
		case len(d.Values) == 0 || values.Has("") || len(values) < len(d.Values):
			wrong("worker capability %q needs values, each of them once, and none of them empty", d.Name)
		case d.Undeclared != "" && !values.Has(d.Undeclared):
			wrong("worker capability %q: the undeclared value %q is none of its values [%s]", d.Name, d.Undeclared, strings.Join(d.Values, ", "))
		}
	}
	for _, s := range workers.settings {
		values, found := defined[s.Capability]
		if s.Setting == "" || s.Field == "" {
			wrong("the rule that asks for worker capability %q does not say for which setting, and at which field", s.Capability)
		}
		switch {
		case !found:
			wrong("%q asks for %q, which is not among the worker capabilities that it defines", s.Setting, s.Capability)
		case len(s.Values) == 0 || !values.HasAll(s.Values...):
			wrong("%q asks for [%s] of worker capability %q, which has the values [%s]",
				s.Setting, strings.Join(s.Values, ", "), s.Capability, strings.Join(sets.List(values), ", "))
		}
	}
	return errors.Join(errs...)
}

// checkWorkerCapabilities checks how the profile registers worker capabilities: with values that they have, and with one
// that worker pools ask for.
func (p *Profile[R]) checkWorkerCapabilities() Report {
	var report Report
	definitions := map[string]capability.Definition{}
	for _, d := range p.vocabulary.WorkerCapabilities() {
		definitions[d.Name] = d
	}
	for i, def := range p.spec.MachineCapabilities {
		if d, found := definitions[def.Name]; found {
			delete(definitions, def.Name) // of two the first counts
			report.merge(p.checkWorkerCapability(&d, def.Values, p.at.Child("machineCapabilities").Index(i).Child("values")))
		}
	}
	return report
}

// checkWorkerCapability checks the values with which a worker capability is registered.
func (p *Profile[R]) checkWorkerCapability(d *capability.Definition, values []string, at *field.Path) Report {
	var report Report
	rule, asked := RuleWorkerValueUnknown, p.ordinarilyAsked(d.Name)
	if asked == nil {
		asked = p.provider.Workers().askedOf(d.Name)
	}
	if strings.HasPrefix(d.Name, capability.ReservedPrefix) {
		rule = capability.RuleReservedValue
	}
	for i, value := range values {
		if !slices.Contains(d.Values, value) {
			report.Errors = append(report.Errors, finding(rule, field.ErrorTypeNotSupported, at.Index(i), value, fmt.Sprintf(
				"worker capability %s has the values [%s]; nothing ever asks for %q", d.Name, strings.Join(d.Values, ", "), value)))
		}
	}
	if len(asked) > 0 && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(asked, v) }) {
		report.Warnings = append(report.Warnings, finding(RuleWorkerValueUnasked, field.ErrorTypeInvalid, at, strings.Join(values, ", "), fmt.Sprintf(
			"worker pools ask for %s [%s], and none of that is registered, so they are refused; register it as well",
			d.Name, strings.Join(asked, ", "))))
	}
	return report
}

// ordinarilyAsked returns the values of a capability that a worker pool asks for which says nothing; nil if there are none.
func (p *Profile[R]) ordinarilyAsked(name string) []string {
	for _, q := range p.askedBy(Pool{}).requirements {
		if q.Capability == name {
			return q.Values
		}
	}
	return nil
}

// askedOf returns the values of a capability that settings ask for, sorted.
func (w Workers) askedOf(name string) []string {
	var asked []string
	for _, s := range w.settings {
		if s.Capability == name {
			asked = append(asked, s.Values...)
		}
	}
	slices.Sort(asked)
	return slices.Compact(asked)
}

// asked is what a worker pool asks for.
type asked struct {
	requirements []capability.Requirement
	// set is the request, without unmet, which no image can ever meet.
	set   capability.Set
	unmet []capability.Requirement
	// errs are about the worker's providerConfig.
	errs field.ErrorList
}

// askedBy returns what a worker pool asks for.
func (p *Profile[R]) askedBy(pool Pool) asked {
	a := asked{requirements: pool.Worker.Requirements(pool.Path)}
	own, errs := p.provider.Workers().Requirements(pool.Config, pool.configPath())
	a.requirements, a.errs = append(a.requirements, own...), errs
	a.set, a.unmet = p.vocabulary.Request(a.requirements)
	return a
}

// without returns the request without one of its requirements.
func (p *Profile[R]) without(a asked, i int) capability.Set {
	set, _ := p.vocabulary.Request(slices.Delete(slices.Clone(a.requirements), i, i+1))
	return set
}

// unmet returns the errors about requirements that no image can meet, because the profile does not register what they ask
// for.
func (p *Profile[R]) unmet(pool Pool, requirements []capability.Requirement) field.ErrorList {
	var errs field.ErrorList
	for _, q := range requirements {
		registers := "does not register"
		if p.vocabulary.IsRegistered(q.Capability) {
			registers = fmt.Sprintf("registers with [%s] only", few(p.vocabulary.Registered(q.Capability)))
		}
		errs = append(errs, finding(RuleRequestUnregistered, field.ErrorTypeNotSupported, settingPath(&pool, &q), q.Setting, fmt.Sprintf(
			"%s%s, which the profile %s; the operator has to register it in spec.machineCapabilities, with the values [%s], and to declare it on the flavors of images that support it; until then leave the setting out",
			poolName(pool), asks(&q), registers, strings.Join(p.valuesOf(q.Capability), ", "))))
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

// asks says what asks for what.
func asks(q *capability.Requirement) string {
	return fmt.Sprintf("%s asks for %s [%s]", q.Setting, q.Capability, strings.Join(q.Values, ", "))
}

// settingPath is the path at which an error about a requirement is reported: that of the setting or, if this stands
// nowhere, of the machine type.
func settingPath(pool *Pool, q *capability.Requirement) *field.Path {
	if q.Because != nil {
		return q.Because
	}
	return pool.Path.Child("machine", "type")
}

// culprit returns the requirement for which a worker pool gets no image: without what it asks for there would be one. It
// is the first requirement without which the others are met, those that the pool itself makes before those that are
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

// unmetRequest says why a requirement keeps a worker pool from getting an image: its machine type lacks what it asks for,
// or the flavors do.
func (p *Profile[R]) unmetRequest(r *Resolution[R], q *capability.Requirement) *field.Error {
	at := settingPath(&r.Pool, q)
	has := r.Machine.Values(q.Capability)
	if !slices.ContainsFunc(has, func(value string) bool { return slices.Contains(q.Values, value) }) {
		return finding(RuleRequestUnmet, field.ErrorTypeInvalid, at, q.Setting, fmt.Sprintf("%s%s, and machine type %s has [%s]%s",
			poolName(r.Pool), asks(q), r.Pool.MachineType, few(has), wouldWork(r.Suggestions)))
	}
	return finding(RuleRequestUnmet, field.ErrorTypeInvalid, at, q.Setting, fmt.Sprintf(
		"%s%s, and no flavor of %s@%s that fits machine type %s in region %s supports that: %s%s", poolName(r.Pool), asks(q),
		r.Pool.Image, r.Pool.Version, r.Pool.MachineType, quoteEmpty(r.Pool.Region), p.rejections(r), wouldWork(r.Suggestions)))
}

// rejectedFor says in one clause, with the flavor as its subject, what a conflict is.
func rejectedFor(c capability.Conflict) string {
	has := fmt.Sprintf("has %s [%s]", c.Capability, few(c.Offer))
	if c.Undeclared {
		has = "does not declare " + c.Capability
		if len(c.Offer) > 0 {
			has += fmt.Sprintf(", so it has [%s]", few(c.Offer))
		}
	}
	switch {
	case c.Cause == capability.CauseMachine:
		return fmt.Sprintf("%s, the machine type [%s]", has, few(c.Need))
	case c.Cause == capability.CauseBoth:
		return fmt.Sprintf("%s, the machine type [%s], the worker pool asks for [%s]", has, few(c.Need), few(c.Asked))
	}
	return fmt.Sprintf("%s, the worker pool asks for [%s]", has, few(c.Asked))
}
