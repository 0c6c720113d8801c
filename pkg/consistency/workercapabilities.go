// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/api/core/v1beta1/helper"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
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
				"worker capability %s has the values [%s]; nothing ever asks for %q", d.Name, strings.Join(d.Values, ", "), value)
		}
	}
	asked := p.valuesAsked(d.Name)
	if len(asked) > 0 && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(asked, v) }) {
		p.report.Found(ruleWorkerValueUnasked, field.ErrorTypeInvalid, at, strings.Join(values, ", "),
			"worker pools ask for %s [%s], and none of that is registered, so they are refused; register it as well",
			d.Name, strings.Join(asked, ", "))
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
			p.report.Found(ruleOnlyOnRequest, field.ErrorTypeInvalid, p.pathOf(v), v.Version,
				"%s: worker pools that ask for nothing special cannot boot it on machine %s, and Gardener may choose it for them",
				v.id, counted("type", types))
		}
	}
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
