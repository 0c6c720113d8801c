// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/capability/texts"
	"github.com/capkit/capkit/pkg/imageselector"
	"github.com/capkit/capkit/pkg/profile/entries"
	"github.com/capkit/capkit/pkg/provider"
	"github.com/capkit/capkit/pkg/resolve"
	"github.com/capkit/capkit/pkg/versions"
	"github.com/capkit/capkit/pkg/words"
)

// workerCapabilities warns about a profile that registers names similar to worker capabilities, or worker capabilities without any value
// that worker pools ask for.
func (c *checker[R]) workerCapabilities() {
	at := c.At.Child("machineCapabilities")
	for i, def := range c.Spec.MachineCapabilities {
		if meant := c.profile.Meant(def.Name); meant != "" {
			c.Report.Found(ruleWorkerMisspelt, field.ErrorTypeInvalid, at.Index(i).Child("name"), def.Name,
				"%s is not a worker capability of this provider, so no worker pool can ask for it%s", def.Name, words.DidYouMean(meant))
		}
	}
	for d, i := range c.WorkerCapabilities() {
		if texts.OfSecond(d.Name) { // reported as an error
			continue
		}
		asked, values := c.valuesAsked(d.Name), c.Spec.MachineCapabilities[i].Values
		if len(asked) == 0 || slices.ContainsFunc(values, func(v string) bool { return slices.Contains(asked, v) }) {
			continue
		}
		missing, add := asked[0]+" is not registered", "it"
		if len(asked) > 1 {
			missing, add = "none of these is registered", "them"
		}
		c.Report.Found(ruleWorkerValueUnasked, field.ErrorTypeInvalid, at.Index(i).Child("values"), strings.Join(values, ", "),
			"worker pools that ask for %s [%s] are refused, because %s; add %s to the values",
			d.Name, strings.Join(asked, ", "), missing, add)
	}
}

// valuesAsked returns the values of a capability that an ordinary worker pool asks for. If there are none, it returns the values that
// settings ask for, sorted.
func (c *checker[R]) valuesAsked(name string) []string {
	ordinary := c.profile.Ask(provider.Pool{})
	for _, q := range ordinary.Requirements {
		if q.Capability == name {
			return q.Values
		}
	}
	asked := sets.New[string]()
	for _, s := range c.profile.Provider().Workers().Settings() {
		if s = c.profile.Vocabulary().InWords(s); s.Capability == name {
			asked.Insert(s.Values...)
		}
	}
	return sets.List(asked)
}

// ofMachineTypes warns about core flavors that declare a capability for machine types only, but not all of its values: they exclude machine
// types, whatever a worker pool asks for (semantics S22). Flavors of the provider config have to agree with core.
func (c *checker[R]) ofMachineTypes() {
	vocabulary := c.profile.Vocabulary()
	var names []string
	for _, d := range vocabulary.WorkerCapabilities() {
		if d.MachineTypesOnly && vocabulary.IsRegistered(d.Name) {
			names = append(names, d.Name)
		}
	}
	if len(names) == 0 {
		return
	}
	for v := range c.Versions() {
		for i := range v.CapabilityFlavors {
			for _, name := range names {
				values, declared := v.CapabilityFlavors[i].Capabilities[name]
				lacks := slices.DeleteFunc(vocabulary.Registered(name), func(value string) bool { return slices.Contains(values, value) })
				if !declared || len(values) == 0 || len(lacks) == 0 {
					continue
				}
				c.Report.Found(RuleFlavorOfMachineTypes, field.ErrorTypeInvalid, c.PathOf(v).Child("capabilityFlavors").Index(i).Child(name),
					strings.Join(values, ", "), "%s: worker pools ask for %s of machine types only, and this flavor excludes those that have just [%s], "+
						"whatever a pool asks for; leave it out here, and in the provider config",
					v.ID, name, words.Few(lacks))
			}
		}
	}
}

// onlyOnRequest warns about active image versions, not in preview, that some machine type boots only in worker pools with special
// requirements. It warns once for each version.
func (c *checker[R]) onlyOnRequest() {
	c.looks = 0
	defined := c.profile.Vocabulary().WorkerCapabilities()
	for v := range c.choices() {
		special := c.regionsWithSpecialFlavors(v.ID, defined)
		if len(special) == 0 || versions.Classification(v.ExpirableVersion) == v1beta1.ClassificationPreview {
			continue
		}
		flavors := len(c.profile.Catalog().Flavors(v.ID.Image, v.ID.Version))
		types := c.typesAmong(v.kinds, func(machine, worker capability.Set) bool {
			return slices.ContainsFunc(special, func(region string) bool {
				c.looks += 2 * flavors
				request := imageselector.Request{Image: v.ID.Image, Version: v.ID.Version, Region: region, Machine: machine}
				ordinary := request
				ordinary.Worker = worker
				return c.profile.Boots(request) && !c.profile.Boots(ordinary)
			})
		})
		if len(types) > 0 {
			what, remedy := c.onRequest(v, types[0], special)
			c.Report.Found(ruleOnlyOnRequest, field.ErrorTypeInvalid, c.placeOf(v, types), v.Version.Version,
				"%s: only worker pools that ask for %s can boot it on machine %s, and Gardener may choose it for others; add a flavor %s",
				v.ID, what, counted("type", types), remedy)
		}
	}
}

