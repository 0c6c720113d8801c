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

// These reasons stand beside imageselector's, which knows nothing of machine types.
const (
	// ReasonUnknownMachineType says that the profile does not have the machine type.
	ReasonUnknownMachineType imageselector.Reason = "unknown-machine-type"
	// ReasonUnregistered says that the pool asks for a worker capability that the profile does not register.
	ReasonUnregistered imageselector.Reason = "unregistered-capability"
)

// Resolution answers for one worker pool.
type Resolution[R any] struct {
	Pool provider.Pool
	// Reference is what to boot; the zero R if no image was found.
	Reference R
	// Machine is what the pool's machine type supports; the zero Set if the profile does not have it.
	Machine capability.Set
	// Requirements are what the pool asks for: the reserved capabilities first, then those of the provider. They are left
	// out by [Profile.ResolvePool] if an image was found.
	Requirements []capability.Requirement
	// Ignored are those of Requirements that count for nothing, because the profile does not register their capability and
	// its definition says that it need not.
	Ignored []capability.Requirement
	// Decision is the record of the choice, or of why there is none. Of an image that was found by [Profile.ResolvePool]
	// it has no more than the index of the flavor. It is empty, with Chosen -1, for a machine type that is unknown or of
	// another architecture, and for a pool that asks for a capability which is not registered.
	Decision imageselector.Decision[R]
	// Reason says why the pool is refused as a whole; empty if flavors were looked at. [imageselector.ReasonCapability] is
	// said of a machine type that does not have the architecture that the pool asks for, and of an image version without a
	// flavor that core and provider config agree on.
	Reason imageselector.Reason
	// cause says where the profile has an error that may be why no image was found; empty if there is none.
	cause string
	// open says that the pool leaves its image, or a part of the version, to Gardener's own admission.
	open bool
	// Err is nil if an image was found. Otherwise it names the pool, why each flavor is out, and what would work.
	Err *finding.Finding
	// Message is what Err says, without what would work.
	Message string
	// Further errors of the pool, whether or not an image was found: what is wrong with its providerConfig, in the order
	// of the text, then capabilities that it asks for beside the one that Err is about, in the order of Requirements.
	Further finding.List
	// Warnings are about the pool's providerConfig, in the order of the text. Nothing else depends on what they are about.
	Warnings finding.List
	// Suggestions are up to three things that would work; only if nothing was found.
	Suggestions []Suggestion
}

// ResolvePool finds the image that a worker pool boots (semantics S3 to S6), or says why there is none and what would
// work (S13). Admission, command line and worker controller ask the same. Safe for concurrent use.
func (p *Profile[R]) ResolvePool(pool provider.Pool) Resolution[R] {
	return suggester[R]{Profile: p}.resolvePool(pool)
}

func (p suggester[R]) resolvePool(pool provider.Pool) Resolution[R] {
	asksNothing := p.simple && pool.Worker == (capability.Worker{}) && !provider.HasContent(pool.Config)
	if machine, found := p.machineOf(pool); found && asksNothing && suits(machine, pool.Architecture) {
		r := Resolution[R]{Pool: pool, Machine: machine}
		if p.choose(&r, requestOf(pool, machine, p.ordinary)) {
			return r
		}
	}
	return p.resolve(pool, false)
}

// ExplainPool answers as [Profile.ResolvePool] does, with the record of the choice in any case.
func (p *Profile[R]) ExplainPool(pool provider.Pool) Resolution[R] { return p.resolve(pool, true) }

// resolve does the work of [Profile.ResolvePool]. It keeps the record of the choice if that is to be explained, or if
// there is no image.
func (p *Profile[R]) resolve(pool provider.Pool, explain bool) Resolution[R] {
	return suggester[R]{Profile: p}.resolve(pool, explain)
}

// Boots returns a function that reports whether a worker pool would boot a version of an image if it named that instead
// of its own: what [Profile.ResolvePool] answers for it, without its texts. It is for questions about many versions:
// what the pool asks for, and what its machine type supports, is found out once. Nil: the pool's providerConfig cannot
// be read, so that nobody knows what it asks for. Safe for concurrent use.
func (p *Profile[R]) Boots(pool provider.Pool) func(image, version string) bool {
	r, request, _ := p.ask(pool)
	if len(r.Further) > 0 {
		return nil
	}
	return func(image, version string) bool {
		request := request
		request.Image, request.Version = image, version
		return r.Reason == "" && p.boots(request)
	}
}

// choose finds the image of a pool without keeping a record, and reports whether there is one.
func (p *Profile[R]) choose(r *Resolution[R], request imageselector.Request) bool {
	r.Decision.Chosen = p.all.Choose(request)
	if r.Decision.Chosen < 0 {
		return false
	}
	r.Reference, _ = p.all.Flavors(request.Image, request.Version)[r.Decision.Chosen].Reference(request.Region)
	r.Decision.Reference = r.Reference
	return true
}

