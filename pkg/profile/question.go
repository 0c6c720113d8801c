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

// These reasons stand beside imageselector's, which knows nothing of machine types.
const (
	// ReasonUnknownMachineType says that the profile does not have the machine type.
	ReasonUnknownMachineType imageselector.Reason = "unknown-machine-type"
	// ReasonUnregistered says that the pool asks for a worker capability that the profile does not register.
	ReasonUnregistered imageselector.Reason = "unregistered-capability"
)

// Question is what a worker pool asks of a profile. [Profile.Ask] makes one.
type Question struct {
	// Request is for the catalog. It is without Unmet.
	Request imageselector.Request
	// Requirements are what the pool asks for, in the words of the vocabulary: the reserved capabilities first, then those of the provider.
	// What nothing can fail is left out, see [capability.Vocabulary.Moot].
	Requirements []capability.Requirement
	// Ignored are those of Requirements that are ignored, because the profile does not register their capability and its
	// definition says that it need not.
	Ignored []capability.Requirement
	// Unmet are those of Requirements that no image can ever meet.
	Unmet []capability.Requirement
	// Reason says why there can be no image; empty if there can. [imageselector.ReasonCapability] is said of a machine type that
	// does not have the architecture that the pool asks for.
	Reason imageselector.Reason
	// Errors and Warnings are about the pool's providerConfig, in the order of the text. With errors it is not certain what
	// the pool asks for.
	Errors, Warnings finding.List
}

// Ask returns what a worker pool asks for. It asks for more as well, whatever it says.
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
		// What is implied is ignored where it is asked for expressly: a provider may ask for a reserved capability.
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

// AskSimply returns the request of a worker pool that asks for nothing special, and whether that is all there is to say of it.
// It is what [Profile.Ask] returns of such a pool, without looking at its settings.
func (p *Profile[R]) AskSimply(pool provider.Pool) (imageselector.Request, bool) {
	if !p.simple || pool.Worker != (capability.Worker{}) || providerconfig.HasContent(pool.Config) || p.follow && p.follows(pool) {
		return imageselector.Request{}, false
	}
	machine, found := p.MachineFor(&pool)
	return p.requestOf(&pool, machine, p.ordinary), found && Suits(machine, pool.Architecture)
}

// AskBriefly returns the question of a worker pool, of one that asks for nothing special without what is asked for in words.
func (p *Profile[R]) AskBriefly(pool provider.Pool) Question {
	if request, simply := p.AskSimply(pool); simply { // as mostly
		return Question{Request: request}
	}
	return p.Ask(pool)
}

// follows reports whether something that a pool asks for follows from the pool itself. The pool is copied so that asking about one
// does not allocate where nothing counts that may follow.
func (p *Profile[R]) follows(pool provider.Pool) bool { return p.provider.Workers().Follows(&pool) }

// requestOf returns what a worker pool asks of a catalog. This is the one place that gives a question its preference order.
func (p *Profile[R]) requestOf(pool *provider.Pool, machine, worker capability.Set) imageselector.Request {
	return imageselector.Request{
		Image: pool.Image, Version: pool.Version, Region: pool.Region, Machine: machine, Worker: worker, Order: p.order,
	}
}

// Requested returns the requirements without what is implied. The caller owns the slice, which is nil if there are none.
func (q *Question) Requested() []capability.Requirement {
	var requested []capability.Requirement
	for _, r := range q.Requirements {
		if !r.Implied {
			requested = append(requested, r)
		}
	}
	return requested
}

// Suits reports whether a machine type has the architecture that a pool asks for, if it asks for one.
func Suits(machine capability.Set, architecture string) bool {
	return architecture == "" || slices.Contains(machine.Values(capability.Architecture), architecture)
}

// Unreadable reports whether it is not known, with an error of a providerConfig, what a setting asks for.
func Unreadable(f finding.Finding) bool {
	switch f.Origin {
	case providerconfig.RuleConfigKind, strictjson.OriginSyntax, strictjson.OriginFieldType, strictjson.OriginDuplicateKey:
		return true
	}
	return false
}

// Decisive returns the parts of a worker pool that decide its image.
func Decisive(pool *provider.Pool) []*field.Path {
	return []*field.Path{pool.Path.Child("machine"), pool.Path.Child("providerConfig"), pool.Path.Child("updateStrategy")}
}