// onRequest names the requirements with which a worker pool boots an image version on a machine type where ordinary pools do not. It also
// describes the flavor to add, and where.
func (c *checker[R]) onRequest(v choice, machineType string, regions []string) (what, remedy string) {
	var asks, names []string
	for _, region := range regions {
		request := imageselector.Request{
			Image: v.ID.Image, Version: v.ID.Version, Region: region, Machine: c.machine(machineType), Worker: c.askedOn(machineType),
		}
		decision := c.profile.Catalog().Decide(request)
		request.Worker = capability.Set{}
		for i := range decision.Verdicts {
			if _, fits := c.profile.Catalog().Candidate(request, i); fits {
				asked, declared := declaredConflicts(&decision.Verdicts[i])
				asks, names = append(asks, strings.Join(asked, " and ")), append(names, declared...)
			}
		}
	}
	if slices.Contains(asks, "") { // an undeclared capability excludes a flavor
		return "something special", "that declares no worker capability"
	}
	asks, names = resolve.Distinct(asks), resolve.Distinct(names)
	remedy = c.forOrdinaryPools(names)
	if v.inherited {
		remedy += " to the parent"
	} else if lists := c.flavorLists(v, slices.ContainsFunc(names, c.profile.Vocabulary().IsRegistered)); len(lists) > 0 {
		remedy += " under " + strings.Join(lists, " and ")
	}
	return words.Or(asks), remedy
}

// forOrdinaryPools describes the worker capabilities of a flavor for ordinary worker pools. The flavor omits them or, if an omission means
// all values, declares the value that these pools ask for.
func (c *checker[R]) forOrdinaryPools(names []string) string {
	var without, with []string
	for _, name := range names {
		if asked := c.valuesAsked(name); texts.OfSecond(name) && c.profile.Vocabulary().IsRegistered(name) {
			with = append(with, fmt.Sprintf("%s: [%s]", name, strings.Join(asked, ", ")))
		} else {
			without = append(without, name)
		}
	}
	var remedies []string
	if len(without) > 0 {
		remedies = append(remedies, "without "+words.Or(without))
	}
	if len(with) > 0 {
		remedies = append(remedies, "with "+words.Or(with))
	}
	return words.Or(remedies)
}

// declaredConflicts returns the declared capabilities that exclude a flavor, as "NAME [VALUES]", and their names.
func declaredConflicts[R any](v *imageselector.Verdict[R]) (written, names []string) {
	for _, c := range v.Conflicts {
		if _, declared := texts.Declared(v.Flavor.Capabilities, c.Capability); declared {
			written = append(written, fmt.Sprintf("%s [%s]", c.Capability, words.Few(c.Offer)))
			names = append(names, c.Capability)
		}
	}
	return written, names
}

// flavorLists returns the places of an image version's flavor lists: in core if ofCore is set, and in the provider config unless it has the
// legacy format.
func (c *checker[R]) flavorLists(v choice, ofCore bool) []string {
	var lists []string
	if ofCore {
		lists = append(lists, c.PathOf(v.written).Child("capabilityFlavors").String())
	}
	for id, entry := range entries.Mappings(c.Images) {
		if id == v.ID && !entry.Legacy {
			return append(lists, entry.Path.Child("capabilityFlavors").String())
		}
	}
	return lists
}

// regionsWithSpecialFlavors returns the regions in which an image version has a flavor that does not fit ordinary worker pools. It returns
// none unless some flavor declares one of the defined worker capabilities.
func (c *checker[R]) regionsWithSpecialFlavors(id provider.ImageVersion, defined []capability.Definition) []string {
	declares := func(flavor imageselector.Flavor[R]) bool {
		return slices.ContainsFunc(defined, func(d capability.Definition) bool {
			_, declared := texts.Declared(flavor.Capabilities, d.Name)
			return declared
		})
	}
	if !slices.ContainsFunc(c.profile.Catalog().Flavors(id.Image, id.Version), declares) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.profile.Regions()), func(region string) bool {
		return !slices.ContainsFunc(c.profile.Catalog().Offers(id.Image, id.Version, region), func(offer capability.Set) bool {
			return !offer.Fits(c.profile.Vocabulary().All(), c.profile.Ordinary())
		})
	})
}
