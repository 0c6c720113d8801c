// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/pkg/capability"
	"github.com/capkit/capkit/pkg/finding"
	"github.com/capkit/capkit/pkg/imageselector"
)

// abilities checks the abilities of a provider, each by itself and against each other.
type abilities[R any] struct {
	cloud Provider[R]
	// wrong reports a mistake in a method.
	wrong func(method, format string, args ...any)
}

// checkAbilities reports mistakes in the abilities of a provider. Messages name the type and the method.
func checkAbilities[R any](cloud Provider[R], wrong func(format string, args ...any)) {
	of := unwrapped(cloud)
	a := abilities[R]{cloud, func(method, format string, args ...any) {
		wrong("%T.%s: %s", of, method, fmt.Sprintf(format, args...))
	}}
	a.checkDeriver(of)
	a.checkTexts()
	a.checkLists()
	a.checkRules()
}

// unwrapped returns the innermost provider.
func unwrapped(of any) any {
	for {
		wrapper, wraps := of.(interface{ Unwrap() any })
		if !wraps {
			return of
		}
		of = wrapper.Unwrap()
	}
}

// probe is an image version that no cloud has.
var probe = ImageVersion{Image: "image", Version: "1.0.0"}

// checkDeriver derives references as a trial, and reports mistakes in them.
func (a abilities[R]) checkDeriver(of any) {
	const method = "DeriveReference"
	deriver, derives := As[ReferenceDeriver[R]](a.cloud)
	if !derives {
		if _, has := reflect.TypeOf(of).MethodByName("DeriveReference"); has {
			a.wrong(method, "it is not the method of provider.ReferenceDeriver for the references that Decode returns, so it would never be called")
		}
		return
	}
	defer func() {
		if reason := recover(); reason != nil {
			a.wrong(method, "it panics when it is asked about %s: %v", probe, reason)
		}
	}()
	derived := map[string]R{}
	for _, architecture := range []string{constants.ArchitectureAMD64, constants.ArchitectureARM64} {
		ref, ok := deriver.DeriveReference(probe, v1beta1.Capabilities{capability.Architecture: {architecture}})
		again, okAgain := deriver.DeriveReference(probe, v1beta1.Capabilities{capability.Architecture: {architecture}})
		if ok != okAgain || !reflect.DeepEqual(ref, again) {
			a.wrong(method, "it derives %v for %s, and then %v", ref, probe, again)
			return
		}
		if !ok {
			continue
		}
		derived[architecture] = ref
		if imageselector.IsEmpty(ref) {
			a.wrong(method, "it derives an empty reference for %s; return false if there is none", probe)
			return
		}
		if errs := a.cloud.ValidateReference(ref, field.NewPath("reference")); len(errs) > 0 {
			a.wrong(method, "it derives %v for %s, which ValidateReference refuses: %v", ref, probe, errs.ToAggregate())
			return
		}
	}
	sharer, says := As[ReferenceSharer](a.cloud)
	shares := says && sharer.SharesReferences()
	if len(derived) == 2 && !shares && reflect.DeepEqual(derived[constants.ArchitectureAMD64], derived[constants.ArchitectureARM64]) {
		a.wrong(method, "it derives one reference for two architectures, %v, and SharesReferences does not say that references stand for several",
			derived[constants.ArchitectureAMD64])
	}
}

// checkTexts reports abilities that return an empty text.
func (a abilities[R]) checkTexts() {
	said := func(method, text string) {
		if strings.TrimSpace(text) == "" {
			a.wrong(method, "it says nothing; return a text, or leave the method out")
		}
	}
	if describer, describes := As[ReferenceDescriber](a.cloud); describes {
		said("ReferenceForm", describer.ReferenceForm())
	}
	if validator, validates := As[DNSCredentialsValidator](a.cloud); validates {
		said("DNSType", validator.DNSType())
	}
}

// checkLists reports further lists of NamespacedCloudProfiles that cannot be merged.
func (a abilities[R]) checkLists() {
	if extender, extends := As[ListExtender](a.cloud); extends {
		a.checkListsAt("", extender.NamespacedLists(), sets.New("apiVersion", "kind", "machineImages"))
	}
}

// checkListsAt reports invalid lists in an object, whose path is empty or ends with a dot. taken are field names that no list may have.
func (a abilities[R]) checkListsAt(object string, lists []List, taken sets.Set[string]) {
	for _, list := range lists {
		switch {
		case list.Field == "" || list.Key == "":
			a.wrong("NamespacedLists", "a list needs the name of its field, and that of the key of its entries: %s%q has the key %q", object, list.Field, list.Key)
		case taken.Has(list.Field):
			a.wrong("NamespacedLists", "%s%s is merged already; return further lists, and each of them once", object, list.Field)
		}
		taken.Insert(list.Field)
		a.checkListsAt(object+list.Field+"[].", list.Lists, sets.New(list.Key))
	}
}

// checkRules reports rules without a name or a severity, or with the name of another one. Nobody could look them up.
func (a abilities[R]) checkRules() {
	describer, describes := As[RuleDescriber](a.cloud)
	if !describes {
		return
	}
	described := sets.New[string]()
	for i, rule := range describer.Rules() {
		switch {
		case rule.Name == "":
			a.wrong("Rules", "rule %d has no name", i)
		case described.Has(rule.Name):
			a.wrong("Rules", "%s is described twice", rule.Name)
		case rule.Severity != finding.SeverityError && rule.Severity != finding.SeverityWarning:
			a.wrong("Rules", "%s has the severity %q; make it with finding.Denies or finding.Warns", rule.Name, rule.Severity)
		}
		described.Insert(rule.Name)
	}
}
