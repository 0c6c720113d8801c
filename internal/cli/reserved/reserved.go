// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package reserved validates objects like a future Gardener that accepts the capabilities which GEP-0054 reserves: names with the prefix
// gardener-, in the vocabulary of a CloudProfile, on machine types and in core flavors.
//
// v1.150 refuses the prefix in all three, so it cannot check a profile for the future Gardener. This package runs today's validation on a
// copy of the object with another prefix, and restores the names in the errors. Names of the second text of the proposal must be
// registered. Names of the first text are known without registration. Once Gardener accepts the names, remove this package and the flag
// --reserved-in-core.
package reserved

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gardener/gardener/pkg/apis/core/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capkit/capkit/internal/cli/gardener"
	"github.com/capkit/capkit/pkg/capability"
)

// Validate is [gardener.Server.Validate] of a Gardener that accepts the reserved capabilities.
func Validate(server *gardener.Server, object runtime.Object) field.ErrorList {
	d := disguiseFor(object)
	return d.reveal(server.Validate(disguised(d, object)))
}

// ValidateNamespaced is [gardener.Server.ValidateNamespaced], on creation, of a Gardener that accepts the reserved capabilities. In the
// errors that ignore receives, their names are still replaced.
func ValidateNamespaced(
	server *gardener.Server, object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, ignore func(*field.Error) bool,
) field.ErrorList {
	d := disguiseFor(object, parent)
	return d.reveal(server.ValidateNamespaced(disguised(d, object), nil, disguised(d, parent), ignore))
}

// Values returns this Gardener's errors about values with which a CloudProfile registers reserved capabilities: it must use Gardener's
// values. If the provider is known, rule reserved-capability-value reports the same.
func Values(profile *v1beta1.CloudProfile) field.ErrorList {
	var errs field.ErrorList
	for i, registered := range profile.Spec.MachineCapabilities {
		k := slices.IndexFunc(all(), func(d capability.Definition) bool { return d.Name == registered.Name })
		if k < 0 {
			continue
		}
		for j, value := range registered.Values {
			if defined := all()[k].Values; value != "" && !slices.Contains(defined, value) { // an empty one is refused already
				at := field.NewPath("spec", "machineCapabilities").Index(i).Child("values").Index(j)
				errs = append(errs, field.NotSupported(at, value, defined).WithOrigin(gardener.RuleCore))
			}
		}
	}
	return errs
}

// Is reports whether a name is a reserved capability in either text of the proposal.
func Is(name string) bool {
	return slices.ContainsFunc(all(), func(d capability.Definition) bool { return d.Name == name })
}

// all returns the reserved capabilities of both texts.
func all() []capability.Definition {
	return slices.Concat(capability.Reserved(), capability.FirstText())
}

// ofFirstText returns the capabilities that only the first text has.
func ofFirstText() []capability.Definition {
	return slices.DeleteFunc(all(), func(d capability.Definition) bool {
		return d.Name == capability.BootType || d.Name == capability.UpdateType
	})
}

// disguise replaces the prefix of the reserved capabilities, so that validation accepts them. Other names with the prefix keep it.
type disguise string

// disguiseFor returns a disguise that occurs in none of the objects.
func disguiseFor(objects ...runtime.Object) disguise {
	text, _ := json.Marshal(objects) // what has been read can be written
	for i := 0; ; i++ {
		if d := fmt.Sprintf("gardener.%d.", i); !strings.Contains(string(text), d) {
			return disguise(d)
		}
	}
}

// disguised returns a copy of an object in which the names of the reserved capabilities are replaced, as keys and as values. To a
// CloudProfile that registers capabilities, it appends missing ones of the first text, because they are known without that. The indices of
// written entries stay.
func disguised[T runtime.Object](d disguise, object T) T {
	text, _ := json.Marshal(object)
	var names []string // and what replaces them
	for _, r := range all() {
		names = append(names, `"`+r.Name+`"`, `"`+d.name(r)+`"`)
	}
	result := reflect.New(reflect.TypeOf(object).Elem()).Interface().(T)
	_ = json.Unmarshal([]byte(strings.NewReplacer(names...).Replace(string(text))), result)
	profile, _ := any(result).(*v1beta1.CloudProfile)
	if profile == nil || len(profile.Spec.MachineCapabilities) == 0 {
		return result
	}
	definitions := &profile.Spec.MachineCapabilities
	for _, r := range ofFirstText() {
		name := d.name(r)
		if !slices.ContainsFunc(*definitions, func(def v1beta1.CapabilityDefinition) bool { return def.Name == name }) {
			*definitions = append(*definitions, v1beta1.CapabilityDefinition{Name: name, Values: r.Values})
		}
	}
	return result
}

// name returns the disguised name of a reserved capability.
func (d disguise) name(reserved capability.Definition) string {
	return string(d) + strings.TrimPrefix(reserved.Name, capability.ReservedPrefix)
}

// reveal restores the names in the errors of the validation, in place.
func (d disguise) reveal(errs field.ErrorList) field.ErrorList {
	back := func(text string) string { return strings.ReplaceAll(text, string(d), capability.ReservedPrefix) }
	for _, err := range errs {
		err.Field, err.Detail = back(err.Field), gardener.SortLists(back(err.Detail))
		if value, isText := err.BadValue.(string); isText {
			err.BadValue = back(value)
		}
	}
	return errs
}
