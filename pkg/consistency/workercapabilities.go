// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/strictjson"
)

// checkWorkerCapabilities checks how the profile registers worker capabilities: with values that they have, and with
// one that worker pools ask for.
func (p *compiler[R]) checkWorkerCapabilities() {
	registered, at := p.spec.MachineCapabilities, p.at.Child("machineCapabilities")
	for i, def := range registered {
		if meant := p.meant(def.Name); meant != "" {
			p.report.Found(ruleWorkerMisspelt, field.ErrorTypeInvalid, at.Index(i).Child("name"), def.Name,
				"%s is no worker capability of this provider, so no worker pool can ask for it; did you mean %s?", def.Name, meant)
		}
	}
	for _, d := range p.vocabulary.WorkerCapabilities() {
		i := slices.IndexFunc(registered, func(def v1beta1.CapabilityDefinition) bool { return def.Name == d.Name })
		if i >= 0 { // of two the first counts
			p.checkWorkerCapability(&d, registered[i].Values, at.Index(i).Child("values"))
		}
	}
}

// meant returns the worker capability that a registered name was probably meant to be; empty if it is one or like none.
func (p *Profile[R]) meant(name string) string {
	var known []string
	for _, d := range p.provider.Workers().Definitions() {
		known = append(known, d.Name)
		if strings.EqualFold(p.provider.Type()+"-"+name, d.Name) {
			return d.Name
		}
	}
	if meant := strictjson.Closest(name, known); meant != name {
		return meant
	}
	return ""
}

// misspelt returns the registered name by which a worker capability was probably meant; empty if there is none.
func (p *Profile[R]) misspelt(name string) string {
	for _, def := range p.vocabulary.Definitions() {
		if p.meant(def.Name) == name {
			return def.Name
		}
	}
	return ""
}

// checkWorkerCapability checks the values with which a worker capability is registered.
func (p *compiler[R]) checkWorkerCapability(d *capability.Definition, values []string, at *field.Path) {
	rule := ruleWorkerValueUnknown
	if strings.HasPrefix(d.Name, capability.ReservedPrefix) {
		rule = ruleReservedValue
	}
	for i, value := range values {
		if !slices.Contains(d.Values, value) {
			p.report.Found(rule, field.ErrorTypeNotSupported, at.Index(i), value,
				"worker capability %s has the values [%s]; nothing ever asks for %q: remove it, or write one of those",
				d.Name, strings.Join(d.Values, ", "), value)
		}
	}
	asked := p.valuesAsked(d.Name)
	if len(asked) > 0 && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(asked, v) }) {
		missing, add := asked[0]+" is not registered", "it"
		if len(asked) > 1 {
			missing, add = "none of these is registered", "them"
		}
		p.report.Found(ruleWorkerValueUnasked, field.ErrorTypeInvalid, at, strings.Join(values, ", "),
			"worker pools that ask for %s [%s] are refused, because %s; add %s to the values",
			d.Name, strings.Join(asked, ", "), missing, add)
	}
}

// valuesAsked returns the values of a capability that a worker pool asks for which says nothing or, if there are none,
// those that settings ask for, sorted.
func (p *Profile[R]) valuesAsked(name string) []string {
	ordinary, _, _ := p.ask(provider.Pool{})
	for _, q := range ordinary.Requirements {
		if q.Capability == name {
			return q.Values
		}
	}
	asked := sets.New[string]()
	for _, s := range p.provider.Workers().Settings() {
		if s.Capability == name {
			asked.Insert(s.Values...)
		}
	}
	return sets.List(asked)
}

