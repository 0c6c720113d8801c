// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// Resolution is the answer for one worker pool.
type Resolution[R any] struct {
	Pool provider.Pool
	// Reference is the reference to boot; the zero R if no image was found.
	Reference R
	// Machine holds the capabilities of the pool's machine type; the zero Set if the profile lacks it.
	Machine capability.Set
	// Requirements are the pool's requirements: reserved capabilities first, then the provider's. [Pool] leaves them out for a pool without
	// settings that gets an image.
	Requirements []capability.Requirement
	// Ignored are the Requirements without effect: their capability is not registered, and they apply only where it is (semantics S3).
	Ignored []capability.Requirement
	// Decision is the record of the choice, or of the reasons against it. If [Pool] finds an image, it has only the reference and the index
	// of the flavor. It is empty, with Chosen -1, if the machine type is unknown or has another architecture, or if the pool asks for an
	// unregistered capability.
	Decision imageselector.Decision[R]
	// Reason says why the pool is refused as a whole. It is empty if flavors were considered. [imageselector.ReasonCapability] means that
	// the machine type lacks the requested architecture, or that core and provider config agree on no flavor of the image version.
	Reason imageselector.Reason
	// cause is the place of an error in the profile that may be the reason why no image was found; otherwise empty.
	cause string
	// lacking is the requested capability, if the pool gets no image because its machine type has none of the values; otherwise empty.
	lacking string
	// Open reports that the pool gets no image only because it leaves the image, or a part of the version, to Gardener's admission.
	Open bool
	// Err is nil if an image was found. Otherwise it names the pool, the reason against each flavor, and changes that would work.
	Err *finding.Finding
	// Message is the text of Err without the changes that would work.
	Message string
	// Image is an additional error if Err is about the machine type or the request: the profile has no such image or version. It is nil
	// otherwise, and for a pool that leaves the image to Gardener. With [Resolver.Mute] it is always nil, because finding it takes a pass
	// over all versions.
	Image *finding.Finding
	// Further are other errors of the pool, whether or not an image was found. Errors in its providerConfig come first, in the order of the
	// text. Then come requirements that no image can ever meet, except the one in Err, in the order of Requirements.
	Further finding.List
	// Warnings are about the pool's providerConfig, in the order of the text. They do not affect the other fields.
	Warnings finding.List
	// Suggestions are up to three changes that would work. They are empty if an image was found.
	Suggestions []Suggestion
}

// Pool finds the image that a worker pool boots (semantics S3 to S6). If there is none, it returns the reason and suggestions (S13).
// Admission, command and worker controller call it. Pool is safe for concurrent use.
func Pool[R any](p *profile.Profile[R], pool provider.Pool) Resolution[R] {
	return Resolver[R]{Profile: p}.Pool(pool)
}

// Explain is like [Pool], but always records the choice. It is safe for concurrent use.
func Explain[R any](p *profile.Profile[R], pool provider.Pool) Resolution[R] {
	return Resolver[R]{Profile: p}.resolve(pool, true)
}

// Boots returns a function that reports whether a worker pool would boot another image version, like [Pool] without the texts. Boots
// evaluates the pool's requirements only once, so it suits questions about many versions. It returns nil if the pool's providerConfig has
// an error, such as an unknown field, because the requirements are then uncertain. The function is safe for concurrent use.
func Boots[R any](p *profile.Profile[R], pool provider.Pool) func(image, version string) bool {
	q := p.Ask(pool)
	if len(q.Errors) > 0 {
		return nil
	}
	return func(image, version string) bool {
		request := q.Request
		request.Image, request.Version = image, version
		return q.Reason == "" && p.Boots(request)
	}
}

// WhyNot explains why a worker pool boots nothing, without its name and without suggestions. It returns "" if the pool boots something.
func WhyNot[R any](p *profile.Profile[R], pool provider.Pool) string {
	pool.Name = ""
	r := Resolver[R]{Profile: p, Mute: true}.resolve(pool, false)
	if r.Err == nil {
		return ""
	}
	return r.Err.Detail
}