// requestOf returns what a worker pool asks of a catalog.
func requestOf(pool provider.Pool, machine, worker capability.Set) imageselector.Request {
	return imageselector.Request{
		Image: pool.Image, Version: pool.Version, Region: pool.Region, Machine: machine, Worker: worker, Order: pool.Order,
	}
}

// resolve is [Profile.resolve] for a pool that asks for more, whatever it says.
func (p suggester[R]) resolve(pool provider.Pool, explain bool, more ...capability.Requirement) Resolution[R] {
	r, request, unmet := p.ask(pool, more...)
	errs := p.unmet(pool, unmet)
	registered := len(errs) == 0 // else nothing helps, whatever else is changed
	switch {
	case r.Reason == ReasonUnregistered:
		r.Err, errs = &errs[0], errs[1:]
	case r.Reason == "" && (!p.choose(&r, request) || explain):
		r.Decision = p.all.Decide(request)
		r.Reason = r.Decision.Reason
		if r.Reason == "" && len(r.Decision.Verdicts) == 0 {
			r.Reason = imageselector.ReasonCapability
		}
		r.open = r.Reason != "" && p.leavesImage(pool)
	}
	r.Further = append(r.Further, errs...)
	if r.Decision.Chosen >= 0 {
		return r
	}
	if registered && !p.mute {
		r.Suggestions = p.suggest(pool, request)
	}
	if r.Err == nil {
		refusal := p.refusal(&r).In(decisive(&pool)...)
		refusal.Detail = poolName(pool) + refusal.Detail
		r.Err = &refusal
	}
	r.Message = r.Err.Detail
	if !p.mute {
		r.Err.Detail += p.advice(&r, request)
	}
	return r
}

// decisive returns the parts of a worker pool that decide its image.
func decisive(pool *provider.Pool) []*field.Path {
	return []*field.Path{pool.Path.Child("machine"), pool.Path.Child("providerConfig"), pool.Path.Child("updateStrategy")}
}

// machineOf returns what the machine type of a pool supports, and whether the profile has it.
func (p *Profile[R]) machineOf(pool provider.Pool) (capability.Set, bool) {
	m, found := p.machines[pool.MachineType]
	if found && !m.named && pool.Architecture != "" {
		return p.machineSet(m.written, pool.Architecture), true
	}
	return m.set, found
}

// suits reports whether a machine type has the architecture that a pool asks for, if it asks for one.
func suits(machine capability.Set, architecture string) bool {
	return architecture == "" || slices.Contains(machine.Values(capability.Architecture), architecture)
}

// leavesImage reports whether a pool leaves its image, or a part of its version, to Gardener: it names none, or the
// beginning of the version of an image.
func (p *Profile[R]) leavesImage(pool provider.Pool) bool {
	if pool.Image == "" {
		return true
	}
	for v := range versionsOf(p.spec) {
		if v.id.image == pool.Image && (pool.Version == "" || strings.HasPrefix(v.Version, pool.Version+".")) {
			return true
		}
	}
	return false
}

// refusal returns the error about a pool that gets no image, without its name and what would work.
func (p *Profile[R]) refusal(r *Resolution[R]) finding.Finding {
	id, machine := imageVersion{r.Pool.Image, r.Pool.Version}, r.Pool.Path.Child("machine")
	image, version := machine.Child("image"), machine.Child("image", "version")
	unknown := func(rule finding.Rule, at *field.Path, value, detail string) finding.Finding {
		return finding.New(rule.Name, field.ErrorTypeNotSupported, at, value, detail)
	}
	switch {
	case r.Reason == ReasonUnknownMachineType:
		return unknown(ruleUnknownMachineType, machine.Child("type"), r.Pool.MachineType,
			"machine type "+finding.Quoted(r.Pool.MachineType)+" is not in the profile"+p.misnamedType(r))
	case !suits(r.Machine, r.Pool.Architecture):
		has, which := r.Machine.Values(capability.Architecture), "machine type "+r.Pool.MachineType+" has"
		if len(has) == 0 { // it leaves its architecture to the pool, and there is no such architecture
			has, which = p.vocabulary.Registered(capability.Architecture), "there are only machines of"
		}
		return fault(RuleArchitecture, field.ErrorTypeInvalid, machine.Child("architecture"), r.Pool.Architecture,
			"the pool asks for %s, and %s architecture [%s]; write %s, or leave architecture out",
			r.Pool.Architecture, which, finding.Few(has), finding.Or(has))
	case id.image == "":
		return unknown(ruleUnknownImage, image, "", "no image is named")
	case id.version == "":
		return unknown(ruleUnknownVersion, version, "", "no version of image "+id.image+" is named")
	case r.Reason == imageselector.ReasonUnknownImage:
		return unknown(ruleUnknownImage, image.Child("name"), id.image,
			"image "+id.image+" is not in the profile"+p.unmapped(r, false))
	case r.Reason == imageselector.ReasonUnknownVersion:
		return unknown(ruleUnknownVersion, version, id.version,
			"image "+id.image+" has no version "+id.version+" in the profile"+p.unmapped(r, true))
	case len(r.Decision.Verdicts) == 0:
		if r.cause = p.causeOf(r.Pool.MachineType, r.Decision.Request); r.cause != "" {
			return fault(ruleNoImage, field.ErrorTypeInvalid, version, id.version, "%s has no image to boot: %s", id, repairFirst(r.cause))
		}
		return fault(ruleNoImage, field.ErrorTypeInvalid, version, id.version,
			"%s has no flavor that is both in the profile's machineImages and in its provider config, so there is no image "+
				"to boot; its operator has to make the two agree", id)
	}
	if culprit := p.culprit(r); culprit != nil {
		return p.unmetRequest(r, culprit)
	}
	region := finding.Quoted(r.Pool.Region)
	if p.CheckRegion(r.Pool.Region, nil) != nil {
		region += fmt.Sprintf(", which is not in the profile (%s%s)", finding.Few(p.regions), p.meantRegion(r.Pool.Region))
	}
	return fault(ruleNoImage, field.ErrorTypeInvalid, machine.Child("type"), r.Pool.MachineType,
		"no image fits machine type %s with %s in region %s: %s", r.Pool.MachineType, id, region, p.rejections(r))
}