// onlyOnRequest warns about image versions that some machine type boots, but not in worker pools which ask for nothing
// special: once for each active version that is not in preview.
func (p *compiler[R]) onlyOnRequest() {
	defined := p.vocabulary.WorkerCapabilities()
	for v := range versionsOf(p.spec) {
		special := p.regionsWithSpecialFlavors(v.id, defined)
		if len(special) == 0 || !v.active() ||
			helper.CurrentLifecycleClassification(v.ExpirableVersion) == v1beta1.ClassificationPreview {
			continue
		}
		types := p.typesAmong(func(machine capability.Set) bool {
			return slices.ContainsFunc(special, func(region string) bool {
				request := imageselector.Request{Image: v.id.image, Version: v.id.version, Region: region, Machine: machine}
				ordinary := request
				ordinary.Worker = p.ordinary
				return p.boots(request) && !p.boots(ordinary)
			})
		})
		if len(types) > 0 {
			what, remedy := p.onRequest(v, types[0], special)
			p.report.Found(ruleOnlyOnRequest, field.ErrorTypeInvalid, p.pathOf(v), v.Version,
				"%s: only worker pools that ask for %s can boot it on machine %s, and Gardener may choose it for others; add a flavor %s",
				v.id, what, counted("type", types), remedy)
		}
	}
}

// onRequest says what a worker pool has to ask for to boot an image version on a machine type in some of the regions, where
// ordinary ones do not, and what to add a flavor without, and where.
func (p *compiler[R]) onRequest(v coreVersion, machineType string, regions []string) (what, remedy string) {
	var asks, names []string
	for _, region := range regions {
		request := imageselector.Request{
			Image: v.id.image, Version: v.id.version, Region: region, Machine: p.machines[machineType].set, Worker: p.ordinary,
		}
		decision := p.all.Decide(request)
		request.Worker = capability.Set{}
		for i := range decision.Verdicts {
			if _, fits := p.all.Candidate(request, i); fits {
				asked, declared := declaredConflicts(&decision.Verdicts[i])
				asks, names = append(asks, strings.Join(asked, " and ")), append(names, declared...)
			}
		}
	}
	if slices.Contains(asks, "") { // what excludes a flavor is not what it declares
		return "something special", "that declares no worker capability"
	}
	asks, names = distinct(asks), distinct(names)
	remedy = "without " + finding.Or(names)
	if lists := p.flavorLists(v, slices.ContainsFunc(names, p.vocabulary.IsRegistered)); len(lists) > 0 {
		remedy += " under " + strings.Join(lists, " and ")
	}
	return finding.Or(asks), remedy
}

// declaredConflicts returns what a flavor declares that excludes it, as "NAME [VALUES]", and the names alone.
func declaredConflicts[R any](v *imageselector.Verdict[R]) (written, names []string) {
	for _, c := range v.Conflicts {
		if _, declared := v.Flavor.Capabilities[c.Capability]; declared {
			written = append(written, fmt.Sprintf("%s [%s]", c.Capability, finding.Few(c.Offer)))
			names = append(names, c.Capability)
		}
	}
	return written, names
}

// flavorLists returns where the flavors of an image version are listed in the provider config, unless that has the legacy
// format; and in core, if they are wanted of that as well.
func (p *compiler[R]) flavorLists(v coreVersion, ofCore bool) []string {
	var lists []string
	if ofCore {
		lists = append(lists, p.pathOf(v).Child("capabilityFlavors").String())
	}
	for id, entry := range mappingsOf(p.images) {
		if id == v.id && !entry.Legacy {
			return append(lists, entry.Path.Child("capabilityFlavors").String())
		}
	}
	return lists
}

// distinct returns names without repetitions, in the order of where they are first.
func distinct(names []string) []string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// regionsWithSpecialFlavors returns the regions in which an image version has a flavor that is not for ordinary worker
// pools: one that declares a worker capability, of those that are defined.
func (p *compiler[R]) regionsWithSpecialFlavors(id imageVersion, defined []capability.Definition) []string {
	declares := func(flavor imageselector.Flavor[R]) bool {
		return slices.ContainsFunc(defined, func(d capability.Definition) bool { return flavor.Capabilities[d.Name] != nil })
	}
	if !slices.ContainsFunc(p.catalog.Flavors(id.image, id.version), declares) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.regions), func(region string) bool {
		return !slices.ContainsFunc(p.catalog.Offers(id.image, id.version, region), func(offer capability.Set) bool {
			return !offer.Fits(p.vocabulary.All(), p.ordinary)
		})
	})
}