// Resolver answers for worker pools. One made by [NewResolver] memoizes the search for suggestions, for use with many pools, and is not
// safe for concurrent use.
type Resolver[R any] struct {
	*profile.Profile[R]
	// Mute disables suggestions.
	Mute bool
	// distances memoizes the differences between machine types, by their capabilities.
	distances map[[2]capability.Set]int
	// versions memoizes fitting versions by the request without a version, and types memoizes machine types by the request without a
	// machine type.
	versions map[wanted]versions.Choices
	types    map[imageselector.Request][]bootingType
}

// NewResolver returns a resolver for many worker pools of a profile.
func NewResolver[R any](p *profile.Profile[R]) *Resolver[R] {
	return &Resolver[R]{
		Profile: p, distances: map[[2]capability.Set]int{},
		versions: map[wanted]versions.Choices{}, types: map[imageselector.Request][]bootingType{},
	}
}

// Pool is like the function [Pool].
func (p Resolver[R]) Pool(pool provider.Pool) Resolution[R] {
	if request, simply := p.AskSimply(pool); simply {
		r := Resolution[R]{Pool: pool, Machine: request.Machine}
		if p.choose(&r, request) {
			return r
		}
	}
	return p.resolve(pool, false)
}

// choose finds the image of a pool without a record, and reports whether there is one.
func (p Resolver[R]) choose(r *Resolution[R], request imageselector.Request) bool {
	chosen := p.Catalog().Choose(request)
	if r.Decision.Chosen = chosen; chosen < 0 {
		return false
	}
	r.Reference, _ = p.Catalog().Flavors(request.Image, request.Version)[chosen].Reference(request.Region)
	r.Decision.Reference = r.Reference
	return true
}

// resolve answers for a pool with additional requirements. It records the choice if explain is set or there is no image.
func (p Resolver[R]) resolve(pool provider.Pool, explain bool, more ...capability.Requirement) Resolution[R] {
	q := p.Ask(pool, more...)
	r := Resolution[R]{
		Pool: pool, Machine: q.Request.Machine, Requirements: q.Requirements, Ignored: q.Ignored, Reason: q.Reason,
		Further: q.Errors, Warnings: q.Warnings, Decision: imageselector.Decision[R]{Chosen: -1},
	}
	errs := p.unmet(pool, q.Unmet)
	registered := len(errs) == 0 // otherwise no other change helps
	switch {
	case r.Reason == profile.ReasonUnregistered:
		r.Err, errs = &errs[0], errs[1:]
	case r.Reason == "" && (!p.choose(&r, q.Request) || explain):
		r.Decision = p.Catalog().Decide(q.Request)
		r.Reason = r.Decision.Reason
		if r.Reason == "" && len(r.Decision.Verdicts) == 0 {
			r.Reason = imageselector.ReasonCapability
		}
		r.Open = r.Reason != "" && p.leavesImage(pool)
	}
	r.Further = append(r.Further, errs...)
	if r.Decision.Chosen >= 0 {
		return r
	}
	if registered && !p.Mute {
		r.Suggestions = p.suggest(pool, q.Request, more...)
	}
	if r.Err == nil {
		refusal := p.refusal(&r).In(profile.Decisive(&pool)...)
		refusal.Detail = PoolName(pool) + refusal.Detail
		r.Err = &refusal
	}
	if q.Reason != "" && !p.Mute {
		r.Image = p.unknownImage(pool, q.Request)
	}
	hint, work := "", ""
	if !p.Mute {
		hint, work = p.advice(&r, q.Request, more...)
	}
	r.Message = r.Err.Detail + hint
	r.Err.Detail, r.Err.Subject.Pool = r.Message+work, pool.Name
	return r
}

