// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/providerconfig"
	"github.com/capkit/capkit/pkg/strictjson"
)

// These reasons complement those of imageselector, which has no machine types.
const (
	// ReasonUnknownMachineType means that the profile lacks the machine type.
	ReasonUnknownMachineType imageselector.Reason = "unknown-machine-type"
	// ReasonUnregistered means that the pool asks for a worker capability that the profile does not register.
	ReasonUnregistered imageselector.Reason = "unregistered-capability"
)

// Question is a worker pool's request to a profile. [Profile.Ask] makes one.
type Question struct {
	// Request is for the catalog. It does not include Unmet.
	Request imageselector.Request
	// Requirements are the pool's requirements, with the names that the vocabulary uses: reserved capabilities first, then the provider's.
	// Requirements that every flavor meets are left out, see [capability.Vocabulary.Moot].
	Requirements []capability.Requirement
	// Ignored are the Requirements without effect: their capability is not registered, and they apply only where it is (semantics S3).
	Ignored []capability.Requirement
	// Unmet are the Requirements that no image can ever meet.
	Unmet []capability.Requirement
	// Reason says why no image is possible; empty if one is. [imageselector.ReasonCapability] means that the machine type lacks the
	// architecture that the pool asks for.
	Reason imageselector.Reason
	// Errors and Warnings are about the pool's providerConfig, in the order of the text. If there are errors, Requirements are uncertain.
	Errors, Warnings finding.List
}

// Ask returns the question of a worker pool. It adds more to the pool's own requirements.
func (p *Profile[R]) Ask(pool provider.Pool, more ...capability.Requirement) Question {
	own, report := p.provider.Workers().Requirements(pool)
	for i := range report.Errors {
		if Unreadable(report.Errors[i]) {
			report.Errors[i] = report.Errors[i].In(Decisive(&pool)...)
		}
	}
	q := Question{Errors: report.Errors, Warnings: report.Warnings}
	all := append(append(pool.Worker.Requirements(pool.Path), own...), more...)
	for i := range all {
		all[i] = p.vocabulary.InWords(all[i])
	}
	for _, r := range all {
		if p.vocabulary.Moot(r) {
			continue
		}
		// An explicit request overrides an implied one: a provider may ask for a reserved capability.
		if r.Implied && slices.ContainsFunc(all, func(other capability.Requirement) bool {
			return other.Capability == r.Capability && !other.Implied
		}) {
			continue
		}
		r.OnlyIfRegistered = r.OnlyIfRegistered && !p.offered.Has(texts.Canonical(r.Capability))
		q.Requirements = append(q.Requirements, r)
		if p.vocabulary.Ignores(r) {
			q.Ignored = append(q.Ignored, r)
		}
	}
	worker, unmet := p.vocabulary.Request(q.Requirements)
	machine, found := p.MachineFor(&pool)
	q.Request, q.Unmet = p.requestOf(&pool, machine, worker), unmet
	switch {
	case !found:
		q.Reason = ReasonUnknownMachineType
	case !Suits(machine, pool.Architecture):
		q.Reason = imageselector.ReasonCapability
	case len(unmet) > 0:
		q.Reason = ReasonUnregistered
	}
	return q
}

// AskSimply returns the request of a worker pool without special settings, and whether there is nothing else to say about the pool. If so,
// the request is that of [Profile.Ask], but the pool's settings are not evaluated.
func (p *Profile[R]) AskSimply(pool provider.Pool) (imageselector.Request, bool) {
	if !p.simple || pool.Worker != (capability.Worker{}) || providerconfig.HasContent(pool.Config) || p.follow && p.follows(pool) {
		return imageselector.Request{}, false
	}
	machine, found := p.MachineFor(&pool)
	return p.requestOf(&pool, machine, p.ordinary), found && Suits(machine, pool.Architecture)
}

// AskBriefly is like [Profile.Ask], but leaves out Requirements for a worker pool without special settings.
func (p *Profile[R]) AskBriefly(pool provider.Pool) Question {
	if request, simply := p.AskSimply(pool); simply { // the usual case
		return Question{Request: request}
	}
	return p.Ask(pool)
}

// follows reports whether some requirement follows from the pool itself. The pool is passed by value so that the caller does not allocate
// if no such requirement applies.
func (p *Profile[R]) follows(pool provider.Pool) bool { return p.provider.Workers().Follows(&pool) }

// requestOf returns a worker pool's request to the catalog. No other place sets a request's preference order.
func (p *Profile[R]) requestOf(pool *provider.Pool, machine, worker capability.Set) imageselector.Request {
	return imageselector.Request{
		Image: pool.Image, Version: pool.Version, Region: pool.Region, Machine: machine, Worker: worker, Order: p.order,
	}
}

// Requested returns the requirements that are not implied. The caller owns the slice, which is nil if there are none.
func (q *Question) Requested() []capability.Requirement {
	var requested []capability.Requirement
	for _, r := range q.Requirements {
		if !r.Implied {
			requested = append(requested, r)
		}
	}
	return requested
}

// Suits reports whether a machine type has the given architecture. An empty architecture suits every machine type.
func Suits(machine capability.Set, architecture string) bool {
	return architecture == "" || slices.Contains(machine.Values(capability.Architecture), architecture)
}

// Unreadable reports whether an error in a providerConfig leaves the value of a setting unknown.
func Unreadable(f finding.Finding) bool {
	switch f.Origin {
	case providerconfig.RuleConfigKind, strictjson.OriginSyntax, strictjson.OriginFieldType, strictjson.OriginDuplicateKey:
		return true
	}
	return false
}

// Decisive returns the paths of the fields that decide a worker pool's image.
func Decisive(pool *provider.Pool) []*field.Path {
	return []*field.Path{pool.Path.Child("machine"), pool.Path.Child("providerConfig"), pool.Path.Child("updateStrategy")}
}
