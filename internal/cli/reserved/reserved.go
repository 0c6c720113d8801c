// SPDX-FileCopyrightText: The capkit authors
//
// SPDX-License-Identifier: Apache-2.0

// Package reserved validates objects as a Gardener would that accepts the capabilities which GEP-0054 reserves for it,
// those with the prefix gardener-, in the vocabulary of a CloudProfile, on machine types and in core flavors.
//
// There is no such Gardener yet: v1.150 refuses the prefix in all three, and so a profile that is written for the one
// to come cannot be checked with it. This package runs the validation of today on a copy of the object in which the
// prefix is replaced, and puts the names back into what it says. The names of the second text of the proposal have to be registered, as it
// says; those of the first are known without that, as in it. Once Gardener accepts them, the package goes, and so does the flag
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

// ValidateNamespaced is [gardener.Server.ValidateNamespaced], on creation, of a Gardener that accepts the reserved capabilities. Where an
// error that ignore is asked about has one of their names, it is still the replaced one.
func ValidateNamespaced(
	server *gardener.Server, object *v1beta1.NamespacedCloudProfile, parent *v1beta1.CloudProfile, ignore func(*field.Error) bool,
) field.ErrorList {
	d := disguiseFor(object, parent)
	return d.reveal(server.ValidateNamespaced(disguised(d, object), nil, disguised(d, parent), ignore))
}

// Values returns what that Gardener says of the values with which a CloudProfile registers reserved capabilities: they have to be some of
// Gardener's. Where the provider is known, the check of the profile says the same, as rule reserved-capability-value.
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

// Is reports whether a name is that of a reserved capability, in either text of the proposal.
func Is(name string) bool {
	return slices.ContainsFunc(all(), func(d capability.Definition) bool { return d.Name == name })
}

// all returns the reserved capabilities of both texts.
func all() []capability.Definition {
	return slices.Concat(capability.Reserved(), capability.FirstText())
}

// ofFirstText returns those that the first text has, and the second has not.
func ofFirstText() []capability.Definition {
	return slices.DeleteFunc(all(), func(d capability.Definition) bool {
		return d.Name == capability.BootType || d.Name == capability.UpdateType
	})
}

// disguise is what the prefix of the reserved capabilities is replaced with, so that validation which refuses the
// prefix lets them pass. Other names with the prefix keep it.
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

// disguised returns a copy of an object in which the names of the reserved capabilities are replaced, as keys and as
// values. To a CloudProfile that registers capabilities those of the first text are appended that it does not: they are
// known all the same. No index of what is written changes by that.
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

// name returns the name of a reserved capability in disguise.
func (d disguise) name(reserved capability.Definition) string {
	return string(d) + strings.TrimPrefix(reserved.Name, capability.ReservedPrefix)
}

// reveal puts the names back into what the validation says.
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