// misnamedType says of a machine type that the profile lacks if one there has a wrong name.
func (p *Profile[R]) misnamedType(r *Resolution[R]) string {
	if p.causes == nil || p.causes().typeName == "" {
		return ""
	}
	r.cause = p.causes().typeName
	return ", which has an error " + r.cause + "; repair that first"
}

// rejections says why the flavors are out, or which error of the profile may be why.
func (p *Profile[R]) rejections(r *Resolution[R]) string {
	if r.cause = p.causeOf(r.Pool.MachineType, r.Decision.Request); r.cause != "" {
		return repairFirst(r.cause)
	}
	rejections := make([]string, 0, len(r.Decision.Verdicts))
	for i := range r.Decision.Verdicts {
		rejections = append(rejections, p.vocabulary.Format(r.Decision.Verdicts[i].Flavor.Capabilities)+" "+Rejection(&r.Decision, i))
	}
	return finding.JoinFew(rejections, "; ")
}

// CheckRegion returns an error at the path at if the profile does not have a region, and nil if it does. A profile
// without regions, which core refuses, is taken to have every one.
func (p *Profile[R]) CheckRegion(region string, at *field.Path) *finding.Finding {
	if p.hasRegion(region) {
		return nil
	}
	err := fault(ruleUnknownRegion, field.ErrorTypeNotSupported, at, region,
		"region %s is not in the profile, which has %s%s", finding.Quoted(region), finding.Few(p.regions), p.meantRegion(region))
	return &err
}

// hasRegion reports what CheckRegion does, without the error.
func (p *Profile[R]) hasRegion(region string) bool {
	return len(p.regions) == 0 || slices.Contains(p.regions, region)
}

// meantRegion asks whether one of the profile's regions was meant by another name.
func (p *Profile[R]) meantRegion(region string) string {
	return strictjson.DidYouMean(strictjson.Slip(region, p.regions))
}

// unmapped says that core lists the image of a pool, or its version, so that it is the provider config which lacks it: or
// seems to, where it could not be read.
func (p *Profile[R]) unmapped(r *Resolution[R], version bool) string {
	for v := range versionsOf(p.spec) {
		if v.id.image != r.Pool.Image || version && v.Version != r.Pool.Version {
			continue
		}
		lacks := "'s provider config, though core lists it"
		if r.cause = p.lost[imageVersion{r.Pool.Image, r.Pool.Version}]; r.cause != "" {
			lacks += "; " + repairFirst(r.cause)
		}
		return lacks
	}
	return ""
}

// Rejection says in one clause, with the flavor as its subject, why the flavor of a verdict is out: the first
// capability in conflict, what the flavor has, and what the machine type has or the worker pool asks for; or the
// region. It is empty for a candidate.
func Rejection[R any](d *imageselector.Decision[R], verdict int) string {
	v := &d.Verdicts[verdict]
	switch v.Reason {
	case imageselector.ReasonCapability:
		if len(v.Conflicts) == 0 {
			return "was compiled with another vocabulary"
		}
		c := v.Conflicts[0]
		if _, written := v.Flavor.Capabilities[c.Capability]; written {
			c.Undeclared = false // what it declares is what holds anyway
		}
		return rejectedFor(c)
	case imageselector.ReasonRegion:
		regions := make([]string, 0, len(v.Flavor.Regional))
		for i := range v.Flavor.Regional {
			regions = append(regions, v.Flavor.Regional[i].Region)
		}
		if len(regions) == 0 {
			return "has no image anywhere"
		}
		return fmt.Sprintf("has no image in region %s, only in %s", finding.Quoted(d.Request.Region), finding.Few(regions))
	}
	return ""
}

func poolName(pool provider.Pool) string {
	if pool.Name == "" {
		return ""
	}
	return "worker pool " + pool.Name + ": "
}