// unknownImage returns the error about an image that the profile lacks, whatever else is wrong with the pool. It returns nil if the profile
// has the image, or the pool leaves it to Gardener.
func (p Resolver[R]) unknownImage(pool provider.Pool, request imageselector.Request) *finding.Finding {
	r := Resolution[R]{Pool: pool, Decision: p.Catalog().Decide(request)}
	r.Reason = r.Decision.Reason
	if r.Reason != imageselector.ReasonUnknownImage && r.Reason != imageselector.ReasonUnknownVersion || p.leavesImage(pool) {
		return nil
	}
	r.Pool.Architecture = "" // a wrong architecture is already reported
	err := p.refusal(&r).In(profile.Decisive(&pool)...)
	hint, work := p.advice(&r, request)
	err.Detail, err.Subject.Pool = PoolName(pool)+err.Detail+hint+work, pool.Name
	return &err
}

// leavesImage reports whether a pool leaves its image, or a part of its version, to Gardener: it names no image, or at most the first parts
// of a version.
func (p Resolver[R]) leavesImage(pool provider.Pool) bool {
	if pool.Image == "" {
		return true
	}
	for v := range p.Versions() {
		if v.ID.Image == pool.Image && (pool.Version == "" || strings.HasPrefix(v.Version, pool.Version+".")) {
			return true
		}
	}
	return false
}

// refusal returns the error about a pool that gets no image, without the pool's name and without suggestions.
func (p Resolver[R]) refusal(r *Resolution[R]) finding.Finding {
	id, machine := provider.ImageVersion{Image: r.Pool.Image, Version: r.Pool.Version}, r.Pool.Path.Child("machine")
	image, version := machine.Child("image"), machine.Child("image", "version")
	unknown := func(rule finding.Rule, at *field.Path, value, detail string) finding.Finding {
		return finding.New(rule.Name, field.ErrorTypeNotSupported, at, value, detail)
	}
	switch {
	case r.Reason == profile.ReasonUnknownMachineType:
		return unknown(ruleUnknownMachineType, machine.Child("type"), r.Pool.MachineType,
			"machine type "+words.Quoted(r.Pool.MachineType)+" is not in the profile"+p.misnamedType(r))
	case !profile.Suits(r.Machine, r.Pool.Architecture):
		has, which := r.Machine.Values(capability.Architecture), "machine type "+r.Pool.MachineType+" has"
		if len(has) == 0 { // the machine type leaves it to the pool, whose architecture is not registered
			has, which = p.Vocabulary().Registered(capability.Architecture), "there are only machines of"
		}
		if len(has) == 0 {
			return RuleArchitecture.Fault(field.ErrorTypeInvalid, machine.Child("architecture"), r.Pool.Architecture,
				"the pool is for architecture %s, and the profile registers none in spec.machineCapabilities; repair that first", r.Pool.Architecture)
		}
		return RuleArchitecture.Fault(field.ErrorTypeInvalid, machine.Child("architecture"), r.Pool.Architecture,
			"the pool is for architecture %s, and %s architecture [%s]; write %s",
			r.Pool.Architecture, which, words.Few(has), words.Or(has))
	case id.Image == "":
		return unknown(ruleUnknownImage, image, "", "no image is named")
	case id.Version == "":
		return unknown(ruleUnknownVersion, version, "", "no version of image "+id.Image+" is named")
	case r.Reason == imageselector.ReasonUnknownImage && p.hasNoVersions(id.Image):
		return unknown(ruleUnknownImage, image.Child("name"), id.Image, "image "+id.Image+" has no versions in the profile")
	case r.Reason == imageselector.ReasonUnknownImage:
		return unknown(ruleUnknownImage, image.Child("name"), id.Image,
			"image "+id.Image+" is not in "+p.lackedBy(r, false))
	case r.Reason == imageselector.ReasonUnknownVersion:
		return unknown(ruleUnknownVersion, version, id.Version,
			"image "+id.Image+" has no version "+id.Version+" in "+p.lackedBy(r, true))
	case len(r.Decision.Verdicts) == 0:
		if r.cause = p.CauseOf(r.Pool.MachineType, r.Decision.Request); r.cause != "" {
			return ruleNoImage.Fault(field.ErrorTypeInvalid, version, id.Version, "%s has no image to boot: %s", id, repairFirst(r.cause))
		}
		return ruleNoImage.Fault(field.ErrorTypeInvalid, version, id.Version,
			"%s has no flavor that is both in the profile's machineImages and in %s, so there is no image "+
				"to boot; its operator has to make the two agree", id, p.mapping("its provider config"))
	}
	if culprit := p.culprit(r); culprit != nil {
		return p.unmetRequest(r, culprit)
	}
	region := words.Quoted(r.Pool.Region)
	if !p.HasRegion(r.Pool.Region) {
		region += fmt.Sprintf(", which is not in the profile (%s%s)", words.Few(p.Regions()), meantRegion(p.Profile, r.Pool.Region))
	}
	reason := p.rejections(r, nil)
	refusal := ruleNoImage.Fault(field.ErrorTypeInvalid, machine.Child("type"), r.Pool.MachineType,
		"no image fits machine type %s with %s in region %s: %s", r.Pool.MachineType, id, region, reason)
	refusal.Subject.Reason = reason
	return refusal
}

// misnamedType continues the error about an unknown machine type if the profile has a machine type with an invalid name.
func (p Resolver[R]) misnamedType(r *Resolution[R]) string {
	if r.cause = p.MisnamedType(); r.cause == "" {
		return ""
	}
	return ", which has an error " + r.cause + "; repair that first"
}

// repairFirst says that the profile has to be repaired first.
func repairFirst(where string) string {
	return "the profile has an error " + where + "; repair that first"
}

// Region returns an error at the path at if the profile lacks a region. A profile without regions, which core refuses, lacks none.
func Region[R any](p *profile.Profile[R], region string, at *field.Path) *finding.Finding {
	if p.HasRegion(region) {
		return nil
	}
	err := ruleUnknownRegion.Fault(field.ErrorTypeNotSupported, at, region,
		"region %s is not in the profile, which has %s%s", words.Quoted(region), words.Few(p.Regions()), meantRegion(p, region))
	meant := words.Certain(region, p.Regions())
	if !slices.ContainsFunc(p.Spec().Regions, func(r v1beta1.Region) bool { return r.Name == meant && misspelt(r, region) }) {
		err.Suggestion = finding.Suggest(finding.ReplaceValue, region, "", meant)
	}
	return &err
}

// misspelt reports whether a region's zones begin with another name: then the profile may misspell the region itself.
func misspelt(r v1beta1.Region, name string) bool {
	return slices.ContainsFunc(r.Zones, func(z v1beta1.AvailabilityZone) bool {
		return strings.HasPrefix(z.Name, name) && !strings.HasPrefix(z.Name, r.Name)
	})
}

// meantRegion asks whether a misspelt name means one of the profile's regions.
func meantRegion[R any](p *profile.Profile[R], region string) string {
	return words.DidYouMean(words.Slip(region, p.Regions()))
}

// hasNoVersions reports whether core lists an image, but no version of it.
func (p Resolver[R]) hasNoVersions(image string) bool {
	for v := range p.Versions() {
		if v.ID.Image == image {
			return false
		}
	}
	return slices.Contains(entries.Images(p.Spec()), image)
}

// lackedBy names what lacks the pool's image or version: the profile or, if core lists it, the place where images are mapped. If the entry
// may be unreadable there, it says so.
func (p Resolver[R]) lackedBy(r *Resolution[R], version bool) string {
	for v := range p.Versions() {
		if v.ID.Image != r.Pool.Image || version && v.Version != r.Pool.Version {
			continue
		}
		lacks := p.mapping("the profile's provider config") + ", though core lists it"
		if r.cause = p.LostIn(provider.ImageVersion{Image: r.Pool.Image, Version: r.Pool.Version}); r.cause != "" {
			lacks += "; " + repairFirst(r.cause)
		}
		return lacks
	}
	return "the profile"
}

// mapping returns the words for the place where images are mapped: config, unless the provider maps them elsewhere.
func (p Resolver[R]) mapping(config string) string {
	return provider.PoliciesOf(p.Provider()).Mapping(config)
}

// PoolName returns the beginning of a message about a worker pool, or "" if the pool has no name.
func PoolName(pool provider.Pool) string {
	if pool.Name == "" {
		return ""
	}
	return "worker pool " + pool.Name + ": "
}
